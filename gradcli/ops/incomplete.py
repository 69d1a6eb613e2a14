"""The incomplete gamma functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import AutogradError
from gradcli.ops.arithmetic import log
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.exponential import exp
from gradcli.ops.gamma import FAR, cast_like, lgamma, log_gamma_positive, stirling
from gradcli.ops.operation import Value
from gradcli.ops.pointwise import wide


def scaled_power(a: Value, x: Value) -> Value:
    """x**a e**-x / Gamma(a + 1); for large a by Stirling's form, in which the large logarithms have cancelled beforehand."""
    big = a >= FAR
    large = np.where(big, a, FAR)
    offset = (x - large) / large
    direct = np.exp(large * (np.log1p(offset) - offset) - stirling(large)) / np.sqrt(2 * np.pi * large)
    small = np.where(big, 1.0, a)
    return np.where(big, direct, np.exp(small * np.log(x) - x - log_gamma_positive(small + 1)))


def lower_series(a: Value, x: Value, front: Value) -> Value:
    """P(a, x) = front * sum of x**n / ((a+1)...(a+n)) (DLMF 8.11.4)."""
    term = np.ones_like(x)
    total = np.ones_like(x)
    for n in range(1, 20000):
        term = term * (x / (a + n))
        total = total + term
        if np.all(term <= 1e-17 * total):
            break
    return front * total


def upper_fraction(a: Value, x: Value, front: Value) -> Value:
    """Q(a, x) by its continued fraction (DLMF 8.9.2, evaluated as Lentz does), for x > a + 1."""
    b = x + 1 - a
    c = np.full_like(x, 1e300)
    d = 1 / b
    h = d
    for n in range(1, 20000):
        factor = -n * (n - a)
        b = b + 2
        d = 1 / (factor * d + b)
        c = b + factor / c
        step = c * d
        h = h * step
        if np.all(np.abs(step - 1) <= 2e-16):
            break
    return front * a * h


def incomplete(a: Value, x: Value, upper: bool) -> Value:
    """P(a, x), or Q(a, x) = 1 - P(a, x), each from the side on which it is small."""
    outside = ~((a > 0) & (x > 0) & np.isfinite(x))
    safe_a, safe_x = np.where(outside, 1.0, a), np.where(outside, 1.0, x)
    front = scaled_power(safe_a, safe_x)
    low = safe_x < safe_a + 1
    series = lower_series(safe_a, np.where(low, safe_x, safe_a), np.where(low, front, 0.0))
    fraction = upper_fraction(safe_a, np.where(low, safe_a + 2, safe_x), np.where(low, 0.0, front))
    result = np.where(low, 1 - series, fraction) if upper else np.where(low, series, 1 - fraction)
    edge = np.where((x < 0) | (a < 0) | np.isnan(x) | np.isnan(a) | ((a == 0) & (x == 0)), np.nan, ((x == 0) & (a > 0)) * 1.0)
    return np.where(outside, edge if upper else 1 - edge, result)


def density(a: Value, x: Value) -> Value:
    """x ** (a - 1) e ** -x / Gamma(a), the derivative of P(a, x) in x."""
    a = cast_like(a, x)
    return exp((a - 1) * log(x) - x - lgamma(a))


class Igamma(Elementwise):
    """The regularised lower incomplete gamma function P(x, other). Domain x > 0, other >= 0; no derivative in x, as PyTorch."""

    refused = "biuc"
    kernel_name = "igamma_cpu"
    analytic = False
    keeps_all = True
    upper = False

    def forward(self, x: Value, other: Value) -> Value:
        return wide(lambda a, v: incomplete(a, v, self.upper), x, other)

    def vjp_x(self, g: Value) -> Value:
        raise AutogradError(f"derivative for aten::{self.name} is not implemented for its first argument", hint="detach it")

    def d_other(self, x: Value, other: Value) -> Value:
        return density(x, other)

    def symbolic(self, sympy: Any, x: Any, other: Any) -> Any:
        return sympy.lowergamma(x, other) / sympy.gamma(x)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Any:
        yield cls(), (np.int64(3), np.float64(rng.uniform(0.3, 2.0)))
        yield cls(), (np.array([1, 2, 7]), rng.uniform(0.3, 9.0, (2, 3)))


class Igammac(Igamma):
    """The regularised upper incomplete gamma function Q(x, other) = 1 - P(x, other)."""

    refused = "biuc"
    kernel_name = "igammac_cpu"
    analytic = False
    upper = True

    def d_other(self, x: Value, other: Value) -> Value:
        return -density(x, other)

    def symbolic(self, sympy: Any, x: Any, other: Any) -> Any:
        return sympy.uppergamma(x, other) / sympy.gamma(x)


OPERATIONS = (Igamma, Igammac)
SPELLINGS = {"special.gammainc": "igamma", "special.gammaincc": "igammac"}
