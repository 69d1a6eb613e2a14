"""Which gradients of a file are judged, in order of precedence, and what they are gradients of."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.check import CheckOptions, check_file

X = "x = tensor([1.0, 2.0], requires_grad=True)\n"


def outputs(found) -> list[tuple[str, int | None]]:
    return [(t.output, t.line) for t in found.targets]


def gradient(found, target: int = 0, leaf: int = 0) -> np.ndarray:
    return found.targets[target].inputs[leaf].autograd


def test_the_last_output_by_default(check) -> None:
    found = check(X + "a = (x * x).sum()\ny = (x * 3).sum()\nn = 5")
    assert outputs(found) == [("y", 3)]
    assert gradient(found).tolist() == [3.0, 3.0]


def test_every_leaf_by_default_in_order(check) -> None:
    found = check("a = tensor(1.0, requires_grad=True)\nb = tensor(2.0, requires_grad=True)\nc = tensor(3.0)\ny = a * b * c")
    assert [(i.name, i.line) for i in found.targets[0].inputs] == [("a", 1), ("b", 2)]


def test_passes_of_the_program_come_before_the_last_output(check) -> None:
    found = check(X + "y = (x * x).sum()\ny.backward()\nz = x.sum()")
    assert outputs(found) == [("y", 3)]


def test_checks_come_before_passes(check) -> None:
    found = check(X + "y = (x * x).sum()\ny.backward()\nz = (x * 3).sum()\ncheck(z)\ncheck(y, wrt=[x])")
    assert outputs(found) == [("z", 5), ("y", 6)]


def test_options_come_before_all(check) -> None:
    found = check(X + "y = (x * x).sum()\nz = (x * 3).sum()\ncheck(z)", output="y")
    assert outputs(found) == [("y", 2)]


def test_wrt_on_the_command_line(check) -> None:
    found = check("a = tensor(1.0, requires_grad=True)\nb = tensor(2.0, requires_grad=True)\ny = b * a", wrt=("b",))
    assert [i.name for i in found.targets[0].inputs] == ["b"]


def test_an_inner_tensor_can_be_differentiated_by(check) -> None:
    found = check(X + "h = x * x\ny = (h * h).sum()\ncheck(y, wrt=[h])")
    assert gradient(found).tolist() == [2.0, 8.0]
    assert found.status == "pass"


def test_grad_outputs_on_the_command_line(check) -> None:
    found = check(X + "y = x ** 2", grad_outputs="[0.5, -1.0]")
    assert gradient(found).tolist() == [1.0, -4.0]
    assert found.targets[0].grad_outputs.tolist() == [0.5, -1.0]


def test_a_jacobian_where_nothing_is_given(check) -> None:
    found = check(X + "y = stack([x[0] * x[1], x[1], x[0] ** 2])")
    assert gradient(found).tolist() == [[2.0, 1.0], [0.0, 1.0], [2.0, 0.0]]
    assert found.targets[0].grad_outputs is None
    assert found.targets[0].inputs[0].verdicts.shape == (3, 2)


def test_a_jacobian_too_large_goes_along_a_random_direction_and_says_so(check) -> None:
    found = check("x = ones(300, requires_grad=True)\ny = x * x")
    assert found.targets[0].grad_outputs is not None
    assert [n.kind for n in found.targets[0].notes] == ["random-grad-outputs"]
    assert found.status == "pass"


def test_accumulated_gradients_are_those_of_all_passes(check) -> None:
    found = check(X + "(x * x).sum().backward()\n(x ** 3).sum().backward()")
    assert gradient(found, 0).tolist() == [2.0, 4.0]
    assert gradient(found, 1).tolist() == [2.0 + 3.0, 4.0 + 12.0]
    assert found.status == "pass"


def test_a_gradient_zeroed_between_two_passes(check) -> None:
    found = check(X + "(x * x).sum().backward()\nx.grad.zero_()\n(x ** 3).sum().backward()")
    assert gradient(found, 1).tolist() == [3.0, 12.0]
    assert found.status == "pass"


def test_what_the_program_put_into_grad_is_a_constant(check) -> None:
    found = check(X + "x.grad = tensor([10.0, 20.0])\n(x * x).sum().backward()")
    assert gradient(found).tolist() == [12.0, 24.0]
    assert found.status == "pass"


def test_several_outputs_in_one_pass(check) -> None:
    found = check(X + "import torch\na = (x * x).sum()\nb = x ** 3\ntorch.autograd.backward([a, b], [None, tensor([1.0, -1.0])])")
    assert gradient(found).tolist() == [2.0 + 3.0, 4.0 - 12.0]
    assert found.status == "pass"


def test_autograd_grad_is_a_target(check) -> None:
    found = check(X + "import torch\ny = (x ** 3).sum()\n(g,) = torch.autograd.grad(y, x)")
    assert outputs(found) == [("y", 4)]
    assert found.status == "pass"


def test_a_leaf_updated_between_passes_is_judged_where_it_was(check) -> None:
    found = check(X + "(x * x).sum().backward()\nwith no_grad():\n    x += 1\n    x.grad.zero_()\n(x * x).sum().backward()")
    assert [gradient(found, k).tolist() for k in (0, 1)] == [[2.0, 4.0], [4.0, 6.0]]
    assert found.status == "pass"


# ---- higher order


def test_second_order_is_the_hessian(check) -> None:
    found = check(X + "y = x[0] ** 2 * x[1] ** 3\ncheck(y, wrt=[x], order=2)")
    assert gradient(found).tolist() == [[16.0, 24.0], [24.0, 12.0]]
    assert found.targets[0].order == 2
    assert found.status == "pass"


def test_an_input_takes_along_the_inputs_that_depend_on_it(check) -> None:
    text = "x = tensor([1.0, 2.0], requires_grad=True)\nh = x * x\n"
    (target,) = check(text + "check((h * h * x).sum(), wrt=[h, x])").targets
    assert (target.status, target.notes) == ("pass", [])
    assert [i.symbolic.tolist() for i in target.inputs] == [[2.0, 16.0], [5.0, 80.0]]


def test_the_same_input_twice(check) -> None:
    text = "x = tensor([1.0, 2.0], requires_grad=True)\nx.register_hook(lambda g: g * 2)\n"
    (target,) = check(text + "g = grad((x**3).sum(), [x, x])").targets
    assert [i.autograd.tolist() for i in target.inputs] == [i.symbolic.tolist() for i in target.inputs] == [[3.0, 12.0]] * 2


def test_a_view_written_to_depends_on_its_base(check) -> None:
    text = "x = tensor([1.0, 2.0], requires_grad=True)\nh = x * x\nv = h.unsqueeze(0)\nv *= x\n(g,) = grad(v.sum(), h)"
    (target,) = check(text).targets
    assert (target.status, target.inputs[0].symbolic.tolist()) == ("pass", [1.0, 1.0])


def test_a_write_through_an_expansion(check) -> None:
    text = "x = tensor([1.5], requires_grad=True)\nw = tensor(0.5, requires_grad=True)\nh = x.abs().expand(2, 1)\nh[1:] = w * w\n"
    assert check(text + "y = (h * h).sum()").status == "pass"


def test_hooks_are_left_out_also_where_the_graph_changes_later(check) -> None:
    text = "x = tensor([1.0, 2.0], requires_grad=True)\nh = exp(x)\nh.register_hook(lambda g: g * 2)\n"
    (target,) = check(text + "(h * h).sum().backward()\nh.data.mul_(3)\nh.zero_()").targets
    assert (target.status, [n.kind for n in target.notes]) == ("pass", ["hook", "stop-gradient", "stop-gradient"])
    assert target.inputs[0].autograd == pytest.approx(2 * np.exp([2.0, 4.0]))


def test_a_user_function_is_checked_after_its_saved_tensors_changed(check) -> None:
    text = "class F(Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x * x\n"
    text += "    @staticmethod\n    def backward(ctx, g):\n        (x,) = ctx.saved_tensors\n        return g * 2 * x\n"
    text += "x = tensor([1.0, 2.0], requires_grad=True)\nh = x * 1\nF.apply(h).sum().backward()\nh.mul_(3)"
    found = check(text)
    assert (found.status, [f.status for f in found.functions]) == ("pass", ["pass"])


def test_an_inner_tensor_is_the_one_that_it_was(check) -> None:
    text = "x = tensor([1.0, 2.0], requires_grad=True)\nh = x * 3\n"
    found = check(text + "check((h * h).sum(), wrt=[h])\nh.add_(1)\n(g,) = grad((h * h).sum(), h)\nh.mul_(2)\n")
    assert [t.inputs[0].autograd.tolist() for t in found.targets] == [[6.0, 12.0]]
    found = check(text + "(g,) = grad((h * h).sum(), h)\nh.copy_(ones(2))\n")
    assert (found.status, found.targets[0].inputs[0].symbolic.tolist()) == ("pass", [6.0, 12.0])


@pytest.mark.parametrize(("formula", "order"), [("x**2", 3), ("2 * x**2", 5), ("sin(x) * exp(x)", 6), ("(x.reshape(1)**5).sum()", 4)])
def test_any_order_of_a_number(check, formula: str, order: int) -> None:
    (target,) = check(f"x = tensor(0.7, requires_grad=True)\ncheck({formula}, wrt=[x], order={order})").targets
    assert (target.status, target.order) == ("pass", order)


def test_a_wrong_second_derivative_fails_in_the_third_order(check) -> None:
    cube = "class Cube(Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x**3\n"
    rule = "    @staticmethod\n    def backward(ctx, g):\n        (x,) = ctx.saved_tensors\n        return g * 3 * x * x.detach()\n"
    (target,) = check(cube + rule + "x = tensor(0.7, requires_grad=True)\ncheck(sin(Cube.apply(x)), wrt=[x], order=3)").targets
    assert target.status == "fail"
    assert target.blame is not None
    assert target.blame.function == "Cube"


def test_order_on_the_command_line(check) -> None:
    found = check("x = tensor(2.0, requires_grad=True)\ny = x ** 5", order=3)
    assert float(gradient(found)) == 60 * 4.0
    assert found.status == "pass"


def test_a_vanishing_second_derivative_is_judged_too(check) -> None:
    found = check(X + "y = (3 * x).sum()\ncheck(y, wrt=[x], order=2)")
    assert gradient(found).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert found.status == "pass"


# ---- stop-gradients


@pytest.mark.parametrize(
    ("program", "kind"),
    [
        ("y = (x * x.detach()).sum()", "detach"),
        ("y = (x * x.data).sum()", "data"),
        ("y = (x * x[0].item()).sum()", "item"),
    ],
)
def test_stop_gradients_are_pinned_and_listed(check, program: str, kind: str) -> None:
    found = check(X + program)
    assert found.status == "pass"
    notes = [n for n in found.targets[0].notes if n.kind == "stop-gradient"]
    assert notes
    assert kind.split("_")[0] in notes[0].message.replace("-", "")
    assert notes[0].line is not None


# ---- asserts and expectations


def test_asserts_are_reported_and_fail_the_file(check) -> None:
    found = check(X + "y = (x * x).sum()\nassert y > 0\nassert y < 0, 'too large'\ny.backward()\nassert x.grad[0] == 2")
    assert [(a.line, a.status) for a in found.asserts] == [(3, "pass"), (4, "fail"), (6, "pass")]
    assert found.asserts[1].message == "too large"
    assert found.targets[0].status == "pass"
    assert found.status == "fail"
    assert found.failing


@pytest.mark.parametrize(("word", "met"), [("pass", True), ("fail", False), ("kink", False)])
def test_expectations(check, word: str, met: bool) -> None:
    assert check(f"# gradcli: expect {word}\n" + X + "y = (x * x).sum()").met is met


def test_an_expected_error_is_met(check) -> None:
    found = check("# gradcli: expect error\nx = tensor([1.0], requires_grad=True)\ny = x.nothing()", error=True)
    assert found.met is True


def test_nothing_to_check_is_unchecked(check) -> None:
    found = check("a = 3\nb = tensor([1.0]) * a")
    assert (found.status, found.failing, found.targets) == ("unchecked", False, [])
    assert check("a = 3", strict=True).failing


def test_an_input_without_elements_passes(check) -> None:
    assert check("x = zeros(0, requires_grad=True)\ny = (x * x).sum()").status == "pass"


def test_two_runs_are_equal(check) -> None:
    text = "x = randn(3, requires_grad=True)\ny = (x * x).sum()"
    assert gradient(check(text)).tolist() == gradient(check(text)).tolist()
    assert gradient(check(text)).tolist() != gradient(check(text, seed=1)).tolist()


def test_values_of_leaves_can_be_set(check) -> None:
    found = check(X + "y = (x * x).sum()", set=(("x", "[5.0, 7.0]"),))
    assert gradient(found).tolist() == [10.0, 14.0]


def test_a_hook_that_changes_the_gradient_is_noted_and_judged_without_its_change(check) -> None:
    lines = ["x = tensor([1.0, 2.0], requires_grad=True)", "h = x * 2", "h.register_hook(lambda g: g * 10)"]
    found = check("\n".join([*lines, "(h * h).sum().backward(retain_graph=True)", "(h * h).sum().backward()"]))
    assert found.status == "pass"
    assert [note.kind for target in found.targets for note in target.notes] == ["hook", "hook"]
    assert found.targets[1].inputs[0].autograd.tolist() == [16.0, 32.0]


def test_an_output_without_a_name_goes_by_its_text(check) -> None:
    found = check("x = tensor(3.0, requires_grad=True)\n(x ** 2).backward()")
    assert found.targets[0].output == "x ** 2"


def test_a_gradient_from_deep_in_a_tail_is_no_false_alarm(check) -> None:
    lines = ["w = tensor([0.3, -0.4], requires_grad=True)", "b = tensor(-0.5, requires_grad=True)", "x = tensor([999.5, 0.25])"]
    found = check("\n".join([*lines, "h = tanh(w @ x + b)", "loss = (sigmoid(h) * h).sum()"]))
    assert 0 < abs(found.targets[0].inputs[1].autograd) < 1e-80
    assert found.status == "pass"


def test_corners_of_singular_values_are_kinks(check) -> None:
    found = check("import torch\nA = torch.diag(torch.tensor([2.0, 1.0, 0.0])).requires_grad_()\nloss = torch.linalg.svdvals(A).sum()")
    assert (found.status, found.failing) == ("kink", False)
    assert found.targets[0].inputs[0].verdicts[2, 2] == "kink"


def test_a_wrong_gradient_of_singular_values_still_fails(check) -> None:
    lines = ["import torch", "A = torch.tensor([[2.0, 0.3], [0.1, 1.0]], requires_grad=True)", "loss = torch.linalg.svdvals(A).sum()"]
    right = check("\n".join(lines)).targets[0].inputs[0].autograd
    wrong = (right * 1.001).tolist()
    assert check("\n".join([*lines, f"claim(loss, A, tensor({wrong}))"])).status == "fail"


def test_distances_of_a_set_to_itself_have_a_derivative(check) -> None:
    found = check("import torch\nx = torch.tensor([[0.0], [1.0], [3.0]], requires_grad=True)\nloss = torch.cdist(x, x).sum()")
    assert (found.status, found.targets[0].symbolic) == ("pass", "per-node")


def test_random_complex_leaves_have_both_parts(check) -> None:
    lines = ["class F(Function):", " @staticmethod", " def forward(ctx, z):", "  ctx.save_for_backward(z)", "  return z * z"]
    lines += [" @staticmethod", " def backward(ctx, g):", "  (z,) = ctx.saved_tensors", "  return g * 2 * z"]
    lines += ["import torch", "z = torch.randn(3, dtype=torch.complex128, requires_grad=True)", "loss = F.apply(z).real.sum()"]
    assert check("\n".join(lines)).status == "fail"


def test_a_backward_of_the_wrong_shape_is_told_with_its_place() -> None:
    lines = ["class F(Function):", " @staticmethod", " def forward(ctx, x):", "  return x * 2"]
    lines += [" @staticmethod", " def backward(ctx, g):", "  return g.expand(2, 3)[:, :2]"]
    found = check_file("t.grad", "\n".join([*lines, "x = ones(3, requires_grad=True)", "y = F.apply(x).sum()"]), CheckOptions())
    assert found.error is not None
    assert found.error.span.line == 9


@pytest.mark.parametrize(
    "formula",
    ["cholesky(A)[1, 0]", "cholesky(A, upper=True)[0, 1]", "eigvalsh(A)[0]", "eigh(A, UPLO='U')[0][1]", "eigh(A)[1][0].square() @ w"],
)
@pytest.mark.parametrize("below", [0.5, 1.0])
def test_a_matrix_that_is_read_by_one_triangle_need_not_be_symmetric(check, formula: str, below: float) -> None:
    lines = ["import torch", f"A = torch.tensor([[2.0, 1.0], [{below}, 3.0]], requires_grad=True)", "w = torch.tensor([1.0, 3.0])"]
    assert check("\n".join([*lines, f"loss = torch.linalg.{formula}"])).status == "pass"
    wrong = [*lines, f"loss = torch.linalg.{formula}", "g = torch.autograd.grad(loss, A)[0]", "claim(loss, A, g * 1.001)"]
    assert check("\n".join(wrong)).status == "fail"


def test_a_leaf_that_became_a_result_keeps_the_gradient_of_the_leaf(check) -> None:
    text = "x = tensor([1.0, 2.0], requires_grad=True)\nh = x.sum()\nx.requires_grad_(False)\nx.copy_(h * ones(2))\n"
    found = check(text + "(h * h).backward()", error=True)
    assert found.error.message == "leaf variable has been moved into the graph interior"


def test_a_pass_that_ends_in_an_error_is_no_target(check) -> None:
    text = "x = tensor([1.0, 2.0], requires_grad=True)\nx.register_hook(lambda g: g * 2)\nr = relu(x * 1)\ny = r + x\nr += 1\n"
    found = check(text + "try:\n    y.sum().backward()\nexcept RuntimeError as e:\n    pass\n(x * x).sum().backward()")
    assert [(t.line, t.inputs[0].status) for t in found.targets] == [(10, "pass")]


@pytest.mark.parametrize(
    "formula", ["x.log_softmax(0)", "x.logsumexp(0)", "x.mean(0)", "x.std(1)", "torch.topk(x, 0)[0]", "x.prod()", "F.normalize(x)"]
)
def test_empty_tensors_are_checked(check, formula: str) -> None:
    found = check(f"import torch\nimport torch.nn.functional as F\nx = torch.zeros(0, 3, requires_grad=True)\ny = {formula}")
    assert found.status == "pass"


@pytest.mark.parametrize(
    "formula",
    [
        "torch.exp(x.float() * 0.1).double().sum()",
        "torch.addcdiv(x, x, torch.tensor([3.0, 7.0], dtype=torch.float32)).sum()",
        "(x * torch.tensor([0.1, 0.7], dtype=torch.float32).log()).sum()",
        "torch.xlogy(x, torch.tensor([0.1, 0.7], dtype=torch.float32)).sum()",
    ],
)
def test_a_gradient_is_as_good_as_the_coarsest_dtype_on_the_way(check, formula: str) -> None:
    lines = ["import torch", "x = torch.tensor([1.0, 2.0], requires_grad=True)", f"y = {formula}"]
    assert check("\n".join(lines)).status == "pass"
    wrong = [*lines, "g = torch.autograd.grad(y, x)[0]", "claim(y, x, g * 1.0001)"]
    assert check("\n".join(wrong)).status == "fail"


@pytest.mark.parametrize(
    "formula", ["F.max_pool1d(x, 2)", "F.avg_pool1d(x, 2)", "F.relu6(x)", "F.lp_pool1d(x, 2., 2) * 0 + F.relu(x[..., :2])"]
)
def test_a_derivative_that_is_constant_can_be_differentiated(check, formula: str) -> None:
    lines = ["import torch", "import torch.nn.functional as F", "x = torch.tensor([[[1.0, 2.0, -1.0, 3.0]]], requires_grad=True)"]
    lines += [f"g = torch.autograd.grad(({formula}).sum(), x, create_graph=True)[0]", "y = (g * g).sum()"]
    found = check("\n".join([*lines, "check(y, wrt=[x])"]))
    assert (found.status, found.targets[0].inputs[0].autograd.any()) == ("pass", False)


def test_leaves_in_lists_and_dicts_go_by_their_places(check) -> None:
    made = "def make():\n    return {'w': tensor([1.0], requires_grad=True), 'layers': [nn.Linear(1, 1)]}\n"
    result = check(f"import torch.nn as nn\n{made}p = make()\nloss = p['layers'][0](p['w']).sum()\n")
    assert sorted(item.name for item in result.targets[0].inputs) == ["p['layers'][0].bias", "p['layers'][0].weight", "p['w']"]


def test_a_comparison_in_place_leaves_nothing_to_differentiate(check) -> None:
    found = check("x = tensor([1.0, 2.0], requires_grad=True)\nm = x * 3\nm.gt_(4)\ny = m * x\n")
    assert (found.status, found.targets[0].inputs[0].autograd.tolist()) == ("pass", [[0.0, 0.0], [0.0, 1.0]])
