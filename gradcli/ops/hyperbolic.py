"""Hyperbolic functions and their inverses."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.axes import raw
from gradcli.ops.complement import one_minus_square, through
from gradcli.ops.conjugate import conj, is_complex
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.exponential import sqrt
from gradcli.ops.operation import Operation, Value
from gradcli.ops.trigonometric import hypot
from gradcli.ops.where import where


class Sinh(Elementwise):
    """(e ** x - e ** -x) / 2."""

    floating = True

    def forward(self, x: Value) -> Value:
        return np.sinh(x)

    def d_x(self, x: Value) -> Value:
        return cosh(x)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.sinh(x)


class Cosh(Elementwise):
    """(e ** x + e ** -x) / 2."""

    floating = True

    def forward(self, x: Value) -> Value:
        return np.cosh(x)

    def d_x(self, x: Value) -> Value:
        return sinh(x)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.cosh(x)


class Sech(Elementwise):
    """1 / cosh(x), which goes to 0 where cosh overflows: the root of the derivative of tanh."""

    floating = True

    def forward(self, x: Value) -> Value:
        return 1 / np.cosh(x)

    def d_x(self, x: Value, out: Value) -> Value:
        return -out * tanh(x)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return 1 / sympy.cosh(x)


class Tanh(Elementwise):
    """sinh(x) / cosh(x). The derivative sech(x)**2 keeps its digits in the tails, where PyTorch's 1 - out**2 is 0."""

    floating = True
    derivative = "TanhBackwardBackward0"

    def forward(self, x: Value) -> Value:
        return np.tanh(x)

    def aside(self, x: Value) -> Value:
        root = sech(x)
        return root * root

    def vjp_x(self, g: Value, out: Value, aside: Value) -> Value:
        return through(g, one_minus_square(out, aside), np.abs(raw(out)) == 1)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.tanh(x)


class Asinh(Elementwise):
    """log(x + sqrt(x**2 + 1))."""

    floating = True

    def forward(self, x: Value) -> Value:
        return np.arcsinh(x)

    def vjp_x(self, g: Value, x: Value) -> Value:
        return g / (conj(sqrt(x * x + 1)) if is_complex(x) else hypot(x, 1.0))

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.asinh(x)


class Acosh(Elementwise):
    """log(x + sqrt(x**2 - 1)). Domain x >= 1; below, value and derivative are NaN (PyTorch gives a number for the derivative below -1)."""

    floating = True
    domain = (1.2, 3.0)

    def forward(self, x: Value) -> Value:
        return np.arccosh(x)

    def aside(self, x: Value) -> Value:
        return (1 - x) * (1 + x)

    def vjp_x(self, g: Value, x: Value, aside: Value) -> Value:
        if is_complex(x):
            return g / conj(sqrt(x - 1) * sqrt(x + 1))
        return g / where(x < 1, np.nan, sqrt(0.0 - one_minus_square(x, aside)))

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.acosh(x)


class Atanh(Elementwise):
    """log((1 + x) / (1 - x)) / 2. Domain -1 <= x <= 1, NaN outside."""

    floating = True
    domain = (-0.9, 0.9)

    def forward(self, x: Value) -> Value:
        return np.arctanh(x)

    def aside(self, x: Value) -> Value:
        return (1 - x) * (1 + x)

    def vjp_x(self, g: Value, x: Value, aside: Value) -> Value:
        return g / conj(one_minus_square(x, aside))

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.atanh(x)


sinh: Operation = Sinh()
cosh: Operation = Cosh()
sech: Operation = Sech()
tanh: Operation = Tanh()

OPERATIONS = (Sinh, Cosh, Tanh, Asinh, Acosh, Atanh)
SPELLINGS = {"arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh"}
