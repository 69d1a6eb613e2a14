"""Sorting, and what it gives: the order is a decision, the elements taken in it are smooth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from gradcli.errors import RangeError, ShapeError
from gradcli.ops import selection
from gradcli.ops.axes import aligned, kept, one_dim, raw
from gradcli.ops.extreme import MaxAll, PutAlong
from gradcli.ops.operation import Operation, Value
from gradcli.ops.reduction import Examples
from gradcli.ops.returned import VALUES, returned
from gradcli.ops.selection import Less
from gradcli.ops.shape import reshape, unsqueeze


class Chosen(Operation, abstract=True):
    """Base of what takes elements along `dim` at indices that depend on x: results (values, indices)."""

    outputs = 2
    dim: int

    def branch(self, x: Value, decision: Any = None) -> Any:
        return np.take_along_axis(x, aligned(decision, np.ndim(x)), self.dim), decision

    def vjp_x(self, g: Value, decision: Value, x_shape: tuple[int, ...]) -> Value:
        return PutAlong(dim=self.dim, shape=x_shape)(g[0], decision)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        values, indices = self.branch(args[0], decision=decision)
        return values, np.broadcast_to(indices, values.shape)

    def kinks(self, x: Value) -> Value | None:
        """How far neighbours in the order are apart."""
        if np.shape(x)[self.dim] < 2:
            return None
        return np.diff(np.sort(x, axis=self.dim), axis=self.dim)


def order_of(x: Value, dim: int, descending: bool) -> Value:
    """The indices that sort x; elements that tie keep their order, NaN counts as the largest."""
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    back = np.flip(np.argsort(np.flip(x, dim), axis=dim, kind="stable"), dim)
    return x.shape[dim] - 1 - back


def tied(x: Value, dim: int) -> bool:
    """Whether some of the sorted elements are equal, or several NaN."""
    left, right = (np.take(x, range(k, x.shape[dim] - 1 + k), dim) for k in (0, 1))
    return bool(np.any((left == right) | ((left != left) & (right != right))))


def rows(select: Callable[[int, Less], list[int]], x: Value, dim: int, largest: bool) -> Value:
    """Indices that a selection finds in each row along `dim`, for which NaN is the largest."""

    def of_row(row: Value) -> list[int]:
        values: list[float] = row.tolist()

        def less(i: int, j: int) -> bool:
            v, w = (values[j], values[i]) if largest else (values[i], values[j])
            return v < w or (w != w and v == v)

        return select(len(values), less)

    return np.apply_along_axis(of_row, dim, x).astype(np.int64)


class Sort(Chosen):
    """The elements in ascending (or descending) order along `dim`, and where they were.

    (..., n, ...) -> (..., n, ...) twice. Kink at ties, which keep their order when `stable`.
    """

    saves = "dim indices=decision self_sym_sizes=x_shape"
    refused = "c"
    descending: bool = False

    def decide(self, x: Value) -> Any:
        return order_of(x, self.dim, self.descending)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 4)),)
        yield cls(dim=-2, descending=True), (rng.normal(size=(3, 2)),)


class Topk(Chosen):
    """The k largest (or smallest) elements along `dim`, the first of them first, and where they are.

    (..., n, ...) -> (..., k, ...) twice. Kink at ties, where the elements at the indices returned have the gradient.
    """

    saves = "dim indices=decision self_sym_sizes=x_shape"
    refused = "c"
    k: int = 1
    largest: bool = True

    def decide(self, x: Value) -> Any:
        order = order_of(x, self.dim, self.largest)
        if tied(np.take_along_axis(x, order, self.dim), self.dim):
            return rows(lambda count, less: selection.first(count, self.k, less), x, self.dim, self.largest)
        return np.take(order, range(self.k), self.dim)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1, k=2), (rng.normal(size=(2, 4)),)
        yield cls(dim=-2, k=1, largest=False), (rng.normal(size=(3, 2)),)


class Picked(Chosen, abstract=True):
    """Base of what takes one element along `dim`, which goes unless `keepdim`."""

    saves = "dim indices=place keepdim self_sym_sizes=x_shape"
    keepdim: bool = False

    def branch(self, x: Value, decision: Any = None) -> Any:
        values, indices = super().branch(x, decision)
        return (values, indices) if self.keepdim else (values.squeeze(self.dim)[()], indices.squeeze(self.dim)[()])

    def place(self, decision: Value) -> Value:
        """Where the element was, in the shape of the result."""
        return decision if self.keepdim else decision.squeeze(self.dim)

    def vjp_x(self, g: Value, decision: Value, x_shape: tuple[int, ...]) -> Value:
        values = g[0] if self.keepdim else unsqueeze(g[0], self.dim + len(x_shape))
        return PutAlong(dim=self.dim, shape=x_shape)(values, decision)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 5)),)
        yield cls(dim=-2, keepdim=True), (rng.normal(size=(4, 2)),)


class Kthvalue(Picked):
    """The k-th smallest element along `dim` (k from 1), and where it is.

    (..., n, ...) -> (..., ...) twice. Kink at ties, where the element at the index returned has the gradient.
    """

    refused = "bc"
    kernel_name = "kthvalue_cpu"
    k: int = 1

    def decide(self, x: Value) -> Any:
        order = order_of(x, self.dim, False)
        if tied(np.take_along_axis(x, order, self.dim), self.dim):
            return rows(lambda count, less: [selection.kth(count, self.k - 1, less)], x, self.dim, False)
        return np.take(order, [self.k - 1], self.dim)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1, k=2), (rng.normal(size=(2, 4)),)
        yield cls(dim=-2, k=1, keepdim=True), (rng.normal(size=(3, 2)),)


class MedianDim(Picked):
    """The median along `dim`, the lower one of two, and where it is. NaN where some element is NaN.

    (..., n, ...) -> (..., ...) twice. Kink at ties, where the element at the index returned has the gradient.
    """

    refused = "c"
    node = "MedianBackward1"

    def decide(self, x: Value) -> Any:
        middle = np.take(order_of(x, self.dim, False), [(x.shape[self.dim] - 1) // 2], self.dim)
        nan = np.asarray(x != x, dtype=bool)
        return np.where(nan.any(self.dim, keepdims=True), nan.argmax(self.dim, keepdims=True), middle)


class NanmedianDim(Picked):
    """The median along `dim` of what is not NaN, the lower one of two, and where it is.

    (..., n, ...) -> (..., ...) twice. Kink at ties, where the element at the index returned has the gradient.
    """

    refused = "c"
    node = "NanmedianBackward1"

    def decide(self, x: Value) -> Any:
        count = np.add.reduce(np.asarray(x == x), axis=self.dim, keepdims=True, dtype=np.int64)
        return np.take_along_axis(order_of(x, self.dim, False), np.maximum(count - 1, 0) // 2, self.dim)


class Mode(Picked):
    """The most frequent element along `dim` (the smallest of several), and the last place where it is.

    (..., n, ...) -> (..., ...) twice. Kink at ties, where the element at the index returned has the gradient.
    """

    refused = "c"

    def decide(self, x: Value) -> Any:
        def last(row: Value) -> int:
            values, counts = np.unique(row, return_counts=True)
            return int(np.flatnonzero(row == values[counts.argmax()])[-1])

        if not x.size:
            return np.zeros(kept(x.shape, (self.dim,)), np.int64)
        return np.expand_dims(np.apply_along_axis(last, self.dim, x), self.dim)


class Median(MaxAll):
    """The median of all elements, the lower one of two. NaN where some element is NaN.

    (...) -> (). Elements that are equal to it share the gradient equally, as PyTorch.
    """

    refused = "bc"
    kernel_name = "median_cpu"
    rule: ClassVar[type[Picked]] = MedianDim
    node = "MedianBackward0"

    def pick(self, x: Value, keepdim: bool) -> Value:
        flat = np.reshape(x, -1)
        if not flat.size:
            return np.full((1,) * np.ndim(x) if keepdim else (), np.nan)[()]
        value = flat[type(self).rule(dim=-1).decide(flat)[0]]
        return np.reshape(value, (1,) * np.ndim(x))[()] if keepdim else value

    def kinks(self, x: Value) -> Value | None:
        return np.diff(np.sort(np.reshape(x, -1))) if np.size(x) > 1 else None


class Nanmedian(Median):
    """The median of all elements that are not NaN, the lower one of two.

    (...) -> (). Elements that are equal to it share the gradient equally, as PyTorch.
    """

    refused = "bc"
    kernel_name = "median_cpu"
    rule: ClassVar[type[Picked]] = NanmedianDim
    node = "NanmedianBackward0"


class Argsort(Operation):
    """The indices that sort along `dim`."""

    differentiable = False
    dim: int
    descending: bool = False

    def forward(self, x: Value) -> Value:
        return order_of(x, self.dim, self.descending)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 4)),)


class Searchsorted(Operation):
    """Where `values` would be put into the sorted last axis: (..., n), (..., m) -> (..., m); `right` behind equal elements."""

    refused = "b"
    kernel_name = "searchsorted_out_cpu"

    differentiable = False
    right: bool = False

    def forward(self, sequence: Value, values: Value) -> Value:
        side: Any = "right" if self.right else "left"
        if np.ndim(sequence) == 1:
            return np.searchsorted(sequence, values, side)
        rows = np.reshape(sequence, (-1, sequence.shape[-1])), np.reshape(values, (-1, values.shape[-1]))
        return np.stack([np.searchsorted(s, v, side) for s, v in zip(*rows, strict=True)]).reshape(values.shape)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (np.array([1.0, 2.0, 3.0]), rng.normal(size=(2,)))


def nonempty(name: str, x: Any, dim: int) -> None:
    if x.ndim and x.shape[dim] == 0:
        raise RangeError(f"{name}(): Expected reduction dim {dim + x.ndim} to have non-zero size.")


def vector(x: Any) -> Any:
    return reshape(x, 1) if x.ndim == 0 else x


def pair(name: str, parts: Any, x: Any) -> Any:
    """The values and the indices that a function gives; those of a 0-d x, which was looked at as a vector, as 0-d again."""
    return returned(name, VALUES)(*(reshape(part, ()) for part in parts) if x.ndim == 0 else parts)


def sort(x: Any, dim: Any = None, descending: bool = False, stable: bool = False) -> Any:
    """The pair (values, indices) of the elements in order along an axis (the last unless given)."""
    return pair("sort", Sort(dim=one_dim(-1 if dim is None else dim, x.ndim), descending=descending)(vector(x)), x)


def msort(x: Value) -> Any:
    """The elements in ascending order along the first axis."""
    return sort(x, 0)[0]


def argsort(x: Value, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The indices that sort along an axis."""
    return Argsort(dim=one_dim(dim, x.ndim), descending=descending)(x)


