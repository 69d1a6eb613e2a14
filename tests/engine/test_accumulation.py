"""Gradients that add up never write into memory that is not their own."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine import Tensor, backward
from gradcli.ops.catalogue import FUNCTIONS as F


@pytest.mark.parametrize("name", ["add", "flip", "clone", "identity"])
def test_a_given_gradient_stays_as_it_is(name: str) -> None:
    x = Tensor(np.arange(3.0), True)
    makers = {"add": lambda: x + 0.0, "flip": lambda: F["flip"](x, [0]), "clone": lambda: F["clone"](x), "identity": lambda: x}
    given = Tensor(np.array([1.0, 2.0, 4.0]))
    for _ in range(3):
        backward(makers[name](), given)
    np.testing.assert_array_equal(given.value, [1.0, 2.0, 4.0])
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.value, 3 * given.value[:: -1 if name == "flip" else 1])


def test_two_leaves_of_one_sum_own_their_gradients() -> None:
    x, y = Tensor(np.ones(3), True), Tensor(np.ones(3), True)
    for _ in range(2):
        backward(F["sum"](x + y + x))
    assert x.grad is not None
    assert y.grad is not None
    np.testing.assert_array_equal(x.grad.value, [4.0] * 3)
    np.testing.assert_array_equal(y.grad.value, [2.0] * 3)
    assert not np.shares_memory(x.grad.value, y.grad.value)


def test_a_flipped_tensor_is_a_copy() -> None:
    x = Tensor(np.arange(3.0))
    F["flip"](x, [0]).value[...] = 7.0
    np.testing.assert_array_equal(x.value, [0.0, 1.0, 2.0])
