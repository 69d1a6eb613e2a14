"""What a run gives back, and what can be asked of it from outside."""

import io

import numpy as np
import pytest

from gradcli.engine import Tensor
from gradcli.errors import ProgramError, SourceErrors, UsageError
from gradcli.interpreter import evaluate
from gradcli.interpreter.limits import Limits

LEAF = "x = tensor([1.0, 2.0], requires_grad=True)\n"


def test_scope_is_in_order_of_the_last_binding(run):
    assert list(run("a = 1\nb = 2\nc = 3\na = 4\n").scope) == ["b", "c", "a"]


def test_output_is_collected_and_written_as_it_comes(run):
    stream = io.StringIO()
    assert run("print('a')\nprint('b', end='')", stdout=stream).output == "a\nb" == stream.getvalue()


def test_an_error_keeps_what_was_printed(failure):
    stream = io.StringIO()
    error = failure("print('a')\n1 / 0\nprint('b')", stdout=stream)
    assert (stream.getvalue(), error.span.line) == ("a\n", 2)


def test_a_program_runs_again_from_the_start(run):
    from gradcli.interpreter import Program
    from gradcli.syntax import Source, parse

    program = Program(parse(Source("f", "x = randn(3)\nif 'y' == 'x': z = 1\ny = x.sum()")))
    first, again, other = program.run(seed=1), program.run(seed=1), program.run(seed=2)
    assert first.scope is not again.scope
    assert np.array_equal(first.scope["x"].value, again.scope["x"].value)
    assert not np.array_equal(first.scope["x"].value, other.scope["x"].value)


def test_set_replaces_the_first_value_bound(run):
    result = run(LEAF + "y = x * 3\nx = x + 1\nn = 5", overrides={"x": "[4, 5]", "n": "2 + 2"})
    assert result.scope["y"].value.tolist() == [12.0, 15.0]
    assert result.scope["n"] == 4


def test_set_makes_a_leaf_like_the_original(run):
    x = run("import torch\nx = torch.ones(2, dtype=torch.float32, requires_grad=True)", overrides={"x": "[4, 5]"}).scope["x"]
    assert (x.dtype, x.requires_grad, x.is_leaf) == (np.float32, True, True)


def test_set_may_use_what_is_bound_before(run):
    assert run("a = 2\nb = 3", overrides={"b": "a * torch.ones(1).sum()"}).scope["b"].value == 2.0


def test_set_of_an_unknown_name_has_a_hint(run):
    with pytest.raises(UsageError) as caught:
        run("weight = 1", overrides={"wieght": "2"})
    assert "'weight'" in caught.value.hint


def test_set_with_a_bad_expression_says_so(failure):
    with pytest.raises(UsageError, match=r"^--set x=import os: import of 'os' is not in the language$"):
        failure("x = 1", overrides={"x": "import os"})
    with pytest.raises(UsageError, match=r"^--set x: NameError: name 'undefined' is not defined$"):
        failure("x = 1", overrides={"x": "undefined"})


@pytest.mark.parametrize(("line", "given"), [("cross(v, 2)", "int"), ("block_diag([v], v)", "list"), ("atleast_1d(0.5)", "float")])
def test_plain_values_where_tensors_belong(failure, printed, line, given):
    error = failure(f"v = tensor([1.0, 2.0, 3.0])\n{line}\n")
    assert (error.type, error.kind, error.span.line) == ("TypeError", "argument", 2)
    assert given in error.message
    assert printed(f"v = tensor([1.0, 2.0, 3.0])\ntry:\n    {line}\nexcept Exception:\n    print('caught')\n") == "caught\n"


@pytest.mark.parametrize(
    ("call", "type"),
    [
        ("torch.linalg.eigh(eye(2), 2)", "TypeError"),
        ("torch.mvlgamma(tensor(1.3), 0)", "RuntimeError"),
        ("torch.tensor([1 + 2j], dtype=torch.float32)", "TypeError"),
    ],
)
def test_arguments_that_an_operation_refuses(failure, call, type):
    assert failure(f"import torch\n{call}\n").type == type


def test_a_failed_assert_ends_a_run(failure):
    error = failure("assert 1 == 2, 'differs'")
    assert (error.type, error.message, error.kind) == ("AssertionError", "differs", "assertion")


def test_a_failed_assert_is_noted_in_a_traced_run(run):
    result = run("assert 1 == 1\nassert 1 == 2, f'{1}!'\ndone = True", trace=True)
    assert [(a.holds, a.message, a.source, a.span.line) for a in result.asserts] == [(True, "", "1 == 1", 1), (False, "1!", "1 == 2", 2)]
    assert result.scope["done"]


def test_checks_and_claims_come_with_the_text_of_their_arguments(run):
    seen = []

    class Hooks:
        def check(self, call):
            seen.append(("check", call.names.output, call.names.wrt, call.names.grad_outputs, call.order, call.span.line))

        def claim(self, call):
            seen.append(("claim", call.names.output, call.names.wrt))

    text = LEAF + "y = x * x\ncheck(y.sum(), wrt=[x], order=2)\ncheck(y, x, grad_outputs=ones_like(y))\nclaim(y.sum(), x, 2 * x)"
    result = run(text, hooks=Hooks())
    assert seen == [("check", "y.sum()", ["x"], None, 2, 3), ("check", "y", ["x"], "ones_like(y)", 1, 4), ("claim", "y.sum()", ["x"])]
    assert (len(result.checks), len(result.claims)) == (2, 1)


