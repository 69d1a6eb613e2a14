"""Elements taken and replaced by masks and flat indices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import DataError, DtypeError, RangeError, ShapeError
from gradcli.ops.axes import one_dim, raw
from gradcli.ops.diagonal import Diagonal, two_dims
from gradcli.ops.indexing import Index, IndexPut, Select, Slice, Unindex, stack_indices
from gradcli.ops.operation import Elementwise, Operation, Structural, Value
from gradcli.ops.shape import reshape
from gradcli.ops.structure import Expand
from gradcli.ops.where import where
from gradcli.ops.window import WriteWindow

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]


class MaskedFill(Elementwise):
    """value where the mask holds, x elsewhere. The mask is a constant. `form` numbers PyTorch's spellings: a number, a tensor."""

    form: int = 0

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.node = f"MaskedFillBackward{self.form}"

    def forward(self, x: Value, mask: Value, value: Value) -> Value:
        shape = np.broadcast_shapes(np.shape(x), np.shape(mask))
        dtype = None if np.asarray(value).dtype.kind in "cO" else np.asarray(x).dtype
        return np.asarray(np.where(mask, value, np.broadcast_to(x, shape)), dtype=dtype)[()]

    def vjp_x(self, g: Value, mask: Value) -> Value:
        return where(mask, 0.0, g)

    def vjp_value(self, g: Value, mask: Value) -> Value:
        return where(mask, g, 0.0)

    def symbolic(self, sympy: Any, x: Any, mask: Any, value: Any, **decision: Any) -> Any:
        return value if mask else x

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        mask = rng.uniform(size=(2, 3)) > 0.5
        yield cls(), (rng.normal(size=(2, 3)), mask, rng.normal(size=()))


class MaskedSelect(Structural):
    """The elements of x where the mask holds, in row-major order: x, mask of one shape -> (k,)."""

    def forward(self, x: Value, mask: Value) -> Value:
        return x[mask] if np.ndim(x) else np.reshape(x, 1)[np.reshape(mask, 1)]

    def vjp_x(self, g: Value, x: Value, mask: Value) -> Value:
        if x.ndim == 0:
            return reshape(Unindex(axes=(-1,), shape=(1,))(g, np.reshape(raw(mask), 1)), ())
        return Unindex(axes=(-x.ndim,), shape=tuple(x.shape))(g, mask)

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
        return reshape(Unindex(axes=(-1,), shape=(int(np.size(raw(x))),))(g, index), x.shape)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        x, index = args
        return x.reshape(len(x), -1)[:, index]

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 3)), np.array([[0, 5], [2, 0]]))


class Embedding(Structural):
    """Rows of a table: (n, d), index (...) -> (..., d). The row `padding_idx` counts as a constant: it gets no gradient."""

    padding_idx: int = -1

    def decide(self, weight: Value, indices: Value) -> Any:
        """The row that counts as a constant."""
        return np.array(weight[self.padding_idx]) if self.padding_idx >= 0 else None

    def branch(self, weight: Value, indices: Value, decision: Any = None) -> Value:
        out = weight[indices]
        if decision is not None and np.ndim(indices):
            out[np.asarray(indices) == self.padding_idx] = decision
        return decision if decision is not None and not np.ndim(indices) and indices == self.padding_idx else out

    def forward(self, weight: Value, indices: Value) -> Value:
        return weight[indices]

    def size(self, *args: Value) -> int:
        weight, indices = args
        return int(np.size(indices) * weight.shape[-1])

    def vjp_weight(self, g: Value, indices: Value, weight_shape: tuple[int, ...]) -> Value:
        if self.padding_idx >= 0:
            g = where(np.expand_dims(np.asarray(raw(indices)) == self.padding_idx, -1), 0.0, g)
        return Unindex(axes=(-2,), shape=weight_shape)(g, indices)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        weight, indices = args
        out = weight[:, indices]
        if decision is not None:
            out[:, np.asarray(indices) == self.padding_idx] = decision
        return out

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(4, 2)), np.array([[0, 3], [3, 1]]))
        yield cls(padding_idx=3), (rng.normal(size=(4, 2)), np.array([[0, 3], [3, 1]]))


class MaskedScatter(IndexPut):
    """x with the elements of y, one after the other, where the mask holds."""


