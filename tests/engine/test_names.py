"""Names of nodes that depend on how a tensor lies in memory, on where an operation stands, or on what happened since (PyTorch 2.13)."""

import pytest

from gradcli.interpreter.limits import Limits
from gradcli.interpreter.program import Program
from gradcli.syntax.parser import parse
from gradcli.syntax.source import Source


def printed(source: str) -> str:
    run = Program(parse(Source("program", "import torch\n" + source)), Limits()).run()
    assert run.error is None, run.error
    return run.output


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("x.t().reshape(6)", "UnsafeView"), ("x.expand(2, 2, 3).reshape(4, 3)", "UnsafeView"),
        ("x[:, :2].reshape(2, 2, 1)", "ReshapeAlias"),
        ("x.t().reshape(3, 2, 1)", "ReshapeAlias"), ("x.reshape(6)", "View"), ("x.t().flatten()", "UnsafeView"),
        ("x.t().reshape(3, 2)", "ReshapeAlias"), ("x.t().unflatten(0, (3, 1))", "View"), ("x[:, 0].reshape(2, 1)", "ReshapeAlias"),
    ],
)  # fmt: skip
def test_a_reshape_is_named_by_the_memory(expression: str, name: str) -> None:
    told = printed(f"x = torch.ones(2, 3, requires_grad=True)\nprint(({expression}).grad_fn.name())")
    assert told == f"{name}Backward0\n"


@pytest.mark.parametrize(
    ("function", "names"),
    [
        ("x ** 3", "MulBackward0 MulBackward1 PowBackward0"), ("x ** 2", "MulBackward0 MulBackward1 PowBackward0"),
        ("x.sqrt()", "DivBackward0 MulBackward1 SqrtBackward0"), ("2 ** x", "MulBackward0 MulBackward1 PowBackward2"),
        ("x.sin()", "MulBackward0 CosBackward0"), ("x.cos()", "MulBackward0 NegBackward0 SinBackward0"), ("x.log()", "DivBackward0"),
    ],
)  # fmt: skip
def test_a_rule_multiplies_by_a_number_with_an_operation_of_its_own(function: str, names: str) -> None:
    told = printed(
        f"x = torch.tensor(2.0, requires_grad=True)\ng, = torch.autograd.grad({function}, x, create_graph=True)\nnode = g.grad_fn\n"
        "names = []\nwhile node.name() != 'torch::autograd::AccumulateGrad':\n    names.append(node.name())\n"
        "    node = node.next_functions[-1][0]\nprint(' '.join(names))\ny = x * 3\nprint(y.grad_fn.name(), y.grad_fn.next_functions[1])"
    )
    assert told == f"{names}\nMulBackward0 (None, 0)\n"


def test_a_view_that_may_not_follow_its_base_has_no_history() -> None:
    told = printed(
        "a = torch.ones(2, requires_grad=True).clone()\nu, v = a.unbind(0)\na.mul_(2)\n"
        "b = torch.ones(2, requires_grad=True).clone()\nwith torch.no_grad():\n    w = b[:1]\nb.mul_(2)\n"
        "print(u, w, u.requires_grad, w.requires_grad, u.detach(), w.tolist())\n"
        "for use in (lambda: u.grad_fn, lambda: u * 1, lambda: u.is_leaf, lambda: w.grad_fn, lambda: w * 2, lambda: w.sum().backward()):\n"
        "    try:\n        use()\n    except RuntimeError as e:\n        print(str(e)[:60])\n"
        "with torch.no_grad():\n    print(w * 2)\n    w.mul_(3)\nprint(b)"
    )
    of_several = "Output 0 of Unbind is a view and its base or another view of\n"
    without = "A view was created in no_grad mode and its base or another v\n"
    assert told == (
        "tensor(2., grad_fn=<Invalid>) tensor([2.], grad_fn=<Invalid>) True True tensor(2.) [2.0]\n"
        + 3 * of_several + 3 * without + "tensor([4.])\ntensor([6., 2.], grad_fn=<MulBackward0>)\n"
    )  # fmt: skip
