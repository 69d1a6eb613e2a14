"""Remainders and rounded quotients: they jump where the quotient is whole, and are straight between."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gradcli.errors import AutogradError, ShapeError
from gradcli.ops.arithmetic import div, real_number
from gradcli.ops.elementwise import Elementwise, rational
from gradcli.ops.operation import Operation, Value
from gradcli.ops.rounding import held


class Quotient(Elementwise, abstract=True):
    """A rounded quotient: constant between jumps."""

    domain = ((-3.0, 3.0), (0.4, 1.5))

    def quotient(self, x: Value, y: Value) -> Value:
        raise NotImplementedError

    def forward(self, x: Value, y: Value) -> Value:
        return self.quotient(x, y)

    def decide(self, x: Value, y: Value) -> Value:
        return self.quotient(x, y)

    def branch(self, x: Value, y: Value | float, decision: Any = None) -> Value:
        return held(decision, x, y)

    def symbolic(self, sympy: Any, x: Any, y: Any, decision: Any) -> Any:
        return decision


class FloorDivide(Quotient):
    """x // y, rounded down. PyTorch has no derivative for it."""

    refused = "b"
    kernel_name = "div_floor_cpu"

    node = "NotImplemented"

    def quotient(self, x: Value, y: Value) -> Value:
        return np.floor_divide(x, y)

    def vjp_x(self, g: Value) -> Value:
        raise AutogradError("derivative for aten::floor_divide is not implemented", hint="div(x, y, rounding_mode='floor') has one: 0")

    vjp_y = vjp_x


class DivRounded(Quotient):
    """x / y rounded down ("floor") or towards 0 ("trunc"). The derivative is 0."""

    refused = "c"
    name = "div"
    node = "DivBackward2"
    rounding_mode: str

    def quotient(self, x: Value, y: Value) -> Value:
        return np.floor_divide(x, y) if self.rounding_mode == "floor" else np.trunc(np.true_divide(x, y))

    def d_x(self, y: Value) -> Value:
        return False

    def d_y(self, x: Value, y: Value) -> Value:
        return False

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(rounding_mode="floor"), cls(rounding_mode="trunc")]


class FmodQuotient(Quotient):
    """The whole number q for which fmod(x, y) = x - q y; trunc(x / y) may be off by one where x / y rounds to a whole number."""

    saves = ""
    name = "fmod_quotient"
    node = "DivBackward2"

    def quotient(self, x: Value, y: Value) -> Value:
        return np.rint((x - np.fmod(x, y)) / y)

    def d_x(self) -> Value:
        return False

    d_y = d_x


class RemainderQuotient(FmodQuotient):
    """The whole number q for which remainder(x, y) = x - q y."""

    name = "remainder_quotient"
    node = "DivBackward2"

    def quotient(self, x: Value, y: Value) -> Value:
        return np.rint((x - np.remainder(x, y)) / y)


class FmodTensor(Elementwise):
    """x - y trunc(x / y): the remainder with the sign of x. Derivatives 1 and -trunc(x / y), also at the jumps."""

    refused = "bc"
    kernel_name = "fmod_cpu"
    name = "fmod"
    node = "FmodBackward1"
    domain = ((-3.0, 3.0), (0.4, 1.5))
    divider: ClassVar[Operation] = FmodQuotient()

    def forward(self, x: Value, y: Value) -> Value:
        return np.fmod(x, y)

    def decide(self, x: Value, y: Value) -> Value:
        return self.divider.forward(x, y)

    def branch(self, x: Value, y: Value, decision: Any = None) -> Value:
        return x - decision * y

    def vjp_x(self, g: Value) -> Value:
        return g

    def vjp_y(self, g: Value, x: Value, y: Value) -> Value:
        return -g * self.divider(x, y)

    def symbolic(self, sympy: Any, x: Any, y: Any, decision: Any) -> Any:
        return x - decision * y


class RemainderTensor(FmodTensor):
    """x - y floor(x / y), Python's %: the remainder with the sign of y. Derivatives 1 and -floor(x / y), also at the jumps."""

    refused = "bc"
    kernel_name = "remainder_cpu"
    name = "remainder"
    node = "RemainderBackward1"
    divider: ClassVar[Operation] = RemainderQuotient()

    def forward(self, x: Value, y: Value) -> Value:
        return np.remainder(x, y)


class Fmod(Elementwise):
    """fmod(x, other) for a number `other`."""

    saves = ""
    refused = "c"
    node = "FmodBackward0"
    other: float = 1.0
    pair: ClassVar[Operation] = FmodTensor()

    def forward(self, x: Value) -> Value:
        return self.pair.forward(x, self.other)

    def decide(self, x: Value) -> Value:
        return self.pair.decide(x, self.other)

    def branch(self, x: Value, decision: Any = None) -> Value:
        return x - decision * self.other

    def vjp_x(self, g: Value) -> Value:
        return g

    def symbolic(self, sympy: Any, x: Any, decision: Any) -> Any:
        return x - decision * rational(sympy, self.other)

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(other=0.4), cls(other=-0.7)]


class Remainder(Fmod):
    """x % other for a number `other`."""

    refused = "c"
    node = "RemainderBackward0"
    pair: ClassVar[Operation] = RemainderTensor()


class RemainderOf(Elementwise):
    """other % x for a number `other`. PyTorch has no derivative for it."""

    name = "remainder"
    node = "NotImplemented"
    other: float = 1.0
    domain = (0.4, 1.5)

    def forward(self, x: Value) -> Value:
        return np.remainder(self.other, x)

    def decide(self, x: Value) -> Value:
        return np.floor_divide(self.other, x)

    def branch(self, x: Value, decision: Any = None) -> Value:
        return self.other - decision * x

    def vjp_x(self, g: Value) -> Value:
        raise AutogradError("derivative for aten::remainder is not implemented", hint="make the number a tensor: torch.tensor(5.) % x")

    def symbolic(self, sympy: Any, x: Any, decision: Any) -> Any:
        return rational(sympy, self.other) - decision * x

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(other=5.0)]


_fmod: Operation = FmodTensor()
_remainder: Operation = RemainderTensor()


def fmod(x: Value, other: Value | float) -> Value:
    """The remainder of x / other with the sign of x."""
    return Fmod(other=other)(x) if real_number(other) else _fmod(x, other)


def remainder(x: Value | float, other: Value | float) -> Value:
    """The remainder of x / other with the sign of other: x % other."""
    if real_number(x) and not real_number(other):
        return RemainderOf(other=x)(other)
    return Remainder(other=other)(x) if real_number(other) else _remainder(x, other)


def div_(x: Value, other: Value | float, *, rounding_mode: str | None = None) -> Value:
    """x / other; rounded down with rounding_mode "floor", towards 0 with "trunc"."""
    if rounding_mode is None:
        return div(x, other)
    if rounding_mode not in ("floor", "trunc"):
        raise ShapeError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")
    return DivRounded(rounding_mode=rounding_mode)(x, other)


OPERATIONS = (FloorDivide, DivRounded, FmodTensor, RemainderTensor, Fmod, Remainder, RemainderOf)
FUNCTIONS = (fmod, remainder, div_)
SPELLINGS = {"divide": div_, "true_divide": div_}
