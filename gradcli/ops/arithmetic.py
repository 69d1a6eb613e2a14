"""Arithmetic: sums, products, quotients, powers, and what Python's operators mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.operation import Elementwise, Operation, Value, rational
from gradcli.ops.where import where


class Add(Elementwise):
    """x + y."""

    def forward(self, x: Value, y: Value) -> Value:
        return np.add(x, y)

    def vjp_x(self, g: Value) -> Value:
        return g

    def vjp_y(self, g: Value) -> Value:
        return g

    def symbolic(self, sympy: Any, x: Any, y: Any, **decision: Any) -> Any:
        return x + y


class Sub(Elementwise):
    """x - y."""

    def forward(self, x: Value, y: Value) -> Value:
        return np.subtract(x, y)

    def vjp_x(self, g: Value) -> Value:
        return g

    def vjp_y(self, g: Value) -> Value:
        return -g

    def symbolic(self, sympy: Any, x: Any, y: Any, **decision: Any) -> Any:
        return x - y


class Rsub(Elementwise):
    """y - x for a number y: `2 - x`."""

    node = "RsubBackward1"
    y: float = 1.0

    def forward(self, x: Value) -> Value:
        return np.subtract(self.y, x)

    def vjp_x(self, g: Value) -> Value:
        return -g

    def symbolic(self, sympy: Any, x: Any, **decision: Any) -> Any:
        return rational(sympy, self.y) - x


class Mul(Elementwise):
    """x * y."""

    def forward(self, x: Value, y: Value) -> Value:
        return np.multiply(x, y)

    def d_x(self, y: Value) -> Value:
        return y

    def d_y(self, x: Value) -> Value:
        return x

    def symbolic(self, sympy: Any, x: Any, y: Any, **decision: Any) -> Any:
        return x * y


class Div(Elementwise):
    """x / y."""

    domain = ((-2.0, 2.0), (0.5, 2.0))

    def forward(self, x: Value, y: Value) -> Value:
        return np.true_divide(x, y)

    def vjp_x(self, g: Value, y: Value) -> Value:
        return g / y

    def vjp_y(self, g: Value, x: Value, y: Value) -> Value:
        return -g * (x / y / y)

    def symbolic(self, sympy: Any, x: Any, y: Any, **decision: Any) -> Any:
        return x / y


class Neg(Elementwise):
    """-x."""

    def forward(self, x: Value) -> Value:
        return np.negative(x)

    def vjp_x(self, g: Value) -> Value:
        return -g

    def symbolic(self, sympy: Any, x: Any, **decision: Any) -> Any:
        return -x


class Reciprocal(Elementwise):
    """1 / x."""

    domain = (0.5, 2.0)

    def forward(self, x: Value) -> Value:
        return np.true_divide(1.0, x)

    def d_x(self, out: Value) -> Value:
        return -out * out

    def symbolic(self, sympy: Any, x: Any, **decision: Any) -> Any:
        return 1 / x


class Power(Elementwise):
    """x ** exponent for a number as exponent. Derivative exponent * x ** (exponent - 1); 0 everywhere for exponent 0."""

    node = "PowBackward0"
    exponent: float = 2.0
    domain = (0.5, 2.0)

    def forward(self, x: Value) -> Value:
        return np.square(x) if self.exponent == 2 else np.power(x, self.exponent)

    def d_x(self, x: Value) -> Value:
        n = self.exponent
        if n == 0:
            return False
        return n * x if n == 2 else (1.0 if n == 1 else n * x ** (n - 1))

    def symbolic(self, sympy: Any, x: Any, **decision: Any) -> Any:
        return x ** rational(sympy, self.exponent)

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(exponent=n) for n in (2, 3, 0.5, -1.5, 0, 1)]


class Pow(Elementwise):
    """x ** y. The derivative in y, x ** y * log(x), is 0 at x = 0 for y >= 0, as PyTorch."""

    node = "PowBackward1"
    keeps_all = True
    domain = ((0.5, 2.0), (-2.0, 2.0))

    def forward(self, x: Value, y: Value) -> Value:
        return np.power(x, y)

    def d_x(self, x: Value, y: Value) -> Value:
        return where(y == 0, 0.0, y * x ** (y - 1))

    def d_y(self, x: Value, y: Value, out: Value) -> Value:
        zero = (x == 0) & (y >= 0)
        return where(zero, 0.0, out * log(where(zero, 1.0, x)))

    def symbolic(self, sympy: Any, x: Any, y: Any, **decision: Any) -> Any:
        return x**y


class Exponential(Elementwise):
    """base ** y for a number as base."""

    node = "PowBackward2"
    base: float = 2.0

    def forward(self, y: Value) -> Value:
        return np.power(self.base, y)

    def d_y(self, y: Value, out: Value) -> Value:
        if self.base == 0:
            return where(y < 0, out * -np.inf, 0.0)
        return out * float(np.log(self.base))

    def symbolic(self, sympy: Any, y: Any, **decision: Any) -> Any:
        return rational(sympy, self.base) ** y

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(base=2.0), cls(base=0.3)]


class Log(Elementwise):
    """The natural logarithm; -inf at 0, NaN below."""

    domain = (0.2, 3.0)

    def forward(self, x: Value) -> Value:
        return np.log(x)

    def vjp_x(self, g: Value, x: Value) -> Value:
        return g / x

    def symbolic(self, sympy: Any, x: Any, **decision: Any) -> Any:
        return sympy.log(x)


add: Operation = Add()
sub: Operation = Sub()
mul: Operation = Mul()
div: Operation = Div()
neg: Operation = Neg()
reciprocal: Operation = Reciprocal()
log: Operation = Log()


def power(x: Any, y: Any) -> Any:
    """x ** y, with the operation that PyTorch takes: a number as exponent or base is a parameter."""
    if isinstance(y, (bool, int, float)):
        return Power(exponent=y)(x)
    if isinstance(x, (bool, int, float)):
        return Exponential(base=x)(y)
    return Pow()(x, y)


OPERATIONS = (Add, Sub, Rsub, Mul, Div, Neg, Reciprocal, Power, Pow, Exponential, Log)