@pytest.mark.parametrize(
    "call",
    [
        "check()",
        "check(1)",
        "check(x, y=1)",
        "check(x, order=0)",
        "check(*[x])",
        "claim(x, x)",
        "claim(x, 1, x)",
        "check(x, [1])",
        "f = check\nf(x)",
    ],
)
def test_wrong_checks(call, failure):
    assert failure(LEAF + call).type in ("TypeError", "ValueError")


def test_a_file_may_use_the_names_itself(run):
    assert run("def check(a): return a + 1\ny = check(1)").scope["y"] == 2


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("F.mse_loss(torch.ones(3, 1), torch.ones(3))", "Using a target size (torch.Size([3])) that is different to the input size"),
        ("F.l1_loss(x, x, size_average=False)", "size_average and reduce args will be deprecated, please use reduction='sum' instead."),
        ("F.kl_div(x, x)", "reduction: 'mean' divides the total loss by both the batch size and the support size."),
    ],
)
def test_losses_warn_as_pytorch_does(run, line, text):
    result = run(f"import torch\nimport torch.nn.functional as F\nx = torch.ones(2)\nfor k in range(2):\n    {line}\n")
    assert len(result.warnings) == 1
    assert text in str(result.warnings[0])


def test_warnings_come_once_a_line_on_their_stream(run):
    stream = io.StringIO()
    text = LEAF + "for k in range(3):\n  g = (x * 2).grad\n"
    result = run(text, stderr=stream)
    assert len(result.warnings) == 1
    assert stream.getvalue().startswith("program.grad:3: UserWarning: ")


def test_the_chain_of_calls_is_kept(failure):
    error = failure("def f(x):\n  return 1 / x\ndef g(x):\n  return f(x)\ng(0)")
    assert error.span.line == 2
    assert [span.line for span in error.callers] == [4, 5]


def test_print_options_end_with_the_run(printed):
    printed("import torch\ntorch.set_printoptions(precision=1)")
    assert printed("print(tensor(0.25))") == "tensor(0.2500)\n"


def test_evaluate_after_a_run(run):
    scope = run(LEAF + "z = x * 2").scope
    value = evaluate("torch.ones_like(z) + x.sum()", scope)
    assert isinstance(value, Tensor)
    assert value.value.tolist() == [4.0, 4.0]
    assert evaluate("[[0.5, 0.5]]", scope) == [[0.5, 0.5]]
    with pytest.raises(ProgramError, match="not defined"):
        evaluate("q", scope)
    with pytest.raises(SourceErrors):
        evaluate("z.__class__", scope)


def test_load_reads_beside_the_file_only(run, failure, tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3.0))
    (tmp_path / "b.csv").write_text("1,2\n3,4\n")
    (tmp_path / "bad.csv").write_text("1,x\n")
    (tmp_path / "link.csv").symlink_to("/etc/hostname")
    folder = str(tmp_path)
    assert run("a = load('a.npy')", data=folder).scope["a"].value.tolist() == [0.0, 1.0, 2.0]
    assert run("b = load('b.csv')", data=folder).scope["b"].value.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    for name in ("../a.npy", "missing.npy", "bad.csv", "link.csv", "a.txt"):
        assert failure(f"load({name!r})", data=folder).type == "ValueError"


def test_elements_held_at_once_are_counted_and_freed_ones_are_not(run, failure):
    limits = Limits(elements=50_000)
    run("for k in range(12): x = zeros(10000)", limits=limits)
    assert "--max-elements" in failure("xs = [zeros(10000) for k in range(10)]", limits=limits).message


@pytest.mark.parametrize("value", ["len", "set()", "slice(1)", "range(3)", "nn", "nn.ReLU()", "float", "...", "zip([1])", "x.grad_fn"])
@pytest.mark.parametrize("call", ["torch.abs_", "torch.numel", "torch.is_complex", "torch.atleast_2d", "x.is_same_size"])
def test_other_kinds_of_values_where_tensors_belong(failure, call, value):
    error = failure(f"import torch\nimport torch.nn as nn\nx = torch.tensor(1.0, requires_grad=True) * 1\ny = {call}({value})\n")
    assert (error.type, error.span.line) == ("TypeError", 4)


@pytest.mark.parametrize(
    "call",
    [
        "promote_types(3, torch.float32)",
        "can_cast(torch.float32, [])",
        "func.functional_call(3, {})",
        "func.functional_call(nn.ReLU(), 'a')",
    ],
)
def test_other_kinds_of_values_where_dtypes_modules_and_dicts_belong(failure, call):
    assert failure(f"import torch\nimport torch.nn as nn\ny = torch.{call}\n").type == "TypeError"
