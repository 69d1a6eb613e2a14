"""The error function, its relatives, and the normal distribution, each accurate in its tails.

erf and erfc are Python's (the C library's, below one unit in the last place).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation, Value
from gradcli.ops.pointwise import each, wide
from gradcli.ops.where import where

ROOT_PI = math.sqrt(math.pi)
ROOT_HALF = math.sqrt(0.5)
ROOT_TWO_PI = math.sqrt(2 * math.pi)
ASYMPTOTIC = 7.0
"""From here on the asymptotic series of erfcx is exact to float64 with TERMS terms."""
TERMS = 26


def exp_square(x: Value, scale: float) -> Value:
    """e ** (scale x**2): x is split, so that the rounding of x**2 is not blown up by the exponential."""
    head = np.rint(x * 256) / 256
    return np.exp(scale * head * head) * np.exp(scale * (x - head) * (x + head))


class Gauss(Elementwise):
    """e ** (-scale x**2), which the derivatives here are made of."""

    analytic = False
    scale: float = 1.0

    def forward(self, x: Value) -> Value:
        return wide(lambda v: exp_square(np.maximum(np.minimum(v, 40.0), -40.0), -self.scale), x)

    def d_x(self, x: Value, out: Value) -> Value:
        return out * x * (-2 * self.scale)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.exp(-sympy.nsimplify(self.scale) * x**2)

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(), cls(scale=0.5)]


class Erf(Elementwise):
    """2 / sqrt(pi) times the integral of e ** (-t**2) from 0 to x."""

    floating = True
    refused = "c"
    analytic = False

    def forward(self, x: Value) -> Value:
        return each(math.erf, x)

    def d_x(self, x: Value) -> Value:
        return gauss(x) * (2 / ROOT_PI)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.erf(x)


class Erfc(Elementwise):
    """1 - erf(x), without cancellation for large x."""

    floating = True
    refused = "c"
    analytic = False

    def forward(self, x: Value) -> Value:
        return each(math.erfc, x)

    def d_x(self, x: Value) -> Value:
        return gauss(x) * (-2 / ROOT_PI)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.erfc(x)


def errors(function: Any, x: Value) -> Value:
    """erf or erfc of a float64 array or scalar."""
    if type(x) is np.float64:
        return np.float64(function(float(x)))
    return np.fromiter(map(function, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)


def asymptotic_erfcx(x: Value, slope: bool) -> Value:
    """erfcx (or its derivative) for x >= ASYMPTOTIC: DLMF 7.12.1, from the last term inwards."""
    double = 2 * x * x
    total = np.ones_like(x)
    for n in range(TERMS, 0, -1):
        total = 1 - total * (2 * n + (1 if slope else -1)) / double
    return -total / (x * x * ROOT_PI) if slope else total / (x * ROOT_PI)


def erfcx_value(x: Value) -> Value:
    x = np.maximum(x, -40.0)
    far = x >= ASYMPTOTIC
    if not np.any(far):
        return exp_square(x, 1.0) * errors(math.erfc, x)
    near = np.where(far, 0.0, x)
    return np.where(far, asymptotic_erfcx(np.where(far, x, ASYMPTOTIC), False), exp_square(near, 1.0) * errors(math.erfc, near))


def erfcx_derivative(x: Value) -> Value:
    far = x >= ASYMPTOTIC
    if not np.any(far):
        return 2 * x * erfcx_value(x) - 2 / ROOT_PI
    near = np.where(far, 0.0, x)
    return np.where(far, asymptotic_erfcx(np.where(far, x, ASYMPTOTIC), True), 2 * near * erfcx_value(near) - 2 / ROOT_PI)


class Erfcx(Elementwise):
    """e ** (x**2) * erfc(x), finite where erfc is 0."""

    floating = True
    refused = "c"
    analytic = False
    node = "SpecialErfcxBackward0"

    def forward(self, x: Value) -> Value:
        return wide(erfcx_value, x)

    def d_x(self, x: Value, out: Value) -> Value:
        return erfcx_slope(x)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.exp(x**2) * sympy.erfc(x)


class ErfcxSlope(Elementwise):
    """2 x erfcx(x) - 2 / sqrt(pi), without the cancellation for large x."""

    analytic = False

    def forward(self, x: Value) -> Value:
        return wide(erfcx_derivative, x)

    def d_x(self, x: Value, out: Value) -> Value:
        return 2 * (erfcx(x) + x * out)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return 2 * x * sympy.exp(x**2) * sympy.erfc(x) - 2 / sympy.sqrt(sympy.pi)


CENTRE = (
    (2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125,
     1971.5909503065514427, 133.14166789178437745, 3.387132872796366608),
    (5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077,
     687.1870074920579083, 42.313330701600911252, 1.0),
)  # fmt: skip
MIDDLE = (
    (7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258, 3.64784832476320460504,
     5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734),
    (1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459, 0.68976733498510000455,
     1.6763848301838038494, 2.05319162663775882187, 1.0),
)  # fmt: skip
TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386, 0.026532189526576123093, 0.29656057182850489123,
     1.7848265399172913358, 5.4637849111641143699, 6.6579046435011037772),
    (2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.8463183175100546818e-5, 7.868691311456132591e-4, 0.0148753612908506148525,
     0.13692988092273580531, 0.59983220655588793769, 1.0),
)  # fmt: skip


def ratio(table: tuple[tuple[float, ...], ...], r: Value) -> Value:
    return np.polyval(table[0], r) / np.polyval(table[1], r)


def quantile(centred: Value, tail: Value) -> Value:
    """The normal quantile of the probability 1/2 + centred, whose smaller tail is given beside it, because one alone loses digits.

    Wichura's algorithm AS 241 (Applied Statistics 37, 1988), PPND16; in the tails one step of Newton's more.
    """
    inner = centred * ratio(CENTRE, np.maximum(0.180625 - centred * centred, 0.0))
    central = np.abs(centred) <= 0.425
    if np.all(central):
        return inner
    r = np.sqrt(-np.log(tail))
    outer: Value = np.where(r <= 5.0, ratio(MIDDLE, np.minimum(r, 5.0) - 1.6), ratio(TAIL, np.clip(r, 5.0, 30.0) - 5.0))
    z = -np.clip(outer, 0.5, 40.0)
    outer = -z + (log_ndtr_value(z) - np.log(tail)) * erfcx_value(z * -ROOT_HALF) * (ROOT_TWO_PI / 2)
    outer = np.where(tail == 0, np.inf, np.where(tail < 0, np.nan, outer))
    return np.where(central, inner, np.copysign(outer, centred))


def erfinv_value(y: Value) -> Value:
    x = quantile(y / 2, (1 - np.abs(y)) / 2) * ROOT_HALF
    refined = x - (errors(math.erf, x) - y) * (ROOT_PI / 2) * exp_square(np.clip(x, -20.0, 20.0), 1.0)
    return np.where(np.abs(y) < 0.7, refined, x)


class Erfinv(Elementwise):
    """The inverse of erf. Domain -1 <= x <= 1: infinite at the ends, NaN outside."""

    floating = True
    refused = "c"
    analytic = False
    domain = (-0.9, 0.9)

    def forward(self, x: Value) -> Value:
        return wide(erfinv_value, x)

    def d_x(self, x: Value) -> Value:
        return Gauss(scale=-1.0)(erfinv(x)) * (ROOT_PI / 2)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.erfinv(x)


class Ndtr(Elementwise):
    """The normal distribution function, erfc(-x / sqrt(2)) / 2, which keeps its digits in the lower tail."""

    floating = True
    refused = "c"
    analytic = False
    saves = "other:0.5"
    name = "ndtr"
    node = "MulBackward1"

    def forward(self, x: Value) -> Value:
        return wide(ndtr_value, x)

    def d_x(self, x: Value) -> Value:
        return bell(x) * (1 / ROOT_TWO_PI)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.erfc(-x / sympy.sqrt(2)) / 2


class LogNdtr(Elementwise):
    """The logarithm of the normal distribution function, finite far below where that is 0."""

    floating = True
    refused = "c"
    analytic = False
    node = "SpecialLogNdtrBackward0"

    def decide(self, x: Value) -> Value:
        """Whether it is the lower tail, for which SymPy needs a form of its own: it makes 2 - erfc(x) of erfc(-x)."""
        return x < 0

    def branch(self, x: Value, decision: Any = None) -> Value:
        return wide(log_ndtr_value, x)

    def d_x(self, x: Value, out: Value) -> Value:
        low = x < 0
        below = (2 / ROOT_TWO_PI) / erfcx(where(low, x, 0.0) * -ROOT_HALF)
        above = where(low, 0.0, x)
        return where(low, below, bell(above) / (ndtr(above) * ROOT_TWO_PI))

    def symbolic(self, sympy: Any, x: Any, decision: bool) -> Any:
        return sympy.log(sympy.erfc((sympy.Abs(x) if decision else -x) / sympy.sqrt(2)) / 2)


SPLIT = 2.0**27 + 1
HALF_HEAD = ROOT_HALF * SPLIT - (ROOT_HALF * SPLIT - ROOT_HALF)
HALF_TAIL = ROOT_HALF - HALF_HEAD
HALF_REST = -4.833646656726457e-17
"""sqrt(1/2) to twice the precision: (HALF_HEAD + HALF_TAIL) + HALF_REST."""


def ndtr_value(x: Value) -> Value:
    """erfc(z) / 2 for z = -x / sqrt(2), corrected for the rounding of z, which the tail would blow up to 2 z**2 times its size.

    The rounding is found as Dekker does; the logarithmic slope of erfc is -(z + sqrt(z**2 + 2)) within its bounds (DLMF 7.8.2).
    """
    x = np.maximum(np.minimum(x, 60.0), -60.0)
    z = x * -ROOT_HALF
    head = x * SPLIT - (x * SPLIT - x)
    tail = x - head
    slip = -(((head * HALF_HEAD + z) + head * HALF_TAIL + tail * HALF_HEAD) + tail * HALF_TAIL) - x * HALF_REST
    return errors(math.erfc, z) / 2 * (1 - slip * (z + np.sqrt(z * z + 2)))


def log_ndtr_value(x: Value) -> Value:
    low = np.where(x < -1.0, x, -1.0)
    high = np.where(x < -1.0, 0.0, x)
    return np.where(x < -1.0, np.log(erfcx_value(-low * ROOT_HALF) / 2) - low * low / 2, np.log1p(-ndtr_value(-high)))


class Ndtri(Elementwise):
    """The normal quantile, inverse of ndtr. Domain 0 <= x <= 1: infinite at the ends, NaN outside."""

    floating = True
    refused = "c"
    analytic = False
    node = "SpecialNdtriBackward0"
    domain = (0.05, 0.95)

    def forward(self, x: Value) -> Value:
        return wide(lambda p: quantile(p - 0.5, np.minimum(p, 1 - p)), x)

    def d_x(self, out: Value) -> Value:
        return Gauss(scale=-0.5)(out) * ROOT_TWO_PI

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.sqrt(2) * sympy.erfinv(2 * x - 1)


gauss: Operation = Gauss()
bell: Operation = Gauss(scale=0.5)
erfcx: Operation = Erfcx()
erfcx_slope: Operation = ErfcxSlope()
erfinv: Operation = Erfinv()
ndtr: Operation = Ndtr()

OPERATIONS = (Erf, Erfc, Erfcx, Erfinv, Ndtr, LogNdtr, Ndtri)
SPELLINGS = {f"special.{name}": name for name in ("erf", "erfc", "erfcx", "erfinv", "ndtr", "log_ndtr", "ndtri")}
