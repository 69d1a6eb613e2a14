"""Parts of a tensor replaced, added to, or combined with others, at indices along one axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import DtypeError, RangeError, ShapeError
from gradcli.ops.axes import leading, one_dim, raw
from gradcli.ops.budget import budget
from gradcli.ops.gathering import Gather, Scatter, ScatterAdd, along, check_index, widened
from gradcli.ops.operation import Operation, Structural, Value
from gradcli.ops.reduction import Sum
from gradcli.ops.scan import slot
from gradcli.ops.structure import Expand, SumTo, written_dtype
from gradcli.ops.where import where

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]

REDUCTIONS: dict[str, Any] = {"sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum}
STARTS = {"prod": 1.0, "amax": -np.inf, "amin": np.inf, "sum": 0.0, "mean": 0.0}


class ScatterReduce(Operation):
    """x with `src` combined into the places `index` along `dim`: added, averaged, multiplied, the largest or the smallest.

    Without `include_self` what x has at those places does not count. Elements that tie for an extreme share the
    gradient equally, as PyTorch.

    Shapes: that of x.
    """

    refused = "c"
    dim: int
    reduce: str
    include_self: bool = True

    def hits(self, x: Value, index: Value) -> Value:
        """How many elements of src fall on each place."""
        return ScatterAdd(dim=self.dim)(np.zeros(x.shape), raw(index), np.ones(np.shape(index)))

    def start(self, x: Value, index: Value) -> Value:
        return x if self.include_self else where(self.hits(x, index) > 0, STARTS[self.reduce], x)

    def counts(self, x: Value, index: Value) -> Value:
        hits = self.hits(x, index)
        return np.where(hits > 0, hits + self.include_self, 1.0).astype(None if x.dtype.kind == "O" else x.dtype)

    def decide(self, x: Value, index: Value, src: Value) -> Any:
        """For an extreme: which elements of x and of src have it, and how many tie at each place."""
        if self.reduce not in ("amax", "amin"):
            return None
        begin, out = self.start(x, index), self.forward(x, index, src)
        taken = first(src, index.shape) == Gather(dim=self.dim)(out, index)
        return begin == out, taken, self.ties(begin, index, src, out)

    def branch(self, x: Value, index: Value, src: Value, decision: Any = None) -> Value:
        """With a decision the mean of the elements that tied."""
        if decision is None:
            return self.forward(x, index, src)
        own, taken, ties = decision
        out = np.array(np.where(own, x, 0), dtype=np.result_type(x, src), subok=True)
        np.add.at(out, along(index, self.dim), np.where(taken, src[tuple(slice(n) for n in index.shape)], 0))
        return out / ties

    def kinks(self, x: Value, index: Value, src: Value) -> Value | None:
        decision = self.decide(x, index, src)
        return None if decision is None else np.asarray(decision[2] < 2)

    def forward(self, x: Value, index: Value, src: Value) -> Value:
        out = np.array(self.start(x, index), dtype=np.result_type(x, src), subok=True)
        REDUCTIONS[self.reduce].at(out, along(index, self.dim), src[tuple(slice(n) for n in index.shape)])
        return out / self.counts(x, index) if self.reduce == "mean" else out

    def vjp_x(self, g: Value, x: Value, index: Value, src: Value, out: Value) -> Value:
        begin = self.start(x, index)
        if self.reduce == "prod":
            part = g * self(np.ones(x.shape, x.dtype), index, src)
        elif self.reduce in ("amax", "amin"):
            part = where(begin == out, g / self.ties(begin, index, src, out), 0.0)
        else:
            part = g / self.counts(x, index) if self.reduce == "mean" else g
        return part if self.include_self else where(self.hits(x, index) > 0, 0.0, part)

    def vjp_src(self, g: Value, x: Value, index: Value, src: Value, out: Value) -> Value:
        take, used, begin = Gather(dim=self.dim), first(src, index.shape), self.start(x, index)
        if self.reduce == "prod":
            part = take(g, index) * self.others(begin, index, used)
        elif self.reduce in ("amax", "amin"):
            part = where(used == take(out, index), take(g / self.ties(begin, index, src, out), index), 0.0)
        else:
            part = take(g / self.counts(x, index) if self.reduce == "mean" else g, index)
        return widened(part, src.shape)

    def ties(self, x: Value, index: Value, src: Value, out: Value) -> Value:
        """How many elements have the extreme value of each place."""
        same = raw(first(src, index.shape)) == Gather(dim=self.dim)(raw(out), index)
        return ScatterAdd(dim=self.dim)(np.asarray(raw(x) == raw(out), x.dtype), index, np.asarray(same, x.dtype))

    def others(self, x: Value, index: Value, used: Value) -> Value:
        """For each element of src the product of the others at its place, x among them.

        The product of all over the element; where zeros stand in the way, products in which one element after the other is 1.
        """
        take, product = Gather(dim=self.dim), ScatterReduce(dim=self.dim, reduce="prod")
        if raw(x).all() and raw(used).all():
            return take(product(x, index, used), index) / used
        count, shape = math.prod(used.shape), tuple(used.shape)
        alone = np.eye(count, dtype=bool).reshape(count, *shape)
        places = np.broadcast_to(raw(index), (count, *shape))
        budget.elements(count * max(count, math.prod(x.shape)))
        products = product(Expand(shape=(count, *x.shape))(x), places, where(alone, 1.0, Expand(shape=(count, *shape))(used)))
        return Sum(dim=(-1 - len(shape),))(where(alone, take(products, places), 0.0))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.replay([np.array(a) for a in leading(args, lead)], decision)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for name in REDUCTIONS:
            for keep in (True, False):
                arrays = rng.normal(size=(2, 3)), np.array([[0, 0], [2, 1]]), rng.normal(size=(2, 2))
                yield cls(dim=-1, reduce=name, include_self=keep), arrays


class IndexReduce(ScatterReduce):
    """x with the parts of `src` combined into those at an index along `dim`, here repeated to the shape of src; ties as `ScatterReduce`."""

    saves = "dim include_self index reduce result=out self=x source=src"
    refused = "c"


def first(src: Value, shape: tuple[int, ...]) -> Value:
    """The first elements along each axis, as many as the shape says."""
    return src if src.shape == tuple(shape) else src[tuple(slice(n) for n in shape)]


class IndexSelect(Structural):
    """The parts of x at `index` along `dim`: (..., n, ...), (m,) -> (..., m, ...)."""

    dim: int

    def forward(self, x: Value, index: Value) -> Value:
        return np.take(x, np.atleast_1d(index), self.dim) if np.ndim(x) else x[()]

    def size(self, *args: Value) -> int:
        x, index = args
        return int(np.size(x) // max(x.shape[self.dim], 1) * np.size(index)) if np.ndim(x) else 1

    def vjp_x(self, g: Value, index: Value, x_shape: tuple[int, ...]) -> Value:
        return IndexAdd(dim=self.dim)(np.zeros(x_shape, g.dtype), index, g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(*args)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 3)), np.array([0, 2, 0]))
        yield cls(dim=-2), (rng.normal(size=(3, 2)), np.array([2, 0]))


class IndexAdd(Structural):
    """x with alpha times the parts of `source` added at `index` along `dim`. Shapes: that of x."""

    saves = "alpha dim index source source_dim"
    dim: int
    alpha: float = 1
    accumulate = True

    def forward(self, x: Value, index: Value, source: Value) -> Value:
        out = np.array(x, dtype=written_dtype(x, source), subok=True)
        flat = out.reshape(1) if out.ndim == 0 else out
        places = slot(flat.ndim, self.dim, np.atleast_1d(index))
        if self.accumulate:
            np.add.at(flat, places, source * self.alpha if self.alpha != 1.0 else source)
        else:
            flat[places] = source
        return out

    def source_dim(self, source: Value) -> int:
        """How many axes the source has."""
        return int(np.ndim(source))

    def vjp_x(self, g: Value, index: Value) -> Value:
        return g

    def vjp_source(self, g: Value, index: Value, source: Value) -> Value:
        taken = SumTo(shape=source.shape)(IndexSelect(dim=self.dim)(g, index))
        return taken if self.alpha == 1.0 else taken * self.alpha

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        x, index, source = args
        rows = len(x) if lead[0] else len(source)
        x = x if lead[0] else np.broadcast_to(x, (rows, *np.shape(x)))
        return self.forward(x, index, source)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 3)), np.array([0, 2]), rng.normal(size=(2, 2)))
        if cls is IndexAdd:
            yield cls(dim=-2, alpha=2.5), (rng.normal(size=(3, 2)), np.array([1, 1]), rng.normal(size=(2, 2)))


class IndexCopy(IndexAdd):
    """x with the parts at `index` along `dim` replaced by those of `source`. Shapes: that of x."""

    saves = "dim index source source_dim"
    accumulate = False

    def vjp_x(self, g: Value, index: Value) -> Value:
        return IndexFill(dim=self.dim)(g, index, 0.0)


class IndexFill(Structural):
    """x with the number `value` in its parts at `index` along `dim`. `form` numbers PyTorch's spellings: a number, a tensor.

    Shapes: that of x.
    """

    saves = "dim index"
    dim: int
    form: int = 0

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.node = f"IndexFillBackward{self.form}"

    def forward(self, x: Value, index: Value, value: Value) -> Value:
        out = np.array(x, dtype=written_dtype(x, value), subok=True)
        flat = out.reshape(1) if out.ndim == 0 else out
        flat[slot(flat.ndim, self.dim, np.atleast_1d(index))] = value
        return out

    def vjp_x(self, g: Value, index: Value) -> Value:
        return self(g, index, 0.0)

    def vjp_value(self, g: Value, index: Value) -> Value:
        return SumTo(shape=())(IndexSelect(dim=self.dim)(g, index))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 3)), np.array([0, 2]), rng.normal(size=()))


def scatter(x: Value, dim: int, index: Value, src: Any = None, *, value: float | None = None, reduce: Any = None) -> Any:
    """x with `src` (or one number) written at `index` along an axis: out[i, index[i, j]] = src[i, j] for dim = 1."""
    axis = one_dim(dim, x.ndim)
    given = value if src is None else src
    check_index("scatter", x, axis, index, given)
    number = not hasattr(given, "dtype")
    if np.ndim(raw(given)) == 0 and np.ndim(raw(index)):
        given = np.full(index.shape, given, x.dtype) if number else Expand(shape=tuple(index.shape))(given)
    if reduce is not None:
        return scatter_reduce(x, dim, index, given, {"add": "sum", "multiply": "prod"}.get(reduce, reduce))
    return Scatter(dim=axis, form=int(number))(x, index, given)


def scatter_reduce(x: Value, dim: int, index: Value, src: Value, reduce: str, *, include_self: bool = True) -> Any:
    """x with `src` combined into the places `index` along an axis by "sum", "prod", "mean", "amax" or "amin"."""
    axis = one_dim(dim, x.ndim)
    check_index("scatter_reduce", x, axis, index, src)
    if reduce not in STARTS:
        raise ShapeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}.")
    return ScatterReduce(dim=axis, reduce=reduce, include_self=include_self)(x, index, src)


def vector_index(name: str, x: Any, dim: int, index: Any) -> None:
    """PyTorch's errors for an index that is no vector of integers, or out of range."""
    value = raw(index)
    if value.ndim > 1:
        raise RangeError(f"{name}(): Index is supposed to be a vector")
    if value.dtype.kind not in "iu":
        raise DtypeError(f"{name}(): Expected dtype int32 or int64 for index", hint="make it an integer tensor: .long()")
    size = x.shape[dim] if x.ndim else 1
    wrong = value[(value < (0 if name == "index_select" else -size)) | (value >= size)]
    if wrong.size and name == "index_select":
        raise ShapeError(f"INDICES element is out of DATA bounds, id={int(wrong.flat[0])} axis_dim={size}")
    if wrong.size:
        raise RangeError("index out of range in self", hint=f"dimension {dim + x.ndim} has size {size}")


