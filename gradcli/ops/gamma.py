"""The gamma function's logarithm, its derivatives, and the Hurwitz zeta function."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from gradcli.errors import AutogradError, MissingRuleError, ShapeError
from gradcli.ops.arithmetic import real_number
from gradcli.ops.axes import integer
from gradcli.ops.elementwise import Elementwise, rational
from gradcli.ops.exponential import exp
from gradcli.ops.operation import Operation, Value
from gradcli.ops.pointwise import wide
from gradcli.ops.structure import To

EULER = 0.57721566490153286061
BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330)
"""B_2, B_4, ..., B_20."""
FAR = 12.0
"""From here on the asymptotic series in 1/x are exact to float64."""


def hurwitz(s: Value, q: Value) -> Value:
    """sum over k of (q + k) ** -s. s > 1; q < 0 for whole s alone: the terms below the one nearest to 0 are two sums above it."""
    below = q < 0
    if not np.any(below):
        return hurwitz_positive(s, q)
    nearest = np.where(below, q - np.rint(q), 1.0)
    above, low, high = (hurwitz_positive(s, np.where(below, v, 1.0)) for v in (1 + nearest, 1 - nearest, 1 - q))
    reflected = np.power(nearest, -s) + above + np.where(np.remainder(s, 2.0) == 1, high - low, low - high)
    return np.where(below, reflected, hurwitz_positive(s, np.where(below, 1.0, q)))


def hurwitz_positive(s: Value, q: Value) -> Value:
    """`hurwitz` for q >= 0, by Euler and Maclaurin after FAR terms (DLMF 25.11.5)."""
    steps = np.where(q < FAR, np.ceil(FAR - q), 0.0)
    total = np.zeros_like(q)
    for k in range(int(np.max(steps, initial=0))):
        total = total + np.where(k < steps, np.power(q + np.minimum(k, steps), -s), 0.0)
    a = q + steps
    term = s / a
    tail = np.full_like(a, 0.5)
    for j, b in enumerate(BERNOULLI):
        tail = tail + term * b / math.factorial(2 * j + 2)
        term = term * (s + 2 * j + 1) * (s + 2 * j + 2) / (a * a)
    return total + (1 / (s - 1) + tail / a) * np.power(a, 1 - s)


@functools.cache
def log_gamma_coefficients() -> tuple[float, ...]:
    """(-1)**k (zeta(k) - 1) / k for k = 2..: log Gamma(2 + z) = (1 - EULER) z + their series (DLMF 5.7.3)."""
    k = np.arange(2.0, 40.0)
    return tuple((-1.0) ** k * hurwitz(k, np.full_like(k, 2.0)) / k)


def log_gamma_near_two(z: Value) -> Value:
    """log Gamma(2 + z) for abs(z) <= 1/2."""
    total = np.zeros_like(z)
    for c in reversed(log_gamma_coefficients()):
        total = (total + c) * z
    return (total + (1 - EULER)) * z


def stirling(x: Value) -> Value:
    """log Gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2) for x >= FAR (DLMF 5.11.1)."""
    total = np.zeros_like(x)
    for j in range(len(BERNOULLI) - 1, -1, -1):
        total = total / (x * x) + BERNOULLI[j] / ((2 * j + 1) * (2 * j + 2))
    return total / x


def log_gamma_positive(x: Value) -> Value:
    """log Gamma(x) for x > 0, with its relative accuracy kept around the zeros at 1 and 2."""
    far = x >= FAR
    large = np.where(far, x, FAR)
    asymptotic = (large - 0.5) * (np.log(large) - 1) + (0.5 * math.log(2 * math.pi) - 0.5) + stirling(large)
    small = np.where(far, 2.0, x)
    steps = np.where(small > 2.5, np.ceil(small - 2.5), 0.0)
    product = np.ones_like(small)
    for k in range(1, int(FAR)):
        product = np.where(k <= steps, product * (small - k), product)
    reduced = small - steps
    nearest = np.clip(np.rint(reduced), 0.0, 2.0)
    z = reduced - nearest
    below = np.log1p(np.where(nearest < 2, z, 0.0)) + np.log(np.where(nearest < 1, reduced, 1.0))
    return np.where(far, asymptotic, log_gamma_near_two(z) - below + np.log(product))


def sine_pi(x: Value) -> Value:
    """sin(pi x), exactly 0 at whole numbers."""
    nearest = np.rint(x)
    return (1 - 2 * np.remainder(nearest, 2.0)) * np.sin(np.pi * (x - nearest))


def log_gamma(x: Value) -> Value:
    """log abs(Gamma(x)); by reflection for x < 0 (DLMF 5.5.3)."""
    positive = log_gamma_positive(np.where(x > 0, x, 1 - np.where(x > 0, 0.0, x)))
    sine = np.abs(sine_pi(np.where(x > 0, 0.5, x)))
    result = np.where(x > 0, positive, np.log(np.pi / sine) - positive)
    return np.where(np.isinf(x) | ((x <= 0) & (x == np.floor(x))), np.inf, result)


def digamma_value(x: Value) -> Value:
    """By recurrence up to FAR, then DLMF 5.11.2; by reflection for x < 0. PyTorch's values at the poles: -inf at 0, NaN below."""
    reflected = x < 0
    y = np.where(reflected, 1 - x, x)
    steps = np.where(y < FAR, np.ceil(FAR - y), 0.0)
    total = np.zeros_like(y)
    for k in range(int(np.max(steps, initial=0))):
        total = total + np.where(k < steps, 1 / (y + np.minimum(k, steps)), 0.0)
    a = y + steps
    tail = np.zeros_like(a)
    for j in range(len(BERNOULLI) - 1, -1, -1):
        tail = (tail + BERNOULLI[j] / (2 * j + 2)) / (a * a)
    value = np.log(a) - 0.5 / a - tail - total
    nearest = np.where(reflected, x - np.rint(x), 0.25)
    value = np.where(reflected, value - np.pi / np.tan(np.pi * nearest), value)
    return np.where((x < 0) & (x == np.floor(x)), np.nan, np.where(x == 0, np.copysign(np.inf, -x), value))


