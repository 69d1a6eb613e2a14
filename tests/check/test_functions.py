"""User Functions checked alone, and the place and the words of their faults."""

from __future__ import annotations

import pytest

from gradcli.check import CheckOptions, check_file


def function(forward: str, backward: str, args: str = "x", *, save: str | None = None, name: str = "F") -> str:
    """A Function of one-line bodies; the lines of its backward begin at 7."""
    names = ", ".join([*args.split(", ")]) + ("," if "," not in args else "")
    body = "\n".join("        " + line for line in backward.split("\n"))
    return (
        f"class {name}(Function):\n    @staticmethod\n    def forward(ctx, {args}):\n        ctx.save_for_backward({save or args})\n"
        f"        return {forward}\n    @staticmethod\n    def backward(ctx, g):\n        {names} = ctx.saved_tensors\n{body}\n"
    )


X = "x = tensor([0.7, -1.3, 2.1], requires_grad=True)\n"
AB = "a = tensor([0.7, -1.3, 2.1], requires_grad=True)\nb = tensor([0.2, 0.3, 0.4], requires_grad=True)\n"


def alone(check, text: str):
    found = check(text)
    return {f.name: f for f in found.functions}, found


def test_a_right_function_passes(check) -> None:
    functions, found = alone(check, function("x.sin()", "return g * x.cos()") + X + "loss = F.apply(x).sum()")
    assert (functions["F"].status, functions["F"].failing, functions["F"].line) == ("pass", False, 1)
    assert found.status == "pass"


def test_faults_that_cancel_end_to_end_are_found_alone(check) -> None:
    text = function("x * 3", "return g * 6") + function("x * 5", "return g * 2.5", name="H") + X + "loss = H.apply(F.apply(x)).sum()"
    functions, found = alone(check, text)
    assert all(t.status == "pass" for t in found.targets)
    assert functions["F"].failing
    assert functions["H"].failing
    assert found.failing


def test_a_random_upstream_shows_what_ones_hide(check) -> None:
    text = function("softmax(x, 0)", "return softmax(x, 0) * 0 * g") + X + "loss = F.apply(x).sum()"
    functions, found = alone(check, text)
    assert found.targets[0].status in ("pass", "unstable")
    assert functions["F"].failing


@pytest.mark.parametrize(
    ("forward", "backward", "words"),
    [
        ("x * x", "return g * x", "x (argument 1) is right up to a factor of 0.5"),
        ("1 / x", "return g / (x * x)", "x (argument 1) has the wrong sign"),
        ("x.exp()", "return g * x", "x (argument 1) has x where the output belongs"),
        ("x * x", "return None", "x (argument 1) is None, but the output depends on it"),
        ("x.relu()", "return g", "x (argument 1) lacks a mask: it is not 0 at [1]"),
        ("x.mean()", "return g.expand(3)", "x (argument 1) is right up to a factor of 3: the mean over 3 elements is missing"),
        (
            "x.sum()",
            "return (g / 3).expand(3)",
            "x (argument 1) is right up to a factor of 1/3: it is the mean, not the sum over 3 elements",
        ),
        ("x * x", "return 2 * x", "x (argument 1) ignores grad_output"),
        ("x.flip(0)", "return g", "x (argument 1) is in reverse order"),
        ("x.cos()", "return g.mul_(-x.sin())", "backward changes grad_output in place"),
    ],
)
def test_words(check, forward: str, backward: str, words: str) -> None:
    rest = "loss = (F.apply(x) * tensor([1.0, -2.0, 0.5])).sum()"
    found = check(function(forward, backward) + X + rest)
    blame = found.targets[0].blame
    if blame is None:
        assert words.removeprefix("x (argument 1) ") in (found.functions[0].why or "")
        return
    assert blame.function == "F"
    assert blame.line == 9
    assert words in blame.why


def test_the_second_argument_by_name_and_column(check) -> None:
    found = check(function("a - b", "return g, g", "a, b") + AB + "loss = (F.apply(a, b) * 2).sum()")
    blame = found.targets[0].blame
    assert (blame.line, blame.column) == (9, 19)
    assert "b (argument 2) has the wrong sign" in blame.why


def test_swapped_arguments(check) -> None:
    found = check(function("a * b", "return g * a, g * b", "a, b") + AB + "loss = F.apply(a, b).sum()")
    assert "is that of b (argument 2): the two are swapped" in found.targets[0].blame.why


