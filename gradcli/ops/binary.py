"""Losses over two classes: binary cross-entropy, of probabilities and of logits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import DataError, DtypeError, ShapeError
from gradcli.ops.arithmetic import log
from gradcli.ops.axes import raw
from gradcli.ops.bounds import clamp_min
from gradcli.ops.exponential import exp, floats, log1p, sigmoid
from gradcli.ops.logistic import Logaddexp
from gradcli.ops.loss import REDUCTIONS, Examples, Loss, reduction_of
from gradcli.ops.operation import Value
from gradcli.ops.promotion import scalar_type
from gradcli.ops.structure import Expand

FLOOR = -100.0
"""Below this PyTorch cuts the logarithm of a probability, so that log(0) stays finite."""
EPSILON = float(np.float32(1e-12))
"""What PyTorch divides by at probabilities 0 and 1."""


class WeightedLoss(Loss, abstract=True):
    """A loss with constant weights as further arguments, None where there are none."""

    def elements(self, x: Value, target: Value, *weights: Value) -> Value:
        raise NotImplementedError

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.reduce(self.elements(*args), 1)

    def weighted(self, value: Value, weight: Value) -> Value:
        return value if raw(weight) is None else value * weight


class BinaryCrossEntropy(WeightedLoss):
    """-weight * (t * log(x) + (1 - t) * log(1 - x)), logarithms cut at -100. Domain 0 <= x <= 1, RuntimeError outside.

    At x = 0 and 1 the derivative is a convention: (x - t) / 1e-12, as PyTorch.

    Shapes: x and target alike, kept; a reduction gives ().
    """

    derivative = "BinaryCrossEntropyBackwardBackward0"
    refused = "biuc"
    kernel_name = "binary_cross_entropy"

    def elements(self, x: Value, target: Value, weight: Value = None) -> Value:
        logs, others = np.maximum(np.log(x), FLOOR), np.maximum(np.log1p(-x), FLOOR)
        return self.weighted(-target * logs - (1 - target) * others, weight)

    def forward(self, x: Value, target: Value, weight: Value) -> Value:
        if np.any((x < 0) | (x > 1)):
            raise ShapeError("all elements of input should be between 0 and 1", hint="of logits: binary_cross_entropy_with_logits")
        return self.reduce(self.elements(x, target, weight))

    def exact(self, *args: Value, decision: Any = None) -> Value:
        x, target, weight = args
        return self.reduce(self.weighted(-target * log(x) - (1 - target) * log1p(-x), weight))

    def vjp_x(self, g: Value, x: Value, target: Value, weight: Value) -> Value:
        return self.weighted(self.spread(g, x), weight) * (x - target) / clamp_min(x * (1 - x), EPSILON)

    def vjp_target(self, g: Value, x: Value, target: Value, weight: Value) -> Value:
        return self.weighted(self.spread(g, x), weight) * (clamp_min(log1p(-x), FLOOR) - clamp_min(log(x), FLOOR))

    def kinks(self, x: Value, target: Value, weight: Value) -> Value | None:
        return x * (1 - x)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for reduction in REDUCTIONS:
            for weight in (None, rng.uniform(0.5, 2, size=(2, 3))):
                yield cls(reduction=reduction), (rng.uniform(0.1, 0.9, (2, 3)), rng.uniform(0, 1, (2, 3)), weight)


class BinaryCrossEntropyWithLogits(WeightedLoss):
    """weight * (pos_weight * t * log(1 + e ** -x) + (1 - t) * log(1 + e ** x)), without overflow.

    Gradient: (1 - t) * sigmoid(x) - pos_weight * t * sigmoid(-x), which keeps its digits in both tails.

    Shapes: x and target alike, kept; a reduction gives ().
    """

    refused = "biuc"
    kernel_name = "log_sigmoid_cpu"
    analytic = False
    extended = True

    def elements(self, x: Value, target: Value, weight: Value = None, pos_weight: Value = None) -> Value:
        zero = np.zeros((), x.dtype if x.dtype != object else np.float64)
        positive, negative = np.logaddexp(zero, -x), np.logaddexp(zero, x)
        return self.weighted(self.weighted(target, pos_weight) * positive + (1 - target) * negative, weight)

    def forward(self, x: Value, target: Value, weight: Value, pos_weight: Value) -> Value:
        return self.reduce(self.elements(x, target, weight, pos_weight))

    def exact(self, *args: Value, decision: Any = None) -> Value:
        x, target, weight, pos_weight = args
        positive, negative = soft(-x), soft(x)
        return self.reduce(self.weighted(self.weighted(target, pos_weight) * positive + (1 - target) * negative, weight))

    def vjp_x(self, g: Value, x: Value, target: Value, weight: Value, pos_weight: Value) -> Value:
        slope = (1 - target) * sigmoid(x) - self.weighted(target, pos_weight) * sigmoid(-x)
        return self.weighted(self.spread(g, x), weight) * slope

    def vjp_target(self, g: Value, x: Value, target: Value, weight: Value, pos_weight: Value) -> Value:
        slope = self.weighted(larger(-x, 0.0), pos_weight) - larger(x, 0.0)
        return self.weighted(self.spread(g, x), weight) * slope

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for reduction in REDUCTIONS:
            for weight in (None, rng.uniform(0.5, 2, size=(2, 3))):
                yield cls(reduction=reduction), (3 * rng.normal(size=(2, 3)), rng.uniform(0, 1, (2, 3)), weight, weight)


larger = Logaddexp()


def soft(x: Value) -> Value:
    """log(1 + e ** x) of any storage, without overflow."""
    top = np.maximum(floats(x), 0.0)
    return log(exp(-top) + exp(x - top)) + top


def _broadcast(weight: Any, x: Any) -> Any:
    return weight if weight is None or weight.shape == x.shape else Expand(shape=x.shape)(weight)


def binary_cross_entropy(
    x: Value, target: Value, weight: Value | None = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """-(t * log(x) + (1 - t) * log(1 - x)) of probabilities x: its mean, sum, or each element's."""
    if x.shape != target.shape:
        raise DataError(
            f"Using a target size (torch.Size({list(target.shape)})) that is different to the input size "
            f"(torch.Size({list(x.shape)})) is deprecated. Please ensure they have the same size."
        )
    if target.dtype != x.dtype and "O" not in (x.dtype.kind, target.dtype.kind):
        raise DtypeError(f"Found dtype {scalar_type(target)} but expected {scalar_type(x)}", hint="make the target floating: .to(x.dtype)")
    return BinaryCrossEntropy(reduction=reduction_of(reduction, size_average, reduce))(x, target, _broadcast(weight, x))


def binary_cross_entropy_with_logits(
    x: Value,
    target: Value,
    weight: Value | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Value | None = None,
) -> Any:
    """Binary cross-entropy of sigmoid(x), without its rounding: mean, sum, or each element's."""
    if x.shape != target.shape:
        raise DataError(f"Target size (torch.Size({list(target.shape)})) must be the same as input size (torch.Size({list(x.shape)}))")
    if target.dtype.kind in "iu":
        raise DtypeError(
            f"result type {scalar_type(x)} can't be cast to the desired output type {scalar_type(target)}",
            hint="make the target floating: .to(x.dtype)",
        )
    weights = _broadcast(weight, x), _broadcast(pos_weight, x)
    return BinaryCrossEntropyWithLogits(reduction=reduction_of(reduction, size_average, reduce))(x, target, *weights)


OPERATIONS = (BinaryCrossEntropy, BinaryCrossEntropyWithLogits)
FUNCTIONS = (binary_cross_entropy, binary_cross_entropy_with_logits)
