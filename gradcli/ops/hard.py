"""Activations of straight pieces: hard forms of smooth ones, shrinkage, thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import DataError
from gradcli.ops.bounds import Clamp
from gradcli.ops.elementwise import Elementwise, rational
from gradcli.ops.operation import Operation, Value
from gradcli.ops.straight import straight
from gradcli.ops.where import where


class Hardtanh(Clamp):
    """x held within [min_val, max_val]. Kinks at the bounds, where the derivative is 0, as PyTorch."""

    saves = "max_val=max min_val=min self=x"
    refused = "c"
    node = "HardtanhBackward0"
    min: float = -1.0
    max: float = 1.0

    def decide(self, x: Value) -> Value:
        """1 from `max_val` on, -1 up to `min_val`, 0 between."""
        return (x >= self.max) * 1 - ((x <= self.min) & ~(x >= self.max)) * 1

    def vjp_x(self, g: Value, x: Value) -> Value:
        return straight("Hardtanh", g, x, lambda x: ~((x <= self.min) | (x >= self.max)))

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(), cls(min=-0.3, max=1.2)]


class Hardsigmoid(Elementwise):
    """min(max(x + 3, 0), 6) / 6. Kinks at -3 and 3, where the derivative is 0, as PyTorch."""

    refused = "biuc"
    kernel_name = "hardsigmoid_cpu"
    domain = (-5.0, 5.0)

    def decide(self, x: Value) -> Value:
        """-1 up to -3, 1 from 3 on, 0 between."""
        return (x >= 3) * 1 - (x <= -3) * 1

    def branch(self, x: Value, decision: Any = None) -> Value:
        return np.where(decision > 0, 1.0, np.where(decision < 0, 0.0, (x + 3) / 6))[()]

    def vjp_x(self, g: Value, x: Value) -> Value:
        return where((x > -3) & (x < 3), g / 6, 0.0)

    def symbolic(self, sympy: Any, x: Any, decision: int) -> Any:
        return sympy.Integer(decision > 0) if decision else (x + 3) / 6

    def kinks(self, x: Value) -> Value:
        return np.abs(x) - 3


class Hardswish(Elementwise):
    """x * hardsigmoid(x). Kinks at -3 and 3, where the derivatives are 0 and 1, those outside, as PyTorch."""

    derivative = "HardswishBackwardBackward0"
    refused = "biuc"
    kernel_name = "hardswish_cpu"
    domain = (-5.0, 5.0)

    def decide(self, x: Value) -> Value:
        """-1 up to -3, 1 from 3 on, 0 between."""
        return (x >= 3) * 1 - (x <= -3) * 1

    def branch(self, x: Value, decision: Any = None) -> Value:
        return np.where(decision == 0, x * (x + 3) / 6, (decision > 0) * x)[()]

    def vjp_x(self, g: Value, x: Value) -> Value:
        return where(x <= -3, 0.0, where(x < 3, g * (x / 3 + 0.5), g))

    def symbolic(self, sympy: Any, x: Any, decision: int) -> Any:
        return (x if decision > 0 else sympy.Integer(0)) if decision else x * (x + 3) / 6

    def kinks(self, x: Value) -> Value:
        return np.abs(x) - 3


class Softshrink(Elementwise):
    """x - lambd above lambd, x + lambd below -lambd, 0 between. Kinks there, where the derivative is 0, as PyTorch."""

    refused = "biuc"
    kernel_name = "softshrink_check"
    lambd: float = 0.5

    def decide(self, x: Value) -> Value:
        return (x > self.lambd) * 1 - (x < -self.lambd) * 1

    def branch(self, x: Value, decision: Any = None) -> Value:
        return np.where(decision == 0, x * 0, np.where(decision > 0, x - self.lambd, x + self.lambd))[()]

    def vjp_x(self, g: Value, x: Value) -> Value:
        return straight("Softshrink", g, x, self.beyond)

    def beyond(self, x: Value) -> Value:
        return ~((x >= -self.lambd) & (x <= self.lambd))

    def symbolic(self, sympy: Any, x: Any, decision: int) -> Any:
        return x - decision * rational(sympy, self.lambd) if decision else sympy.Integer(0)

    def kinks(self, x: Value) -> Value:
        return np.abs(x) - self.lambd


class Hardshrink(Elementwise):
    """x, and 0 within [-lambd, lambd], where it jumps; the derivative is 1 outside, else 0."""

    refused = "biuc"
    kernel_name = "hardshrink_cpu"
    lambd: float = 0.5

    def decide(self, x: Value) -> Value:
        return ~((x >= -self.lambd) & (x <= self.lambd))

    def branch(self, x: Value, decision: Any = None) -> Value:
        return np.where(decision, x, x * 0)[()]

    def vjp_x(self, g: Value, x: Value) -> Value:
        return straight("Hardshrink", g, x, self.decide)

    def symbolic(self, sympy: Any, x: Any, decision: bool) -> Any:
        return x if decision else sympy.Integer(0)


class Threshold(Elementwise):
    """x above `threshold`, else `value`. The derivative is 1 above, else 0."""

    saves = "self=x threshold"
    refused = "c"
    threshold: float
    value: float

    def decide(self, x: Value) -> Value:
        return x > self.threshold

    def branch(self, x: Value, decision: Any = None) -> Value:
        return np.where(decision, x, self.value)[()]

    def vjp_x(self, g: Value, x: Value) -> Value:
        return straight("Threshold", g, x, self.decide)

    def symbolic(self, sympy: Any, x: Any, decision: bool) -> Any:
        return x if decision else rational(sympy, self.value)

    def kinks(self, x: Value) -> Value:
        return x - self.threshold

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(threshold=0.1, value=0.0), cls(threshold=-0.2, value=3.0)]


def relu6(x: Value) -> Value:
    """min(max(x, 0), 6). Kinks at 0 and 6, where the derivative is 0, as PyTorch."""
    return Hardtanh(min=0, max=6)(x)


def hardtanh(x: Value, min_val: float = -1.0, max_val: float = 1.0) -> Value:
    """x held within [min_val, max_val]. Kinks at the bounds, where the derivative is 0, as PyTorch."""
    if min_val > max_val:
        raise DataError("min_val cannot be greater than max_val")
    whole = np.dtype(x.dtype).kind in "iu"
    return Hardtanh(min=int(min_val) if whole else min_val, max=int(max_val) if whole else max_val)(x)


OPERATIONS = (Hardtanh, Hardsigmoid, Hardswish, Softshrink, Hardshrink, Threshold)
FUNCTIONS = (relu6, hardtanh)
