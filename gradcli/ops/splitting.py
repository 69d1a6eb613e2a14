"""Tensors taken apart: several views of one tensor by one node."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gradcli.errors import ArgumentError, RangeError, ShapeError
from gradcli.ops.axes import integer, one_dim, raw
from gradcli.ops.indexing import Select, Slice
from gradcli.ops.joining import Cat, Stack
from gradcli.ops.operation import Operation, Value, View

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]


class Unbind(View):
    """The parts along the axis `dim`, which goes: as many results as it is long. (..., n, ...) -> n times (..., ...)."""

    saves = "dim"
    dim: int
    count: int

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.outputs = self.count

    def forward(self, x: Value) -> Any:
        return tuple(self.part(k).forward(x) for k in range(self.count))

    def part(self, k: int) -> Operation:
        return Select(dim=self.dim, index=k)

    def vjp_x(self, g: Value) -> Value:
        return Stack(dim=self.dim)(*(g if isinstance(g, tuple) else (g,)))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1, count=3), (rng.normal(size=(2, 3)),)
        yield cls(dim=-2, count=2), (rng.normal(size=(2, 3)),)


def unbind(x: Value, dim: int = 0) -> tuple[Any, ...]:
    """The parts along an axis, as views of one node that may not be written to."""
    axis = one_dim(dim, x.ndim)
    if x.ndim == 0:
        raise RangeError("Dimension specified as 0 but tensor has no dimensions")
    count = x.shape[axis]
    return tuple(Unbind(dim=axis, count=count)(x)) if count else ()


def rows(x: Any) -> Iterator[Any]:
    """What iterating over x gives: its parts along the first axis, as views of one node."""
    if x.ndim == 0:
        raise ArgumentError("iteration over a 0-d tensor")
    return iter(unbind(x))


class Split(View):
    """Consecutive parts of lengths `sections` along the axis `dim`. (..., n, ...) -> (..., n_k, ...) for each part."""

    saves = "dim self_sym_sizes=x_shape split_size=sections.0"
    dim: int
    sections: tuple[int, ...]

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.outputs = len(self.sections)

    def forward(self, x: Value) -> Any:
        return tuple(self.part(k).forward(x) for k in range(len(self.sections)))

    def part(self, k: int) -> Operation:
        start = sum(self.sections[:k])
        return Slice(dim=self.dim, start=start, stop=start + self.sections[k], step=1)

    def vjp_x(self, g: Value) -> Value:
        return Cat(dim=self.dim)(*(g if isinstance(g, tuple) else (g,)))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1, sections=(2, 1)), (rng.normal(size=(2, 3)),)
        yield cls(dim=-2, sections=(1, 1)), (rng.normal(size=(2, 3)),)


class SplitWithSizes(Split):
    """Consecutive parts of the given lengths along the axis `dim`. (..., n, ...) -> (..., n_k, ...) for each part."""

    saves = "dim self_sym_sizes=x_shape split_sizes=sections"


def split(x: Value, split_size: Any, dim: int = 0) -> tuple[Any, ...]:
    """Parts of `split_size` elements along an axis (the last may be shorter), or of the sizes in a list."""
    axis = one_dim(dim, x.ndim)
    if x.ndim == 0:
        raise ShapeError("split expects at least a 1-dimensional tensor")
    n = x.shape[axis]
    if isinstance(split_size, (tuple, list)):
        parts = tuple(integer(s) for s in split_size)
        if sum(parts) != n or any(s < 0 for s in parts):
            raise ShapeError(
                f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension {axis + x.ndim}), "
                f"but got split_sizes={list(parts)}"
            )
        return tuple(SplitWithSizes(dim=axis, sections=parts)(x))
    size = integer(split_size)
    if size <= 0:
        raise ShapeError(f"split expects split_size be non-negative, but got split_size={size}")
    return tuple(Split(dim=axis, sections=tuple(min(size, n - k) for k in range(0, n, size)) or (0,))(x))


def chunk(x: Value, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """At most `chunks` parts along an axis, all of one length but the last."""
    if chunks <= 0:
        raise ShapeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    return split(x, max(1, math.ceil(x.shape[one_dim(dim, x.ndim)] / chunks)) if x.ndim else 1, dim)


def tensor_split(x: Value, indices_or_sections: Any, dim: int = 0) -> tuple[Any, ...]:
    """A number of parts as equal as possible along an axis, or parts that begin at given indices."""
    axis = one_dim(one_dim(dim, x.ndim) + x.ndim, x.ndim)
    if x.ndim == 0:
        raise ShapeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    n = x.shape[axis]
    given = raw(indices_or_sections)
    if np.ndim(given) == 0:
        count = integer(given)
        if count <= 0:
            raise ShapeError(f"number of sections must be larger than 0, got {count}")
        ends = list(np.cumsum([n // count + (k < n % count) for k in range(count)]))
        starts = [0, *ends[:-1]]
    else:
        cuts = [slice(None, integer(c)).indices(n)[1] for c in given]
        starts, ends = [0, *cuts], [*cuts, n]
    return tuple(Slice(dim=axis, start=int(a), stop=int(max(a, b)), step=1)(x) for a, b in zip(starts, ends, strict=True))


def hsplit(x: Value, indices_or_sections: Any) -> tuple[Any, ...]:
    """Parts side by side: along the second axis, of vectors along their only one."""
    return _even(x, indices_or_sections, 0 if x.ndim == 1 else 1, "hsplit", 1)


def vsplit(x: Value, indices_or_sections: Any) -> tuple[Any, ...]:
    """Parts one below the other: along the first axis."""
    return _even(x, indices_or_sections, 0, "vsplit", 2)


def dsplit(x: Value, indices_or_sections: Any) -> tuple[Any, ...]:
    """Parts in depth: along the third axis."""
    return _even(x, indices_or_sections, 2, "dsplit", 3)


def _even(x: Any, sections: Any, dim: int, name: str, least: int) -> tuple[Any, ...]:
    if x.ndim < least:
        raise ShapeError(f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {x.ndim} dimensions!")
    if np.ndim(raw(sections)) == 0 and (integer(sections) == 0 or x.shape[dim] % integer(sections)):
        raise ShapeError(
            f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension {x.shape[dim]} "
            f"is not divisible by the split_size {integer(sections)}!"
        )
    return tensor_split(x, sections, dim)


OPERATIONS = (Unbind, Split, SplitWithSizes)
FUNCTIONS = (unbind, split, chunk, tensor_split, hsplit, vsplit, dsplit)
SPELLINGS = {"unstack": unbind, "split_with_sizes": split}