def index_select(x: Value, dim: int, index: Value) -> Any:
    """The parts of x at the indices of a vector along an axis."""
    axis = one_dim(dim, x.ndim)
    vector_index("index_select", x, axis, index)
    return IndexSelect(dim=axis)(x, index)


def index_add(x: Value, dim: int, index: Value, source: Value, *, alpha: float = 1) -> Any:
    """x with alpha times the parts of `source` added at the indices along an axis; repeated indices add up."""
    axis = one_dim(dim, x.ndim)
    vector_index("index_add", x, axis, index)
    check_source("index_add", x, axis, index, source)
    return IndexAdd(dim=axis, alpha=alpha)(x, index, source)


def index_copy(x: Value, dim: int, index: Value, source: Value) -> Any:
    """x with the parts at the indices along an axis replaced by those of `source`."""
    axis = one_dim(dim, x.ndim)
    vector_index("index_copy", x, axis, index)
    check_source("index_copy", x, axis, index, source)
    return IndexCopy(dim=axis)(x, index, source)


def index_fill(x: Value, dim: int, index: Value, value: Value | float) -> Any:
    """x with one number in its parts at the indices along an axis."""
    axis = one_dim(dim, x.ndim)
    vector_index("index_fill", x, axis, index)
    op = IndexFill(dim=axis, form=int(hasattr(value, "dtype")))
    op.listed = None if op.form else 1
    return op(x, index, value)


