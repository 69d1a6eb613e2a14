"""Backward passes over hand-worked graphs."""

import sys

import numpy as np
import pytest

from gradcli.engine import Function, backward, grad, no_grad
from gradcli.engine.tensor import tensor
from gradcli.errors import AutogradError, ShapeError


def test_gradients_of_a_broadcast_expression_are_summed_to_the_leaf() -> None:
    x = tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    w = tensor([2.0, 5.0], requires_grad=True)
    y = (x * w + 3) / x**2
    backward([y], [tensor(np.ones((2, 2)))])
    np.testing.assert_allclose(x.grad.value, -w.value / x.value**2 - 6 / x.value**3)
    np.testing.assert_allclose(w.grad.value, (1 / x.value).sum(0))
    assert y.grad_fn.name == "DivBackward0"


def test_a_recorded_gradient_can_be_differentiated_again() -> None:
    x = tensor(2.0, requires_grad=True)
    (first,) = grad(x**4, x, create_graph=True)
    (second,) = grad(first, x, create_graph=True)
    (third,) = grad(second, x)
    assert (first.value, second.value, third.value) == (32.0, 48.0, 48.0)


def test_a_second_pass_over_a_freed_graph_is_refused_only_where_tensors_were_kept() -> None:
    x = tensor(3.0, requires_grad=True)
    kept, free = x * x, x + 2
    backward(kept)
    with pytest.raises(AutogradError, match="second time"):
        backward(kept)
    backward(free)
    backward(free)
    assert x.grad.value == 8.0


def test_gradients_accumulate_and_need_a_scalar_or_a_gradient() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    with pytest.raises(AutogradError, match="scalar outputs"):
        backward(x * 2)
    with pytest.raises(ShapeError, match=r"torch.Size\(\[3\]\)"):
        backward(x * 2, tensor([1.0, 2.0, 3.0]))
    backward(x * 2, tensor([1.0, 2.0]))
    backward(x * 3, tensor([1.0, 1.0]))
    np.testing.assert_array_equal(x.grad.value, [5.0, 7.0])


def test_a_version_changed_after_saving_is_noticed() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    h = x * 1.0
    y = h * h
    h.add_(1)
    with pytest.raises(AutogradError, match=r"modified by an inplace operation: \[torch.DoubleTensor \[2\]\], which is output 0 of Add,"):
        backward(y, tensor([1.0, 1.0]))


def test_in_place_writes_join_the_history() -> None:
    x = tensor([1.0, 2.0], requires_grad=True)
    h = x * 3.0
    h.mul_(2)
    assert h.grad_fn.name == "MulBackward0"
    backward(h, tensor([1.0, 1.0]))
    np.testing.assert_array_equal(x.grad.value, [6.0, 6.0])
    with pytest.raises(AutogradError, match="leaf Variable"):
        x.mul_(2)
    with no_grad():
        x.mul_(2)
    np.testing.assert_array_equal(x.value, [2.0, 4.0])


def test_a_user_function_runs_its_own_backward() -> None:
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * x * g

    x = tensor([1.0, -3.0], requires_grad=True)
    y = Square.apply(x)
    assert y.grad_fn.name == "SquareBackward"
    (first,) = grad(y, x, tensor([1.0, 1.0]), create_graph=True)
    np.testing.assert_array_equal(first.value, [2.0, -6.0])
    np.testing.assert_array_equal(grad(first, x, tensor([1.0, 1.0]))[0].value, [2.0, 2.0])


def test_a_long_chain_needs_no_recursion() -> None:
    x = tensor(0.5, requires_grad=True)
    h = x
    for _ in range(10 * sys.getrecursionlimit()):
        h = h * 1.0
    backward(h)
    assert x.grad.value == 1.0
