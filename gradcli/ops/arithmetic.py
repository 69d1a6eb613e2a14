"""Arithmetic: sums, products, quotients, powers, and what Python's operators mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import DtypeError
from gradcli.ops.axes import raw
from gradcli.ops.conjugate import conj
from gradcli.ops.elementwise import Elementwise, rational
from gradcli.ops.operation import Operation, Value
from gradcli.ops.where import where


class Add(Elementwise):
    """x + y."""

    saves = "alpha:1"

    def forward(self, x: Value, y: Value) -> Value:
        return x + y

    def vjp_x(self, g: Value) -> Value:
        return g

    def vjp_y(self, g: Value) -> Value:
        return g

    def symbolic(self, sympy: Any, x: Any, y: Any, **decision: Any) -> Any:
        return x + y


class Sub(Elementwise):
    """x - y."""

    saves = "alpha:1"

    def forward(self, x: Value, y: Value) -> Value:
        return x - y

    def vjp_x(self, g: Value) -> Value:
        return g

    def vjp_y(self, g: Value) -> Value:
        return -g

    def symbolic(self, sympy: Any, x: Any, y: Any, **decision: Any) -> Any:
        return x - y


class AddScaled(Elementwise):
    """x + alpha * y."""

    name = "add"
    node = "AddBackward0"
    alpha: float = 1.0

    def forward(self, x: Value, y: Value) -> Value:
        return x + self.alpha * y

    def vjp_x(self, g: Value) -> Value:
        return g

    def vjp_y(self, g: Value) -> Value:
        return g * self.alpha

    def symbolic(self, sympy: Any, x: Any, y: Any) -> Any:
        return x + rational(sympy, self.alpha) * y

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(alpha=-0.7)]


class SubScaled(AddScaled):
    """x - alpha * y."""

    name = "sub"
    node = "SubBackward0"

    def forward(self, x: Value, y: Value) -> Value:
        return x - self.alpha * y

    def vjp_y(self, g: Value) -> Value:
        return -g * self.alpha

    def symbolic(self, sympy: Any, x: Any, y: Any) -> Any:
        return x - rational(sympy, self.alpha) * y


class RsubScaled(Elementwise):
    """y - alpha * x."""

    name = "rsub"
    node = "RsubBackward0"
    alpha: float = 1.0

    def forward(self, x: Value, y: Value) -> Value:
        return y - self.alpha * x

    def vjp_x(self, g: Value) -> Value:
        return -g if self.alpha == 1 else -g * self.alpha

    def vjp_y(self, g: Value) -> Value:
        return g

    def symbolic(self, sympy: Any, x: Any, y: Any) -> Any:
        return y - rational(sympy, self.alpha) * x

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(), cls(alpha=0.4)]


class Rsub(Elementwise):
    """y - x for a number y: `2 - x`."""

    saves = "alpha:1"
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

    def forward(self, x: Value, y: Value | float) -> Value:
        return x * y

    def d_x(self, y: Value) -> Value:
        return y

    def d_y(self, x: Value) -> Value:
        return x

    def symbolic(self, sympy: Any, x: Any, y: Any, **decision: Any) -> Any:
        return x * y


class Div(Elementwise):
    """x / y."""

    floating = True
    domain = ((-2.0, 2.0), (0.5, 2.0))

    def forward(self, x: Value, y: Value) -> Value:
        return x / y if hasattr(y, "dtype") else np.true_divide(x, y)

    def vjp_x(self, g: Value, y: Value) -> Value:
        return g / conj(y)

    def vjp_y(self, g: Value, x: Value, y: Value) -> Value:
        return -g * conj(x / y / y)

    def symbolic(self, sympy: Any, x: Any, y: Any, **decision: Any) -> Any:
        return x / y


class Neg(Elementwise):
    """-x."""

    def forward(self, x: Value) -> Value:
        return -x

    def vjp_x(self, g: Value) -> Value:
        return -g

    def symbolic(self, sympy: Any, x: Any, **decision: Any) -> Any:
        return -x


class Reciprocal(Elementwise):
    """1 / x."""

    floating = True
    domain = (0.5, 2.0)

    def forward(self, x: Value) -> Value:
        return np.true_divide(1.0, x)

    def vjp_x(self, g: Value, out: Value) -> Value:
        return -g * conj(out * out)

    def symbolic(self, sympy: Any, x: Any, **decision: Any) -> Any:
        return 1 / x


class Power(Elementwise):
    """x ** exponent for a number as exponent. Derivative exponent * x ** (exponent - 1); 0 everywhere for exponent 0."""

    node = "PowBackward0"
    exponent: float = 2.0
    domain = (0.5, 2.0)

    def forward(self, x: Value) -> Value:
        n = self.exponent
        if n == 2 and (type(n) is int or x.dtype.kind != "i"):
            return np.square(x)
        try:
            return np.power(x, n)
        except ValueError as error:
            raise DtypeError(str(error), hint="make the base floating first: .double()") from None

    def d_x(self, x: Value) -> Value:
        n = self.exponent
        if n == 0:
            return False
        return n * x ** (n - 1)

    def symbolic(self, sympy: Any, x: Any, **decision: Any) -> Any:
        return x ** rational(sympy, self.exponent)

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(exponent=n) for n in (2, 3, 0.5, -1.5, 0, 1)]


class Pow(Elementwise):
    """x ** y. The derivative in y, x ** y * log(x), is 0 at x = 0 for y >= 0, as PyTorch."""

    saves = "exponent=y result=out self=x"
    node = "PowBackward1"
    keeps_all = True
    domain = ((0.5, 2.0), (-2.0, 2.0))

    def forward(self, x: Value, y: Value) -> Value:
        return np.power(x, y)

    def vjp_x(self, g: Value, x: Value, y: Value) -> Value:
        return where(y == 0, 0.0, g * conj(y * x ** (y - 1)))

    def d_y(self, x: Value, y: Value, out: Value) -> Value:
        zero = (x == 0) & (np.real(raw(y)) >= 0)
        return where(zero, 0.0, out * log(where(zero, 1.0, x)))

    def symbolic(self, sympy: Any, x: Any, y: Any, **decision: Any) -> Any:
        return x**y


class Exponential(Elementwise):
    """base ** y for a number as base."""

    saves = "exponent=y result=out self=base"
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

    floating = True
    domain = (0.2, 3.0)

    def forward(self, x: Value) -> Value:
        return np.log(x)

    def vjp_x(self, g: Value, x: Value) -> Value:
        return g / conj(x)

    def symbolic(self, sympy: Any, x: Any, **decision: Any) -> Any:
        return sympy.log(x)


add: Operation = Add()
sub: Operation = Sub()
mul: Operation = Mul()
div: Operation = Div()
neg: Operation = Neg()
reciprocal: Operation = Reciprocal()
log: Operation = Log()


def real_number(value: Any) -> bool:
    """Whether an operand is a number of Python's, which is a parameter where PyTorch makes it one."""
    return isinstance(value, (bool, int, float))


