"""Variances and standard deviations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gradcli.ops.axes import raw
from gradcli.ops.conjugate import squared_size
from gradcli.ops.norm import rooted
from gradcli.ops.operation import Value, absent
from gradcli.ops.reduction import Mean, Reduction, dims_or_all, need_floating, total
from gradcli.ops.where import where


class Var(Reduction):
    """The variance: sum (x_i - mean)^2 / (n - correction), the mean over the same axes. (..., n, ...) -> (..., ...)."""

    analytic = False
    extended = True
    correction: float = 1.0

    def forward(self, x: Value) -> Value:
        return self.squares(x) / self.freedom(np.shape(x))

    def freedom(self, shape: tuple[int, ...]) -> float:
        return float(max(self.count(shape) - self.correction, 0))

    def squares(self, x: Value) -> Value:
        """The sum of the squared deviations."""
        d = x - self.first(x)
        mean = total(d, axis=self.dim, keepdims=True) / self.count(np.shape(x))
        return total(squared_size(d - mean), axis=self.dim, keepdims=self.keepdim)

    def first(self, x: Value) -> Value:
        """The first element of what has one variance, taken off before the mean: constants deviate by exactly 0."""
        axes = [d + np.ndim(x) for d in self.axes(np.ndim(x))]
        return x[tuple([slice(0, 1) if k in axes else slice(None) for k in range(np.ndim(x))])]

    def deviation(self, x: Value) -> Value:
        d = x - self.first(raw(x))
        return d - Mean(dim=self.dim, keepdim=self.dim is not None)(d)

    def vjp_x(self, g: Value, x: Value) -> Value:
        """Without a degree of freedom infinite, NaN at the mean, as PyTorch."""
        freedom, deviation = self.freedom(x.shape), self.deviation(x)
        if freedom:
            return self.raised(g, x.shape) * (2.0 / freedom) * deviation
        return self.spread(g, x.shape) * where(deviation == 0, np.nan, np.inf)

    @classmethod
    def forms(cls) -> Iterable[tuple[dict[str, Any], tuple[int, ...]]]:
        yield {}, (2, 3)
        yield {"dim": (-1,)}, (2, 3)
        yield {"dim": (-2,), "keepdim": True, "correction": 0}, (2, 3)
        yield {"dim": (-3, -1), "correction": 2}, (2, 2, 3)


class Std(Var):
    """The standard deviation, the root of the variance. Of constants: derivative 0. (..., n, ...) -> (..., ...)."""

    analytic = False
    node = "StdBackward0"

    def decide(self, x: Value) -> Any:
        """Where all elements are the same."""
        return np.all(x == self.first(x), axis=self.dim, keepdims=self.keepdim)

    def forward(self, x: Value) -> Any:
        return self.branch(x, decision=self.decide(x))

    def branch(self, x: Value, decision: Any = None) -> Any:
        return rooted(self.squares(x) / self.freedom(np.shape(x)), decision)

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:  # type: ignore[override]
        scale = where(out == 0, 0.0, g / (where(out == 0, 1.0, out) * self.freedom(x.shape)))
        return self.raised(scale, x.shape) * self.deviation(x)

    def kinks(self, x: Value) -> Value | None:
        return ~self.decide(x)


class VarMean(Var):
    """The variance and the mean, as two results. (..., n, ...) -> (..., ...) twice."""

    analytic = False
    outputs = 2

    def forward(self, x: Value) -> Any:
        return super().forward(x), Mean(dim=self.dim, keepdim=self.keepdim).forward(x)

    def vjp_x(self, g: Value, x: Value) -> Value:
        of_mean = Mean(dim=self.dim, keepdim=self.keepdim).vjp_x(g[1], x.shape)
        return of_mean if absent(g[0]) else super().vjp_x(g[0], x) + of_mean


class StdMean(Std):
    """The standard deviation and the mean, as two results. The deviation of constants has derivative 0.

    (..., n, ...) -> (..., ...) twice.
    """

    saves = "correction dim keepdim result0=out.0 self=x"
    analytic = False
    node = "StdMeanBackward0"
    outputs = 2

    def branch(self, x: Value, decision: Any = None) -> Any:
        return super().branch(x, decision), Mean(dim=self.dim, keepdim=self.keepdim).forward(x)

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:  # type: ignore[override]
        of_mean = Mean(dim=self.dim, keepdim=self.keepdim).vjp_x(g[1], x.shape)
        return of_mean if absent(g[0]) else super().vjp_x(g[0], x, out[0]) + of_mean


def spread_of(cls: type[Var], x: Any, dim: Any, unbiased: Any, correction: Any, keepdim: bool) -> Any:
    """var and std share their spellings: var(x), var(False), var(1, True), var(dim=1, correction=0)."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    need_floating(cls.name, x)
    told = {"correction": None} if correction is None and unbiased is None and dim is None else {}
    if correction is None:
        correction = 1 if unbiased is None or unbiased else 0
    return cls(dim=dims_or_all(dim, x.ndim), correction=correction, keepdim=keepdim).telling(**told)(x)


def var(x: Value, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: float | None = None) -> Any:
    """The variance, divided by n - correction (n - 1 unless said otherwise)."""
    return spread_of(Var, x, dim, unbiased, correction, keepdim)


def std(x: Value, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: float | None = None) -> Any:
    """The standard deviation, the root of the variance; its derivative at constants is 0."""
    return spread_of(Std, x, dim, unbiased, correction, keepdim)


def var_mean(x: Value, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: float | None = None) -> Any:
    """The pair of variance and mean."""
    return spread_of(VarMean, x, dim, unbiased, correction, keepdim)


def std_mean(x: Value, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: float | None = None) -> Any:
    """The pair of standard deviation and mean."""
    return spread_of(StdMean, x, dim, unbiased, correction, keepdim)


OPERATIONS = (Var, Std, VarMean, StdMean)
FUNCTIONS = (var, std, var_mean, std_mean)
