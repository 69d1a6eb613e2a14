"""Absolute value, signs and rounding: what jumps or bends at isolated points."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import AutogradError
from gradcli.ops.arithmetic import real_number
from gradcli.ops.conjugate import conj, is_complex
from gradcli.ops.elementwise import Elementwise, Predicate
from gradcli.ops.operation import Operation, Value
from gradcli.ops.where import where


def held(decision: Value, *args: Value) -> Value:
    """A constant result in the shape that the arguments now have: a replay gives them a further leading axis."""
    return np.broadcast_to(decision, np.broadcast_shapes(np.shape(decision), *map(np.shape, args)))[()]


class Step(Elementwise, abstract=True):
    """Constant between jumps: the decision is the result, the derivative is 0 everywhere."""

    def step(self, x: Value) -> Value:
        """The result."""
        raise NotImplementedError

    def forward(self, x: Value) -> Value:
        return self.step(x)

    def decide(self, x: Value) -> Value:
        return self.step(x)

    def branch(self, x: Value, decision: Any = None) -> Value:
        return held(decision, x)

    def d_x(self) -> Value:
        return False

    def symbolic(self, sympy: Any, x: Any, decision: Any) -> Any:
        return decision


def signs(x: Value) -> Value:
    """-1, 0 or 1, of complex numbers x / abs(x); of a real NaN 0, as PyTorch."""
    if np.asarray(x).dtype.kind == "b":
        return x
    sign = np.sign(x)
    return np.where(np.isnan(x), np.zeros_like(sign), sign)[()] if np.asarray(x).dtype.kind == "f" else sign


class Sign(Step):
    """-1, 0 or 1."""

    refused = "c"

    def step(self, x: Value) -> Value:
        return signs(x)


class Signbit(Predicate):
    """Whether the sign is negative, also that of -0."""

    def forward(self, x: Value) -> Value:
        return np.signbit(x)


class Isposinf(Predicate):
    """Whether x is inf."""

    def forward(self, x: Value) -> Value:
        return np.isposinf(x)


class Isneginf(Predicate):
    """Whether x is -inf."""

    def forward(self, x: Value) -> Value:
        return np.isneginf(x)


class Floor(Step):
    """The largest whole number <= x."""

    refused = "bc"
    kernel_name = "floor_vml_cpu"

    def step(self, x: Value) -> Value:
        return np.floor(x)


class Ceil(Step):
    """The smallest whole number >= x."""

    refused = "bc"
    kernel_name = "ceil_vml_cpu"

    def step(self, x: Value) -> Value:
        return np.ceil(x)


class Trunc(Step):
    """x without its fraction: rounded towards 0."""

    refused = "bc"
    kernel_name = "trunc_vml_cpu"

    def step(self, x: Value) -> Value:
        return np.trunc(x)


class Round(Step):
    """The nearest number with `decimals` decimals, halves to even."""

    saves = ""
    refused = "bc"
    kernel_name = "round_vml_cpu"
    decimals: int = 0

    @property
    def node(self) -> str:  # type: ignore[override]
        return "RoundBackward1" if self.decimals else "RoundBackward0"

    def step(self, x: Value) -> Value:
        if np.asarray(x).dtype.kind in "iu":
            return x
        return np.round(x, self.decimals) if self.decimals else np.rint(x)

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(), cls(decimals=1)]


class Frac(Elementwise):
    """x - trunc(x): the fraction, with the sign of x. The derivative is 1, also at the jumps."""

    refused = "biuc"
    kernel_name = "frac_cpu"

    def decide(self, x: Value) -> Value:
        return np.trunc(x)

    def branch(self, x: Value, decision: Any = None) -> Value:
        return x - decision

    def vjp_x(self, g: Value) -> Value:
        return g

    def symbolic(self, sympy: Any, x: Any, decision: Any) -> Any:
        return x - decision


class Abs(Elementwise):
    """The absolute value, of a complex number its modulus. Kink at 0, where the derivative is 0, as PyTorch."""

    refused = "b"
    kernel_name = "abs_cpu"

    def forward(self, x: Value) -> Value:
        return np.abs(x)

    def decide(self, x: Value) -> Value:
        """-1, 0 or 1 by the sign; of a complex number nothing."""
        return None if is_complex(np.asarray(x)) else (x > 0) * 1 - (x < 0) * 1

    def branch(self, x: Value, decision: Any = None) -> Value:
        return np.abs(x) if decision is None else x * decision

    def vjp_x(self, g: Value, x: Value) -> Value:
        return g * sgn(x)

    def symbolic(self, sympy: Any, x: Any, decision: int) -> Any:
        return x * decision

    def parts(self, sympy: Any, *args: tuple[Any, Any]) -> tuple[Any, Any]:
        ((re, im),) = args
        return sympy.sqrt(re**2 + im**2), None

    def kinks(self, x: Value) -> Value:
        return x


class Sgn(Elementwise):
    """x / abs(x), and 0 at 0: the sign, also of complex numbers."""

    saves = "result=out self=x"

    def forward(self, x: Value) -> Value:
        return signs(x)

    def decide(self, x: Value) -> Value:
        return None if is_complex(np.asarray(x)) else signs(x)

    def branch(self, x: Value, decision: Any = None) -> Value:
        return signs(x) if decision is None else held(decision, x)

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        if not is_complex(x):
            return where(False, g, 0.0)
        size = absolute(x)
        part = g / where(size == 0, 1.0, size)
        turn = sgn(x)
        along = part * conj(turn)
        return where(size == 0, 0.0, part - turn * (along + conj(along)) * 0.5)

    def symbolic(self, sympy: Any, x: Any, decision: Any) -> Any:
        return decision

    def parts(self, sympy: Any, *args: tuple[Any, Any]) -> tuple[Any, Any]:
        ((re, im),) = args
        size = sympy.sqrt(re**2 + im**2)
        return re / size, im / size


class Heaviside(Elementwise):
    """0 below 0, 1 above, `values` at 0. PyTorch has no derivative for it."""

    refused = "c"
    node = "NotImplemented"

    def forward(self, x: Value, values: Value) -> Value:
        return self.decide(x, values)

    def decide(self, x: Value, values: Value) -> Value:
        dtype = np.result_type(x, values)
        return np.heaviside(x, values) if dtype.kind == "f" else np.heaviside(x * 1.0, values).astype(dtype)

    def branch(self, x: Value, values: Value, decision: Any = None) -> Value:
        return held(decision, x, values)

    def vjp_x(self, g: Value) -> Value:
        raise AutogradError("derivative for aten::heaviside is not implemented", hint="torch.where(x > 0, 1.0, 0.0) cuts the graph instead")

    vjp_values = vjp_x

    def symbolic(self, sympy: Any, x: Any, values: Any, decision: Any) -> Any:
        return decision


class Copysign(Elementwise):
    """abs(x) with the sign of y. The derivative in x is 0 at x = 0, as PyTorch; in y it is 0."""

    floating = True
    refused = "c"

    def forward(self, x: Value, y: Value) -> Value:
        return np.copysign(x, y)

    def decide(self, x: Value, y: Value) -> Value:
        """-1 where the sign of x changes, else 1; 0 where x is 0."""
        return (x != 0) * (1 - 2 * (np.signbit(x) != np.signbit(y)))

    def branch(self, x: Value, y: Value, decision: Any = None) -> Value:
        return np.where(decision == 0, np.copysign(x, y), x * decision + 0 * y)[()]

    def d_x(self, x: Value, out: Value) -> Value:
        return where(x == 0, 0.0, out / where(x == 0, 1.0, x))

    def d_y(self) -> Value:
        return False

    def symbolic(self, sympy: Any, x: Any, y: Any, decision: int) -> Any:
        return x * decision

    def kinks(self, x: Value, y: Value) -> Value:
        return x


class NanToNum(Elementwise):
    """x with NaN and infinities replaced, by default by 0 and the largest numbers of the dtype. The derivative there is 0."""

    saves = "self=x"
    nan: float | None = None
    posinf: float | None = None
    neginf: float | None = None

    def forward(self, x: Value) -> Value:
        return np.nan_to_num(x, nan=0.0 if self.nan is None else self.nan, posinf=self.posinf, neginf=self.neginf)

    def decide(self, x: Value) -> Value:
        """1 for a finite x, 0 for one that is replaced."""
        return np.isfinite(x) * 1

    def branch(self, x: Value, decision: Any = None) -> Value:
        out: Value = np.where(decision == 0, self.forward(x), x)
        return out[()]

    def d_x(self, x: Value) -> Value:
        return x - x == 0

    def symbolic(self, sympy: Any, x: Any, decision: int) -> Any:
        return x if decision else sympy.nan

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(), cls(nan=1.5, posinf=2.0, neginf=-2.0)]


absolute: Operation = Abs()
sgn: Operation = Sgn()


MOST_DECIMALS = 400
"""More make no difference: ten to this power is infinite already."""


def copysign(x: Value, other: Value | float) -> Value:
    """abs(x) with the sign of other."""
    op = Copysign()
    if real_number(other):
        op.node, op.listed = "CopysignBackward1", 1
    return op(x, other)


def round_(x: Value, decimals: int = 0) -> Value:
    """x rounded to `decimals` decimals, halves to even."""
    return Round(decimals=max(-MOST_DECIMALS, min(decimals, MOST_DECIMALS)))(x)


OPERATIONS = (Sign, Signbit, Isposinf, Isneginf, Floor, Ceil, Trunc, Round, Frac, Abs, Sgn, Heaviside, Copysign, NanToNum)
FUNCTIONS = (round_, copysign)
SPELLINGS = {"absolute": "abs", "fix": "trunc", "special.round": round_}