def test_the_return_that_ran_is_named(check) -> None:
    backward = "if x.sum() > 0:\n    return g * 2\nif x.sum() > -5:\n    return g * x\nreturn 3 * g"
    text = function("x * x", backward) + "x = tensor([-0.7, -1.3], requires_grad=True)\nloss = F.apply(x).sum()"
    assert check(text).targets[0].blame.line == 12


def test_what_writes_into_grad_output_is_named(check) -> None:
    backward = "k = 2 * x\ng *= k\nreturn g"
    found = check(function("x * x", backward) + X + "y = F.apply(x)\nloss = (y * 1).sum()")
    assert found.failing
    assert any("grad_output in place" in (f.why or "") for f in found.functions)


def test_several_outputs_are_judged_together(check) -> None:
    text = (
        "class P(Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n"
        "        return x.sin(), x.cos()\n"
        "    @staticmethod\n    def backward(ctx, a, b):\n        x, = ctx.saved_tensors\n        return a * x.cos() {} b * x.sin()\n"
        + X
        + "s, c = P.apply(x)\nloss = (s + 2 * c).sum()"
    )
    assert not check(text.format("-")).failing
    assert check(text.format("+")).functions[0].failing


def test_an_output_marked_as_not_differentiable_is_left_out(check) -> None:
    text = (
        "class S(Function):\n    @staticmethod\n    def forward(ctx, x):\n        v, i = x.sort()\n        ctx.mark_non_differentiable(i)\n"
        "        ctx.save_for_backward(i)\n        return v, i\n    @staticmethod\n"
        "    def backward(ctx, g, unused):\n        i, = ctx.saved_tensors\n"
        "        d = zeros_like(g)\n        d[i] = g\n        return d\n"
        + X
        + "v, i = S.apply(x)\nloss = (v * tensor([1.0, 2.0, 3.0])).sum()"
    )
    found = check(text)
    assert not found.failing, found.functions


def test_the_same_tensor_given_twice(check) -> None:
    assert not check(function("a * b", "return g * b, g * a", "a, b") + X + "loss = F.apply(x, x).sum()").failing
    assert check(function("a * b", "return g * b, g * 0", "a, b") + X + "loss = F.apply(x, x).sum()").functions[0].failing


def test_arguments_that_are_no_tensors(check) -> None:
    text = (
        "class P(Function):\n    @staticmethod\n    def forward(ctx, x, n, scale=1.0):\n        ctx.n = n\n"
        "        ctx.save_for_backward(x)\n"
        "        return x ** n * scale\n    @staticmethod\n    def backward(ctx, g):\n        x, = ctx.saved_tensors\n"
        "        return {} * g * x ** (ctx.n - 1), None, None\n" + X + "loss = P.apply(x, 3, 2.0).sum()"
    )
    assert not check(text.format("2.0 * ctx.n")).failing
    assert check(text.format("ctx.n")).functions[0].failing


def test_digits_lost_inside_are_no_fault(check) -> None:
    text = (
        "class T(Function):\n    @staticmethod\n    def forward(ctx, x):\n        y = x.tanh()\n"
        "        ctx.save_for_backward(y)\n        return y\n"
        "    @staticmethod\n    def backward(ctx, g):\n        y, = ctx.saved_tensors\n        return g * (1 - y * y)\n"
        "x = tensor([20.0, 0.3], requires_grad=True)\nloss = T.apply(x).sum()"
    )
    functions, found = alone(check, text)
    assert not functions["T"].failing
    assert found.targets[0].status == "unstable"


def test_a_billionth_is_a_fault(check) -> None:
    assert check(function("x * x", "return 2 * g * x * (1 + 1e-9)") + X + "loss = F.apply(x).sum()").functions[0].failing


def test_float32_functions(check) -> None:
    leaf = "x = tensor([0.7, -1.3], dtype=float32, requires_grad=True)\nloss = F.apply(x).sum()"
    assert not check(function("x.sin() * x", "return g * (x.cos() * x + x.sin())") + leaf).failing
    assert check(function("x.sin() * x", "return g * (x.cos() * x + 1.001 * x.sin())") + leaf).functions[0].failing


def test_opaque_bodies_are_judged_by_differences(check) -> None:
    leaf = "x = tensor(3.0, requires_grad=True)\nloss = F.apply(x)"
    assert not check(function("x * x.item()", "return 2 * g * x") + leaf).failing
    assert check(function("x * x.item()", "return g * x") + leaf).functions[0].failing


