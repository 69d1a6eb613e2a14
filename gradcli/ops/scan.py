"""Running sums, products and extremes along an axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.ops.axes import one_dim
from gradcli.ops.conjugate import conj
from gradcli.ops.operation import Operation, Structural, Value
from gradcli.ops.structure import To

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]


def slot(ndim: int, dim: int, place: Any) -> tuple[Any, ...]:
    """The index that takes `place` along the axis `dim` (negative) and all of the others."""
    index: list[Any] = [slice(None)] * ndim
    index[dim] = place
    return tuple(index)


class Flip(Structural):
    """The order of elements reversed along the axes `dims`. Shapes: any, kept."""

    dims: tuple[int, ...]

    def forward(self, x: Value) -> Value:
        return np.array(np.flip(x, self.dims))

    def vjp_x(self, g: Value) -> Value:
        return self(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dims=(-1,)), (rng.normal(size=(2, 3)),)
        yield cls(dims=(-1, -2)), (rng.normal(size=(2, 3)),)


class Shift(Structural):
    """Moved by one place towards the end of the axis `dim` (towards the front when `back`); what enters is `fill`, what leaves is lost.

    Shapes: any, kept.
    """

    dim: int
    fill: float = 0.0
    back: bool = False

    def forward(self, x: Value) -> Value:
        out = np.empty_like(x)
        first, rest = (-1, slice(None, -1)) if self.back else (0, slice(1, None))
        source = slice(1, None) if self.back else slice(None, -1)
        out[slot(x.ndim, self.dim, first)] = self.fill
        out[slot(x.ndim, self.dim, rest)] = x[slot(x.ndim, self.dim, source)]
        return out

    def vjp_x(self, g: Value) -> Value:
        return Shift(dim=self.dim, back=not self.back)(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1, fill=1.0), (rng.normal(size=(2, 3)),)
        yield cls(dim=-2, back=True), (rng.normal(size=(2, 3)),)


class Cumsum(Structural):
    """The running sum along `dim`: y_k = x_1 + ... + x_k. Shapes: any, kept. Gradient: the sum of g from the end back to each place."""

    row_major = True

    dim: int

    def forward(self, x: Value) -> Value:
        return np.cumsum(x, self.dim) if np.ndim(x) else x

    def vjp_x(self, g: Value) -> Value:
        return g if g.ndim == 0 else Flip(dims=(self.dim,))(self(Flip(dims=(self.dim,))(g)))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 3)),)
        yield cls(dim=-2), (rng.normal(size=(2, 3)),)


class Recurrence(Operation):
    """y_k = x_k + a_k * y_(k-1) along `dim`, from y_0 = 0: what running products are differentiated with, without division.

    Shapes: any, kept.
    """

    analytic = False
    dim: int

    def forward(self, x: Value, a: Value) -> Value:
        out = np.array(x * 1.0, dtype=np.result_type(x, a, np.float32))
        for k in range(1, x.shape[self.dim]):
            here = slot(x.ndim, self.dim, k)
            out[here] = out[here] + a[here] * out[slot(x.ndim, self.dim, k - 1)]
        return out

    def vjp_x(self, g: Value, a: Value) -> Value:
        flip = Flip(dims=(self.dim,))
        return flip(self(flip(g), flip(Shift(dim=self.dim, back=True)(conj(a)))))

    def vjp_a(self, g: Value, a: Value, out: Value) -> Value:
        return self.vjp_x(g, a) * conj(Shift(dim=self.dim)(out))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        x, a = args
        if not lead[0]:
            x = np.broadcast_to(x, np.shape(a))
        return self.forward(x, a if lead[1] else np.broadcast_to(a, np.shape(x)))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 4)), rng.normal(size=(2, 4)))
        yield cls(dim=-2), (rng.normal(size=(3, 2)), rng.normal(size=(3, 2)))


class Cumprod(Operation):
    """The running product along `dim`: y_k = x_1 * ... * x_k. Right at zeros, to every order. Shapes: any, kept."""

    row_major = True

    dim: int

    def forward(self, x: Value) -> Value:
        return np.cumprod(x, self.dim) if np.ndim(x) else x

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        if x.ndim == 0:
            return g
        flip = Flip(dims=(self.dim,))
        y = conj(x)
        before = self(Shift(dim=self.dim, fill=1.0)(y))
        ahead = flip(Recurrence(dim=self.dim)(flip(g), flip(Shift(dim=self.dim, back=True)(y))))
        return before * ahead

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 3)),)
        yield cls(dim=-2), (np.array([[1.0, 2.0], [0.0, 3.0], [2.0, 0.0]]),)


def product_of_others(x: Any, dim: int) -> Any:
    """For each element the product of all others along `dim`: no division, so that zeros do no harm. 1 for a 0-d x."""
    if x.ndim == 0 or 0 in x.shape:
        return x * 0.0 + 1.0
    flip, running, shift = Flip(dims=(dim,)), Cumprod(dim=dim), Shift(dim=dim, fill=1.0)
    return running(shift(x)) * flip(running(shift(flip(x))))


def cast(x: Any, dtype: Any) -> Any:
    return x if dtype is None or x.dtype == dtype else To(dtype=np.dtype(dtype))(x)


def cumsum(x: Value, dim: int, *, dtype: Any = None) -> Any:
    """The running sum along an axis."""
    return Cumsum(dim=one_dim(dim, x.ndim))(cast(x, dtype))


def cumprod(x: Value, dim: int, *, dtype: Any = None) -> Any:
    """The running product along an axis."""
    return Cumprod(dim=one_dim(dim, x.ndim))(cast(x, dtype))


OPERATIONS = (Flip, Shift, Cumsum, Recurrence, Cumprod)
FUNCTIONS = (cumsum, cumprod)
