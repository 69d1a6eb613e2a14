"""Shapes: windows onto the same memory, their nodes, and what is refused."""

import numpy as np
import pytest

from gradcli.engine import Tensor, grad
from gradcli.errors import RangeError, ShapeError
from gradcli.ops import rearrange, shape, splitting, transposition
from gradcli.ops.diagonal import diag, diagonal, trace, tril
from gradcli.ops.padding import pad


def leaf(*sizes: int) -> Tensor:
    return Tensor(np.arange(float(np.prod(sizes))).reshape(sizes), True)


def names(tensor: Tensor) -> list[str]:
    """The nodes from a result to its first leaf."""
    found, node = [], tensor.grad_fn
    while node is not None:
        found.append(node.name.removesuffix("Backward0"))
        node = next((n for n, _ in node.next_functions if n is not None), None)
    return found[:-1]


@pytest.mark.parametrize(
    ("result", "chain"),
    [
        (lambda x: shape.reshape(x, 3, 2), ["View"]),
        (lambda x: shape.reshape(transposition.t(x), -1), ["UnsafeView", "Clone", "T"]),
        (lambda x: shape.flatten(x), ["View"]),
        (lambda x: transposition.reverse_axes(x), ["Permute"]),
        (lambda x: transposition.matrix_transpose(x), ["Transpose"]),
        (lambda x: shape.squeeze(shape.unsqueeze(x, 0)), ["Squeeze", "Unsqueeze"]),
        (lambda x: shape.squeeze(shape.unsqueeze(x, 0), 0), ["SqueezeBackward1", "Unsqueeze"]),
        (lambda x: transposition.movedim(x, 0, 1), ["Permute"]),
        (lambda x: splitting.split(x, 1)[1], ["Split"]),
        (lambda x: splitting.tensor_split(x, 2)[1], ["Slice"]),
        (lambda x: rearrange.repeat_interleave(x, 2, 0), ["View", "Clone", "Expand", "Unsqueeze"]),
        (lambda x: diag(x), ["DiagonalBackward0_copy"]),
    ],
)
def test_results_have_the_nodes_of_pytorch(result, chain) -> None:
    assert names(result(leaf(2, 3))) == chain


@pytest.mark.parametrize(
    "window",
    [
        lambda x: shape.view(x, 6), transposition.t, lambda x: transposition.permute(x, 1, 0), lambda x: shape.unsqueeze(x, 0),
        lambda x: diagonal(x), lambda x: splitting.unbind(x)[1], lambda x: rearrange.unfold(x, 1, 2, 1), lambda x: shape.expand(x, 4, 2, 3),
        lambda x: rearrange.as_strided(x, (2, 2), (1, 2)),
    ],
)  # fmt: skip
def test_views_share_memory(window) -> None:
    x = Tensor(np.arange(6.0).reshape(2, 3))
    shown = window(x)
    assert np.shares_memory(shown.value, x.value)
    assert shown.version is x.version


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: shape.reshape(x, 4), r"shape '\[4\]' is invalid for input of size 6"),
        (lambda x: shape.reshape(x, -1, -1), "only one dimension can be inferred"),
        (lambda x: shape.view(transposition.t(x), 6), r"Use .reshape\(...\) instead"),
        (lambda x: shape.expand(x, 4, 3), r"The expanded size of the tensor \(4\) must match the existing size \(2\)"),
        (lambda x: transposition.permute(x, 0, 0), "duplicate dims"),
        (lambda x: splitting.split(x, [1, 1], 1), r"sum exactly to 3 \(input tensor's size at dimension 1\)"),
        (lambda x: transposition.t(shape.unsqueeze(x, 0)), "t\\(\\) expects a tensor with <= 2 dimensions, but self is 3D"),
        (lambda x: trace(shape.flatten(x)), "expected a matrix, but got tensor with dim 1"),
        (lambda x: pad(x, (1,)), "Padding length must be divisible by 2"),
        (lambda x: tril(shape.flatten(x)), "at least 2 dimensions"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(call, text) -> None:
    with pytest.raises(ShapeError, match=text):
        call(leaf(2, 3))


def test_an_axis_out_of_range_names_the_range() -> None:
    with pytest.raises(RangeError, match=r"expected to be in range of \[-2, 1\], but got 2"):
        transposition.transpose(leaf(2, 3), 0, 2)


def test_overlapping_windows_add_their_gradients() -> None:
    x = leaf(4)
    (g,) = grad(rearrange.unfold(x, 0, 2, 1), x, Tensor(np.ones((3, 2))))
    np.testing.assert_array_equal(g.value, [1.0, 2.0, 2.0, 1.0])


@pytest.mark.parametrize(
    ("mode", "row"),
    [
        ("constant", [0, 0, 1, 2, 3, 0]),
        ("reflect", [3, 2, 1, 2, 3, 2]),
        ("replicate", [1, 1, 1, 2, 3, 3]),
        ("circular", [2, 3, 1, 2, 3, 1]),
    ],
)
def test_padding_continues_an_axis(mode, row) -> None:
    np.testing.assert_array_equal(pad(np.array([1.0, 2.0, 3.0]), (2, 1), mode), row)


def test_a_grid_in_both_orders_of_axes() -> None:
    x, y = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0])
    for indexing in ("ij", "xy"):
        for got, want in zip(rearrange.meshgrid(x, y, indexing=indexing), np.meshgrid(x, y, indexing=indexing), strict=True):
            np.testing.assert_array_equal(got, want)
