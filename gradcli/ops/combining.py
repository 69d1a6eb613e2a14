"""Sums of scaled parts in one node: lerp, addcmul, addcdiv."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.arithmetic import div, real_number, sub
from gradcli.ops.conjugate import conj
from gradcli.ops.elementwise import Elementwise, rational
from gradcli.ops.operation import Operation, Value


class Lerp(Elementwise):
    """x + weight * (end - x) for a number as weight; exact at weight 0 and 1."""

    refused = "biu"
    kernel_name = "lerp_kernel_scalar"

    weight: float

    def forward(self, x: Value, end: Value) -> Value:
        return x + self.weight * (end - x) if self.weight < 0.5 else end - (end - x) * (1 - self.weight)

    def vjp_x(self, g: Value) -> Value:
        return g * (1 - self.weight)

    def vjp_end(self, g: Value) -> Value:
        return g * self.weight

    def symbolic(self, sympy: Any, x: Any, end: Any) -> Any:
        return x + rational(sympy, self.weight) * (end - x)

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(weight=0.3), cls(weight=0.8)]


class LerpTensor(Elementwise):
    """x + weight * (end - x); exact at weight 0 and 1."""

    refused = "biu"
    kernel_name = "lerp_kernel_tensor"

    name = "lerp"
    node = "LerpBackward1"

    def forward(self, x: Value, end: Value, weight: Value) -> Value:
        return np.where(np.abs(weight) < 0.5, x + weight * (end - x), end - (end - x) * (1 - weight))[()]

    def vjp_x(self, g: Value, weight: Value) -> Value:
        return g * sub(1, conj(weight))

    def vjp_end(self, g: Value, weight: Value) -> Value:
        return g * conj(weight)

    def vjp_weight(self, g: Value, x: Value, end: Value) -> Value:
        return g * conj(end - x)

    def symbolic(self, sympy: Any, x: Any, end: Any, weight: Any) -> Any:
        return x + weight * (end - x)


class Addcmul(Elementwise):
    """x + value * tensor1 * tensor2."""

    value: float = 1.0

    def forward(self, x: Value, tensor1: Value, tensor2: Value) -> Value:
        return x + self.value * tensor1 * tensor2

    def vjp_x(self, g: Value) -> Value:
        return g

    def vjp_tensor1(self, g: Value, tensor2: Value) -> Value:
        return g * conj(tensor2 * self.value)

    def vjp_tensor2(self, g: Value, tensor1: Value) -> Value:
        return g * conj(tensor1 * self.value)

    def symbolic(self, sympy: Any, x: Any, tensor1: Any, tensor2: Any) -> Any:
        return x + rational(sympy, self.value) * tensor1 * tensor2

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(), cls(value=-0.4)]


class Addcdiv(Elementwise):
    """x + value * tensor1 / tensor2."""

    value: float = 1.0
    domain = ((-2.0, 2.0), (-2.0, 2.0), (0.5, 2.0))

    def forward(self, x: Value, tensor1: Value, tensor2: Value) -> Value:
        return x + self.value * (tensor1 / tensor2)

    def vjp_x(self, g: Value) -> Value:
        return g

    def vjp_tensor1(self, g: Value, tensor2: Value) -> Value:
        return g * div(self.value, conj(tensor2))

    def vjp_tensor2(self, g: Value, tensor1: Value, tensor2: Value) -> Value:
        return -g * conj(tensor1 * self.value / (tensor2 * tensor2))

    def symbolic(self, sympy: Any, x: Any, tensor1: Any, tensor2: Any) -> Any:
        return x + rational(sympy, self.value) * tensor1 / tensor2

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(), cls(value=-2.0)]


_lerp: Operation = LerpTensor()


def lerp(x: Value, end: Value, weight: Value | float) -> Value:
    """x + weight * (end - x), for a number or a tensor as weight."""
    return Lerp(weight=weight)(x, end) if real_number(weight) else _lerp(x, end, weight)


def addcmul(x: Value, tensor1: Value, tensor2: Value, *, value: float = 1) -> Value:
    """x + value * tensor1 * tensor2."""
    return Addcmul(value=value)(x, tensor1, tensor2)


def addcdiv(x: Value, tensor1: Value, tensor2: Value, *, value: float = 1) -> Value:
    """x + value * tensor1 / tensor2."""
    return Addcdiv(value=value)(x, tensor1, tensor2)


OPERATIONS = (Lerp, LerpTensor, Addcmul, Addcdiv)
FUNCTIONS = (lerp, addcmul, addcdiv)
