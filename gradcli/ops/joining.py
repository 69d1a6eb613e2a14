"""Tensors put together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import ArgumentError, DataError, ShapeError
from gradcli.ops.axes import leading, one_dim
from gradcli.ops.indexing import Select, Slice
from gradcli.ops.operation import Operation, Structural, Value
from gradcli.ops.shape import reshape, unsqueeze

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]


class Cat(Structural):
    """Joined along the existing axis `dim`: (..., n, ...), (..., m, ...) -> (..., n + m, ...)."""

    dim: int

    def forward(self, *tensors: Value) -> Value:
        return np.ascontiguousarray(np.concatenate(tensors, self.dim))

    def vjp_item(self, index: int, g: Value, shapes: tuple[tuple[int, ...], ...]) -> Value:
        lengths = [shape[self.dim] for shape in shapes]
        start = sum(lengths[:index])
        return Slice(dim=self.dim, start=start, stop=start + lengths[index], step=1)(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return np.concatenate(leading(args, lead), self.dim)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 3)), rng.normal(size=(2, 1)))
        yield cls(dim=-2), (rng.normal(size=(2, 3)), rng.normal(size=(1, 3)), rng.normal(size=(2, 3)))


class Stack(Structural):
    """Joined along a new axis `dim`: shapes all alike; the new axis has their number as length."""

    dim: int

    def forward(self, *tensors: Value) -> Value:
        return np.ascontiguousarray(np.stack(tensors, self.dim))

    def vjp_item(self, index: int, g: Value, shapes: tuple[tuple[int, ...], ...]) -> Value:
        return Select(dim=self.dim, index=index)(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return np.stack(leading(args, lead), self.dim)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 3)), rng.normal(size=(2, 3)))
        yield cls(dim=-1), (rng.normal(size=()), rng.normal(size=()))


def sequence(name: str, tensors: Any) -> list[Any]:
    """The tensors of a sequence; TypeError, as PyTorch, where one is no tensor, RuntimeError where there is none."""
    if hasattr(tensors, "dtype"):
        if name != "stack" or tensors.ndim == 0:
            text = f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor"
            raise ArgumentError(text, hint=f"write {name}([x, y])")
        tensors = list(tensors)
    if not isinstance(tensors, (tuple, list)):
        raise ArgumentError(f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not {type(tensors).__name__}")
    for k, item in enumerate(tensors):
        if not hasattr(item, "dtype"):
            text = f"expected Tensor as element {k} in argument 0, but got {type(item).__name__}"
            raise ArgumentError(text, hint="wrap numbers: torch.tensor(2.)")
    if not tensors:
        if name == "stack":
            raise ShapeError("stack expects a non-empty TensorList")
        raise DataError(f"torch.{name}(): expected a non-empty list of Tensors")
    return list(tensors)


def cat(tensors: Any, dim: int = 0) -> Any:
    """Tensors joined along an axis that they have. RuntimeError for 0-d ones and for other sizes that differ."""
    items = sequence("cat", tensors)
    for k, item in enumerate(items):
        if item.ndim == 0:
            raise ShapeError(f"zero-dimensional tensor (at position {k}) cannot be concatenated", hint="use stack")
    shaped = [item for item in items if item.shape != (0,)] or items
    first = shaped[0]
    axis = one_dim(dim, first.ndim)
    for k, item in enumerate(shaped[1:], 1):
        if item.ndim != first.ndim:
            raise ShapeError(f"Tensors must have same number of dimensions: got {first.ndim} and {item.ndim}")
        for d in range(first.ndim):
            if d - first.ndim != axis and item.shape[d] != first.shape[d]:
                raise ShapeError(
                    f"Sizes of tensors must match except in dimension {axis + first.ndim}. "
                    f"Expected size {first.shape[d]} but got size {item.shape[d]} for tensor number {k} in the list."
                )
    return Cat(dim=axis)(*shaped)


def stack(tensors: Any, dim: int = 0) -> Any:
    """Tensors of one shape joined along a new axis."""
    items = sequence("stack", tensors)
    for k, item in enumerate(items[1:], 1):
        if item.shape != items[0].shape:
            raise ShapeError(
                f"stack expects each tensor to be equal size, but got {list(items[0].shape)} at entry 0 and {list(item.shape)} at entry {k}"
            )
    return Stack(dim=one_dim(dim, items[0].ndim + 1))(*items)


def hstack(tensors: Any) -> Any:
    """Joined side by side: along the second axis, vectors along their only one."""
    items = [atleast(x, 1) for x in sequence("hstack", tensors)]
    return cat(items, 0 if items[0].ndim == 1 else 1)


def vstack(tensors: Any) -> Any:
    """Joined one below the other: along the first axis, vectors as rows."""
    return cat([atleast(x, 2) for x in sequence("vstack", tensors)], 0)


def dstack(tensors: Any) -> Any:
    """Joined in depth: along the third axis."""
    return cat([atleast(x, 3) for x in sequence("dstack", tensors)], 2)


def column_stack(tensors: Any) -> Any:
    """Joined side by side, vectors as columns."""
    return cat([reshape(x, -1, 1) if x.ndim < 2 else x for x in sequence("column_stack", tensors)], 1)


def atleast(x: Any, ndim: int) -> Any:
    """With axes of length 1 added as NumPy does: in front for vectors, a third axis behind."""
    if x.ndim >= ndim:
        return x
    if x.ndim == 0:
        return reshape(x, (1,) * ndim)
    if ndim == 2:
        return unsqueeze(x, 0)
    return unsqueeze(unsqueeze(x, 0), -1) if x.ndim == 1 else unsqueeze(x, -1)


def _each(tensors: tuple[Any, ...], ndim: int) -> Any:
    if len(tensors) == 1 and not isinstance(tensors[0], (tuple, list)):
        return atleast(tensors[0], ndim)
    return tuple(atleast(x, ndim) for x in (tensors[0] if len(tensors) == 1 else tensors))


def atleast_1d(*tensors: Any) -> Any:
    """With one axis at least."""
    return _each(tensors, 1)


def atleast_2d(*tensors: Any) -> Any:
    """With two axes at least: vectors become rows."""
    return _each(tensors, 2)


def atleast_3d(*tensors: Any) -> Any:
    """With three axes at least."""
    return _each(tensors, 3)


class BlockDiag(Structural):
    """Matrices (vectors as rows, numbers) along the diagonal of a larger one, zeros elsewhere: (n, m), (p, q) -> (n + p, m + q)."""

    def forward(self, *tensors: Value) -> Value:
        tensors = tuple(np.atleast_2d(t) for t in tensors)
        rows = sum(t.shape[-2] for t in tensors)
        columns = sum(t.shape[-1] for t in tensors)
        out = np.zeros((*tensors[0].shape[:-2], rows, columns), np.result_type(*tensors))
        for t, (i, j) in zip(tensors, corners([t.shape for t in tensors]), strict=False):
            out[..., i : i + t.shape[-2], j : j + t.shape[-1]] = t
        return out

    def size(self, *args: Value) -> int:
        shapes = [(1, 1, *np.shape(t))[-2:] for t in args]
        return int(math.prod(np.shape(args[0])[:-2]) * sum(n for n, _ in shapes) * sum(m for _, m in shapes))

    def vjp_item(self, index: int, g: Value, shapes: tuple[tuple[int, ...], ...]) -> Value:
        wide = [(1,) * (2 - len(s)) + tuple(s) for s in shapes]
        (i, j), shape = corners(wide)[index], wide[index]
        rows = Slice(dim=-2, start=i, stop=i + shape[-2], step=1)(g)
        return reshape(Slice(dim=-1, start=j, stop=j + shape[-1], step=1)(rows), shapes[index])

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        if any(np.ndim(a) - batched < 2 for a, batched in zip(args, lead, strict=True)):
            return super().batch(args, lead, decision)
        return self.forward(*leading(args, lead))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 2)), rng.normal(size=(1, 3)))
        yield cls(), (rng.normal(size=(2,)), rng.normal(size=()))


def corners(shapes: Sequence[tuple[int, ...]]) -> list[tuple[int, int]]:
    """Where each block begins."""
    rows = itertools.accumulate((s[-2] for s in shapes), initial=0)
    columns = itertools.accumulate((s[-1] for s in shapes), initial=0)
    return list(zip(rows, columns, strict=True))


def block_diag(*tensors: Any) -> Any:
    """Matrices along the diagonal of a larger one; vectors count as rows."""
    for k, x in enumerate(tensors):
        if x.ndim > 2:
            raise ShapeError(f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {k} has {x.ndim} dimensions")
    return BlockDiag()(*tensors)


OPERATIONS = (Cat, Stack, BlockDiag)
FUNCTIONS = (cat, stack, hstack, vstack, dstack, column_stack, atleast_1d, atleast_2d, atleast_3d, block_diag)
SPELLINGS = {"concat": cat, "concatenate": cat, "row_stack": vstack}
