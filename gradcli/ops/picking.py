"""Elements taken from, and written to, places that arrays of indices or masks name."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.ops.axes import raw
from gradcli.ops.operation import Operation, Value
from gradcli.ops.structure import SumTo, written_dtype

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]


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
        for axis, array in zip(self.axes, indices, strict=True):
            index += [slice(None)] * (axis - at)
            index.append(array)
            at = axis + 1
        return tuple(index)

    def one_an_axis(self, indices: Value, x_shape: tuple[int, ...]) -> tuple[Any, ...]:
        """The arrays of indices at the places of their axes, None where no axis is indexed, as PyTorch keeps them."""
        found: list[Any] = [None] * (len(x_shape) + self.axes[-1] + 1)
        for axis, array in zip(self.axes, [indices] if len(self.axes) == 1 else indices, strict=True):
            found[len(x_shape) + axis] = array
        return tuple(found)

    def front(self, value: Value, indices: Value) -> Value:
        """A leading batch axis that NumPy has put behind the axes of the indices, brought to the front."""
        return np.moveaxis(value, np.ndim(indices) - 1, 0) if self.split else value

    def behind(self, value: Value, indices: Value) -> Value:
        """The opposite of `front`."""
        return np.moveaxis(value, 0, np.ndim(indices) - 1) if self.split else value

    @property
    def split(self) -> bool:
        """Whether other axes lie between the indexed ones."""
        return any(b - a > 1 for a, b in itertools.pairwise(self.axes))


class Index(Gathered):
    """The elements at arrays of indices: x[i, j]. Repeated indices add their gradients.

    Shapes: indices broadcast among each other, their shape stands where the axes were.
    """

    saves = "indices=one_an_axis self_sym_sizes=x_shape"

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

    shape: tuple[int, ...]
    label: str = "IndexPutImplBackward0"

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.node = self.label

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

    Shapes: that of x.
    """

    saves = "accumulate indices=arrays"
    accumulate: bool = False

    def forward(self, x: Value, y: Value, indices: Value) -> Value:
        out = np.array(x, dtype=written_dtype(x, y), subok=True)
        return self.write(out, y, indices)

    def write(self, out: Value, y: Value, indices: Value) -> Value:
        places = self.places(out.ndim, indices)
        if self.accumulate:
            np.add.at(out, places, y)
        else:
            out[places] = y
        return out

    def arrays(self, indices: Value) -> tuple[Value, ...]:
        """One array of indices for each axis."""
        return tuple(indices) if len(self.axes) > 1 and indices.dtype.kind != "b" else (indices,)

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


def stack_indices(arrays: dict[int, Any]) -> tuple[list[int], Any]:
    """Several arrays of indices as one: masks as the positions that they hold, all broadcast to one shape."""
    single: dict[int, Any] = {}
    for axis, item in arrays.items():
        value = raw(item)
        parts = np.nonzero(value) if value.dtype.kind == "b" else (value,)
        single.update({axis + k: part for k, part in enumerate(parts)})
    return list(single), np.stack(np.broadcast_arrays(*single.values()))


OPERATIONS = (Index, Unindex, IndexPut)
