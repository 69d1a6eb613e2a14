"""Simple functions of a result whose value was computed with it, from where it has all its digits.

sigmoid(x) rounds to 1 where 1 - sigmoid(x) is 1e-20: a rule that keeps only the result, as PyTorch's do, has
lost the derivative. The value put aside restores it, and differentiating goes through the result as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.ops.axes import raw
from gradcli.ops.conjugate import conj
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation, Value
from gradcli.ops.where import where

ROUNDING = {np.dtype(kind): 8 * float(np.finfo(kind).eps) for kind in (np.float64, np.float32, np.float16)}
"""How far a function of a rounded result may be off its value, about 1: the result, its square and the sum round once each."""


class Complement(Elementwise, abstract=True):
    """A function of y, given its value."""

    def forward(self, y: Value, value: Value) -> Value:
        """The value, unless y is no longer the result that it belongs to, as after a write through `.data`."""
        rounded = self.of(y)
        off: Any = abs(rounded - value)
        allowed = ROUNDING.get(np.asarray(off).dtype)
        if allowed is None or off.max(initial=0.0) <= allowed:
            return value
        kept: Value = np.where(off <= allowed * np.maximum(np.abs(value), 1.0), value, rounded)
        return kept[()]

    def of(self, y: Value) -> Value:
        """The function itself."""
        raise NotImplementedError

    def replay(self, args: Sequence[Value], decision: Any) -> Value:
        return self.of(args[0])

    def symbolic(self, sympy: Any, y: Any, value: Any) -> Any:
        return self.of(y)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        for shape in ((), (2, 3)):
            y = rng.uniform(-0.9, 0.9, shape)
            yield cls(), (y, cls().of(y))


class OneMinus(Complement):
    """1 - y."""

    def of(self, y: Value) -> Value:
        return 1 - y

    def vjp_y(self, g: Value) -> Value:
        return -g


class OnePlus(Complement):
    """1 + y."""

    saves = ""
    node = "AddBackward1"
    listed = 1

    def of(self, y: Value) -> Value:
        return 1 + y

    def vjp_y(self, g: Value) -> Value:
        return g


class OneMinusSquare(Complement):
    """1 - y**2."""

    def of(self, y: Value) -> Value:
        return 1 - y * y

    def d_y(self, y: Value) -> Value:
        return y * -2


def through(g: Value, derivative: Value, lost: Value) -> Value:
    """g * derivative, and NaN for an infinite g where the result has rounded to its limit: that is `lost`.

    What made g infinite was a difference to the limit that rounding has taken to 0: the product says nothing of its size,
    and PyTorch's, 0 * inf, is NaN too.
    """
    if np.any(lost):
        undetermined = lost & np.isinf(raw(g))
        if np.any(undetermined):
            derivative = where(undetermined, np.nan, derivative)
    return g * conj(derivative)


one_minus: Operation = OneMinus()
one_plus: Operation = OnePlus()
one_minus_square: Operation = OneMinusSquare()
