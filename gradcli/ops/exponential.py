"""Exponentials, logarithms and roots, each accurate over the whole range of floating point."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.ops.arithmetic import Power, log, power, real_number
from gradcli.ops.axes import raw
from gradcli.ops.complement import one_minus, one_plus, through
from gradcli.ops.conjugate import conj
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation, Value
from gradcli.ops.structure import To
from gradcli.ops.where import where

LN2 = math.log(2.0)
LN10 = math.log(10.0)


class Exp(Elementwise):
    """e ** x."""

    floating = True

    def forward(self, x: Value) -> Value:
        return np.exp(x)

    def d_x(self, out: Value) -> Value:
        return out

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.exp(x)


class Exp2(Elementwise):
    """2 ** x."""

    floating = True

    def forward(self, x: Value) -> Value:
        return np.exp2(x)

    def vjp_x(self, g: Value, out: Value) -> Value:
        return g * conj(out) * LN2

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.Integer(2) ** x


class Expm1(Elementwise):
    """e ** x - 1, without cancellation near 0. The derivative is e ** x, right also where the result has rounded to -1."""

    floating = True

    def forward(self, x: Value) -> Value:
        return np.expm1(x)

    def aside(self, x: Value) -> Value:
        return exp(x)

    def vjp_x(self, g: Value, out: Value, aside: Value) -> Value:
        return through(g, one_plus(out, aside), raw(out) == -1)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.exp(x) - 1


class Log1p(Elementwise):
    """log(1 + x), without cancellation near 0. Domain x > -1: -inf at -1, NaN below."""

    floating = True
    node = "Log1PBackward0"
    domain = (-0.8, 3.0)

    def forward(self, x: Value) -> Value:
        return np.log1p(x)

    def vjp_x(self, g: Value, x: Value) -> Value:
        return g / (conj(x) + 1)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.log(1 + x)


class Log2(Elementwise):
    """The logarithm to base 2. Domain x > 0: -inf at 0, NaN below."""

    floating = True
    domain = (0.2, 3.0)

    def forward(self, x: Value) -> Value:
        return np.log2(x)

    def vjp_x(self, g: Value, x: Value) -> Value:
        return g / (conj(x) * LN2)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.log(x) / sympy.log(2)


class Log10(Elementwise):
    """The logarithm to base 10. Domain x > 0: -inf at 0, NaN below."""

    floating = True
    domain = (0.2, 3.0)

    def forward(self, x: Value) -> Value:
        return np.log10(x)

    def vjp_x(self, g: Value, x: Value) -> Value:
        return g / (conj(x) * LN10)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.log(x) / sympy.log(10)


class Sqrt(Elementwise):
    """The square root. Domain x >= 0, NaN below; the derivative at 0 is infinite."""

    floating = True
    domain = (0.2, 3.0)

    def forward(self, x: Value) -> Value:
        return np.sqrt(x)

    def vjp_x(self, g: Value, out: Value) -> Value:
        return g / (2 * conj(out))

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.sqrt(x)


class Rsqrt(Elementwise):
    """1 / sqrt(x). Domain x > 0: inf at 0, NaN below."""

    floating = True
    domain = (0.2, 3.0)

    def forward(self, x: Value) -> Value:
        return 1 / np.sqrt(x)

    def vjp_x(self, g: Value, out: Value) -> Value:
        return g * -0.5 * conj(out**3)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return 1 / sympy.sqrt(x)


class Cbrt(Elementwise):
    """The real cube root, odd. The derivative at 0 is infinite."""

    floating = True
    refused = "c"
    analytic = False
    domain = (0.2, 3.0)

    def forward(self, x: Value) -> Value:
        return np.cbrt(x)

    def decide(self, x: Value) -> Value:
        """The sign."""
        return 1 - 2 * np.signbit(x)

    def branch(self, x: Value, decision: Any = None) -> Value:
        return np.cbrt(x)

    def vjp_x(self, g: Value, out: Value) -> Value:
        return g / (3 * out * out)

    def symbolic(self, sympy: Any, x: Any, decision: int) -> Any:
        return decision * (decision * x) ** sympy.Rational(1, 3)


class Sigmoid(Elementwise):
    """1 / (1 + e ** -x). The derivative sigmoid(x) * sigmoid(-x) keeps its digits in both tails, where PyTorch's out * (1 - out) is 0."""

    floating = True
    derivative = "SigmoidBackwardBackward0"

    def forward(self, x: Value) -> Value:
        return 1 / (1 + np.exp(-x))

    def aside(self, x: Value) -> Value:
        return sigmoid(-x)

    def vjp_x(self, g: Value, out: Value, aside: Value) -> Value:
        return through(g, out * one_minus(out, aside), raw(out) == 1)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return 1 / (1 + sympy.exp(-x))


