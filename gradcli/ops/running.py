"""Running extremes and logarithms, differences and integrals along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops.arithmetic import log
from gradcli.ops.axes import one_dim, raw, written
from gradcli.ops.exponential import exp, floats
from gradcli.ops.extreme import PutAlong
from gradcli.ops.indexing import Slice, narrow, select
from gradcli.ops.joining import Cat
from gradcli.ops.numbered import divided, scaled
from gradcli.ops.operation import Operation, Value
from gradcli.ops.ordering import Chosen, pair, vector
from gradcli.ops.reduction import Examples, Sum
from gradcli.ops.scan import Cumsum, Flip, Recurrence, Shift
from gradcli.ops.shape import reshape


class Logcumsumexp(Operation):
    """log(exp(x_1) + ... + exp(x_k)) along `dim`, without overflow. Shapes: any, kept."""

    row_major = True
    refused = "biuc"
    kernel_name = "logcumsumexp_out_cpu"
    analytic = False
    extended = True
    dim: int

    def forward(self, x: Value) -> Value:
        return np.logaddexp.accumulate(x, self.dim) if np.ndim(x) else x

    def exact(self, *args: Value, decision: Any = None) -> Value:
        (x,) = args
        if np.ndim(x) == 0 or np.size(x) == 0:
            return x
        first, *rows = np.moveaxis(x, self.dim, 0)
        sums = [first]
        for row in rows:
            top = np.maximum(floats(sums[-1]), floats(row))
            sums.append(log(exp(sums[-1] - top) + exp(row - top)) + top)
        return np.moveaxis(np.stack(sums), 0, self.dim)

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        """The recurrence out_k = log(exp(out_(k-1)) + exp(x_k)), gone through backwards."""
        if x.ndim == 0:
            return g
        flip = Flip(dims=(self.dim,))
        carried = exp(Shift(dim=self.dim, fill=-np.inf)(out) - out)
        ahead = flip(Recurrence(dim=self.dim)(flip(g), flip(Shift(dim=self.dim, back=True)(carried))))
        return ahead * exp(x - out)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return args[0] if np.ndim(args[0]) == 1 else self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 3)),)
        yield cls(dim=-2), (rng.normal(size=(3, 2)),)


class Cummax(Chosen):
    """The largest element so far along `dim`, and where it is: the last of those that tie. (..., n, ...) -> (..., n, ...) twice."""

    row_major = True
    saves = "dim indices=decision self=x"
    refused = "c"
    lowest = False

    def decide(self, x: Value) -> Any:
        accumulate: Any = np.minimum.accumulate if self.lowest else np.maximum.accumulate
        place = np.arange(x.shape[self.dim]).reshape(-1, *(1,) * (-1 - self.dim))
        return np.maximum.accumulate(np.where(np.asarray(x == accumulate(x, self.dim), dtype=bool), place, 0), self.dim)

    def vjp_x(self, g: Value, x: Value, decision: Value) -> Value:  # type: ignore[override]
        return PutAlong(dim=self.dim, shape=x.shape, label="ScatterAddBackward0")(g[0], decision)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 4)),)
        yield cls(dim=-2), (rng.normal(size=(4, 2)),)


class Cummin(Cummax):
    """The smallest element so far along `dim`, and where it is: the last of those that tie. (..., n, ...) -> (..., n, ...) twice."""

    lowest = True


def logcumsumexp(x: Value, dim: int) -> Any:
    """The logarithm of the running sum of exponentials along an axis."""
    return Logcumsumexp(dim=one_dim(dim, x.ndim))(x)


def cummax(x: Value, dim: int) -> Any:
    """The pair (values, indices) of the running maximum along an axis."""
    return pair("cummax", Cummax(dim=one_dim(dim, x.ndim))(vector(x)), x)


def cummin(x: Value, dim: int) -> Any:
    """The pair (values, indices) of the running minimum along an axis."""
    return pair("cummin", Cummin(dim=one_dim(dim, x.ndim))(vector(x)), x)


def ends(x: Any, dim: int) -> tuple[Any, Any]:
    """x without its first, and without its last element along an axis."""
    n = x.shape[dim]
    before = narrow(x, dim, 0, n - 1)
    return narrow(x, dim, 1, n - 1), before


def slice_from(x: Any, dim: int, start: int, end: int | None) -> Any:
    """x[start:end] along an axis, whose node tells `end` as it is."""
    n = x.shape[dim]
    return Slice(dim=dim, start=start, stop=written(n if end is None else n + end, end))(x)


def diff(x: Value, n: int = 1, dim: int = -1, prepend: Value | None = None, append: Value | None = None) -> Any:
    """The differences of neighbours along an axis, n times; `prepend` and `append` are joined on first."""
    if x.ndim == 0:
        raise ShapeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise ShapeError(f"order must be non-negative but got {n}")
    axis = one_dim(dim, x.ndim)
    if n == 0:
        return x.clone()
    parts = [part for part in (prepend, x, append) if part is not None]
    x = Cat(dim=axis)(*parts) if len(parts) > 1 else x
    for _ in range(min(n, x.shape[axis])):
        after, before = ends(x, axis)
        x = after - before
    return x


def spacing_along(x: Any, ndim: int, axis: int) -> Any:
    """Points along an axis, given as a vector, in a shape that fits tensors of `ndim` axes."""
    return reshape(x, (1,) * (ndim + axis) + (-1,) + (1,) * (-1 - axis)) if x.ndim == 1 and ndim > 1 else x


def trapezoid(y: Value, x: Value | None = None, *, dx: float | None = None, dim: int = -1) -> Any:
    """The integral along an axis by the trapezoidal rule, over the points x, or points `dx` (1) apart."""
    axis = one_dim(dim, y.ndim)
    if x is not None:
        after, before = ends(y, axis)
        return divided(Sum(dim=(axis,))((before + after) * diff(spacing_along(x, y.ndim, axis), dim=axis)), 2.0)
    n = y.shape[axis]
    if n < 2:
        return Sum(dim=(axis,))(y) * 0.0
    edges = select(y, axis, 0) + select(y, axis, -1)
    return scaled(Sum(dim=(axis,))(y) - scaled(edges, 0.5), 1.0 if dx is None else dx)


def cumulative_trapezoid(y: Value, x: Value | None = None, *, dx: float | None = None, dim: int = -1) -> Any:
    """The running integral along an axis by the trapezoidal rule: one element less than y."""
    axis = one_dim(dim, y.ndim)
    after, before = slice_from(y, axis, 1, None), slice_from(y, axis, 0, -1)
    if x is not None:
        return divided(Cumsum(dim=axis)((before + after) * diff(spacing_along(x, y.ndim, axis), dim=axis)), 2.0)
    return Cumsum(dim=axis)(scaled(before + after, (1.0 if dx is None else dx) / 2.0))


def gradient(x: Value, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple[Any, ...]:
    """The derivative of sampled values along each axis: central differences inside, one-sided ones at the edges.

    `spacing` is one distance, one for each axis, or for each axis the coordinates.
    """
    spacing = 1 if spacing is None else spacing
    axes = [one_dim(d, x.ndim) for d in (range(x.ndim) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,))]
    steps = list(spacing) if isinstance(spacing, (tuple, list)) else [spacing] * len(axes)
    if len(steps) != len(axes):
        raise ShapeError(f"torch.gradient expected spacing to be unspecified, a scalar, or a list of {len(axes)} (one for each dim)")
    return tuple(slope(x, axis, step, edge_order) for axis, step in zip(axes, steps, strict=True))


def slope(x: Any, axis: int, step: Any, edge_order: int) -> Any:
    """The derivative along one axis."""
    n = x.shape[axis]
    if n > edge_order and not np.ndim(raw(step)):
        return even_slope(x, axis, float(raw(step)), edge_order)
    if n <= edge_order:
        raise ShapeError("torch.gradient expected each dimension size to be at least edge_order+1")
    gaps = diff(step)
    gap = [select(gaps, 0, k) for k in range(n - 1)] if hasattr(gaps, "value") else list(gaps)

    def at(k: int) -> Any:
        return narrow(x, axis, k % n, 1)

    def one_sided(first: int, second: int, third: int, h: Any, h2: Any) -> Any:
        near = (at(second) - at(first)) / h
        if edge_order == 1:
            return near
        far = (at(third) - at(second)) / h2
        return near - (far - near) * h / (h + h2)

    left = one_sided(0, 1, 2, gap[0], gap[1] if n > 2 else None)
    right = one_sided(-1, -2, -3, -gap[-1], -gap[-2] if n > 2 else None)
    if n == 2:
        return Cat(dim=axis)(left, right)
    wide = spacing_along(gaps, x.ndim, axis)
    before, after = narrow(wide, wide_axis(wide, axis), 0, n - 2), narrow(wide, wide_axis(wide, axis), 1, n - 2)
    low, middle, high = (narrow(x, axis, k, n - 2) for k in range(3))
    inner = (before * (high - middle) / after + after * (middle - low) / before) / (before + after)
    return Cat(dim=axis)(left, inner, right)


def even_slope(x: Any, axis: int, h: float, edge_order: int) -> Any:
    """The derivative along one axis of values `h` apart."""
    n = x.shape[axis]

    def at(k: int, length: int = 1) -> Any:
        return narrow(x, axis, k % n, length)

    if edge_order == 1:
        left, right = divided(at(1) - at(0), h), divided(at(-1) - at(-2), h)
    else:
        left = divided(scaled(at(0), -1.5) + scaled(at(1), 2.0) - scaled(at(2), 0.5), h)
        right = divided(scaled(at(-1), 1.5) - scaled(at(-2), 2.0) + scaled(at(-3), 0.5), h)
    middle = [divided(at(2, n - 2) - at(0, n - 2), 2 * h)] if n > 2 else []
    return Cat(dim=axis)(left, *middle, right)


def wide_axis(x: Any, axis: int) -> int:
    """The axis along which the points of `spacing_along` lie."""
    return axis if x.ndim > 1 else -1


OPERATIONS = (Logcumsumexp, Cummax, Cummin)
FUNCTIONS = (logcumsumexp, cummax, cummin, diff, trapezoid, cumulative_trapezoid, gradient)
SPELLINGS = {"trapz": trapezoid}
