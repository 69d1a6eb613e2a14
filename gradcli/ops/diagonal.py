"""Diagonals and triangles of matrices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops.axes import one_dim, written
from gradcli.ops.indexing import Embed
from gradcli.ops.operation import Operation, Structural, Value, View
from gradcli.ops.reduction import Sum
from gradcli.ops.shape import reshape

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]


def diagonal_of(x: Value, offset: int, dim1: int, dim2: int) -> Value:
    """NumPy's diagonal as a window that can be written to."""
    window = np.diagonal(x, offset, dim1, dim2)
    if isinstance(x, np.ndarray) and x.flags.writeable:
        window.flags.writeable = True
    return window


class Diagonal(View):
    """The elements x[..., i, i + offset] of the axes dim1 and dim2, as a last axis: (..., n, m) -> (..., k)."""

    offset: int = 0
    dim1: int = -2
    dim2: int = -1

    def forward(self, x: Value) -> Value:
        return diagonal_of(x, self.offset, self.dim1, self.dim2)

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        return Embed(op=self, shape=x_shape)(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 3)),)
        yield cls(offset=1), (rng.normal(size=(3, 3)),)
        yield cls(offset=-1, dim1=-1, dim2=-3), (rng.normal(size=(2, 3, 2)),)


class DiagonalCopy(Diagonal):
    """The diagonal of a matrix in memory of its own, which is what `diag` gives: (n, m) -> (k)."""

    view = False
    node = "DiagonalBackward0_copy"

    def forward(self, x: Value) -> Value:
        return diagonal_of(x, self.offset, self.dim1, self.dim2).copy()

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        return Embed(op=Diagonal(**self.settings()), shape=x_shape)(g)


class DiagEmbed(Structural):
    """Matrices with the last axis of x on a diagonal and zeros elsewhere: (..., n) -> (..., m, m), m = n + |offset|."""

    offset: int = 0
    dim1: int = -2
    dim2: int = -1

    def forward(self, x: Value) -> Value:
        size = x.shape[-1] + abs(self.offset)
        out = np.zeros((*x.shape[:-1], size, size), x.dtype)
        diagonal_of(out, self.offset, -2, -1)[...] = x
        return np.moveaxis(out, (-2, -1), (self.dim1, self.dim2))

    def vjp_x(self, g: Value) -> Value:
        return Diagonal(offset=self.offset, dim1=self.dim1, dim2=self.dim2)(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    def size(self, *args: Value) -> int:
        (x,) = args
        return int(np.size(x) * (x.shape[-1] + abs(self.offset)))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(3,)),)
        yield cls(offset=-1), (rng.normal(size=(2, 3)),)
        yield cls(offset=1, dim1=-1, dim2=-3), (rng.normal(size=(2, 3)),)


class Tril(Structural):
    """The lower triangle, zeros above the given diagonal. (..., n, m) -> (..., n, m)."""

    diagonal: int = 0

    def forward(self, x: Value) -> Value:
        return np.where(self.mask(x.shape), x, np.zeros((), x.dtype))

    def mask(self, shape: tuple[int, ...]) -> Any:
        return np.tri(shape[-2], shape[-1], self.diagonal, dtype=bool)

    def vjp_x(self, g: Value) -> Value:
        return self(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(3, 3)),)
        yield cls(diagonal=-1), (rng.normal(size=(2, 3, 2)),)


class Triu(Tril):
    """The upper triangle, zeros below the given diagonal. (..., n, m) -> (..., n, m)."""

    def mask(self, shape: tuple[int, ...]) -> Any:
        return ~np.tri(shape[-2], shape[-1], self.diagonal - 1, dtype=bool)


class Trace(Structural):
    """The sum of the diagonal of a matrix: (n, m) -> ()."""

    def forward(self, x: Value) -> Value:
        if x.ndim != 2:
            raise ShapeError(f"trace: expected a matrix, but got tensor with dim {x.ndim}")
        return np.trace(x)

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        return np.eye(x_shape[0], x_shape[1], dtype=g.dtype) * g

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return np.trace(args[0], axis1=-2, axis2=-1)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(3, 3)),)
        yield cls(), (rng.normal(size=(2, 3)),)


def two_dims(x: Any, dim1: int, dim2: int) -> tuple[int, int]:
    """Two different axes; RuntimeError when they are one."""
    first, second = one_dim(dim1, x.ndim), one_dim(dim2, x.ndim)
    if first == second:
        raise ShapeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return first, second


def diagonal(x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonal of two axes as a last axis, a view."""
    first, second = two_dims(x, dim1, dim2)
    return Diagonal(offset=offset, dim1=first, dim2=second)(x)


def diagonal_copy(x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The diagonal of two axes as a last axis, in memory of its own."""
    first, second = two_dims(x, dim1, dim2)
    return DiagonalCopy(offset=offset, dim1=first, dim2=second)(x)


def diag(x: Value, diagonal: int = 0) -> Any:
    """Of a vector the matrix with it on a diagonal, of a matrix the diagonal (a copy)."""
    if x.ndim == 1:
        return DiagEmbed(offset=diagonal)(x)
    if x.ndim != 2:
        raise ShapeError(f"diag(): Supports 1D or 2D tensors. Got {x.ndim}D")
    return DiagonalCopy(offset=diagonal, dim1=written(-2, 0), dim2=written(-1, 1))(x)


def diag_embed(x: Value, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices in the axes dim1 and dim2 with the last axis of x on a diagonal."""
    n = x.ndim + 1
    first, second = one_dim(dim1, n), one_dim(dim2, n)
    if first % n == second % n:
        raise ShapeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return DiagEmbed(offset=offset, dim1=first, dim2=second)(x)


def diagflat(x: Value, offset: int = 0) -> Any:
    """A matrix with all elements of x on a diagonal."""
    return DiagEmbed(offset=offset)(reshape(x, -1))


def triangle(cls: type[Tril], x: Any, diagonal: int) -> Any:
    if x.ndim < 2:
        raise ShapeError(f"{cls.name}: input tensor must have at least 2 dimensions")
    return cls(diagonal=diagonal)(x)


def tril(x: Value, diagonal: int = 0) -> Any:
    """The lower triangle of matrices, zeros above the given diagonal."""
    return triangle(Tril, x, diagonal)


def triu(x: Value, diagonal: int = 0) -> Any:
    """The upper triangle of matrices, zeros below the given diagonal."""
    return triangle(Triu, x, diagonal)


def trace(x: Value, offset: int = 0, axis1: int = -2, axis2: int = -1) -> Any:
    """The sum of the diagonal of a matrix; NumPy's offset and axes work too."""
    if x.ndim < 3 and not offset:
        return Trace()(x)
    return Sum(dim=(-1,))(diagonal(x, offset, axis1, axis2))


OPERATIONS = (Diagonal, DiagonalCopy, DiagEmbed, Tril, Triu, Trace)
FUNCTIONS = (diagonal, diagonal_copy, diag, diag_embed, diagflat, tril, triu, trace)