def gamma_sign(x: Value) -> Value:
    """0 for x > 0, where log(Gamma(x)) needs no sign, else the sign of Gamma(x)."""
    return np.where(x > 0, 0, np.where(np.remainder(np.floor(x), 2.0) == 0, 1, -1))[()]


class Lgamma(Elementwise):
    """log(abs(Gamma(x))); inf at 0, -1, -2, ..."""

    floating = True
    refused = "c"
    analytic = False
    domain = (0.3, 4.0)

    def forward(self, x: Value) -> Value:
        return wide(log_gamma, x)

    def decide(self, x: Value) -> Value:
        return gamma_sign(x)

    def branch(self, x: Value, decision: Any = None) -> Value:
        return wide(log_gamma, x)

    def d_x(self, x: Value) -> Value:
        return digamma(x)

    def symbolic(self, sympy: Any, x: Any, decision: int) -> Any:
        return sympy.log(decision * sympy.gamma(x)) if decision else sympy.loggamma(x)


class Digamma(Elementwise):
    """The derivative of log(Gamma(x))."""

    floating = True
    refused = "c"
    analytic = False
    domain = (0.3, 4.0)

    def forward(self, x: Value) -> Value:
        return wide(digamma_value, x)

    def d_x(self, x: Value) -> Value:
        return Polygamma(n=1)(x)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.polygamma(0, x)


class Polygamma(Elementwise):
    """The n-th derivative of digamma: (-1)**(n+1) n! zeta(n + 1, x) (DLMF 5.15.1)."""

    floating = True
    refused = "c"
    analytic = False
    n: int
    domain = (0.3, 4.0)

    def forward(self, x: Value) -> Value:
        factor = (-1) ** (self.n + 1) * float(math.factorial(self.n))
        return wide(lambda v: factor * hurwitz(np.float64(self.n + 1), v), x)

    def d_x(self, x: Value) -> Value:
        return Polygamma(n=self.n + 1)(x)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.polygamma(self.n, x)

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(n=1), cls(n=2), cls(n=5)]


