"""x[index] = value: histories of what was written to, and conversion to numbers."""

import numpy as np
import pytest

from gradcli.engine import Tensor, grad
from gradcli.engine.tensor import tensor


def written(index, value) -> tuple[Tensor, Tensor]:
    """A leaf of ones, and twice it with `value` written at `index`."""
    x = tensor(np.ones((2, 3)), requires_grad=True)
    h = x * 2.0
    h[index] = value
    return x, h


@pytest.mark.parametrize(
    ("index", "node"),
    [
        (0, "CopySlices"), ((0, 1), "CopySlices"), (slice(0, 1), "CopySlices"), (slice(None), "FillBackward3"), (Ellipsis, "FillBackward3"),
        ([0], "IndexPutBackward0"), (np.array([[True, False, True], [False, False, True]]), "IndexPutBackward0"), ((0, [1]), "CopySlices"),
    ],
    ids=str,
)  # fmt: skip
def test_a_written_number_cuts_the_gradient_where_it_stands(index, node) -> None:
    x, h = written(index, 5.0)
    assert h.grad_fn.name == node
    expected = np.full((2, 3), 2.0)
    expected[index] = 0.0
    np.testing.assert_array_equal(grad(h, x, Tensor(np.ones((2, 3))))[0].value, expected)
    assert h.version.count == 1


def test_a_written_tensor_gets_the_gradient_of_its_place() -> None:
    row = tensor([1.0, 2.0, 3.0], requires_grad=True)
    for index, factor in ((0, 1.0), (slice(None), 2.0), ([1, 0], 2.0)):
        _, h = written(index, row)
        np.testing.assert_array_equal(grad(h, row, Tensor(np.ones((2, 3))))[0].value, [factor] * 3)


def test_a_full_slice_takes_a_tensor_as_copy() -> None:
    assert written(slice(None), tensor(np.zeros((2, 3))))[1].grad_fn.name == "CopyBackwards"


@pytest.mark.parametrize(
    ("index", "value", "error", "text"),
    [
        (0, tensor([1.0, 2.0]), RuntimeError, r"The expanded size of the tensor \(3\) must match the existing size \(2\)"),
        ([0], tensor([1.0, 2.0]), RuntimeError, r"value tensor of shape \[2\] cannot be broadcast to indexing result of shape \[1, 3\]"),
        ([0], tensor([1, 2, 3]), RuntimeError, "source and destination dtypes match, got Double for the destination and Long"),
        (0, [1.0, 2.0, 3.0], TypeError, "can't assign a list to a torch.DoubleTensor"),
        (7, 1.0, IndexError, "index 7 is out of bounds"),
    ],
)
def test_what_cannot_be_written_is_refused(index, value, error, text) -> None:
    with pytest.raises(error, match=text):
        written(index, value)


def test_a_leaf_that_asks_is_not_written_to() -> None:
    x = tensor(np.ones(3), requires_grad=True)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x[0] = 1.0


def test_one_element_is_a_number() -> None:
    assert (float(tensor([2.5])), int(tensor(3.9)), tensor([[4.0]]).item(), [5, 6, 7][tensor(1)]) == (2.5, 3, 4.0, 6)
    assert tensor([[1, 2]]).tolist() == [[1, 2]]
    with pytest.raises(RuntimeError, match="a Tensor with 2 elements cannot be converted to Scalar"):
        tensor([1.0, 2.0]).item()
    with pytest.raises(TypeError, match="only integer tensors of a single element"):
        [5][tensor(0.0)]


def test_iterating_gives_rows_of_one_node() -> None:
    rows = list(tensor(np.ones((2, 3)), requires_grad=True))
    assert {row.grad_fn.name for row in rows} == {"UnbindBackward0"}
    assert [row.output_nr for row in rows] == [0, 1]
