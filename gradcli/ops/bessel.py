"""Modified Bessel functions of the first kind, of order 0 and 1, plain and scaled by e ** -abs(x).

Below SWITCH the power series (DLMF 10.25.2), whose terms all have one sign; above it the expansion for
large arguments (DLMF 10.40.1), whose least term there is about e ** (-2 SWITCH) = 1e-17.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation, Value
from gradcli.ops.rounding import sgn
from gradcli.ops.where import where

SWITCH = 20.0
SERIES_TERMS = 64
LARGE_TERMS = 24


def series(x: Value, order: int) -> Value:
    """I_order(x) for abs(x) <= SWITCH, summed from the last term inwards."""
    quarter = x * x / 4
    total = np.ones_like(quarter)
    for k in range(SERIES_TERMS, 0, -1):
        total = 1 + total * quarter / (k * (k + order))
    return total * (x / 2) if order else total


def large(x: Value, order: int) -> Value:
    """e ** -x I_order(x) for x >= SWITCH."""
    total = np.ones_like(x)
    for k in range(LARGE_TERMS, 0, -1):
        total = 1 - total * (4 * order - (2 * k - 1) ** 2) / (8 * k * x)
    return total / np.sqrt(2 * np.pi * x)


def bessel(x: Value, order: int, *, scaled: bool) -> Value:
    """I_order(x), or e ** -abs(x) I_order(x), in the dtype of x."""
    wide = np.asarray(x, dtype=np.float64)
    size = np.abs(wide)
    small = np.minimum(size, SWITCH)
    low = series(small, order)
    high = large(np.maximum(size, SWITCH), order)
    if scaled:
        low = low * np.exp(-small)
    else:
        half = np.exp(size / 2)
        high = high * half * half
    result: Value = np.where(size < SWITCH, low, high)
    if order:
        result = np.copysign(result, wide)
    return result.astype(np.result_type(x, np.float32), copy=False)[()]


class I0(Elementwise):
    """The modified Bessel function of order 0."""

    floating = True
    refused = "c"
    analytic = False
    name = "i0"
    domain = (-4.0, 4.0)

    def forward(self, x: Value) -> Value:
        return bessel(x, 0, scaled=False)

    def d_x(self, x: Value) -> Value:
        return i1(x)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.besseli(0, x)


class I1(Elementwise):
    """The modified Bessel function of order 1."""

    floating = True
    refused = "c"
    analytic = False
    name = "i1"
    node = "SpecialI1Backward0"
    domain = (-4.0, 4.0)

    def forward(self, x: Value) -> Value:
        return bessel(x, 1, scaled=False)

    def d_x(self, x: Value, out: Value) -> Value:
        return i0(x) - where(x == 0, 0.5, out / where(x == 0, 1.0, x))

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.besseli(1, x)


class I0e(Elementwise):
    """e ** -abs(x) times the modified Bessel function of order 0. Kink at 0, where the derivative is 0, as PyTorch."""

    floating = True
    refused = "c"
    analytic = False
    name = "i0e"
    node = "SpecialI0EBackward0"
    domain = (-4.0, 4.0)

    def forward(self, x: Value) -> Value:
        return bessel(x, 0, scaled=True)

    def decide(self, x: Value) -> Value:
        """-1, 0 or 1 by the sign."""
        return (x > 0) * 1 - (x < 0) * 1

    def branch(self, x: Value, decision: Any = None) -> Value:
        return bessel(x, 0, scaled=True)

    def d_x(self, x: Value, out: Value) -> Value:
        return i1e(x) - sgn(x) * out

    def symbolic(self, sympy: Any, x: Any, decision: int) -> Any:
        return sympy.exp(-decision * x) * sympy.besseli(0, x)

    def kinks(self, x: Value) -> Value:
        return x


class I1e(Elementwise):
    """e ** -abs(x) times the modified Bessel function of order 1; smooth once, its second derivative jumps at 0."""

    floating = True
    refused = "c"
    analytic = False
    name = "i1e"
    node = "SpecialI1EBackward0"
    domain = (-4.0, 4.0)

    def forward(self, x: Value) -> Value:
        return bessel(x, 1, scaled=True)

    def decide(self, x: Value) -> Value:
        """-1, 0 or 1 by the sign."""
        return (x > 0) * 1 - (x < 0) * 1

    def branch(self, x: Value, decision: Any = None) -> Value:
        return bessel(x, 1, scaled=True)

    def d_x(self, x: Value, out: Value) -> Value:
        return i0e(x) - out * sgn(x) - where(x == 0, 0.5, out / where(x == 0, 1.0, x))

    def symbolic(self, sympy: Any, x: Any, decision: int) -> Any:
        return sympy.exp(-decision * x) * sympy.besseli(1, x)


i0: Operation = I0()
i1: Operation = I1()
i0e: Operation = I0e()
i1e: Operation = I1e()

OPERATIONS = (I0, I1, I0e, I1e)
SPELLINGS = {"special.i0": "i0", "special.i0e": "i0e", "special.i1": "i1", "special.i1e": "i1e"}