def index_reduce(x: Value, dim: int, index: Value, source: Value, reduce: str, *, include_self: bool = True) -> Any:
    """x with the parts of `source` combined into those at the indices along an axis by "prod", "mean", "amax" or "amin"."""
    axis = one_dim(dim, x.ndim)
    vector_index("index_reduce", x, axis, index)
    check_source("index_reduce", x, axis, index, source)
    shape = [1] * len(source.shape)
    shape[axis] = -1
    if reduce not in STARTS:
        raise ShapeError(f"reduce argument must be either prod, mean, amax or amin, got {reduce}.")
    wide = np.broadcast_to(np.reshape(raw(index), shape), source.shape)
    return IndexReduce(dim=axis, reduce=reduce, include_self=include_self)(x, wide, source)


def check_source(name: str, x: Any, dim: int, index: Any, source: Any) -> None:
    """The source must have the shape of x but for the axis, where it has as many parts as there are indices."""
    wanted = tuple(int(np.size(raw(index))) if k - x.ndim == dim else n for k, n in enumerate(x.shape))
    if x.ndim and tuple(source.shape) != wanted:
        raise ShapeError(f"{name}(): source must have shape {list(wanted)} for this index, but has {list(source.shape)}")


OPERATIONS = (ScatterReduce, IndexReduce, IndexSelect, IndexAdd, IndexCopy, IndexFill)
FUNCTIONS = (scatter, scatter_reduce, index_select, index_add, index_copy, index_fill, index_reduce)
