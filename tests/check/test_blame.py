"""Who is to blame, besides user Functions: values overwritten behind the graph, and rules of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from gradcli.ops.arithmetic import Mul
from gradcli.ops.catalogue import OPERATIONS
from gradcli.ops.operation import Operation


@contextmanager
def wrong_rule(cls: type[Operation], argument: int, factor: float) -> Iterator[None]:
    """One rule of the engine off by a factor."""
    right, plans = cls.rules, cls.plans
    found = right[argument]
    assert found is not None
    rule, slots, local = found

    def wrong(*args: Any) -> Any:
        return rule(*args) * factor

    cls.rules = tuple((wrong, slots, local) if k == argument else r for k, r in enumerate(right))
    cls.plans = {}
    try:
        yield
    finally:
        cls.rules, cls.plans = right, plans


def operation(name: str) -> type[Operation]:
    return next(cls for cls in OPERATIONS if cls.name == name)


@pytest.mark.parametrize(
    ("name", "call"), [("sin", "sin(h)"), ("exp", "exp(h)"), ("tanh", "tanh(h)"), ("cumsum", "cumsum(h, 0)"), ("softmax", "softmax(h, 0)")]
)
def test_a_wrong_rule_of_the_engine_is_named_with_its_line(check, name: str, call: str) -> None:
    text = f"x = tensor([0.5, 1.5], requires_grad=True)\nh = x * x\ny = {call}\nloss = (y * tensor([1.0, -2.0])).sum()"
    cls = operation(name)
    with wrong_rule(cls, 0, 1.5):
        found = check(text)
    blame = found.targets[0].blame
    assert found.targets[0].status == "fail"
    assert (blame.line, blame.column) == (3, 5)
    assert blame.function.lower().startswith(name)
    assert "its gradient for argument 1 is right up to a factor of 1.5" in blame.why


def test_the_wrong_argument_is_named(check) -> None:
    with wrong_rule(Mul, 1, -1.0):
        found = check("x = tensor([0.5, 1.5], requires_grad=True)\nw = tensor([2.0, 3.0], requires_grad=True)\nloss = (w * x).sum()")
    assert "its gradient for argument 2 has the wrong sign" in found.targets[0].blame.why
    assert found.targets[0].blame.function == "MulBackward0"


@pytest.mark.parametrize("change", ["h.data[0] = 9.0", "h.data.add_(1)", "h.data.mul_(2)"])
def test_a_value_overwritten_behind_the_graph(check, change: str) -> None:
    found = check(f"x = tensor([1.0, 2.0], requires_grad=True)\nh = x * 1\ny = h * h\n{change}\nloss = y.sum()")
    blame = found.targets[0].blame
    assert found.targets[0].status == "fail"
    assert (blame.line, blame.function) == (3, "MulBackward0")
    assert "overwritten" in blame.why


@pytest.mark.parametrize("change", ["y.mul_(2)", "y.detach()[0] = 9.0", "y[0] = 1.0", "c.mul_(3)"])
def test_a_kept_value_written_to_in_place_is_pytorchs_error_also_without_a_backward_call(check, change: str) -> None:
    found = check(
        f"c = tensor([1.0, 2.0])\nx = tensor([1.0, 2.0], requires_grad=True)\ny = exp(x * c)\n{change}\nloss = y.sum()", error=True
    )
    assert found.status == "error"
    assert "has been modified by an inplace operation" in found.error.message
    assert found.error.span.line == 3


def test_a_leaf_updated_after_the_fact_spoils_nothing(check) -> None:
    text = "w = tensor([1.0, 2.0], requires_grad=True)\nloss = (w * w).sum()\nwith no_grad():\n    w -= 0.1\n"
    assert check(text).targets[0].inputs[0].autograd.tolist() == [2.0, 4.0]
    assert check(text).status == "pass"


def test_the_newest_of_several_culprits_is_named_first(check) -> None:
    function = (
        "class {0}(Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 3\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g * {1}\n"
    )
    text = function.format("A", 6) + function.format("B", 3) + "x = tensor([1.0], requires_grad=True)\nloss = B.apply(A.apply(x)).sum()"
    assert check(text).targets[0].blame.function == "A"


def test_a_function_that_the_target_does_not_reach_is_not_blamed_for_it(check) -> None:
    text = (
        "class A(Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 3\n"
        "    @staticmethod\n    def backward(ctx, g):\n"
        "        return g * 6\nx = tensor([1.0], requires_grad=True)\nz = A.apply(x)\ny = (x * x).sum()\ncheck(y)"
    )
    found = check(text)
    assert found.targets[0].status == "pass"
    assert found.targets[0].blame is None
    assert found.functions[0].failing
    assert found.failing


def test_what_passes_has_no_blame(check) -> None:
    assert check("x = tensor([1.0], requires_grad=True)\ny = x * x").targets[0].blame is None