def topk(x: Value, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The pair (values, indices) of the k largest or smallest elements along an axis."""
    axis = one_dim(dim, x.ndim)
    x = vector(x) if k == 0 else x
    if not 0 <= k <= (x.shape[axis] if x.ndim else 1):
        size = x.shape[axis] if x.ndim else 1
        raise ShapeError("selected index k out of range", hint=f"k is {k}, dimension {axis % max(x.ndim, 1)} has size {size}")
    return pair("topk", Topk(dim=axis, k=k, largest=largest)(vector(x)), x)


def kthvalue(x: Value, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The pair (value, index) of the k-th smallest element along an axis, k from 1."""
    axis = one_dim(dim, x.ndim)
    nonempty("kthvalue", x, axis)
    if not 1 <= k <= (x.shape[axis] if x.ndim else 1):
        raise ShapeError("kthvalue(): selected number k out of range for dimension " + str(axis + x.ndim))
    return pair("kthvalue", Kthvalue(dim=axis, k=k, keepdim=keepdim or x.ndim == 0)(vector(x)), x)


def picked(name: str, whole: type[Operation] | None, along: type[Operation], x: Any, dim: Any, keepdim: bool) -> Any:
    if dim is None and whole is not None:
        return whole()(x)
    axis = one_dim(-1 if dim is None else dim, x.ndim)
    nonempty(name, x, axis)
    return pair(name, along(dim=axis, keepdim=keepdim or x.ndim == 0)(vector(x)), x)


def median(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The median of all elements, or the pair (values, indices) along an axis; the lower one of two."""
    return picked("median", Median, MedianDim, x, dim, keepdim)


def nanmedian(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The median of what is not NaN, of all elements or as the pair (values, indices) along an axis."""
    return picked("nanmedian", Nanmedian, NanmedianDim, x, dim, keepdim)


def mode(x: Value, dim: int = -1, keepdim: bool = False) -> Any:
    """The pair (values, indices) of the most frequent element along an axis."""
    return picked("mode", None, Mode, x, dim, keepdim)


def searchsorted(x: Any, values: Any, *, right: bool = False, side: Any = None, out_int32: bool = False) -> Any:
    """Where values would be put into the sorted last axis of x."""
    if x.ndim > 1 and (np.ndim(values) != x.ndim or x.shape[:-1] != values.shape[:-1]):
        raise ShapeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and input "
            f"value tensor must match, but we got boundaries tensor {list(x.shape)} and input value tensor {list(np.shape(values))}"
        )
    return Searchsorted(right=right or side == "right")(x, values)


def bucketize(x: Value, boundaries: Value, *, right: bool = False, out_int32: bool = False) -> Any:
    """For each element the number of boundaries below it."""
    if boundaries.ndim != 1:
        raise ShapeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return Searchsorted(right=right)(boundaries, x)


class Unique(Operation):
    """The different elements in ascending order; no gradient."""

    differentiable = False

    def forward(self, x: Value) -> Value:
        return np.unique(x)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (np.array([2.0, 1.0, 2.0]),)


def unique(x: Value, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """The different elements in ascending order; also where each element went, and how often each occurs."""
    values = Unique()(x)
    extra = []
    if return_inverse or return_counts:
        _, inverse, counts = np.unique(raw(x), return_inverse=True, return_counts=True)
        make = type(x) if hasattr(x, "value") else np.asarray
        extra = [make(part) for part, wanted in ((inverse.reshape(x.shape), return_inverse), (counts, return_counts)) if wanted]
    return (values, *extra) if extra else values


OPERATIONS = (Sort, Topk, Kthvalue, MedianDim, NanmedianDim, Mode, Median, Nanmedian, Argsort, Searchsorted, Unique)
FUNCTIONS = (sort, msort, argsort, topk, kthvalue, median, nanmedian, mode, searchsorted, bucketize, unique)
