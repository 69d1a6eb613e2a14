"""Indexing: x[...] as the chain of views and selections that PyTorch makes of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradcli.errors import ArgumentError, DataError, RangeError, ShapeError
from gradcli.ops.axes import integer, one_dim, raw
from gradcli.ops.operation import Operation, Structural, Value, View
from gradcli.ops.shape import Alias, Unsqueeze
from gradcli.ops.structure import SumTo

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]


class Embed(Structural):
    """Zeros of `shape` in which the window that `op` shows holds g: the transpose of a view."""

    node = "SelectBackward0"
    op: Operation
    shape: tuple[int, ...]

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
    """The elements at `index` of the axis `dim`, which goes: x[:, index]."""

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
    """The elements start, start + step, ... before `stop` of the axis `dim`: x[:, start:stop:step]."""

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


class Gathered(Operation, abstract=True):
    """Base of what takes `indices`: one array for the one axis in `axes` (a boolean mask serves as many axes as it has),
    or for several axes (counted from the end) integer arrays of one shape, stacked.

    The indexed axes are replaced, where the first of them was, by the axes of the arrays; where other axes lie
    between the indexed ones, in front of all.
    """

    axes: tuple[int, ...]

    def places(self, ndim: int, indices: Value) -> tuple[Any, ...]:
        """NumPy's index for an array of `ndim` axes."""
        index: list[Any] = [slice(None)] * (ndim + self.axes[0])
        if len(self.axes) == 1:
            return (*index, indices)
        at = self.axes[0]
        for axis, array in zip(self.axes, indices):
            index += [slice(None)] * (axis - at)
            index.append(array)
            at = axis + 1
        return tuple(index)

    def front(self, value: Value, indices: Value) -> Value:
        """A leading batch axis that NumPy has put behind the axes of the indices, brought to the front."""
        return np.moveaxis(value, np.ndim(indices) - 1, 0) if self.split else value

    def behind(self, value: Value, indices: Value) -> Value:
        """The opposite of `front`."""
        return np.moveaxis(value, 0, np.ndim(indices) - 1) if self.split else value

    @property
    def split(self) -> bool:
        """Whether other axes lie between the indexed ones."""
        return any(b - a > 1 for a, b in zip(self.axes, self.axes[1:]))


