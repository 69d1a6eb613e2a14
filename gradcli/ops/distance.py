"""Distances and angles between vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops.axes import axis, one_dim, raw
from gradcli.ops.bounds import clamp_min
from gradcli.ops.budget import budget
from gradcli.ops.exponential import sqrt
from gradcli.ops.matmul import Examples, broadcast_lead
from gradcli.ops.matrices import fitted, lifted
from gradcli.ops.norm import LinalgVectorNorm, Norm, norm, vector_norm
from gradcli.ops.numbered import plus
from gradcli.ops.operation import Operation, Value
from gradcli.ops.picking import Unindex
from gradcli.ops.reduction import sum as total
from gradcli.ops.rounding import absolute, sgn
from gradcli.ops.shape import clone, expand, unsqueeze
from gradcli.ops.where import where


class Cdist(Operation):
    """out[i, j] = p-norm of x[i] - y[j]. (..., n, d), (..., m, d) -> (..., n, m).

    p is 0 (number of differing elements), 1, 2, inf or any other positive number. At coincident points the
    derivative is 0, as PyTorch's; elements of a pair that tie for p = inf share it.
    """

    row_major = True
    saves = "p result=out x1=x x2=y"
    derivative = "CdistBackwardBackward0"
    refused = "biuc"
    kernel_name = "cdist"
    p: float = 2.0
    keeps_all = True

    def norm(self) -> LinalgVectorNorm:
        return LinalgVectorNorm(ord=self.p, dim=(-1,))

    def forward(self, x: Value, y: Value) -> Value:
        return self.norm().forward(difference(x, y))

    def decide(self, x: Value, y: Value) -> Any:
        return self.norm().decide(difference(x, y))

    def branch(self, x: Value, y: Value, decision: Any = None) -> Value:
        return self.norm().branch(difference(x, y), decision=decision)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.replay(lifted(args, lead, (2, 2)), decision)

    def size(self, *args: Value) -> int:
        x, y = args
        return int(np.shape(x)[-2] * np.shape(y)[-2] * np.shape(x)[-1]) if np.ndim(x) > 1 and np.ndim(y) > 1 else 0

    def slopes(self, g: Value, x: Value, y: Value) -> Value:
        """g times the derivative of each distance by each coordinate of x[i] - y[j]. -> (..., n, m, d)."""
        d = unsqueeze(x, -2) - unsqueeze(y, -3)
        g = unsqueeze(g, -1)
        if self.p == 0:
            return d * 0.0 * g
        if self.p == 1:
            return g * sgn(d)
        if self.p == math.inf:
            size = absolute(d)
            top = (size == _largest(size)) & (size > 0)
            one = where(top, size * 0.0 + 1.0, 0.0)
            return g * sgn(d) * (one / clamp_min(total(one, -1, True), 1.0))
        power = d * d if self.p == 2 else where(d == 0, 0.0, absolute(where(d == 0, 1.0, d)) ** self.p)
        sums = total(power, -1, True)
        same = sums == 0
        safe = where(same, 1.0, sums)
        if self.p == 2:
            return where(same, 0.0, g * d / sqrt(safe))
        grown = sgn(d) * where(d == 0, 0.0, absolute(where(d == 0, 1.0, d)) ** (self.p - 1))
        return where(same, 0.0, g * grown * safe ** (1 / self.p - 1))

    def vjp_x(self, g: Value, x: Value, y: Value, out: Value) -> Value:
        return fitted(total(self.slopes(g, x, y), -2), x.shape)

    def vjp_y(self, g: Value, x: Value, y: Value, out: Value) -> Value:
        return fitted(-total(self.slopes(g, x, y), -3), y.shape)

    def kinks(self, x: Value, y: Value) -> Value | None:
        return self.norm().kinks(difference(x, y))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for p in (1.0, 2.0, 3.0, math.inf):
            yield cls(p=p), (rng.normal(size=(3, 2)), rng.normal(size=(2, 2)))
        yield cls(), (rng.normal(size=(2, 3, 2)), rng.normal(size=(2, 2)))


class Pdist(Operation):
    """The p-norm distance of every two rows i < j. (n, d) -> (n * (n - 1) / 2). Kink at coincident rows, as `Cdist`."""

    derivative = "PdistBackwardBackward0"
    refused = "biuc"
    kernel_name = "pdist"
    p: float = 2.0
    keeps_all = True

    def pairs(self, n: int) -> Value:
        """The numbers of both rows of each pair."""
        return np.stack(np.triu_indices(n, 1))

    def apart(self, x: Value) -> Value:
        first, second = self.pairs(x.shape[-2])
        return x[..., first, :] - x[..., second, :]

    def norm(self) -> LinalgVectorNorm:
        return LinalgVectorNorm(ord=self.p, dim=(-1,))

    def forward(self, x: Value) -> Value:
        return self.norm().forward(self.apart(x))

    def decide(self, x: Value) -> Any:
        return self.norm().decide(self.apart(x))

    def branch(self, x: Value, decision: Any = None) -> Value:
        return self.norm().branch(self.apart(x), decision=decision)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.replay(args, decision)

    def size(self, *args: Value) -> int:
        return int(np.shape(args[0])[-2]) * int(np.size(args[0])) if np.ndim(args[0]) > 1 else 0

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        n = x.shape[0]
        slopes = Cdist(p=self.p).slopes(Unindex(axes=(-2, -1), shape=(n, n))(g, self.pairs(n)), x, x)
        return total(slopes, -2) - total(slopes, -3)

    def kinks(self, x: Value) -> Value | None:
        return self.norm().kinks(self.apart(x))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for p in (1.0, 2.0, 3.0, math.inf):
            yield cls(p=p), (rng.normal(size=(4, 2)),)


def difference(x: Value, y: Value) -> Value:
    """Every row of x minus every row of y: (..., n, d), (..., m, d) -> (..., n, m, d)."""
    return np.expand_dims(x, -2) - np.expand_dims(y, -3)


def _largest(size: Value) -> Value:
    return np.max(raw(size), axis=-1, keepdims=True)


def cdist(x: Value, x2: Value, p: float = 2.0, compute_mode: str | None = None) -> Any:
    """The p-norm distance of every row of x from every row of x2. (..., n, d), (..., m, d) -> (..., n, m)."""
    for name, value in (("X1", x), ("X2", x2)):
        if value.ndim < 2:
            raise ShapeError(f"cdist only supports at least 2D tensors, {name} got: {value.ndim}D")
    if x.shape[-1] != x2.shape[-1]:
        raise ShapeError(f"X1 and X2 must have the same number of columns. X1: {x.shape[-1]} X2: {x2.shape[-1]}")
    if p < 0:
        raise ShapeError("cdist only supports non-negative p values")
    broadcast_lead(x.shape[:-2], x2.shape[:-2])
    return Cdist(p=float(p))(x, x2)


def pdist(x: Value, p: float = 2.0) -> Any:
    """The p-norm distance of every two rows i < j of x. (n, d) -> (n * (n - 1) / 2)."""
    if x.ndim != 2:
        raise ShapeError(f"pdist only supports 2D tensors, got: {x.ndim}D")
    if p < 0:
        raise ShapeError("pdist only supports non-negative p values")
    budget.elements(x.shape[0] ** 2 * max(x.shape[1], 1))
    return Pdist(p=float(p))(x)


def pairwise_distance(x: Value, x2: Value, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of x - x2 + eps over the last axis."""
    apart = plus(x - x2, eps)
    return Norm(ord=float(p), dim=(axis(apart.ndim - 1, apart.ndim),), keepdim=keepdim)(apart)


def cosine_similarity(x: Value, x2: Value, dim: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle along `dim`: the sum of products over the product of norms, each norm at least eps."""
    shape = broadcast_lead(x.shape, x2.shape)
    first, second = (v if v.shape == shape else expand(v, shape) for v in (x, x2))
    one_dim(dim, len(shape))
    units = [v / _floored(vector_norm(v, 2, dim, True), eps) for v in (first, second)]
    return total(units[0] * units[1], dim)


def _floored(size: Any, eps: float) -> Any:
    """Norms raised to eps, which their gradient does not see (PyTorch clamps a clone in place, unrecorded)."""
    size = clone(size)
    value = raw(size)
    lift = np.maximum(value, eps) - value if value.dtype != object else np.zeros(())
    return size + lift if np.any(lift) else size


def normalize(x: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    """x over its p-norm along `dim`, the norm at least eps."""
    return x / expand(clamp_min(norm(x, p, dim, True), eps), x.shape)


OPERATIONS = (Cdist, Pdist)
FUNCTIONS = (cdist, pdist, pairwise_distance, cosine_similarity, normalize)