def power(x: Any, y: Any) -> Any:
    """x ** y, with the operation that PyTorch takes: a number as exponent or base is a parameter."""
    if real_number(y):
        return Power(exponent=y)(x)
    if real_number(x):
        return Exponential(base=x)(y)
    return _pow(x, y)


def pow(x: Value | float, exponent: Value | float) -> Value:
    """x ** exponent; either may be a number."""
    return power(x, exponent)


def add_(x: Value, other: Value | float, *, alpha: float = 1) -> Value:
    """x + alpha * other."""
    return add(x, other) if alpha == 1 else AddScaled(alpha=alpha)(x, other)


def sub_(x: Value, other: Value | float, *, alpha: float = 1) -> Value:
    """x - alpha * other."""
    return sub(x, other) if alpha == 1 else SubScaled(alpha=alpha)(x, other)


def rsub(x: Value, other: Value | float, *, alpha: float = 1) -> Value:
    """other - alpha * x."""
    return Rsub(y=other)(x) if real_number(other) and alpha == 1 else RsubScaled(alpha=alpha)(x, other)


def positive(x: Value) -> Value:
    """x itself."""
    return x


_pow: Operation = Pow()

OPERATIONS = (Add, AddScaled, Sub, SubScaled, Rsub, RsubScaled, Mul, Div, Neg, Reciprocal, Power, Pow, Exponential, Log)
FUNCTIONS = (power, pow, add_, sub_, rsub, positive)
SPELLINGS = {"subtract": sub_, "multiply": "mul", "negative": "neg"}