class Index(Gathered):
    """The elements at arrays of indices: x[i, j]. Repeated indices add their gradients."""

    def forward(self, x: Value, indices: Value) -> Value:
        return x[self.places(x.ndim, indices)]

    def size(self, *args: Value) -> int:
        x, indices = args
        if indices.dtype.kind == "b":
            return 0
        rest = math.prod(n for k, n in enumerate(x.shape) if k - x.ndim not in self.axes)
        return int(indices.size // len(self.axes) * rest)

    def vjp_x(self, g: Value, indices: Value, x_shape: tuple[int, ...]) -> Value:
        return Unindex(axes=self.axes, shape=x_shape)(g, indices)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        x, indices = args
        return self.front(x[self.places(x.ndim, indices)], indices)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(axes=(-2,)), (rng.normal(size=(3, 2)), np.array([0, 2, 0]))
        yield cls(axes=(-2, -1)), (rng.normal(size=(3, 2)), np.array([[[0, 2, 0], [0, 2, 0]], [[1, 1, 1], [0, 0, 0]]]))
        yield cls(axes=(-3, -1)), (rng.normal(size=(3, 2, 2)), np.array([[0, 2, 0], [1, 1, 0]]))
        yield cls(axes=(-2,)), (rng.normal(size=(3, 2)), np.array([[True, False], [True, True], [False, True]]))


class Unindex(Gathered):
    """Zeros of `shape` to which g is added at arrays of indices: the transpose of indexing."""

    node = "IndexPutBackward0"
    shape: tuple[int, ...]

    def forward(self, g: Value, indices: Value) -> Value:
        out = np.zeros(self.shape, g.dtype)
        if indices.dtype.kind == "b":
            out[self.places(out.ndim, indices)] = g
        else:
            np.add.at(out, self.places(out.ndim, indices), g)
        return out

    def vjp_g(self, g: Value, indices: Value) -> Value:
        return Index(axes=self.axes)(g, indices)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        g, indices = args
        wide = Unindex(axes=self.axes, shape=(len(g), *self.shape))
        return wide.forward(self.behind(g, indices), indices)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(axes=(-2,), shape=(3, 2)), (rng.normal(size=(3, 2)), np.array([0, 2, 0]))
        yield cls(axes=(-3, -1), shape=(3, 2, 2)), (rng.normal(size=(3, 2)), np.array([[0, 2, 0], [1, 1, 0]]))


class IndexPut(Gathered):
    """x with y at arrays of indices: x[i] = y; with `accumulate` y is added to what is there.

    Where indices repeat without `accumulate` the last one wins; as in PyTorch each of them still gets a gradient.
    """

    analytic = False
    accumulate: bool = False

    def forward(self, x: Value, y: Value, indices: Value) -> Value:
        out = np.array(x, dtype=np.result_type(x, y) if np.asarray(y).dtype.kind == "O" else None, subok=True)
        return self.write(out, y, indices)

    def write(self, out: Value, y: Value, indices: Value) -> Value:
        places = self.places(out.ndim, indices)
        if self.accumulate:
            np.add.at(out, places, y)
        else:
            out[places] = y
        return out

    def vjp_x(self, g: Value, indices: Value) -> Value:
        return g if self.accumulate else IndexPut(axes=self.axes)(g, 0.0, indices)

    def vjp_y(self, g: Value, indices: Value, y_shape: tuple[int, ...]) -> Value:
        return SumTo(shape=y_shape)(Index(axes=self.axes)(g, indices))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        x, y, indices = args
        rows = len(x) if lead[0] else len(y)
        out = np.array(x if lead[0] else np.broadcast_to(x, (rows, *np.shape(x))), dtype=np.result_type(x, y))
        if lead[1]:
            target = self.front(out[self.places(out.ndim, indices)], indices)
            y = np.broadcast_to(np.reshape(y, (rows, *(1,) * (target.ndim - np.ndim(y)), *np.shape(y)[1:])), target.shape)
            y = self.behind(y, indices)
        return self.write(out, y, indices)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(axes=(-2,)), (rng.normal(size=(3, 2)), rng.normal(size=(2, 2)), np.array([0, 2]))
        yield cls(axes=(-2,), accumulate=True), (rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), np.array([0, 2, 0]))
        yield cls(axes=(-1,)), (rng.normal(size=(3,)), rng.normal(size=()), np.array([True, False, True]))


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
            x = Unsqueeze(dim=axis - x.ndim - 1)(x)
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


def stack_indices(arrays: dict[int, Any]) -> tuple[list[int], Any]:
    """Several arrays of indices as one: masks as the positions that they hold, all broadcast to one shape."""
    single: dict[int, Any] = {}
    for axis, item in arrays.items():
        value = raw(item)
        parts = np.nonzero(value) if value.dtype.kind == "b" else (value,)
        single.update({axis + k: part for k, part in enumerate(parts)})
    return list(single), np.stack(np.broadcast_arrays(*single.values()))


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
    return Slice(dim=axis - x.ndim, start=start, stop=max(start, stop), step=step)(x)


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


def select(x: Any, dim: int, index: int) -> Any:
    """The elements at one index of an axis, which goes. IndexError out of range."""
    axis = one_dim(dim, x.ndim)
    if x.ndim == 0:
        raise RangeError("select() cannot be applied to a 0-dim tensor.")
    if not -x.shape[axis] <= index < x.shape[axis]:
        raise RangeError(f"select(): index {index} out of range for tensor of size {list(x.shape)} at dimension {axis + x.ndim}")
    return _selected(x, axis + x.ndim, index)


def _selected(x: Any, axis: int, index: int) -> Any:
    size = x.shape[axis]
    if not -size <= index < size:
        raise RangeError(f"index {index} is out of bounds for dimension {axis} with size {size}")
    return Select(dim=axis - x.ndim, index=index + size if index < 0 else index)(x)


def narrow(x: Any, dim: int, start: Any, length: int) -> Any:
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


OPERATIONS = (Embed, Select, Slice, Index, Unindex, IndexPut)
FUNCTIONS = (select, narrow)