class Put(Structural):
    """x with the elements at `index`, counted in row-major order, replaced by (or increased by) those of `source`."""

    accumulate: bool = False

    def flat(self) -> IndexPut:
        return IndexPut(axes=(-1,), accumulate=self.accumulate)

    def forward(self, x: Value, index: Value, source: Value) -> Value:
        return self.flat().forward(np.reshape(x, -1), np.reshape(source, -1), np.reshape(index, -1)).reshape(np.shape(x))

    def vjp_x(self, g: Value, index: Value) -> Value:
        return g if self.accumulate else reshape(self.flat()(reshape(g, -1), 0.0, np.reshape(raw(index), -1)), g.shape)

    def vjp_source(self, g: Value, index: Value, source_shape: tuple[int, ...]) -> Value:
        return reshape(Take()(g, index), source_shape)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 3)), np.array([0, 5]), rng.normal(size=(2,)))
        yield cls(accumulate=True), (rng.normal(size=(2, 3)), np.array([[0, 0]]), rng.normal(size=(1, 2)))


class SelectScatter(WriteWindow):
    """x with y in place of its part at one index of an axis."""

    node = "SelectScatterBackward0"


class SliceScatter(WriteWindow):
    """x with y in place of a slice of an axis."""

    node = "SliceScatterBackward0"


class DiagonalScatter(WriteWindow):
    """x with y in place of a diagonal."""

    node = "DiagonalScatterBackward0"


def truth(name: str, mask: Any) -> Any:
    """A mask must be boolean."""
    if not hasattr(mask, "dtype") or mask.dtype.kind != "b":
        raise DtypeError(f"{name} only supports boolean masks, but got mask with dtype {kind_name(mask)}")
    return mask


def kind_name(mask: Any) -> str:
    """What PyTorch calls the dtype in this message."""
    name = str(getattr(mask, "dtype", type(mask).__name__))
    return {"float64": "double", "float32": "float", "int64": "long int", "int32": "int"}.get(name, name)


def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """x with one number where the mask holds."""
    truth("masked_fill_", mask)
    if np.ndim(raw(value)):
        raise ShapeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {np.ndim(raw(value))} dimension(s)."
        )
    return MaskedFill(form=int(hasattr(value, "dtype")))(x, mask, value)


def common(x: Any, mask: Any) -> tuple[Any, Any]:
    """x and a mask, broadcast to one shape."""
    try:
        shape = np.broadcast_shapes(x.shape, mask.shape)
    except ValueError:
        raise ShapeError(f"mask of shape {list(mask.shape)} does not fit a tensor of shape {list(x.shape)}") from None
    return (x if x.shape == shape else Expand(shape=shape)(x)), (mask if mask.shape == shape else np.broadcast_to(raw(mask), shape))


def masked_select(x: Any, mask: Any) -> Any:
    """The elements where the mask holds, in row-major order, as a vector."""
    truth("masked_select(): expected BoolTensor for mask: masked_select", mask)
    return MaskedSelect()(*common(x, mask))


def masked_scatter(x: Any, mask: Any, source: Any) -> Any:
    """x with the elements where the mask holds replaced by those of source, one after the other."""
    truth("masked_scatter", mask)
    x, mask = common(x, mask)
    count = int(np.count_nonzero(raw(mask)))
    if count > np.size(raw(source)):
        raise ShapeError("Number of elements of source < number of ones in mask", hint=f"{count} wanted, {np.size(raw(source))} given")
    values = Slice(dim=-1, start=0, stop=count, step=1)(reshape(source, -1))
    return MaskedScatter(axes=(-x.ndim,))(x, values, mask)


def flat_index(x: Any, index: Any) -> Any:
    """Indices into the elements in row-major order; RangeError outside."""
    value, size = np.asarray(raw(index)), int(np.size(raw(x)))
    if value.dtype.kind not in "iu":
        raise DtypeError("take(): Expected a long tensor for index")
    if value.size and (value.min() < -size or value.max() >= size):
        wrong = int(value[(value < -size) | (value >= size)].flat[0])
        raise RangeError(f"out of range: tried to access index {wrong} on a tensor of {size} elements.")
    return index


def take(x: Any, index: Any, axis: Any = None) -> Any:
    """The elements at indices in row-major order; with NumPy's `axis` the parts along it."""
    if axis is not None:
        index = np.asarray(raw(index)) if isinstance(index, list) else index
        return Index(axes=(one_dim(axis, x.ndim),))(x, index)
    return Take()(x, flat_index(x, index))