def test_a_surrogate_is_taken_at_its_word(check) -> None:
    text = function("(x > 0) * 1.0 + 0 * x", "return g * 1.0") + X + "loss = (F.apply(x) * 3).sum()"
    assert check(text).failing
    found = check(text.replace("class F(Function):", "class F(Function):  # gradcli: surrogate"))
    assert not found.failing
    assert "surrogate" in found.functions[0].why


@pytest.mark.parametrize(("at_zero", "fails"), [(0.0, False), (0.4, False), (1.0, False), (1.01, True), (-0.1, True)])
def test_at_a_kink_any_slope_between_the_sides(check, at_zero: float, fails: bool) -> None:
    backward = f"return g * where(x == 0, {at_zero}, (x > 0) * 1.0)"
    found = check(function("x.relu()", backward) + "x = tensor([0.0, 2.0, -1.0], requires_grad=True)\nloss = (F.apply(x) * 2).sum()")
    assert found.functions[0].failing is fails


@pytest.mark.parametrize(("weights", "fails"), [("[1.0, 0.0]", False), ("[0.3, 0.7]", False), ("[1.0, 1.0]", True), ("[0.4, 0.4]", True)])
def test_a_tie_may_be_shared_but_not_doubled(check, weights: str, fails: bool) -> None:
    found = check(
        function("x.max()", f"return g * tensor({weights})") + "x = tensor([2.0, 2.0], requires_grad=True)\nloss = F.apply(x) * 3"
    )
    assert found.functions[0].failing is fails


def test_a_tie_between_two_arguments(check) -> None:
    leaves = "a = tensor([2.0], requires_grad=True)\nb = tensor([2.0], requires_grad=True)\nloss = F.apply(a, b).sum()"
    assert not check(function("maximum(a, b)", "return 0.5 * g, 0.5 * g", "a, b") + leaves).failing
    assert check(function("maximum(a, b)", "return g, g", "a, b") + leaves).functions[0].failing


def test_switches_that_cancel_leave_a_smooth_function(check) -> None:
    leaf = "x = tensor([0.0, 1.0], requires_grad=True)\nloss = (F.apply(x) * 2).sum()"
    assert not check(function("x.relu() - (-x).relu()", "return g * 1.0") + leaf).functions[0].failing
    assert check(function("x.relu() - (-x).relu()", "return g * 2.0") + leaf).functions[0].failing


def test_backward_run_by_the_program_before(check) -> None:
    text = function("x * x", "return g * x") + X + "loss = F.apply(x).sum()\nloss.backward()"
    assert check(text).targets[0].blame.function == "F"


def test_a_backward_that_cannot_be_differentiated_again(check) -> None:
    text = function("x ** 3", "return g * 3 * x.detach() ** 2") + X + "loss = F.apply(x).sum()\n"
    assert not check(text).failing
    found = check(text + "check(loss, wrt=[x], order=2)")
    assert found.failing
    assert found.functions[0].failing
    assert "cannot be differentiated again" in found.functions[0].why
    penalty = text + "(d,) = grad(loss, x, create_graph=True)\ntotal = loss + (d * d).sum()\ntotal.backward()"
    assert check(penalty).functions[0].failing


def test_a_right_backward_may_be_differentiated_again(check) -> None:
    text = function("x ** 3", "return g * 3 * x ** 2") + X + "loss = F.apply(x).sum()\ncheck(loss, wrt=[x], order=2)"
    found = check(text)
    assert found.status == "pass"
    assert not found.failing


def test_what_rtol_allows_is_allowed_to_a_function_alone_too(tmp_path) -> None:
    path = tmp_path / "near.grad"
    path.write_text(
        "import torch\nclass Near(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g * 2.01\n\n"
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = Near.apply(x).sum()\n"
    )
    assert check_file(str(path), None, CheckOptions()).failing
    assert not check_file(str(path), None, CheckOptions(rtol=0.1)).failing


def test_a_surrogate_that_clips_the_gradient_leaves_what_is_below_unchecked(check) -> None:
    lines = ["class F(Function):  # gradcli: surrogate", " @staticmethod", " def forward(ctx, x):", "  return x * 1"]
    lines += [" @staticmethod", " def backward(ctx, g):", "  return g.clamp(-0.1, 0.1)"]
    lines += ["x = tensor([0.7, -1.3], requires_grad=True)", "loss = (F.apply(x) * tensor([1.0, 3.0])).sum()"]
    found = check("\n".join(lines))
    assert (found.status, found.functions[0].status) == ("unchecked", "pass")
    assert "not linear" in found.targets[0].symbolic


