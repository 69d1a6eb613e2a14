"""Joining and taking apart."""

import numpy as np
import pytest

from gradcli.engine import Tensor, grad
from gradcli.ops import joining, splitting
from gradcli.ops.rearrange import cartesian_prod, combinations


def test_a_join_hands_each_part_its_gradient() -> None:
    x, y = Tensor(np.ones((2, 1)), True), Tensor(np.ones((2, 2)), True)
    gx, gy = grad(joining.cat([x, y], 1), [x, y], Tensor(np.arange(6.0).reshape(2, 3)))
    np.testing.assert_array_equal(gx.value, [[0.0], [3.0]])
    np.testing.assert_array_equal(gy.value, [[1.0, 2.0], [4.0, 5.0]])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x, v: joining.cat([x, v]), RuntimeError, "same number of dimensions: got 2 and 1"),
        (lambda x, v: joining.cat([x, x[:, :2]]), RuntimeError, "Expected size 3 but got size 2 for tensor number 1 in the list"),
        (lambda x, v: joining.cat([x[0, 0], v]), RuntimeError, r"zero-dimensional tensor \(at position 0\) cannot be concatenated"),
        (lambda x, v: joining.cat([]), ValueError, "non-empty list of Tensors"),
        (lambda x, v: joining.cat(x), TypeError, "must be tuple of Tensors, not Tensor"),
        (lambda x, v: joining.stack([v, 2.0]), TypeError, "expected Tensor as element 1 in argument 0, but got float"),
        (lambda x, v: joining.stack([x, v]), RuntimeError, r"\[2, 3\] at entry 0 and \[3\] at entry 1"),
    ],
)
def test_what_does_not_fit_is_refused(call, error, text) -> None:
    x = Tensor(np.zeros((2, 3)))
    with pytest.raises(error, match=text):
        call(x, x[0])


def test_parts_cover_an_axis() -> None:
    x = Tensor(np.arange(7.0))
    assert [p.size_ for p in splitting.chunk(x, 3)] == [3, 3, 1]
    assert [p.size_ for p in splitting.tensor_split(x, 3)] == [3, 2, 2]
    assert [p.size_ for p in splitting.tensor_split(x, (1, 3))] == [1, 2, 4]
    assert [p.size_ for p in splitting.split(x, [5, 2])] == [5, 2]


def test_choices_as_rows() -> None:
    v = Tensor(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(combinations(v).value, [[1, 2], [1, 3], [2, 3]])
    np.testing.assert_array_equal(cartesian_prod(v, v[:2]).value, [[1, 1], [1, 2], [2, 1], [2, 2], [3, 1], [3, 2]])
    np.testing.assert_array_equal(joining.block_diag(v[:1], v[1]).value, [[1, 0], [0, 2]])
