"""Patches as columns and back, power pooling, and linear algebra that does not raise."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine import Tensor
from gradcli.errors import ShapeError
from gradcli.ops.catalogue import FUNCTIONS as F

X = np.arange(2 * 2 * 4 * 3, dtype=float).reshape(2, 2, 4, 3)


def test_columns_hold_the_patches_row_by_row() -> None:
    out = F["nn.functional.unfold"](Tensor(X), (2, 2), stride=(2, 1)).value
    assert out.shape == (2, 8, 4)
    np.testing.assert_array_equal(out[0, :, 1], [1, 2, 4, 5, 13, 14, 16, 17])
    np.testing.assert_array_equal(out[1, :, 2], 24 + np.array([6, 7, 9, 10, 18, 19, 21, 22]))


def test_padding_and_dilation() -> None:
    out = F["nn.functional.unfold"](Tensor(X[0]), 2, dilation=2, padding=1).value
    assert out.shape == (8, 12)
    np.testing.assert_array_equal(out[:4, 0], [0, 0, 0, 4])


def test_folding_sums_what_overlaps() -> None:
    ones = F["nn.functional.unfold"](Tensor(np.ones((1, 1, 3, 3))), 2)
    np.testing.assert_array_equal(F["fold"](ones, (3, 3), 2).value[0, 0], [[1, 2, 1], [2, 4, 2], [1, 2, 1]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: F["nn.functional.unfold"](Tensor(X), 5), r"sliding blocks as \(0, -1\)"),
        (lambda: F["nn.functional.unfold"](Tensor(X), 2, stride=0), "stride should be greater than zero"),
        (lambda: F["fold"](Tensor(np.ones((1, 3, 4))), (3, 3), 2), "divisible by the product of kernel_size"),
        (lambda: F["fold"](Tensor(np.ones((1, 4, 5))), (3, 3), 2), "number of sliding blocks 4"),
    ],
)
def test_errors(call: object, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        call()  # type: ignore[operator]


def test_power_pooling_is_a_norm_of_each_window() -> None:
    x = np.array([[1.0, -2.0, 2.0, 0.5]])
    np.testing.assert_allclose(F["lp_pool1d"](Tensor(x), 2, 2).value, [[np.sqrt(5.0), np.sqrt(4.25)]])
    expected = [np.linalg.norm(X[0, 0, i : i + 2, :2].reshape(-1), 3) for i in (0, 2)]
    np.testing.assert_allclose(F["lp_pool2d"](Tensor(X), 3.0, 2).value[0, 0, :, 0], expected)


def test_failures_are_numbers() -> None:
    singular = Tensor(np.array([[1.0, 2.0], [2.0, 4.0]]))
    inverse, info = F["linalg.inv_ex"](singular)
    assert np.isnan(inverse.value).all()
    assert info.value == 2
    with pytest.raises(RuntimeError, match="singular"):
        F["linalg.inv_ex"](singular, check_errors=True)
    factor, info = F["linalg.cholesky_ex"](Tensor(np.eye(2) * 4), upper=True)
    np.testing.assert_array_equal(factor.value, np.eye(2) * 2)
    assert info.value == 0
