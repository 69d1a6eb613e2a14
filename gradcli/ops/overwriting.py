"""A tensor with one of its windows replaced, as a new tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import DataError, RangeError, ShapeError
from gradcli.ops.axes import one_dim, written
from gradcli.ops.diagonal import Diagonal, two_dims
from gradcli.ops.indexing import Select, Slice
from gradcli.ops.operation import Operation, Value
from gradcli.ops.window import WriteWindow


class Overwriting(WriteWindow, abstract=True):
    """x with y in the place of what one view shows; what the view knows, the node knows."""

    dim = property(lambda self: self.chain[0].dim)
    index = property(lambda self: self.chain[0].index)
    start = property(lambda self: self.chain[0].start)
    end = property(lambda self: self.chain[0].stop)
    step = property(lambda self: self.chain[0].step)
    dim1 = property(lambda self: self.chain[0].dim1)
    dim2 = property(lambda self: self.chain[0].dim2)
    offset = property(lambda self: self.chain[0].offset)

    def vjp_x(self, g: Value) -> Value:
        return type(self)(chain=self.chain)(g, 0.0)

    def vjp_y(self, g: Value) -> Value:  # type: ignore[override]
        return self.chain[0](g)


class SelectScatter(Overwriting):
    """x with y in place of its part at one index of an axis. Shapes: that of x; y without the axis."""

    saves = "dim index"
    node = "SelectScatterBackward0"


class SliceScatter(Overwriting):
    """x with y in place of a slice of an axis. Shapes: that of x; y that of the slice."""

    saves = "dim end start step"
    node = "SliceScatterBackward0"


class DiagonalScatter(Overwriting):
    """x with y in place of a diagonal. Shapes: that of x; y that of the diagonal."""

    saves = "dim1 dim2 offset"
    node = "DiagonalScatterBackward0"


def select_scatter(x: Value, src: Value, dim: int, index: int) -> Any:
    """x with src in place of its part at one index of an axis."""
    axis = one_dim(dim, x.ndim)
    size = x.shape[axis]
    if not -size <= index < size:
        raise RangeError(f"index {index} is out of bounds for dimension {axis + x.ndim} with size {size}")
    rest = tuple(n for k, n in enumerate(x.shape) if k - x.ndim != axis)
    return overwritten(SelectScatter, x, src, Select(dim=axis, index=written(index % size, index)), rest)


def slice_scatter(x: Value, src: Value, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    """x with src in place of a slice of an axis."""
    axis = one_dim(dim, x.ndim)
    if step <= 0:
        raise DataError("slice step must be positive")
    first, last, _ = slice(start, end, step).indices(x.shape[axis])
    op = Slice(dim=axis, start=first, stop=max(first, last), step=step)
    return overwritten(SliceScatter, x, src, op, np.shape(op.forward(np.broadcast_to(0.0, x.shape))))


def diagonal_scatter(x: Value, src: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """x with src in place of a diagonal of two axes."""
    first, second = two_dims(x, dim1, dim2)
    op = Diagonal(offset=offset, dim1=first, dim2=second)
    return overwritten(DiagonalScatter, x, src, op, np.shape(op.forward(np.broadcast_to(0.0, x.shape))))


def overwritten(cls: type[WriteWindow], x: Any, src: Any, op: Operation, shape: tuple[int, ...]) -> Any:
    if tuple(src.shape) != tuple(shape):
        raise ShapeError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = {list(shape)}"
        )
    return cls(chain=(op,))(x, src)


OPERATIONS = (SelectScatter, SliceScatter, DiagonalScatter)
FUNCTIONS = (select_scatter, slice_scatter, diagonal_scatter)