class Mvlgamma(Elementwise):
    """The logarithm of the multivariate gamma function of dimension p: p (p-1) / 4 log(pi) + sum of lgamma(x - j/2) for j < p."""

    floating = True
    refused = "c"
    analytic = False
    p: int
    domain = (2.0, 5.0)

    def work(self, *args: Value) -> int:
        return self.p * (1000 + 10 * int(np.size(args[0])))

    def shifts(self) -> list[float]:
        return [j / 2 for j in range(self.p)]

    def forward(self, x: Value) -> Value:
        if self.p < 1:
            raise ShapeError("p has to be greater than or equal to 1")
        if np.any(np.asarray(x) <= (self.p - 1) / 2):
            raise ShapeError("All elements must be greater than (p-1)/2")
        constant = self.p * (self.p - 1) / 4 * math.log(math.pi)
        return wide(lambda v: constant + sum(log_gamma_positive(v - shift) for shift in self.shifts()), x)

    def d_x(self, x: Value) -> Value:
        total = digamma(x)
        for shift in self.shifts()[1:]:
            total = total + digamma(x - shift)
        return total

    def symbolic(self, sympy: Any, x: Any) -> Any:
        constant = sympy.Rational(self.p * (self.p - 1), 4) * sympy.log(sympy.pi)
        return constant + sum(sympy.loggamma(x - rational(sympy, shift)) for shift in self.shifts())

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(p=1), cls(p=3)]


def cast_like(x: Value, other: Value) -> Value:
    """x, which may be whole numbers, in the dtype of `other`."""
    return x if x.dtype == other.dtype or "O" in (x.dtype.char, other.dtype.char) else To(dtype=other.dtype)(x)


class Zeta(Elementwise):
    """The Hurwitz zeta function, the sum of (other + k) ** -x over k >= 0. Domain x > 1, other > 0; no derivative in x, as PyTorch."""

    floating = True
    refused = "c"
    analytic = False
    saves = "other self=x"
    node = "SpecialZetaBackward0"

    def forward(self, x: Value, other: Value) -> Value:
        return wide(lambda s, q: np.where(s == 1, np.inf, np.where(s < 1, np.nan, hurwitz(np.where(s > 1, s, 2.0), q))), x, other)

    def vjp_x(self, g: Value) -> Value:
        raise AutogradError("derivative for aten::special_zeta is not implemented for its first argument", hint="detach it")

    def d_other(self, x: Value, other: Value) -> Value:
        order = cast_like(x, other)
        return -order * zeta(order + 1, other)

    def symbolic(self, sympy: Any, x: Any, other: Any) -> Any:
        return sympy.zeta(x, other)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Any:
        yield cls(), (np.int64(3), np.float64(rng.uniform(0.3, 2.0)))
        yield cls(), (np.array([2, 4, 7]), rng.uniform(0.3, 4.0, (2, 3)))


lgamma: Operation = Lgamma()
digamma: Operation = Digamma()
zeta: Operation = Zeta()


def special_zeta(x: Value | float, other: Value | float) -> Value:
    """The Hurwitz zeta function, the sum of (other + k) ** -x over k >= 0."""
    op = Zeta()
    if real_number(other):
        op.node, op.saves, op.listed = "SpecialZetaBackward2", "", 1
    return op(x, other)


HIGHEST = 169
"""The highest derivative of digamma that has a finite derivative itself: 170! is the largest finite factorial."""


def polygamma(x: Value | float, n: Value | float) -> Value:
    """The n-th derivative of digamma, n >= 0: `polygamma(n, x)` as a function, `x.polygamma(n)` as a method."""
    if real_number(x):
        x, n = n, x
    n = integer(n, "argument 'n'")
    if n < 0:
        raise ShapeError("polygamma(n, x) does not support negative n.")
    if n > HIGHEST:
        raise MissingRuleError(f"polygamma(n, x): n = {n} is beyond {HIGHEST}: factorials above 170! are infinite")
    return Polygamma(n=n)(x) if n else digamma(x)


def beta(x: Value, other: Value) -> Value:
    """Gamma(x) Gamma(other) / Gamma(x + other)."""
    return exp(lgamma(x) + lgamma(other) - lgamma(x + other))


OPERATIONS = (Lgamma, Digamma, Polygamma, Mvlgamma, Zeta)
FUNCTIONS = (polygamma,)
SPELLINGS = {
    "gammaln": "lgamma", "special.gammaln": "lgamma", "special.digamma": "digamma", "special.psi": "digamma",
    "special.polygamma": polygamma, "special.multigammaln": "mvlgamma", "special.zeta": special_zeta, "special.beta": beta,
}  # fmt: skip
