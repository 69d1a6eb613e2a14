"""Notes on switches, jumps and comparisons near the point, and on what was made where gradients are off."""

from __future__ import annotations

import pytest

from gradcli.check import CheckOptions, check_file

KINDS = {"jump", "near-kink", "switch", "stop-gradient", "kink"}


def notes(text: str) -> list[tuple[str, str, int | None]]:
    (target,) = check_file("a.grad", "import torch\n" + text, CheckOptions()).targets
    assert not target.failing
    return [(n.kind, n.message, n.line) for n in target.notes if n.kind in KINDS]


@pytest.mark.parametrize(
    ("expression", "name", "count"),
    [
        ("(floor(x) * x).sum()", "floor", "argument [0] of 3 is"),
        ("(x % 2).sum()", "remainder", "argument [0] of 3 is"),
        ("(x - torch.round(x + 0.5)).sum()", "round", "argument [0] of 3 is"),
        ("(sign(x - 2.) * x).sum()", "sign", "argument [0] of 3 is"),
        ("F.hardshrink(x, 2.0).sum()", "hardshrink", "argument [0] of 3 is"),
    ],
)
def test_a_jump_at_the_point_is_told(expression: str, name: str, count: str) -> None:
    found = notes("import torch.nn.functional as F\nx = tensor([2.0, 1.25, -0.4], requires_grad=True)\ny = " + expression)
    message = f"{name}: {count} at a jump: the derivative is that of the side that was taken"
    assert ("jump", message, 4) in found


def test_a_kink_nearby_is_told_with_its_distance() -> None:
    found = notes("x = tensor([0.1, 2.0], requires_grad=True)\ny = relu(x[0] + 0.2 - 0.3) + relu(x[1] - 2 + 3e-10)")
    assert found == [
        ("near-kink", "relu: the argument is within 1e-15 (relative) of a kink: rounding alone chose the side", 3),
        ("near-kink", "relu: the argument is within 1e-09 (relative) of a kink: on the side that was taken", 3),
    ]


@pytest.mark.parametrize("expression", ["F.celu(x)", "torch.sinc(x)", "torch.special.log_ndtr(x)"])
def test_where_only_the_formula_changes_there_is_no_kink(expression: str) -> None:
    assert notes(f"import torch.nn.functional as F\nx = tensor([1e-9, -1e-30], requires_grad=True)\ny = ({expression} * x).sum()") == []


@pytest.mark.parametrize("value", ["0.3", "-5.0", "1e-9"])
def test_a_switch_that_is_far_relative_to_its_argument_is_not(value: str) -> None:
    assert notes(f"x = tensor({value}, requires_grad=True)\ny = relu(x) + abs(x) + (2 * x if x > 0 else x) + floor(x + 0.25) * x") == []


def test_a_comparison_of_equals_is_told() -> None:
    found = notes("x = tensor([1.0, 2.0], requires_grad=True)\ny = torch.where(x >= 2, x * x, x).sum()")
    assert found == [("switch", ">=: the two sides are equal in 1 of 2 elements: the branch that was taken is judged", 3)]
    found = notes("x = tensor(0.3, requires_grad=True)\ny = x * x if x - 0.1 - 0.2 > 0 else x")
    assert [(kind, line) for kind, _, line in found] == [("switch", 3)]


def test_what_is_made_without_gradients_is_listed_where_it_is_used() -> None:
    text = "x = tensor([1.0, 2.0], requires_grad=True)\nwith no_grad():\n    c = x * 2\n    unused = x * 3\nd = c + 1\ny = (d * x).sum()"
    assert notes(text) == [("stop-gradient", "no_grad: held constant by the references", 4)]


def test_an_update_of_a_leaf_without_gradients_is_none() -> None:
    text = "x = tensor([1.0, 2.0], requires_grad=True)\n(x * x).sum().backward()\nwith no_grad():\n    x -= 0.1 * x.grad\nx.grad = None\n"
    targets = check_file("a.grad", text + "(x * x).sum().backward()", CheckOptions()).targets
    assert not any(n.kind == "stop-gradient" for t in targets for n in t.notes)
