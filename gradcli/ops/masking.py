"""Elements taken and replaced by masks and flat indices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import DtypeError, RangeError, ShapeError
from gradcli.ops.axes import one_dim, raw
from gradcli.ops.operation import Operation, Structural, Value
from gradcli.ops.padding import ConstantPadNd
from gradcli.ops.picking import Index, IndexPut, Unindex, stack_indices
from gradcli.ops.shape import ViewAs, reshape
from gradcli.ops.structure import Expand, written_dtype
from gradcli.ops.where import MaskedFill

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]


class MaskedSelect(Structural):
    """The elements of x where the mask holds, in row-major order: x, mask of one shape -> (k,)."""

    def forward(self, x: Value, mask: Value) -> Value:
        return x[mask] if np.ndim(x) else np.reshape(x, 1)[np.reshape(mask, 1)]

    def vjp_x(self, g: Value, x: Value, mask: Value) -> Value:
        if x.ndim == 0:
            return reshape(Unindex(axes=(-1,), shape=(1,))(g, np.reshape(raw(mask), 1)), ())
        return Unindex(axes=(-x.ndim,), shape=tuple(x.shape), label="MaskedScatterBackward0")(g, mask)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        x, mask = args
        return x[(slice(None), mask)] if np.ndim(mask) else super().batch(args, lead, decision)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 3)), np.array([[True, False, True], [False, True, True]]))


class Take(Structural):
    """The elements of x, counted in row-major order, at `index`; the result has the shape of index."""

    def forward(self, x: Value, index: Value) -> Value:
        return np.reshape(x, -1)[index]

    def vjp_x(self, g: Value, x: Value, index: Value) -> Value:
        flat = Unindex(axes=(-1,), shape=(int(np.size(raw(x))),), label="PutBackward0")
        return reshape(flat(g, index), x.shape)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        x, index = args
        return x.reshape(len(x), -1)[:, index]

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 3)), np.array([[0, 5], [2, 0]]))


class MaskedScatter(Structural):
    """x with the first elements of `source`, one after the other, where the mask holds. Shapes: that of x."""

    saves = "mask source_sym_sizes=source_shape"

    def forward(self, x: Value, mask: Value, source: Value) -> Value:
        out = np.array(x, dtype=written_dtype(x, source))
        out[mask] = np.reshape(source, -1)[: np.count_nonzero(mask)]
        return out[()]

    def vjp_x(self, g: Value, mask: Value) -> Value:
        return MaskedFill()(g, mask, 0.0)

    def vjp_source(self, g: Value, mask: Value, source_shape: tuple[int, ...]) -> Value:
        taken = MaskedSelect()(g, mask)
        missing = int(np.prod(source_shape)) - taken.shape[0]
        return ViewAs(shape=source_shape)(ConstantPadNd(pad=(0, missing))(taken) if missing else taken)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        mask = np.array([[True, False, True], [False, True, True]])
        yield cls(), (rng.normal(size=(2, 3)), mask, rng.normal(size=(2, 3)))
        yield cls(), (rng.normal(size=(2, 3)), mask, rng.normal(size=(4,)))


class Put(Structural):
    """x with the elements at `index`, counted in row-major order, replaced by (or increased by) those of `source`. Shapes: that of x."""

    saves = "accumulate index source"
    accumulate: bool = False

    def flat(self) -> IndexPut:
        return IndexPut(axes=(-1,), accumulate=self.accumulate)

    def forward(self, x: Value, index: Value, source: Value) -> Value:
        return self.flat().forward(np.reshape(x, -1), np.reshape(source, -1), np.reshape(index, -1)).reshape(np.shape(x))

    def vjp_x(self, g: Value, index: Value) -> Value:
        return g if self.accumulate else Put()(g, index, np.zeros(np.shape(raw(index)), g.dtype))

    def vjp_source(self, g: Value, index: Value, source: Value) -> Value:
        return reshape(Take()(g, index), source.shape)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 3)), np.array([0, 5]), rng.normal(size=(2,)))
        yield cls(accumulate=True), (rng.normal(size=(2, 3)), np.array([[0, 0]]), rng.normal(size=(1, 2)))


def truth(name: str, mask: Any) -> Any:
    """A mask must be boolean."""
    if not hasattr(mask, "dtype") or mask.dtype.kind != "b":
        raise DtypeError(f"{name} only supports boolean masks, but got mask with dtype {kind_name(mask)}")
    return mask


def kind_name(mask: Any) -> str:
    """What PyTorch calls the dtype in this message."""
    name = str(getattr(mask, "dtype", type(mask).__name__))
    return {"float64": "double", "float32": "float", "int64": "long int", "int32": "int"}.get(name, name)


def masked_fill(x: Value, mask: Value, value: Value | float) -> Any:
    """x with one number where the mask holds."""
    truth("masked_fill_", mask)
    if np.ndim(raw(value)):
        raise ShapeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {np.ndim(raw(value))} dimension(s)."
        )
    op = MaskedFill(form=int(hasattr(value, "dtype")))
    op.listed = None if op.form else 1
    return op(x, mask, value)


def common(x: Any, mask: Any) -> tuple[Any, Any]:
    """x and a mask, broadcast to one shape."""
    try:
        shape = np.broadcast_shapes(x.shape, mask.shape)
    except ValueError:
        raise ShapeError(f"mask of shape {list(mask.shape)} does not fit a tensor of shape {list(x.shape)}") from None
    return (x if x.shape == shape else Expand(shape=shape)(x)), (mask if mask.shape == shape else np.broadcast_to(raw(mask), shape))


def masked_select(x: Value, mask: Value) -> Any:
    """The elements where the mask holds, in row-major order, as a vector."""
    truth("masked_select(): expected BoolTensor for mask: masked_select", mask)
    return MaskedSelect()(*common(x, mask))


def masked_scatter(x: Value, mask: Value, source: Value) -> Any:
    """x with the elements where the mask holds replaced by those of source, one after the other."""
    truth("masked_scatter", mask)
    x, mask = common(x, mask)
    count = int(np.count_nonzero(raw(mask)))
    if count > np.size(raw(source)):
        raise ShapeError("Number of elements of source < number of ones in mask", hint=f"{count} wanted, {np.size(raw(source))} given")
    return MaskedScatter()(x, mask, source)


def flat_index(x: Any, index: Any) -> Any:
    """Indices into the elements in row-major order; RangeError outside."""
    value, size = np.asarray(raw(index)), int(np.size(raw(x)))
    if value.dtype.kind not in "iu":
        raise DtypeError("take(): Expected a long tensor for index")
    if value.size and (value.min() < -size or value.max() >= size):
        wrong = int(value[(value < -size) | (value >= size)].flat[0])
        raise RangeError(f"out of range: tried to access index {wrong} on a tensor of {size} elements.")
    return index


def take(x: Value, index: Value, axis: Any = None) -> Any:
    """The elements at indices in row-major order; with NumPy's `axis` the parts along it."""
    if axis is not None:
        index = np.asarray(raw(index)) if isinstance(index, list) else index
        return Index(axes=(one_dim(axis, x.ndim),))(x, index)
    return Take()(x, flat_index(x, index))


def put(x: Value, index: Value, source: Value, accumulate: bool = False) -> Any:
    """x with the elements at indices in row-major order replaced by, or increased by, those of source."""
    return Put(accumulate=accumulate)(x, flat_index(x, index), source)


def index_put(x: Value, indices: Any, values: Value, accumulate: bool = False) -> Any:
    """x with `values` written (or added) at a tuple of index tensors."""
    given = {k: i for k, i in enumerate(indices) if i is not None}
    axes, places = stack_indices(given) if len(given) > 1 else (list(given), *given.values())
    return IndexPut(axes=tuple(a - x.ndim for a in axes), accumulate=accumulate)(x, values, places)


OPERATIONS = (MaskedFill, MaskedSelect, MaskedScatter, Take, Put)
FUNCTIONS = (masked_fill, masked_select, masked_scatter, take, put, index_put)
