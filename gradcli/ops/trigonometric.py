"""Trigonometric functions, their inverses, and angles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.ops.complement import one_minus_square
from gradcli.ops.conjugate import conj
from gradcli.ops.elementwise import Elementwise, rational
from gradcli.ops.exponential import sqrt
from gradcli.ops.operation import Operation, Value
from gradcli.ops.where import where


class Sin(Elementwise):
    """The sine."""

    floating = True

    def forward(self, x: Value) -> Value:
        return np.sin(x)

    def d_x(self, x: Value) -> Value:
        return cos(x)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.sin(x)


class Cos(Elementwise):
    """The cosine."""

    floating = True

    def forward(self, x: Value) -> Value:
        return np.cos(x)

    def d_x(self, x: Value) -> Value:
        return -sin(x)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.cos(x)


class Tan(Elementwise):
    """The tangent."""

    floating = True
    domain = (-1.3, 1.3)

    def forward(self, x: Value) -> Value:
        return np.tan(x)

    def d_x(self, out: Value) -> Value:
        return out**2 + 1

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.tan(x)


class Asin(Elementwise):
    """The inverse sine. Domain -1 <= x <= 1, NaN outside; the derivative 1 / sqrt((1 - x)(1 + x)) is infinite at the ends."""

    floating = True
    domain = (-0.9, 0.9)

    def forward(self, x: Value) -> Value:
        return np.arcsin(x)

    def aside(self, x: Value) -> Value:
        return (1 - x) * (1 + x)

    def vjp_x(self, g: Value, x: Value, aside: Value) -> Value:
        return g / conj(sqrt(one_minus_square(x, aside)))

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.asin(x)


class Acos(Elementwise):
    """The inverse cosine. Domain -1 <= x <= 1, NaN outside; the derivative is infinite at the ends."""

    floating = True
    domain = (-0.9, 0.9)

    def forward(self, x: Value) -> Value:
        return np.arccos(x)

    def aside(self, x: Value) -> Value:
        return (1 - x) * (1 + x)

    def vjp_x(self, g: Value, x: Value, aside: Value) -> Value:
        return -g / conj(sqrt(one_minus_square(x, aside)))

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.acos(x)


class Atan(Elementwise):
    """The inverse tangent."""

    floating = True

    def forward(self, x: Value) -> Value:
        return np.arctan(x)

    def vjp_x(self, g: Value, x: Value) -> Value:
        return g / conj(x * x + 1)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.atan(x)


class Atan2(Elementwise):
    """The angle of the point (y, x), first argument upwards. Kink at the origin, where the derivatives are 0, as PyTorch.

    The derivatives y / r**2 and -x / r**2 divide by r twice, so that no square overflows.
    """

    floating = True
    refused = "c"
    analytic = False
    keeps_all = True

    def forward(self, x: Value, y: Value) -> Value:
        return np.arctan2(x, y)

    def decide(self, x: Value, y: Value) -> Value:
        """Whether it is the origin, where no angle is continuous and the result counts as constant."""
        return (x == 0) & (y == 0)

    def branch(self, x: Value, y: Value, decision: Any = None) -> Value:
        return np.where(decision, 0.0, np.arctan2(x, y))[()]

    def d_x(self, x: Value, y: Value) -> Value:
        r = radius(x, y)
        return y / r / r

    def d_y(self, x: Value, y: Value) -> Value:
        r = radius(x, y)
        return -x / r / r

    def symbolic(self, sympy: Any, x: Any, y: Any, decision: bool) -> Any:
        return sympy.Integer(0) if decision else sympy.atan2(x, y)

    def kinks(self, x: Value, y: Value) -> Value:
        return np.hypot(x, y)


class Hypot(Elementwise):
    """sqrt(x**2 + y**2) without overflow. NaN derivative at the origin, as PyTorch."""

    refused = "biuc"
    kernel_name = "hypot_cpu"
    analytic = False

    def forward(self, x: Value, y: Value) -> Value:
        return np.hypot(x, y)

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        return g * x / out

    def vjp_y(self, g: Value, y: Value, out: Value) -> Value:
        return g * y / out

    def symbolic(self, sympy: Any, x: Any, y: Any) -> Any:
        return sympy.sqrt(x**2 + y**2)


class Deg2rad(Elementwise):
    """x * pi / 180."""

    floating = True
    node = "Deg2RadBackward0"
    factor = math.pi / 180

    def forward(self, x: Value) -> Value:
        return np.multiply(x, self.factor)

    def vjp_x(self, g: Value) -> Value:
        return g * self.factor

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return x * rational(sympy, self.factor)


class Rad2deg(Deg2rad):
    """x * 180 / pi."""

    floating = True
    node = "Rad2DegBackward0"
    factor = 180 / math.pi


def radius(x: Value, y: Value) -> Value:
    """The distance from the origin, 1 at the origin itself."""
    r = hypot(x, y)
    return where(r == 0, 1.0, r)


sin: Operation = Sin()
cos: Operation = Cos()
hypot: Operation = Hypot()

OPERATIONS = (Sin, Cos, Tan, Asin, Acos, Atan, Atan2, Hypot, Deg2rad, Rad2deg)
SPELLINGS = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2"}
