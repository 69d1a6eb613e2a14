"""Activations of neural networks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.errors import MissingRuleError, ShapeError
from gradcli.ops.elementwise import Elementwise, rational
from gradcli.ops.error import ROOT_TWO_PI, bell, ndtr
from gradcli.ops.exponential import exp, sigmoid
from gradcli.ops.hyperbolic import sech, tanh
from gradcli.ops.logistic import Softplus
from gradcli.ops.operation import Operation, Value
from gradcli.ops.rounding import absolute
from gradcli.ops.straight import straight
from gradcli.ops.where import where

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


class Relu(Elementwise):
    """max(x, 0). Kink at 0, where the derivative is 0, as PyTorch."""

    refused = "c"

    def forward(self, x: Value) -> Value:
        return np.maximum(x, 0)

    def decide(self, x: Value) -> Value:
        return x > 0

    def branch(self, x: Value, decision: Any = None) -> Value:
        return x * decision

    def vjp_x(self, g: Value, out: Value) -> Value:
        return straight("Threshold", g, out, lambda out: ~(out <= 0))

    def symbolic(self, sympy: Any, x: Any, decision: bool) -> Any:
        return x if decision else sympy.Integer(0)

    def kinks(self, x: Value) -> Value:
        return x


class LeakyRelu(Elementwise):
    """x for x > 0, else negative_slope * x. Kink at 0, where the derivative is the slope, as PyTorch."""

    refused = "biuc"
    kernel_name = "leaky_relu_cpu"
    negative_slope: float = 0.01

    def decide(self, x: Value) -> Value:
        return x > 0

    def branch(self, x: Value, decision: Any = None) -> Value:
        return np.where(decision, x, x * self.negative_slope)[()]

    def vjp_x(self, g: Value, x: Value) -> Value:
        return straight("LeakyRelu", g, x, lambda x: np.where(x > 0, 1.0, self.negative_slope))

    def symbolic(self, sympy: Any, x: Any, decision: bool) -> Any:
        return x if decision else x * rational(sympy, self.negative_slope)

    def kinks(self, x: Value) -> Value:
        return x

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(), cls(negative_slope=0.3)]


class PreluKernel(Elementwise):
    """x for x > 0, else weight * x. Kink at 0, where the derivative is the weight, as PyTorch."""

    derivative = "PreluKernelBackwardBackward0"
    joint = True
    refused = "c"
    kernel_name = "prelu_cpu"
    keeps_all = True

    def decide(self, x: Value, weight: Value) -> Value:
        return x > 0

    def branch(self, x: Value, weight: Value, decision: Any = None) -> Value:
        return np.where(decision, x, weight * x)[()]

    def vjp_x(self, g: Value, x: Value, weight: Value) -> Value:
        return where(x > 0, g, g * weight)

    def vjp_weight(self, g: Value, x: Value, weight: Value) -> Value:
        return where(x > 0, 0.0, g * x)

    def symbolic(self, sympy: Any, x: Any, weight: Any, decision: bool) -> Any:
        return x if decision else x * weight

    def kinks(self, x: Value, weight: Value) -> Value:
        return x


class Elu(Elementwise):
    """scale * x for x > 0, else scale * alpha * (e ** x - 1).

    Kink at 0 unless alpha is 1: the derivative there is scale * alpha, as PyTorch.
    """

    saves = "alpha input_scale:1 scale self=x"
    derivative = "EluBackwardBackward0"
    refused = "biuc"
    kernel_name = "elu_cpu"
    alpha: float = 1.0
    scale: float = 1

    def decide(self, x: Value) -> Value:
        return x > 0

    def branch(self, x: Value, decision: Any = None) -> Value:
        return np.where(decision, x * self.scale, np.expm1(np.where(decision, 0.0, x)) * (self.alpha * self.scale))[()]

    def vjp_x(self, g: Value, x: Value) -> Value:
        return where(x <= 0, g * exp(where(x < 0, x, 0.0)) * (self.alpha * self.scale), g * self.scale)

    def symbolic(self, sympy: Any, x: Any, decision: bool) -> Any:
        alpha, scale = rational(sympy, self.alpha), rational(sympy, self.scale)
        return scale * x if decision else scale * alpha * (sympy.exp(x) - 1)

    def kinks(self, x: Value) -> Value:
        return x

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(), cls(alpha=0.7), cls(alpha=SELU_ALPHA, scale=SELU_SCALE)]


class Celu(Elementwise):
    """x for x > 0, else alpha * (e ** (x / alpha) - 1): smooth at 0."""

    derivative = "EluBackwardBackward0"
    refused = "biuc"
    kernel_name = "elu_cpu"
    alpha: float = 1.0

    def decide(self, x: Value) -> Value:
        return x > 0

    def branch(self, x: Value, decision: Any = None) -> Value:
        return np.where(decision, x, np.expm1(np.where(decision, 0.0, x) / self.alpha) * self.alpha)[()]

    def vjp_x(self, g: Value, x: Value) -> Value:
        return where(x <= 0, g * exp(where(x < 0, x, 0.0) / self.alpha), g)

    def symbolic(self, sympy: Any, x: Any, decision: bool) -> Any:
        alpha = rational(sympy, self.alpha)
        return x if decision else alpha * (sympy.exp(x / alpha) - 1)

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(), cls(alpha=0.6)]


class Silu(Elementwise):
    """x * sigmoid(x)."""

    refused = "biu"
    kernel_name = "silu_cpu"

    def forward(self, x: Value) -> Value:
        return x / (1 + np.exp(-x))

    def d_x(self, x: Value) -> Value:
        return sigmoid(x) * (1 + x * sigmoid(-x))

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return x / (1 + sympy.exp(-x))


class Mish(Elementwise):
    """x * tanh(log(1 + e ** x))."""

    refused = "biuc"
    kernel_name = "mish_cpu"
    analytic = False

    def forward(self, x: Value) -> Value:
        return x * np.tanh(np.logaddexp(0.0, x))

    def d_x(self, x: Value) -> Value:
        inner = softplus(x)
        return tanh(inner) + x * sigmoid(x) * sech(inner) ** 2

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return x * sympy.tanh(sympy.log(1 + sympy.exp(x)))


class Gelu(Elementwise):
    """x times the normal distribution function; by erfc, which keeps the digits of the lower tail."""

    saves = "approximate:none self=x"
    derivative = "GeluBackwardBackward0"
    refused = "biuc"
    kernel_name = "GeluKernelImpl"
    analytic = False

    def forward(self, x: Value) -> Value:
        return x * ndtr.forward(x)

    def d_x(self, x: Value) -> Value:
        return ndtr(x) + x * bell(x) * (1 / ROOT_TWO_PI)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return x * sympy.erfc(-x / sympy.sqrt(2)) / 2


class GeluTanh(Elementwise):
    """x * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x**3))) / 2, written as x * sigmoid(2 ...), which keeps the digits of the lower tail."""

    saves = "approximate:tanh self=x"
    derivative = "GeluBackwardBackward0"
    refused = "biuc"
    kernel_name = "GeluKernelImpl"
    name = "gelu"
    node = "GeluBackward0"
    slope = 2 * math.sqrt(2 / math.pi)
    cubic = 0.044715

    def forward(self, x: Value) -> Value:
        return x / (1 + np.exp(-self.slope * (x + self.cubic * (x * x * x))))

    def d_x(self, x: Value) -> Value:
        square = x * x
        inner = (x + square * x * self.cubic) * self.slope
        return sigmoid(inner) * (1 + x * sigmoid(-inner) * (square * (3 * self.cubic) + 1) * self.slope)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return x / (1 + sympy.exp(-2 * sympy.sqrt(2 / sympy.pi) * (x + rational(sympy, self.cubic) * x**3)))


softplus: Operation = Softplus(threshold=math.inf)


def gelu(x: Value, approximate: str = "none") -> Value:
    """x times the normal distribution function, or its approximation by tanh."""
    if approximate not in ("none", "tanh"):
        raise ShapeError("approximate argument must be either none or tanh.")
    return _gelu_tanh(x) if approximate == "tanh" else _gelu(x)


def elu(x: Value, alpha: float = 1.0) -> Value:
    """x for x > 0, else alpha * (e ** x - 1)."""
    return Elu(alpha=alpha)(x)


def selu(x: Value) -> Value:
    """The self-normalising form of elu, with its two constants."""
    return Elu(alpha=SELU_ALPHA, scale=SELU_SCALE)(x)


def softsign(x: Value) -> Value:
    """x / (1 + abs(x))."""
    return x / (absolute(x) + 1)


def tanhshrink(x: Value) -> Value:
    """x - tanh(x)."""
    return x - tanh(x)


def prelu(x: Value, weight: Value) -> Value:
    """x for x > 0, else weight * x; `weight` has one element, or one for each place along axis 1 of x."""
    if weight.ndim and x.ndim != 1:
        weight = weight.reshape(*(1, -1, *(1,) * (x.ndim - 2))) if x.ndim else weight.reshape(())
    return prelu_kernel(x, weight)


def rrelu(x: Value, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Value:
    """leaky_relu with the mean of both slopes; the random slopes of training are not offered."""
    if training:
        raise MissingRuleError("rrelu(training=True) draws random slopes, which gradcli does not offer", hint="leave out training=True")
    op = LeakyRelu(negative_slope=(lower + upper) / 2)
    op.node, op.saves = "RreluWithNoiseBackward0", "self=x"
    return op.telling(lower=lower, upper=upper, training=False, noise=np.broadcast_to(0.0, x.shape))(x)


prelu_kernel: Operation = PreluKernel()
_gelu: Operation = Gelu()
_gelu_tanh: Operation = GeluTanh()

OPERATIONS = (
    Relu, LeakyRelu, Elu, Celu, Silu, Mish, Gelu, GeluTanh,
)  # fmt: skip
FUNCTIONS = (gelu, elu, selu, softsign, tanhshrink, prelu, rrelu)
