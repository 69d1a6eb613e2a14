"""Losses that compare two tensors element by element, each one node as in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import DataError
from gradcli.ops.matmul import broadcast_lead
from gradcli.ops.notice import notice
from gradcli.ops.operation import Operation, Value
from gradcli.ops.reduction import mean
from gradcli.ops.reduction import sum as total
from gradcli.ops.rounding import absolute
from gradcli.ops.structure import Expand
from gradcli.ops.where import where

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]

REDUCTIONS = ("none", "mean", "sum")


class Loss(Operation, abstract=True):
    """A loss of each element, then their mean, their sum, or nothing (`reduction`). Shapes: all alike -> () or the same."""

    reduction: str = "mean"
    keeps_all = True

    def reduce(self, values: Value, leading: int = 0) -> Value:
        """The elements as `reduction` wants them; `leading` axes in front are left alone."""
        if self.reduction == "none":
            return values
        axes = tuple(range(leading, np.ndim(values)))
        total = np.add.reduce(values, axis=axes) if axes else values
        return total / np.float64(math.prod(np.shape(values)[leading:])).astype(_real(values)) if self.reduction == "mean" else total

    def spread(self, g: Value, x: Value) -> Value:
        """The gradient of each element's loss from the gradient of the result."""
        return g / float(math.prod(x.shape)) if self.reduction == "mean" else g

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        whole = type(self)(**(self.settings() | {"reduction": "none"}))
        return self.reduce(whole.replay(args, decision), 1)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for reduction in REDUCTIONS:
            yield cls(reduction=reduction), (rng.normal(size=(2, 3)), rng.normal(size=(2, 3)))


def _real(values: Value) -> Any:
    """The dtype to divide by a count in."""
    return values.dtype if getattr(values, "dtype", None) == np.float32 else np.float64


class MseLoss(Loss):
    """Mean squared error: (x - target) ** 2 of each element. Shapes: x and target alike, kept; a reduction gives ()."""

    derivative = "MseLossBackwardBackward0"
    refused = "biuc"
    kernel_name = "mse_cpu"

    def forward(self, x: Value, target: Value) -> Value:
        return self.reduce(np.square(x - target))

    def vjp_x(self, g: Value, x: Value, target: Value) -> Value:
        return self.spread(g, x) * (2.0 * (x - target))

    def vjp_target(self, g: Value, target: Value, x: Value) -> Value:
        return self.spread(g, x) * (2.0 * (target - x))


class SmoothL1Loss(Loss):
    """Of d = x - target: 0.5 * d ** 2 / beta where abs(d) < beta, else abs(d) - 0.5 * beta. Smooth for beta > 0.

    Shapes: x and target alike, kept; a reduction gives ().
    """

    derivative = "SmoothL1LossBackwardBackward0"
    refused = "biuc"
    kernel_name = "smooth_l1_cpu"
    beta: float = 1.0

    def decide(self, x: Value, target: Value) -> Value:
        d = x - target
        return np.where(np.less(np.abs(d), self.beta), 0, np.sign(d).astype(np.int8))[()]

    def branch(self, x: Value, target: Value, decision: Any = None) -> Value:
        d = x - target
        return self.reduce(np.where(decision == 0, 0.5 * d * d / self.beta, decision * d - 0.5 * self.beta)[()])

    def slope(self, d: Value) -> Value:
        return where(d >= self.beta, 1.0, where(d <= -self.beta, -1.0, d / self.beta))

    def vjp_x(self, g: Value, x: Value, target: Value) -> Value:
        return self.spread(g, x) * self.slope(x - target)

    def vjp_target(self, g: Value, target: Value, x: Value) -> Value:
        return -self.spread(g, x) * self.slope(x - target)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for reduction in REDUCTIONS:
            for beta in (1.0, 0.3):
                yield cls(beta=beta, reduction=reduction), (rng.normal(size=(2, 3)), 1.5 * rng.normal(size=(2, 3)))


