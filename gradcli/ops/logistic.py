"""What is made of 1 / (1 + e ** -x): its logarithm, its integral, its inverse, and sums of exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.elementwise import Elementwise, rational
from gradcli.ops.exponential import exp, sigmoid
from gradcli.ops.operation import Operation, Value
from gradcli.ops.where import where


class LogSigmoid(Elementwise):
    """log(sigmoid(x)) = -log(1 + e ** -x)."""

    row_major = True
    saves = "buffer self=x"
    derivative = "LogSigmoidBackwardBackward0"
    refused = "biuc"
    kernel_name = "log_sigmoid_cpu"
    analytic = False
    name = "logsigmoid"
    node = "LogSigmoidBackward0"

    def forward(self, x: Value) -> Value:
        return -np.logaddexp(0.0, -x)

    def d_x(self, x: Value) -> Value:
        return sigmoid(-x)

    def buffer(self, x: Value) -> Value:
        """What PyTorch keeps between both passes."""
        return np.exp(-np.abs(x))

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return -sympy.log(1 + sympy.exp(-x))


class Softplus(Elementwise):
    """log(1 + e ** (beta x)) / beta; x itself where beta x > threshold, as PyTorch, which makes the derivative there exactly 1."""

    derivative = "SoftplusBackwardBackward0"
    refused = "biuc"
    kernel_name = "softplus_cpu"
    analytic = False
    beta: float = 1
    threshold: float = 20

    def decide(self, x: Value) -> Value:
        return self.beta * x > self.threshold

    def branch(self, x: Value, decision: Any = None) -> Value:
        return np.where(decision, x, np.logaddexp(0.0, x * self.beta) / self.beta)[()]

    def d_x(self, x: Value) -> Value:
        scaled = x * self.beta
        return where(scaled > self.threshold, 1.0, sigmoid(where(scaled < self.threshold, scaled, self.threshold)))

    def symbolic(self, sympy: Any, x: Any, decision: bool) -> Any:
        beta = rational(sympy, self.beta)
        return x if decision else sympy.log(1 + sympy.exp(beta * x)) / beta

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(), cls(beta=2.5, threshold=1.0), cls(beta=0.5)]


class Logaddexp(Elementwise):
    """log(e ** x + e ** y), finite where the exponentials overflow."""

    refused = "biuc"
    kernel_name = "logaddexp_cpu"
    analytic = False
    keeps_all = True

    def forward(self, x: Value, y: Value) -> Value:
        return np.logaddexp(x, y)

    def vjp_x(self, g: Value, x: Value, y: Value) -> Value:
        return g / (1 + exp(y - x))

    def vjp_y(self, g: Value, x: Value, y: Value) -> Value:
        return g / (1 + exp(x - y))

    def symbolic(self, sympy: Any, x: Any, y: Any) -> Any:
        return sympy.log(sympy.exp(x) + sympy.exp(y))


class Logaddexp2(Elementwise):
    """log2(2 ** x + 2 ** y), finite where the powers overflow."""

    refused = "biuc"
    kernel_name = "logaddexp2_cpu"
    analytic = False
    keeps_all = True

    def forward(self, x: Value, y: Value) -> Value:
        return np.logaddexp2(x, y)

    def vjp_x(self, g: Value, x: Value, y: Value) -> Value:
        return g / (1 + 2.0 ** (y - x))

    def vjp_y(self, g: Value, x: Value, y: Value) -> Value:
        return g / (1 + 2.0 ** (x - y))

    def symbolic(self, sympy: Any, x: Any, y: Any) -> Any:
        return sympy.log(sympy.Integer(2) ** x + sympy.Integer(2) ** y) / sympy.log(2)


class Logit(Elementwise):
    """log(x / (1 - x)); with `eps`, x is first clamped to [eps, 1 - eps] and the derivative outside is 0. Domain 0 <= x <= 1, NaN outside.

    Computed as a difference of logarithms near the ends and by log1p near 1/2, where the two cancel.
    """

    floating = True
    refused = "c"
    eps: float | None = None
    domain = (0.05, 0.95)

    def decide(self, x: Value) -> Value:
        """-1 below the clamped range, 1 above, 0 inside."""
        low, high = self.bounds()
        return (x > high) * 1 - (x < low) * 1

    def bounds(self) -> tuple[float, float]:
        return (-np.inf, np.inf) if self.eps is None else (self.eps, 1 - self.eps)

    def branch(self, x: Value, decision: Any = None) -> Value:
        if self.eps is not None:
            low, high = self.bounds()
            x = np.where(decision > 0, high, np.where(decision < 0, low, x))
        middle = (x > 0.25) & (x < 0.75)
        near = np.where(middle, x, 0.5)
        return np.where(middle, np.log1p((2 * near - 1) / (1 - near)), np.log(x) - np.log1p(-x))[()]

    def vjp_x(self, g: Value, x: Value) -> Value:
        if self.eps is None:
            return g / where((x < 0) | (x > 1), np.nan, x * (1 - x))
        low, high = self.bounds()
        inside = (x >= low) & (x <= high)
        return where(inside, g / where(inside, x * (1 - x), 1.0), 0.0)

    def symbolic(self, sympy: Any, x: Any, decision: int) -> Any:
        if decision:
            x = rational(sympy, self.bounds()[decision > 0])
        return sympy.log(x / (1 - x))

    def kinks(self, x: Value) -> Value | None:
        low, high = self.bounds()
        return None if self.eps is None else np.minimum(np.abs(x - low), np.abs(x - high))

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(), cls(eps=0.3)]


OPERATIONS = (LogSigmoid, Softplus, Logaddexp, Logaddexp2, Logit)
SPELLINGS = {"special.logit": "logit"}
