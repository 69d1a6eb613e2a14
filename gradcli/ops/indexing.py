"""Indexing: x[...] as the chain of views and selections that PyTorch makes of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradcli.errors import ArgumentError, DataError, RangeError, ShapeError
from gradcli.ops.axes import integer, one_dim, raw, written
from gradcli.ops.operation import Operation, Structural, Value, View
from gradcli.ops.picking import Index, stack_indices
from gradcli.ops.shape import Alias, Unsqueeze

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]

ENDLESS = 2**63 - 1
"""What PyTorch takes for the end that a slice leaves out."""


class Embed(Structural):
    """Zeros of `shape` in which the window that `op` shows holds g: the transpose of a view."""

    op: Operation
    shape: tuple[int, ...]

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.node = f"{type(self.op).__name__}BackwardBackward0"

    def forward(self, g: Value) -> Value:
        out = np.zeros(self.shape, g.dtype)
        self.op.forward(out)[...] = g
        return out

    def vjp_g(self, g: Value) -> Value:
        return self.op(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        (g,) = args
        out = np.zeros((len(g), *self.shape), g.dtype)
        self.op.batch([out], [True])[...] = g
        return out

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(op=Select(dim=-1, index=1), shape=(2, 3)), (rng.normal(size=(2,)),)


class Select(View):
    """The elements at `index` of the axis `dim`, which goes: x[:, index]. (..., n, ...) -> (..., ...)."""

    dim: int
    index: int

    def forward(self, x: Value) -> Value:
        return x[(..., self.index, *(slice(None),) * (-1 - self.dim))]

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        return Embed(op=self, shape=x_shape)(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1, index=1), (rng.normal(size=(2, 3)),)
        yield cls(dim=-2, index=0), (rng.normal(size=(2, 3)),)


class Slice(View):
    """The elements start, start + step, ... before `stop` of the axis `dim`: x[:, start:stop:step]. (..., n, ...) -> (..., m, ...)."""

    saves = "dim end=stop self_sym_sizes=x_shape start step"
    dim: int
    start: int
    stop: int
    step: int = 1

    def forward(self, x: Value) -> Value:
        return x[(..., slice(self.start, self.stop, self.step), *(slice(None),) * (-1 - self.dim))]

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        return Embed(op=self, shape=x_shape)(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1, start=0, stop=3, step=2), (rng.normal(size=(2, 4)),)
        yield cls(dim=-2, start=1, stop=2, step=1), (rng.normal(size=(2, 3)),)


class Route(NamedTuple):
    """What an index does: `view` of x as far as views go, then arrays of `indices` at some of its `axes` (none: views alone)."""

    view: Any
    axes: tuple[int, ...]
    indices: Any


def route(x: Any, index: Any, *, alone: bool = True) -> Route:
    """Follow an index from axis to axis. `alone`: a full slice given as the whole index still makes a view.

    Raises IndexError, TypeError or ValueError with PyTorch's texts.
    """
    items = list(index) if isinstance(index, tuple) or _several(index) else [index]
    consumed = sum(_axes_of(item) for item in items)
    if consumed > x.ndim:
        if x.ndim == 0:
            raise RangeError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ "
                "to convert a 0-dim tensor to a number"
            )
        raise RangeError(f"too many indices for tensor of dimension {x.ndim}")
    single = alone and len(items) == 1
    axis = 0
    arrays: dict[int, Any] = {}
    for position, item in enumerate(items):
        if item is Ellipsis:
            axis += x.ndim - axis - sum(_axes_of(later) for later in items[position + 1 :])
        elif item is None:
            x = Unsqueeze(dim=written(axis - x.ndim - 1, axis))(x)
            axis += 1
        elif isinstance(item, slice):
            x = _sliced(x, axis, item, single)
            axis += 1
        elif _is_int(item):
            x = _selected(x, axis, integer(item))
        else:
            item = np.asarray(item) if isinstance(item, (bool, np.bool_)) else _array(item)
            if item.ndim == 0:
                x = Unsqueeze(dim=axis - x.ndim - 1)(x)
                item = np.reshape(raw(item), (1,))
            arrays[axis] = item
            axis += raw(item).ndim if raw(item).dtype.kind == "b" else 1
    if not arrays:
        return Route(x, (), None)
    _check_arrays(x, arrays)
    if len(arrays) == 1:
        return Route(x, tuple(a - x.ndim for a in arrays), *arrays.values())
    axes, stacked = stack_indices(arrays)
    return Route(x, tuple(a - x.ndim for a in axes), stacked)


def _several(index: Any) -> bool:
    """A list that holds more than numbers counts as a tuple: x[[[0, 1], [2, 3]]] is x[[0, 1], [2, 3]]."""
    return isinstance(index, list) and any(
        item is None or item is Ellipsis or isinstance(item, (list, tuple, slice)) or hasattr(item, "dtype") for item in index
    )


def _is_int(item: Any) -> bool:
    if isinstance(item, (bool, np.bool_)):
        return False
    return isinstance(item, (int, np.integer)) or (hasattr(item, "dtype") and item.ndim == 0 and item.dtype.kind in "iu")


def _axes_of(item: Any) -> int:
    """How many axes of the tensor an item speaks of."""
    if item is None or item is Ellipsis or isinstance(item, (bool, np.bool_)):
        return 0
    value = raw(item)
    if hasattr(value, "dtype"):
        return int(value.ndim) if value.dtype.kind == "b" else 1
    if isinstance(item, (list, range)):
        return int(_array(item).ndim) if _array(item).dtype.kind == "b" else 1
    return 1


def _array(item: Any) -> Any:
    """An array of indices or a mask, from a tensor or nested lists."""
    if isinstance(item, (list, tuple, range)):
        item = np.array(_plain(item))
        if item.size == 0:
            item = item.astype(np.int64)
    if isinstance(item, str):
        raise ArgumentError("new(): invalid data type 'str'", hint="index with integers, slices, masks, None or ...")
    if not hasattr(item, "dtype"):
        raise RangeError(
            f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {type(item).__name__})"
        )
    if raw(item).dtype.kind not in "biu":
        raise RangeError("tensors used as indices must be long, int, byte or bool tensors")
    return item


def _plain(item: Any) -> Any:
    return [_plain(part) for part in item] if isinstance(item, (list, tuple, range)) else raw(item)


def _sliced(x: Any, axis: int, item: slice, single: bool) -> Any:
    if item.step is not None and integer(item.step) <= 0:
        raise DataError("step must be greater than zero", hint="reverse with x.flip(0)")
    size = x.shape[axis]
    start, stop, step = slice(*(None if v is None else integer(v) for v in (item.start, item.stop, item.step))).indices(size)
    if (start, stop, step) == (0, size, 1) and not single:
        return x
    first, last = (end if given is None else integer(given) for given, end in ((item.start, 0), (item.stop, ENDLESS)))
    return Slice(dim=written(axis - x.ndim, axis), start=written(start, first), stop=written(max(start, stop), last), step=step)(x)


def _check_arrays(x: Any, arrays: dict[int, Any]) -> None:
    """PyTorch's errors for masks of another shape and indices out of range or of shapes that do not broadcast."""
    shapes = []
    for axis, item in arrays.items():
        value = raw(item)
        if value.dtype.kind == "b":
            for k, n in enumerate(value.shape):
                if x.shape[axis + k] != n:
                    raise RangeError(
                        f"The shape of the mask {list(value.shape)} at index {k} does not match "
                        f"the shape of the indexed tensor {list(x.shape)} at index {axis + k}"
                    )
            shapes.append((int(np.count_nonzero(value)),))
            continue
        shapes.append(value.shape)
        size = x.shape[axis]
        wrong = value[(value < -size) | (value >= size)] if value.size else value
        if wrong.size:
            raise RangeError(f"index {int(wrong.flat[0])} is out of bounds for dimension {axis} with size {size}")
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        texts = ", ".join(str(list(s)) for s in shapes)
        raise RangeError(f"shape mismatch: indexing tensors could not be broadcast together with shapes {texts}") from None


