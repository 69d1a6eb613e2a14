"""sin(pi x) / (pi x) and its derivatives, of any order, smooth at 0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation, Value

TERMS = 24
CLOSE = 1e-9
"""Below it three terms of the series are exact to 50 digits."""


def sine(x: Value, quarters: int) -> Value:
    """sin(pi x + quarters pi / 2), exactly 0 where it is; x is reduced before it meets the rounded pi."""
    turned = np.remainder(np.real(x), 2.0) + quarters % 4 / 2.0
    nearest = np.rint(turned)
    sign = 1 - 2 * np.remainder(nearest, 2.0)
    reduced = turned - nearest if np.asarray(x).dtype.kind != "c" else turned - nearest + 1j * np.imag(x)
    return sign * np.sin(np.pi * reduced)


def near(x: Value, order: int) -> Value:
    """The Taylor series at 0, differentiated `order` times."""
    total = np.zeros_like(x)
    for power in range(2 * TERMS, -1, -1):
        k = power - order
        if k < 0:
            break
        total = total * x
        if power % 2 == 0:
            total = total + (-1) ** (power // 2) * math.pi**power / ((power + 1) * math.factorial(k))
    return total + 0.0  # an odd derivative at 0 is no negative zero


def away(x: Value, order: int) -> Value:
    """By the recurrence x f_n + n f_(n-1) = pi ** (n-1) sin(pi x + n pi / 2), the n-th derivative of x sinc(x)."""
    f = sine(x, 0) / (math.pi * x)
    for n in range(1, order + 1):
        f = (math.pi ** (n - 1) * sine(x, n) - n * f) / x
    return f


class Sinc(Elementwise):
    """sin(pi x) / (pi x), 1 at 0."""

    floating = True
    order = 0

    def forward(self, x: Value) -> Value:
        wide = np.asarray(x, dtype=np.result_type(x, np.float64))
        close = np.abs(wide) < 0.8 + self.order / 4
        if close.all():
            return near(wide, self.order).astype(np.result_type(x, np.float32), copy=False)[()]
        result: Value = np.where(close, near(np.where(close, wide, 0.0), self.order), away(np.where(close, 1.0, wide), self.order))
        return result.astype(np.result_type(x, np.float32), copy=False)[()]

    def decide(self, x: Value) -> Value:
        """Whether x is so close to 0, where the closed form has no value, that it would cancel down to nothing."""
        return np.abs(x) < CLOSE

    def branch(self, x: Value, decision: Any = None) -> Value:
        return self.forward(x)

    def d_x(self, x: Value) -> Value:
        return SincDerivative(order=self.order + 1)(x)

    def symbolic(self, sympy: Any, x: Any, decision: bool) -> Any:
        form = sum((-1) ** m * (sympy.pi * x) ** (2 * m) / sympy.factorial(2 * m + 1) for m in range(self.order + 3))
        return sympy.diff(form if decision else sympy.sin(sympy.pi * x) / (sympy.pi * x), x, self.order)


class SincDerivative(Sinc):
    """The derivative of sinc of the given order."""

    order: int = 1

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(order=1), cls(order=3)]


OPERATIONS = (Sinc,)
SPELLINGS = {"special.sinc": "sinc"}