SUFFIX_SUMS = """
class LogSums(Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.logcumsumexp(x, 0)
        ctx.save_for_backward(x, y)
        return y
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        s = g * torch.exp(-y)
        return torch.exp(x) * (s.sum() - s.cumsum(0){last})
x = torch.tensor([-400.0, 20.0, -3.0], requires_grad=True)
y = LogSums.apply(x).sum()
"""


def test_digits_that_only_hundreds_bring_back_are_no_fault(check) -> None:
    functions, _ = alone(check, "import torch\n" + SUFFIX_SUMS.format(last=" + s"))
    assert functions["LogSums"].status == "pass"
    functions, _ = alone(check, "import torch\n" + SUFFIX_SUMS.format(last=""))
    assert functions["LogSums"].status == "fail"


def test_a_buffer_in_backward_is_run_at_50_digits_too(check) -> None:
    backward = "d = torch.zeros(3)\nd[:] = g * (1 / x - 1 / (x + 1e-9)) * 1e9\nreturn d"
    text = "import torch\n" + function("(torch.log(x) - torch.log(x + 1e-9)) * 1e9", backward)
    functions, _ = alone(check, text + "x = tensor([0.7, 1.3, 2.1], requires_grad=True)\nloss = F.apply(x).sum()")
    assert functions["F"].status == "pass"


def test_a_backward_that_is_wrong_only_where_it_is_nan_is_nan(check) -> None:
    functions, found = alone(
        check, function("x * x", "return g * 2 * x * x / x") + "x = tensor([0.0, 1.0], requires_grad=True)\ny = F.apply(x)"
    )
    assert (functions["F"].status, functions["F"].failing, found.status) == ("nan", True, "nan")
    functions, found = alone(
        check, function("x * x", "return g * 3 * x * x / x") + "x = tensor([0.0, 1.0], requires_grad=True)\ny = F.apply(x)"
    )
    assert (functions["F"].status, found.status) == ("fail", "fail")


def test_a_small_error_in_float32_has_its_function_to_blame(check) -> None:
    text = function("x / x.norm()", "n = x.norm()\nreturn g / n - x * (g * x).sum() * 1.0001 / n ** 3")
    functions, found = alone(check, text + "x = tensor([0.7, -1.3, 2.1], dtype=float32, requires_grad=True)\nloss = F.apply(x)[0]")
    assert functions["F"].status == "fail"
    assert found.targets[0].blame.function == "F"


NESTED = """
class SinBackward(Function):{mark}
    @staticmethod
    def forward(ctx, g, x):
        ctx.save_for_backward(g, x)
        return g * torch.cos(x)
    @staticmethod
    def backward(ctx, gg):
        g, x = ctx.saved_tensors
        return gg * torch.cos(x), gg * g * torch.sin(x)
class Sin(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.sin(x)
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return SinBackward.apply(g, x)
x = torch.tensor([0.7, -1.3], requires_grad=True)
check(Sin.apply(x).exp().sum(), [x], order=2)
"""


def test_a_backward_that_calls_a_wrong_function_is_not_to_blame_for_it(check) -> None:
    functions, found = alone(check, "import torch\n" + NESTED.format(mark=""))
    assert {name: f.status for name, f in functions.items()} == {"Sin": "pass", "SinBackward": "fail"}
    assert (found.targets[0].blame.function, found.targets[0].blame.line) == ("SinBackward", 11)
    functions, _ = alone(check, "import torch\n" + NESTED.format(mark="  # gradcli: surrogate"))
    assert {f.status for f in functions.values()} == {"pass"}


LOOKUP = """
class Lookup(Function):
    @staticmethod
    def forward(ctx, table, p):
        ctx.save_for_backward(table, p)
        i = int(p.floor())
        return table[i] + (p - i) * (table[i + 1] - table[i])
    @staticmethod
    def backward(ctx, g):
        table, p = ctx.saved_tensors
        i = int(p.floor())
        d = torch.zeros_like(table)
        d[i], d[i + 1] = g * (i + 1 - p), g * (p - i)
        return d, {slope}
table = torch.tensor([1.0, 3.0, 4.0, 2.0], requires_grad=True)
p = torch.tensor({p}, requires_grad=True)
y = Lookup.apply(table, p)
"""


