"""Exponentials, logarithms and roots, each accurate over the whole range of floating point."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.ops.arithmetic import Power, log, power, real_number
from gradcli.ops.complement import one_minus, one_plus
from gradcli.ops.conjugate import conj
from gradcli.ops.operation import Elementwise, Operation, Value, rational
from gradcli.ops.structure import To
from gradcli.ops.where import where

LN2 = math.log(2.0)
LN10 = math.log(10.0)


class Exp(Elementwise):
    """e ** x."""

    def forward(self, x: Value) -> Value:
        return np.exp(x)

    def d_x(self, out: Value) -> Value:
        return out

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.exp(x)


class Exp2(Elementwise):
    """2 ** x."""

    def forward(self, x: Value) -> Value:
        return np.exp2(x)

    def d_x(self, out: Value) -> Value:
        return out * LN2

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.Integer(2) ** x


class Expm1(Elementwise):
    """e ** x - 1, without cancellation near 0. The derivative is e ** x, right also where the result has rounded to -1."""

    def forward(self, x: Value) -> Value:
        return np.expm1(x)

    def aside(self, x: Value) -> Value:
        return exp(x)

    def d_x(self, out: Value, aside: Value) -> Value:
        return one_plus(out, aside)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.exp(x) - 1


class Log1p(Elementwise):
    """log(1 + x), without cancellation near 0. Domain x > -1: -inf at -1, NaN below."""

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

    domain = (0.2, 3.0)

    def forward(self, x: Value) -> Value:
        return np.log2(x)

    def vjp_x(self, g: Value, x: Value) -> Value:
        return g / (conj(x) * LN2)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.log(x) / sympy.log(2)


class Log10(Elementwise):
    """The logarithm to base 10. Domain x > 0: -inf at 0, NaN below."""

    domain = (0.2, 3.0)

    def forward(self, x: Value) -> Value:
        return np.log10(x)

    def vjp_x(self, g: Value, x: Value) -> Value:
        return g / (conj(x) * LN10)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.log(x) / sympy.log(10)


class Sqrt(Elementwise):
    """The square root. Domain x >= 0, NaN below; the derivative at 0 is infinite."""

    domain = (0.2, 3.0)

    def forward(self, x: Value) -> Value:
        return np.sqrt(x)

    def vjp_x(self, g: Value, out: Value) -> Value:
        return g / (2 * conj(out))

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.sqrt(x)


class Rsqrt(Elementwise):
    """1 / sqrt(x). Domain x > 0: inf at 0, NaN below."""

    domain = (0.2, 3.0)

    def forward(self, x: Value) -> Value:
        return 1 / np.sqrt(x)

    def d_x(self, out: Value) -> Value:
        return -0.5 * (out * out * out)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return 1 / sympy.sqrt(x)


class Cbrt(Elementwise):
    """The real cube root, odd. The derivative at 0 is infinite."""

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

    def forward(self, x: Value) -> Value:
        return 1 / (1 + np.exp(-x))

    def aside(self, x: Value) -> Value:
        return sigmoid(-x)

    def d_x(self, out: Value, aside: Value) -> Value:
        return out * one_minus(out, aside)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return 1 / (1 + sympy.exp(-x))


class LogSigmoid(Elementwise):
    """log(sigmoid(x)) = -log(1 + e ** -x)."""

    analytic = False
    name = "logsigmoid"
    node = "LogSigmoidBackward0"

    def forward(self, x: Value) -> Value:
        return -np.logaddexp(0.0, -x)

    def d_x(self, x: Value) -> Value:
        return sigmoid(-x)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return -sympy.log(1 + sympy.exp(-x))


class Softplus(Elementwise):
    """log(1 + e ** (beta x)) / beta; x itself where beta x > threshold, as PyTorch, which makes the derivative there exactly 1."""

    analytic = False
    beta: float = 1.0
    threshold: float = 20.0

    def decide(self, x: Value) -> Value:
        return self.beta * x > self.threshold

    def branch(self, x: Value, decision: Any = None) -> Value:
        return np.where(decision, x, np.logaddexp(0.0, x * self.beta) / self.beta)[()]

    def d_x(self, x: Value) -> Value:
        scaled = x * self.beta
        return where(scaled > self.threshold, 1.0, sigmoid(scaled))

    def symbolic(self, sympy: Any, x: Any, decision: bool) -> Any:
        beta = rational(sympy, self.beta)
        return x if decision else sympy.log(1 + sympy.exp(beta * x)) / beta

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(), cls(beta=2.5, threshold=1.0), cls(beta=0.5)]


class Logaddexp(Elementwise):
    """log(e ** x + e ** y), finite where the exponentials overflow."""

    analytic = False
    keeps_all = True

    def forward(self, x: Value, y: Value) -> Value:
        return np.logaddexp(x, y)

    def d_x(self, x: Value, y: Value) -> Value:
        return share(x, y, exp)

    def d_y(self, x: Value, y: Value) -> Value:
        return share(y, x, exp)

    def symbolic(self, sympy: Any, x: Any, y: Any) -> Any:
        return sympy.log(sympy.exp(x) + sympy.exp(y))


class Logaddexp2(Elementwise):
    """log2(2 ** x + 2 ** y), finite where the powers overflow."""

    analytic = False
    keeps_all = True

    def forward(self, x: Value, y: Value) -> Value:
        return np.logaddexp2(x, y)

    def d_x(self, x: Value, y: Value) -> Value:
        return share(x, y, exp2)

    def d_y(self, x: Value, y: Value) -> Value:
        return share(y, x, exp2)

    def symbolic(self, sympy: Any, x: Any, y: Any) -> Any:
        return sympy.log(sympy.Integer(2) ** x + sympy.Integer(2) ** y) / sympy.log(2)


class Xlogy(Elementwise):
    """x * log(y), and 0 where x = 0 unless y is NaN. Domain y > 0; the derivative in x at x = 0 is 0 for y <= 0, as PyTorch."""

    keeps_all = True
    domain = ((-2.0, 2.0), (0.2, 3.0))

    def forward(self, x: Value, y: Value) -> Value:
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

    node = "SpecialXlog1PyBackward0"
    keeps_all = True
    domain = ((-2.0, 2.0), (-0.8, 3.0))

    def forward(self, x: Value, y: Value) -> Value:
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

    node = "SpecialEntrBackward0"
    domain = (0.2, 3.0)

    def forward(self, x: Value) -> Value:
        return np.where(x > 0, -x * np.log(np.where(x > 0, x, 1.0)), np.where(x == 0, 0.0, np.where(x < 0, -np.inf, x)))[()]

    def d_x(self, x: Value) -> Value:
        return where(x > 0, -1 - log(where(x > 0, x, 1.0)), where(x == 0, np.inf, where(x < 0, np.nan, x)))

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return -x * sympy.log(x)


class Logit(Elementwise):
    """log(x / (1 - x)); with `eps`, x is first clamped to [eps, 1 - eps] and the derivative outside is 0. Domain 0 <= x <= 1, NaN outside.

    Computed as a difference of logarithms near the ends and by log1p near 1/2, where the two cancel.
    """

    eps: float | None = None
    domain = (0.05, 0.95)

    def decide(self, x: Value) -> Value:
        """-1 below the clamped range, 1 above, 0 inside."""
        low, high = self.bounds()
        return (x > high) * 1 - (x < low) * 1

    def bounds(self) -> tuple[float, float]:
        return (-np.inf, np.inf) if self.eps is None else (self.eps, 1 - self.eps)

    def branch(self, x: Value, decision: Any = None) -> Value:
        if self.eps is not None:
            low, high = self.bounds()
            x = np.where(decision > 0, high, np.where(decision < 0, low, x))
        middle = (x > 0.25) & (x < 0.75)
        near = np.where(middle, x, 0.5)
        return np.where(middle, np.log1p((2 * near - 1) / (1 - near)), np.log(x) - np.log1p(-x))[()]

    def vjp_x(self, g: Value, x: Value) -> Value:
        if self.eps is None:
            return g / where((x < 0) | (x > 1), np.nan, x * (1 - x))
        low, high = self.bounds()
        inside = (x >= low) & (x <= high)
        return where(inside, g / where(inside, x * (1 - x), 1.0), 0.0)

    def symbolic(self, sympy: Any, x: Any, decision: int) -> Any:
        if decision:
            x = rational(sympy, self.bounds()[decision > 0])
        return sympy.log(x / (1 - x))

    def kinks(self, x: Value) -> Value | None:
        low, high = self.bounds()
        return None if self.eps is None else np.minimum(np.abs(x - low), np.abs(x - high))

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(), cls(eps=0.3)]


class Ldexp(Elementwise):
    """x * 2 ** y."""

    def forward(self, x: Value, y: Value) -> Value:
        return x * np.exp2(y)

    def vjp_x(self, g: Value, y: Value) -> Value:
        return g * exp2(y)

    def vjp_y(self, g: Value, out: Value) -> Value:
        return g * out * LN2

    def symbolic(self, sympy: Any, x: Any, y: Any) -> Any:
        return x * sympy.Integer(2) ** y


exp: Operation = Exp()
exp2: Operation = Exp2()
log1p: Operation = Log1p()
sqrt: Operation = Sqrt()
sigmoid: Operation = Sigmoid()


def share(x: Value, y: Value, grow: Operation) -> Value:
    """grow(x) / (grow(x) + grow(y)), 1/2 where both are infinite alike."""
    alike = (x == y) & ((x == np.inf) | (x == -np.inf))
    return 1 / (1 + grow(where(alike, 0.0, y - x)))


def square(x: Value) -> Value:
    """x ** 2."""
    return Power(exponent=2)(x)


def float_power(x: Value, exponent: Value) -> Value:
    """x ** exponent in float64 (complex128), whatever the dtypes."""
    return power(widen(x), widen(exponent))


def widen(x: Value) -> Value:
    """A tensor in double precision; a number as it is."""
    if real_number(x) or x.dtype in (np.float64, np.complex128):
        return x
    return To(dtype=np.complex128 if x.dtype.kind == "c" else np.float64)(x)


OPERATIONS = (
    Exp, Exp2, Expm1, Log1p, Log2, Log10, Sqrt, Rsqrt, Cbrt, Sigmoid, LogSigmoid, Softplus, Logaddexp, Logaddexp2, Xlogy, Xlog1py, Entr,
    Logit, Ldexp,
)  # fmt: skip
FUNCTIONS = (square, float_power)
SPELLINGS = {
    "expit": "sigmoid", "special.expit": "sigmoid", "special.expm1": "expm1", "special.exp2": "exp2", "special.log1p": "log1p",
    "special.logit": "logit", "special.xlogy": "xlogy", "special.xlog1py": "xlog1py", "special.entr": "entr",
}  # fmt: skip
