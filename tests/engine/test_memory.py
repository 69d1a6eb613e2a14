"""What a graph costs, and that its depth is no limit."""

import gc
import tracemalloc

import pytest

from gradcli.engine import Tensor, backward
from gradcli.engine.tensor import tensor
from gradcli.ops.trigonometric import sin

STEPS = 4_000


def chain(steps: int) -> tuple[Tensor, Tensor]:
    x, w, b = tensor(0.5, requires_grad=True), tensor(0.9, requires_grad=True), tensor(0.1, requires_grad=True)
    h = x
    for _ in range(steps):
        h = sin(h) * w + b
    return x, h


def test_an_operation_takes_less_than_600_bytes() -> None:
    gc.disable()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        x, h = chain(STEPS)
        forward = tracemalloc.get_traced_memory()[0] - before
        backward(h)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
        gc.enable()
    assert forward / (3 * STEPS) < 600
    assert peak / (3 * STEPS) < 700
    assert x.grad is not None


@pytest.mark.parametrize("steps", [10_000, pytest.param(60_000, marks=pytest.mark.slow)])
def test_a_long_chain_goes_backward_and_is_freed_without_recursion(steps: int) -> None:
    x, h = chain(steps)
    backward(h)
    assert x.grad is not None
    del h


def test_constants_keep_nothing() -> None:
    k = tensor([1.0, 2.0])
    for _ in range(100):
        k = sin(k) * 2
    assert k.node is None
