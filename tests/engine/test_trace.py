"""The trace tells the truth: random programs, replayed from their leaves, give what the program holds."""

import sys
from pathlib import Path

import pytest

from gradcli.engine.mode import state
from gradcli.engine.tensor import Tensor
from gradcli.interpreter.limits import Limits
from gradcli.interpreter.program import Program
from gradcli.syntax.parser import parse
from gradcli.syntax.source import Source
from tests.engine.replay import check_trace

sys.path.insert(0, str(Path(__file__).parents[1] / "parity"))

from programs import program


@pytest.mark.parametrize("first", [0, 30, *(pytest.param(first, marks=pytest.mark.slow) for first in range(60, 150, 30))])
def test_replayed_records_equal_the_values_of_the_program(first: int) -> None:
    for seed in range(first, first + 30):
        code = Program(parse(Source("program", program(seed))), Limits())
        plain, traced = code.run(), code.run(trace=True)
        assert plain.output == traced.output
        state.tracer = traced.tracer
        try:
            for value in traced.scope.values():
                if isinstance(value, Tensor):
                    check_trace(value)
        finally:
            state.tracer = None


def records_of(source: str) -> dict[str, bool]:
    """Which variables of a program depend on a leaf, as the trace sees it."""
    run = Program(parse(Source("program", source)), Limits()).run(trace=True)
    assert run.error is None
    state.tracer = run.tracer
    try:
        return {name: value.record() is not None for name, value in run.scope.items() if isinstance(value, Tensor)}
    finally:
        state.tracer = None


def test_constants_and_stops_leave_no_record() -> None:
    found = records_of(
        """
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
k = torch.tensor([3.0, 4.0]).exp() * 2
d = x.detach() * 3
with torch.no_grad():
    n = x * 2
y = x * k
h = x * 1
h.data.mul_(2)
h2 = h.sum()
"""
    )
    assert found == {"x": True, "k": False, "d": False, "n": False, "y": True, "h": True, "h2": True}


def test_bodies_of_user_functions_are_followed() -> None:
    found = records_of(
        """
import torch
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        y[0] = x[1]
        return y * x
    @staticmethod
    def backward(ctx, g):
        return g
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Cube.apply(x)
"""
    )
    assert found == {"x": True, "y": True}