class HuberLoss(Loss):
    """Of d = x - target: 0.5 * d ** 2 where abs(d) <= delta, else delta * (abs(d) - 0.5 * delta). Smooth.

    Shapes: x and target alike, kept; a reduction gives ().
    """

    derivative = "HuberLossBackwardBackward0"
    refused = "biuc"
    kernel_name = "huber_cpu"
    delta: float = 1.0

    def decide(self, x: Value, target: Value) -> Value:
        d = x - target
        return np.where(np.less_equal(np.abs(d), self.delta), 0, np.sign(d).astype(np.int8))[()]

    def branch(self, x: Value, target: Value, decision: Any = None) -> Value:
        d = x - target
        return self.reduce(np.where(decision == 0, 0.5 * d * d, self.delta * (decision * d - 0.5 * self.delta))[()])

    def slope(self, d: Value) -> Value:
        return where(d >= self.delta, self.delta, where(d <= -self.delta, -self.delta, d))

    def vjp_x(self, g: Value, x: Value, target: Value) -> Value:
        return self.spread(g, x) * self.slope(x - target)

    def vjp_target(self, g: Value, target: Value, x: Value) -> Value:
        return -self.spread(g, x) * self.slope(x - target)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for reduction in REDUCTIONS:
            for delta in (1.0, 0.3):
                yield cls(delta=delta, reduction=reduction), (rng.normal(size=(2, 3)), 1.5 * rng.normal(size=(2, 3)))


def reduction_of(reduction: str, size_average: Any = None, reduce: Any = None) -> str:
    """The name of a reduction, checked (ValueError); `size_average` and `reduce` are PyTorch's old way to say it, and win."""
    if size_average is not None or reduce is not None:
        return by_old_names(size_average, reduce)
    if reduction not in REDUCTIONS:
        raise DataError(f"{reduction} is not a valid value for reduction", hint="'none', 'mean' or 'sum'")
    return reduction


def by_old_names(size_average: Any, reduce: Any) -> str:
    """The reduction that the two old arguments say. Tensors there (a loss called as its class) have no truth value."""
    size_average, reduce = (True if given is None else given for given in (size_average, reduce))
    reduction = "mean" if size_average and reduce else "sum" if reduce else "none"
    notice.tell(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.")
    return reduction


def alike(x: Any, target: Any) -> tuple[Any, Any]:
    """Both tensors expanded to their common shape, as PyTorch does before a loss."""
    if x.shape == target.shape:
        return x, target
    notice.tell(
        f"Using a target size (torch.Size({list(target.shape)})) that is different to the input size (torch.Size({list(x.shape)})). "
        "This will likely lead to incorrect results due to broadcasting. Please ensure they have the same size."
    )
    shape = broadcast_lead(x.shape, target.shape)
    return tuple(t if t.shape == shape else Expand(shape=shape)(t) for t in (x, target))


def mse_loss(x: Value, target: Value, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Any:
    """The squared error (x - target) ** 2: its mean, sum, or each element's."""
    return MseLoss(reduction=reduction_of(reduction, size_average, reduce))(*alike(x, target))


def smooth_l1_loss(
    x: Value, target: Value, size_average: Any = None, reduce: Any = None, reduction: str = "mean", beta: float = 1.0
) -> Any:
    """0.5 * d ** 2 / beta for abs(d) < beta, else abs(d) - 0.5 * beta, with d = x - target; beta 0 gives l1_loss."""
    if beta < 0:
        raise DataError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return l1_loss(x, target, size_average, reduce, reduction)
    return SmoothL1Loss(beta=float(beta), reduction=reduction_of(reduction, size_average, reduce))(*alike(x, target))


def huber_loss(x: Value, target: Value, reduction: str = "mean", delta: float = 1.0) -> Any:
    """0.5 * d ** 2 for abs(d) <= delta, else delta * (abs(d) - 0.5 * delta), with d = x - target."""
    if delta <= 0:
        raise DataError("huber_loss does not support non-positive values for delta.")
    return HuberLoss(delta=delta, reduction=reduction_of(reduction))(*alike(x, target))


def reduced(values: Any, reduction: str, size_average: Any = None, reduce: Any = None) -> Any:
    """The elements of a loss as `reduction` wants them, through the operations sum and mean."""
    reduction = reduction_of(reduction, size_average, reduce)
    if reduction == "none":
        return values
    return mean(values) if reduction == "mean" else total(values)


def l1_loss(x: Value, target: Value, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Any:
    """The absolute error abs(x - target): its mean, sum, or each element's. At 0: derivative 0."""
    x, target = alike(x, target)
    return reduced(absolute(x - target), reduction, size_average, reduce)


OPERATIONS = (MseLoss, SmoothL1Loss, HuberLoss)
FUNCTIONS = (mse_loss, smooth_l1_loss, huber_loss, l1_loss)