def getitem(x: Any, index: Any) -> Any:
    """x[index], with PyTorch's chain of views; arrays of indices and masks copy."""
    view, axes, indices = route(x, index)
    if axes:
        return Index(axes=axes)(view, indices)
    return Alias()(x) if view is x else view


def select(x: Value, dim: int, index: int) -> Any:
    """The elements at one index of an axis, which goes. IndexError out of range."""
    axis = one_dim(dim, x.ndim)
    if x.ndim == 0:
        raise RangeError("select() cannot be applied to a 0-dim tensor.")
    if not -x.shape[axis] <= index < x.shape[axis]:
        raise RangeError(f"select(): index {index} out of range for tensor of size {list(x.shape)} at dimension {axis + x.ndim}")
    return Select(dim=axis, index=written(index + x.shape[axis], index) if index < 0 else index)(x)


def _selected(x: Any, axis: int, index: int) -> Any:
    size = x.shape[axis]
    if not -size <= index < size:
        raise RangeError(f"index {index} is out of bounds for dimension {axis} with size {size}")
    return Select(dim=written(axis - x.ndim, axis), index=written(index + size, index) if index < 0 else index)(x)


def narrow(x: Value, dim: int, start: Any, length: int) -> Any:
    """`length` elements of an axis from `start` on."""
    axis = one_dim(dim, x.ndim)
    size = x.shape[axis]
    first = integer(start)
    first = first + size if first < 0 else first
    if length < 0 or not 0 <= first <= size or first + length > size:
        if length < 0:
            raise ShapeError("narrow(): length must be non-negative.")
        raise ShapeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return Slice(dim=axis, start=first, stop=first + length, step=1)(x)


OPERATIONS = (Embed, Select, Slice)
FUNCTIONS = (select, narrow)
