"""Elements in another order, repeated, or seen through windows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import MissingRuleError, RangeError, ShapeError
from gradcli.ops.axes import integer, many_dims, one_dim, raw, sizes
from gradcli.ops.budget import budget
from gradcli.ops.joining import sequence, stack
from gradcli.ops.masking import MaskedSelect
from gradcli.ops.operation import Operation, Structural, Value, View
from gradcli.ops.reduction import Sum
from gradcli.ops.scan import Flip
from gradcli.ops.scattering import IndexSelect
from gradcli.ops.shape import Clone, UnsafeView, ViewAs, expand, reshape, unsqueeze, view

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]


class Roll(Structural):
    """Elements moved by `shifts` along the axes `dims`, without any in row-major order of all; what leaves at the end enters in front.

    Shapes: any, kept.
    """

    row_major = True

    shifts: tuple[int, ...]
    dims: tuple[int, ...]

    def forward(self, x: Value) -> Value:
        return np.roll(x, self.shifts, self.dims) if self.dims else np.roll(x, self.shifts[0])

    def vjp_x(self, g: Value) -> Value:
        return Roll(shifts=tuple(-s for s in self.shifts), dims=self.dims)(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        (x,) = args
        return self.forward(x) if self.dims else np.roll(x.reshape(len(x), -1), self.shifts[0], -1).reshape(x.shape)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(shifts=(1,), dims=()), (rng.normal(size=(2, 3)),)
        yield cls(shifts=(1,), dims=(-1,)), (rng.normal(size=(2, 3)),)
        yield cls(shifts=(-1, 2), dims=(-2, -1)), (rng.normal(size=(2, 3)),)


class Rot90(Structural):
    """Turned `k` times by a right angle, from axis dims[0] towards dims[1]. (..., n, ..., m, ...) -> (..., m, ..., n, ...) for odd k."""

    row_major = True

    k: int
    dims: tuple[int, ...]

    def forward(self, x: Value) -> Value:
        return np.array(np.rot90(x, self.k, (self.dims[0], self.dims[1])))

    def vjp_x(self, g: Value) -> Value:
        return Rot90(k=-self.k, dims=self.dims)(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(k=1, dims=(-2, -1)), (rng.normal(size=(2, 3)),)
        yield cls(k=3, dims=(-1, -2)), (rng.normal(size=(2, 3)),)


class Repeat(Structural):
    """Whole copies side by side: `repeats` many along each axis, leading axes added. (n, m) -> (a * n, b * m)."""

    repeats: tuple[int, ...]

    def forward(self, x: Value) -> Value:
        return np.tile(x, self.repeats)

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        extra = len(self.repeats) - len(x_shape)
        shape = [n for r, s in zip(self.repeats, (*(1,) * extra, *x_shape), strict=True) for n in (r, s)]
        dims = tuple(range(-len(shape), 0, 2))
        return reshape(Sum(dim=dims)(reshape(g, shape)), x_shape)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        (x,) = args
        extra = len(self.repeats) - (x.ndim - 1)
        return np.tile(np.reshape(x, (len(x), *(1,) * extra, *x.shape[1:])), (1, *self.repeats))

    def size(self, *args: Value) -> int:
        return int(np.size(args[0])) * math.prod(self.repeats)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(repeats=(2,)), (rng.normal(size=(3,)),)
        yield cls(repeats=(2, 1, 3)), (rng.normal(size=(2, 3)),)


class Unfold(View):
    """Windows of `size` elements, `step` apart, of the axis `dim`, as a last axis: (..., n, ...) -> (..., k, ..., size)."""

    saves = "dimension=dim self_sym_sizes=x_shape size=width step"
    dim: int
    width: int
    step: int

    def forward(self, x: Value) -> Value:
        windows: Any = np.lib.stride_tricks.sliding_window_view(x, self.width, self.dim, writeable=x.flags.writeable)
        return windows[(..., slice(None, None, self.step), *(slice(None),) * -self.dim)]

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        return Gathering(op=self, shape=x_shape)(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1, width=2, step=1), (rng.normal(size=(2, 4)),)
        yield cls(dim=-2, width=2, step=2), (rng.normal(size=(4, 2)),)


class AsStrided(View):
    """A window of shape `shape` onto the memory of a contiguous x: element (i, j) is number offset + i * stride[0] + j * stride[1]."""

    saves = "size=shape storage_offset=offset stride"
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int = 0

    def forward(self, x: Value) -> Value:
        flat = np.reshape(x, -1)[self.offset :]
        strides = [s * flat.itemsize for s in self.stride]
        return np.lib.stride_tricks.as_strided(flat, self.shape, strides, subok=True)

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        return Gathering(op=self, shape=x_shape)(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(shape=(2, 2), stride=(1, 2), offset=1), (rng.normal(size=(2, 3)),)


class Gathering(Structural):
    """Zeros of `shape` to which g is added where the overlapping windows of the view `op` lie: the transpose of such a view."""

    node = "UnfoldBackwardBackward0"
    op: Operation
    shape: tuple[int, ...]

    def forward(self, g: Value) -> Value:
        out = np.zeros(math.prod(self.shape), g.dtype)
        places = self.op.forward(np.arange(out.size).reshape(self.shape))
        np.add.at(out, places, g)
        return out.reshape(self.shape)

    def vjp_g(self, g: Value) -> Value:
        return self.op(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(op=Unfold(dim=-1, width=2, step=1), shape=(2, 3)), (rng.normal(size=(2, 2, 2)),)


def flip(x: Value, *dims: Any) -> Any:
    """The order of elements reversed along axes; without any, along all (PyTorch asks for a list, and reverses nothing by an empty one)."""
    axes = sizes(dims) if dims and dims != (None,) else None
    return Flip(dims=() if axes == () else many_dims(axes, x.ndim))(x)


def fliplr(x: Value) -> Any:
    """The columns in reverse order."""
    if x.ndim < 2:
        raise ShapeError("Input must be >= 2-d.")
    return flip(x, 1)


def flipud(x: Value) -> Any:
    """The rows in reverse order."""
    if x.ndim < 1:
        raise ShapeError("Input must be >= 1-d.")
    return flip(x, 0)


def roll(x: Value, shifts: Any, dims: Any = None) -> Any:
    """Elements moved along axes, those that leave entering at the other end; without axes in row-major order of all."""
    moves = sizes((shifts,)) if isinstance(shifts, (tuple, list)) else (integer(shifts),)
    if dims is None or dims == ():
        return Roll(shifts=moves, dims=())(x)
    if not x.ndim:
        raise RangeError("Dimension specified as 0 but tensor has no dimensions")
    axes = tuple(one_dim(d, x.ndim) for d in (dims if isinstance(dims, (tuple, list)) else (dims,)))
    if len(moves) != len(axes):
        raise ShapeError(f"shifts and dimensions must align. shifts: {len(moves)}, dims:{len(axes)}")
    return Roll(shifts=moves, dims=axes)(x)


def rot90(x: Value, k: int = 1, dims: Any = (0, 1)) -> Any:
    """Turned by right angles in the plane of two axes."""
    if len(dims) != 2:
        raise ShapeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if x.ndim < 2:
        raise ShapeError(f"expected total dims >= 2, but got total dims = {x.ndim}")
    return Rot90(k=k, dims=many_dims(tuple(dims), x.ndim))(x)


def repeat(x: Value, *repeats: Any) -> Any:
    """Whole copies side by side, one count an axis."""
    counts = sizes(repeats)
    if len(counts) < x.ndim:
        raise ShapeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    return Repeat(repeats=counts)(x)


def tile(x: Value, *dims: Any) -> Any:
    """Whole copies side by side; axes not named are not repeated."""
    counts = sizes(dims)
    return Repeat(repeats=(1,) * (x.ndim - len(counts)) + counts)(x)


def repeat_interleave(x: Value, repeats: Any, dim: int | None = None, *, output_size: int | None = None) -> Any:
    """Each element (or part along an axis) `repeats` times in a row; one count for all, or one for each."""
    if dim is None:
        x, dim = reshape(x, -1), 0
    axis = one_dim(dim, x.ndim)
    counts = np.asarray(raw(repeats))
    if counts.ndim == 0 or counts.size == 1:
        times = int(counts.reshape(-1)[0])
        wide = expand(unsqueeze(x, x.ndim + axis + 1), [*x.shape[: x.ndim + axis + 1], times, *x.shape[x.ndim + axis + 1 :]])
        return ViewAs(shape=tuple(n * times if k - x.ndim == axis else n for k, n in enumerate(x.shape)))(Clone()(wide))
    if counts.size != x.shape[axis]:
        raise ShapeError("repeats must have the same size as input along dim")
    if counts.min() < 0:
        raise ShapeError("repeats can not be negative")
    budget.elements(sum(counts.tolist()) * (math.prod(x.shape) // max(counts.size, 1)))
    return IndexSelect(dim=axis)(x, np.repeat(np.arange(counts.size), counts))


def unfold(x: Value, dimension: int, size: int, step: int) -> Any:
    """Windows of an axis as a last axis, a view."""
    axis = one_dim(dimension, x.ndim)
    if size > x.shape[axis]:
        raise ShapeError(f"maximum size for tensor at dimension {axis + x.ndim} is {x.shape[axis]} but size is {size}")
    if step <= 0:
        raise ShapeError(f"step is {step} but must be > 0")
    return Unfold(dim=axis, width=size, step=step)(x)


def as_strided(x: Value, size: Any, stride: Any, storage_offset: int | None = None) -> Any:
    """A window onto the memory of x by sizes and strides counted in elements."""
    shape, steps = sizes((size,)), sizes((stride,))
    if len(shape) != len(steps):
        raise ShapeError("mismatch in length of strides and shape")
    told = {"storage_offset": storage_offset}
    storage_offset = storage_offset or 0
    reach = storage_offset + sum((n - 1) * s for n, s in zip(shape, steps, strict=True)) + 1 if math.prod(shape) else 0
    if reach > math.prod(x.shape) or min((*steps, storage_offset)) < 0:
        raise ShapeError(
            f"setStorage: sizes {list(shape)}, strides {list(steps)}, storage offset {storage_offset} are out of bounds "
            f"for storage of {math.prod(x.shape)} elements"
        )
    value = raw(x)
    base = x if not isinstance(value, np.ndarray) or value.flags.c_contiguous else Clone()(x)
    return AsStrided(shape=shape, stride=steps, offset=storage_offset).telling(**told)(base)


def broadcast_tensors(*tensors: Any) -> tuple[Any, ...]:
    """All tensors expanded to their common shape."""
    try:
        shape = np.broadcast_shapes(*[x.shape for x in tensors])
    except ValueError:
        raise ShapeError(f"shapes {', '.join(str(list(x.shape)) for x in tensors)} do not broadcast") from None
    return tuple(x if x.shape == shape else expand(x, shape) for x in tensors)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Any, ...]:
    """The coordinates of a grid: of vectors of lengths n and m two (n, m) tensors; "xy" swaps the first two axes."""
    items = sequence("meshgrid", list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)) else list(tensors))
    if indexing not in ("ij", "xy"):
        raise ShapeError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    if any(x.ndim > 1 for x in items):
        wrong = next(x for x in items if x.ndim > 1)
        raise ShapeError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {list(wrong.shape)}")
    swap = indexing == "xy" and len(items) > 1
    if swap:
        items[:2] = items[1::-1]
    shape = tuple(math.prod(x.shape) for x in items)
    grids = [expand(view(x, [n if j == k else 1 for j, n in enumerate(shape)]), shape) for k, x in enumerate(items)]
    if swap:
        grids[:2] = grids[1::-1]
    return tuple(grids)


def cartesian_prod(*tensors: Any) -> Any:
    """All choices of one element from each vector, as rows: (n,), (m,) -> (n * m, 2)."""
    if any(x.ndim != 1 for x in tensors):
        raise ShapeError("Expect a 1D vector")
    if len(tensors) == 1:
        return tensors[0]
    budget.elements(math.prod(x.shape[0] for x in tensors) * len(tensors))
    return stack([UnsafeView(shape=(math.prod(g.shape),))(Clone()(g)) for g in meshgrid(*tensors)], 1)


MOST_AXES = 32
"""Axes that numpy's arrays can have, of those that a grid of combinations takes."""


def combinations(x: Value, r: int = 2, with_replacement: bool = False) -> Any:
    """All choices of r elements of a vector in their order, as rows."""
    if x.ndim != 1:
        raise ShapeError(f"Expect a 1D vector, but got shape {list(x.shape)}")
    if r < 0:
        raise ShapeError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return x[:0]
    budget.elements(x.shape[0] ** min(r, 10) * r)
    if r > MOST_AXES:
        raise MissingRuleError(f"combinations(): r must be at most {MOST_AXES}", hint="write the combinations that you mean")
    places = np.indices((x.shape[0],) * r)
    later = np.greater_equal if with_replacement else np.greater
    mask = np.all([later(b, a) for a, b in itertools.pairwise(places)], axis=0) if r > 1 else np.ones(x.shape, dtype=bool)
    return stack([MaskedSelect()(grid, mask) for grid in meshgrid(*[x] * r)], 1)


OPERATIONS = (Roll, Rot90, Repeat, Unfold, AsStrided, Gathering)
FUNCTIONS = (
    flip, fliplr, flipud, roll, rot90, repeat, tile, repeat_interleave, unfold, as_strided, broadcast_tensors, meshgrid, cartesian_prod,
    combinations,
)  # fmt: skip