class Xlogy(Elementwise):
    """x * log(y), and 0 where x = 0 unless y is NaN. Domain y > 0; the derivative in x at x = 0 is 0 for y <= 0, as PyTorch."""

    floating = True
    refused = "c"
    keeps_all = True
    domain = ((-2.0, 2.0), (0.2, 3.0))

    def forward(self, x: Value | float, y: Value | float) -> Value:
        return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log(y))[()]

    def d_x(self, x: Value, y: Value) -> Value:
        empty = (x == 0) & (y <= 0)
        return where(empty, 0.0, log(where(empty, 1.0, y)))

    def vjp_y(self, g: Value, x: Value, y: Value) -> Value:
        return g * x / y

    def symbolic(self, sympy: Any, x: Any, y: Any) -> Any:
        return x * sympy.log(y)


class Xlog1py(Elementwise):
    """x * log(1 + y), and 0 where x = 0 unless y is NaN. Domain y > -1; the derivative in x at x = 0 is 0 for y <= -1, as PyTorch."""

    floating = True
    refused = "c"
    node = "SpecialXlog1PyBackward0"
    keeps_all = True
    domain = ((-2.0, 2.0), (-0.8, 3.0))

    def forward(self, x: Value | float, y: Value | float) -> Value:
        return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log1p(y))[()]

    def d_x(self, x: Value, y: Value) -> Value:
        empty = (x == 0) & (y <= -1)
        return where(empty, 0.0, log1p(where(empty, 0.0, y)))

    def vjp_y(self, g: Value, x: Value, y: Value) -> Value:
        return g * x / (y + 1)

    def symbolic(self, sympy: Any, x: Any, y: Any) -> Any:
        return x * sympy.log(1 + y)


class Entr(Elementwise):
    """-x * log(x); 0 at 0, -inf below."""

    floating = True
    refused = "c"
    node = "SpecialEntrBackward0"
    domain = (0.2, 3.0)

    def forward(self, x: Value) -> Value:
        return np.where(x > 0, -x * np.log(np.where(x > 0, x, 1.0)), np.where(x == 0, 0.0, np.where(x < 0, -np.inf, x)))[()]

    def d_x(self, x: Value) -> Value:
        return -1 - log(x)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return -x * sympy.log(x)


class Ldexp(Elementwise):
    """x * 2 ** y."""

    floating = True

    def forward(self, x: Value, y: Value) -> Value:
        return x * np.exp2(y)

    def vjp_x(self, g: Value, y: Value) -> Value:
        return g * 2.0**y

    def vjp_y(self, g: Value, out: Value) -> Value:
        return g * out * LN2

    def symbolic(self, sympy: Any, x: Any, y: Any) -> Any:
        return x * sympy.Integer(2) ** y


exp: Operation = Exp()
exp2: Operation = Exp2()
log1p: Operation = Log1p()
sqrt: Operation = Sqrt()
sigmoid: Operation = Sigmoid()


def floats(x: Value) -> Value:
    """The real parts as plain numbers, whatever the storage: constants to take off before exponentials, which then do not overflow."""
    array = np.asarray(x)
    if array.dtype.kind == "O":
        array = np.array([complex(v).real for v in array.flat]).reshape(array.shape)
    return np.nan_to_num(np.real(array), nan=0.0, posinf=0.0, neginf=0.0)


def square(x: Value) -> Value:
    """x ** 2."""
    return Power(exponent=2)(x)


def float_power(x: Value | float, exponent: Value | float) -> Value:
    """x ** exponent in float64 (complex128), whatever the dtypes."""
    return power(widen(x), widen(exponent))


def widen(x: Value) -> Value:
    """A tensor, or a real number, in double precision."""
    if real_number(x):
        return float(x)
    if x.dtype in (np.float64, np.complex128):
        return x
    return To(dtype=np.complex128 if x.dtype.kind == "c" else np.float64)(x)


OPERATIONS = (
    Exp, Exp2, Expm1, Log1p, Log2, Log10, Sqrt, Rsqrt, Cbrt, Sigmoid, Xlogy, Xlog1py, Entr, Ldexp,
)  # fmt: skip
FUNCTIONS = (square, float_power)
SPELLINGS = {
    "expit": "sigmoid", "special.expit": "sigmoid", "special.expm1": "expm1", "special.exp2": "exp2", "special.log1p": "log1p",
    "special.xlogy": "xlogy", "special.xlog1py": "xlog1py", "special.entr": "entr",
}  # fmt: skip