def put(x: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """x with the elements at indices in row-major order replaced by, or increased by, those of source."""
    return Put(accumulate=accumulate)(x, flat_index(x, index), source)


def index_put(x: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """x with `values` written (or added) at a tuple of index tensors."""
    given = {k: i for k, i in enumerate(indices) if i is not None}
    axes, places = stack_indices(given) if len(given) > 1 else (list(given), *given.values())
    return IndexPut(axes=tuple(a - x.ndim for a in axes), accumulate=accumulate)(x, values, places)


def select_scatter(x: Any, src: Any, dim: int, index: int) -> Any:
    """x with src in place of its part at one index of an axis."""
    axis = one_dim(dim, x.ndim)
    size = x.shape[axis]
    if not -size <= index < size:
        raise RangeError(f"index {index} is out of bounds for dimension {axis + x.ndim} with size {size}")
    rest = tuple(n for k, n in enumerate(x.shape) if k - x.ndim != axis)
    return overwritten(SelectScatter, x, src, Select(dim=axis, index=index % size), rest)


def slice_scatter(x: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """x with src in place of a slice of an axis."""
    axis = one_dim(dim, x.ndim)
    if step <= 0:
        raise DataError("slice step must be positive")
    first, last, _ = slice(start, end, step).indices(x.shape[axis])
    op = Slice(dim=axis, start=first, stop=max(first, last), step=step)
    return overwritten(SliceScatter, x, src, op, np.shape(op.forward(np.broadcast_to(0.0, x.shape))))


def diagonal_scatter(x: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
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


def embedding(x: Any, weight: Any, padding_idx: Any = None, max_norm: Any = None, norm_type: float = 2.0) -> Any:
    """Rows of a table at indices x: (...), (n, d) -> (..., d)."""
    if x.dtype.kind not in "iu":
        raise DtypeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
            f"but got {x.dtype.name} instead (while checking arguments for embedding)"
        )
    if weight.ndim != 2:
        raise ShapeError("'weight' must be 2-D")
    value = raw(x)
    if value.size and (value.min() < 0 or value.max() >= weight.shape[0]):
        raise RangeError("index out of range in self", hint=f"the table has {weight.shape[0]} rows")
    pad = -1 if padding_idx is None else padding_idx % weight.shape[0]
    return Embedding(padding_idx=pad)(weight, x)


class Nonzero(Operation):
    """The places of all elements that are not 0, one row each: (...) -> (k, ndim)."""

    differentiable = False

    def forward(self, x: Value) -> Value:
        return np.argwhere(x)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (np.array([[1.0, 0.0], [0.0, 2.0]]),)


class OneHot(Operation):
    """A last axis of length `classes` that is 1 at the given class and 0 elsewhere: (...) -> (..., classes)."""

    differentiable = False
    classes: int

    def forward(self, x: Value) -> Value:
        return np.asarray(np.expand_dims(x, -1) == np.arange(self.classes), dtype=np.int64)

    def size(self, *args: Value) -> int:
        return int(np.size(args[0])) * self.classes

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(classes=3), (np.array([0, 2]),)


def nonzero(x: Any, *, as_tuple: bool = False) -> Any:
    """The places of all elements that are not 0: one row each, or one index tensor an axis."""
    places = Nonzero()(x)
    return tuple(Select(dim=-1, index=k)(places) for k in range(x.ndim)) if as_tuple else places


def one_hot(x: Any, num_classes: int = -1) -> Any:
    """Classes as vectors of 0 and 1; without num_classes as many as the largest class asks for."""
    value = raw(x)
    if value.dtype.kind not in "iu":
        raise DtypeError("one_hot is only applicable to index tensor.", hint="make it an integer tensor: .long()")
    if value.size and value.min() < 0:
        raise ShapeError("Class values must be non-negative.")
    count = int(value.max()) + 1 if num_classes == -1 and value.size else int(num_classes)
    if value.size and value.max() >= count:
        raise ShapeError("Class values must be smaller than num_classes.")
    return OneHot(classes=count)(x)


OPERATIONS = (
    MaskedFill, MaskedSelect, Take, Embedding, Nonzero, OneHot, MaskedScatter, Put, SelectScatter, SliceScatter, DiagonalScatter,
)  # fmt: skip
FUNCTIONS = (
    masked_fill, masked_select, masked_scatter, take, put, index_put, select_scatter, slice_scatter, diagonal_scatter, embedding, nonzero,
    one_hot,
)  # fmt: skip
SPELLINGS = {"argwhere": nonzero}