@pytest.mark.parametrize(
    ("p", "slope", "status"),
    [
        (1.3, "g * (table[i + 1] - table[i])", "pass"),
        (1.3, "g * (table[i + 1] + table[i])", "fail"),
        (1.0, "g * (table[i + 1] - table[i])", "pass"),
        (1.0, "g * 3 * (table[i + 1] - table[i])", "fail"),
    ],
)
def test_a_forward_that_looks_up_where_it_is_has_corners_between_the_places(check, p: float, slope: str, status: str) -> None:
    functions, found = alone(check, "import torch\n" + LOOKUP.format(p=p, slope=slope))
    assert functions["Lookup"].status == status
    assert found.failing is (status == "fail")


TIMES = """
class Times(Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k
    @staticmethod
    def backward(ctx, g):
        if ctx.k == 11:
            return g * 12, None
        return g * ctx.k, None
"""


def test_a_call_past_those_that_are_checked_alone_is_found_where_a_target_failed(check) -> None:
    found = check(TIMES + X + "y = 0\nfor k in range(20):\n    y = y + Times.apply(x, k).sum()")
    assert found.status == "fail"
    assert (found.targets[0].blame.function, found.targets[0].blame.line) == ("Times", 10)


CHOLESKY = """
class Chol(Function):
    @staticmethod
    def forward(ctx, A):
        L = torch.linalg.cholesky(A)
        ctx.save_for_backward(L)
        return L
    @staticmethod
    def backward(ctx, g):
        (L,) = ctx.saved_tensors
        P = torch.tril(L.t() @ g)
        P = P - torch.diag(torch.diag(P)) / 2
        Li = torch.linalg.inv(L)
        S = Li.t() @ P @ Li
        return {gradient}
X = torch.tensor([[1.0, 0.5, 0.2], [0.3, 2.0, -1.0], [0.1, 0.4, 1.5]], requires_grad=True)
y = Chol.apply(X @ X.t() + torch.eye(3)).sin().sum()
"""


@pytest.mark.parametrize(
    ("gradient", "status"),
    [
        ("(S + S.t()) / 2", "pass"),
        ("S", "pass"),
        ("torch.tril(S + S.t()) - torch.diag(torch.diag(S))", "pass"),
        ("S + S.t()", "fail"),
        ("torch.tril(S)", "fail"),
    ],
)
def test_the_gradient_by_a_symmetric_matrix_may_be_shared_out_among_its_triangles(check, gradient: str, status: str) -> None:
    functions, found = alone(check, "import torch\n" + CHOLESKY.format(gradient=gradient))
    assert functions["Chol"].status == status
    assert found.targets[0].status == status


def test_a_constant_output_has_no_gradient(check) -> None:
    functions, found = alone(check, function("(x > 0).double()", "return g * 1.5") + X + "loss = F.apply(x).sum()")
    assert functions["F"].failing
    assert found.status == "fail"


def test_an_output_that_is_no_tensor_is_left_out(check) -> None:
    functions, _ = alone(check, function("5", "return g") + X + "n = F.apply(x)\nloss = (x * n).sum()")
    assert functions["F"].status == "pass"


def test_a_rule_called_vjp(check) -> None:
    text = function("x * 3", "return g * 6").replace("def backward", "def vjp")
    functions, found = alone(check, text + X + "loss = F.apply(x).sum()")
    assert (functions["F"].why, found.status) == (
        "the gradient for argument 1 is right up to a factor of 2: it is twice the derivative",
        "fail",
    )


def test_hooks_on_kept_tensors_that_change_them(check) -> None:
    found = check(
        "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x.pow(2)\n"
        "y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t * 2)\ny.sum().backward()\n"
    )
    assert found.status == "fail"


def test_a_backward_that_fails_for_another_gradient_is_not_judged_alone(check) -> None:
    backward = "if g.sum() != 3:\n    raise ValueError('only ones')\nreturn g * 2 * x"
    functions, found = alone(check, function("x * x", backward) + "x = tensor([0.5, 1.0, 2.0], requires_grad=True)\ny = F.apply(x).sum()")
    assert (functions["F"].status, found.status) == ("pass", "pass")
    assert functions["F"].why == "not judged alone: for another grad_output its backward raises ValueError: only ones"
