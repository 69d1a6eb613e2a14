"""Losses over classes: negative log likelihood, cross-entropy, binary cross-entropy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import DataError, DtypeError, RangeError, ShapeError
from gradcli.ops.axes import raw
from gradcli.ops.loss import REDUCTIONS, Examples, reduction_of
from gradcli.ops.masking import masked_fill
from gradcli.ops.numbered import divided, plus, scaled
from gradcli.ops.operation import Operation, Value
from gradcli.ops.promotion import scalar_type
from gradcli.ops.reduction import sum as total
from gradcli.ops.shape import reshape, unsqueeze
from gradcli.ops.softmax import log_softmax
from gradcli.ops.where import where


class NllLoss(Operation):
    """-weight[t] * x[n, t] for t = target[n]; the mean divides by the sum of those weights.

    Shapes: x (C), target (); or x (N, C, d...), target (N, d...). Targets equal to `ignore_index` count nothing.
    Linear in x; target and weight are constants.
    """

    saves = "ignore_index reduction self=x target total_weight weight"
    reduction: str = "mean"
    ignore_index: int = -100
    spatial: bool = False

    @property
    def node(self) -> str:  # type: ignore[override]
        return "NllLoss2DBackward0" if self.spatial else "NllLossBackward0"

    @property
    def derivative(self) -> str:  # type: ignore[override]
        return "NllLoss2DBackwardBackward0" if self.spatial else "NllLossBackwardBackward0"

    def forward(self, x: Value, target: Value, weight: Value = None) -> Value:
        return self.reduced(x, target, weight, 0)

    def reduced(self, x: Value, target: Value, weight: Value, leading: int) -> Value:
        axis = class_axis(target)
        index, kept, weights = self.choice(x, target, weight)
        chosen = np.take_along_axis(x, np.expand_dims(index, (*range(leading), axis)), axis)
        losses = np.where(kept, -np.squeeze(chosen, axis) * weights, 0.0)[()]
        if self.reduction == "none":
            return losses
        axes = tuple(range(leading, np.ndim(losses)))
        loss = np.add.reduce(losses, axis=axes) if axes else losses
        return loss / np.add.reduce(weights, axis=None) if self.reduction == "mean" else loss

    def choice(self, x: Value, target: Value, weight: Value) -> tuple[Value, Value, Value]:
        """The class of each target (0 where ignored), whether it counts, and its weight."""
        kept = np.not_equal(target, self.ignore_index)
        index = np.where(kept, target, 0)
        dtype = np.float64 if x.dtype.kind == "O" else x.dtype
        weights = np.where(kept, 1.0 if weight is None else np.asarray(weight)[index], 0.0).astype(dtype)
        return index, kept, weights

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.reduced(args[0], args[1], args[2] if len(args) > 2 else None, 1)

    def total_weight(self, x: Value, target: Value, weight: Value) -> Value:
        """What the mean divides by; 0 where nothing is reduced."""
        return np.asarray(0.0 if self.reduction == "none" else np.add.reduce(self.choice(x, target, weight)[2], axis=None))

    def vjp_x(self, g: Value, x: Value, target: Value, weight: Value) -> Value:
        target, weight = raw(target), raw(weight)
        axis = class_axis(target)
        index, kept, weights = self.choice(x, target, weight)
        classes = np.arange(x.shape[axis]).reshape(-1, *(1,) * (-1 - axis))
        mask = (classes == np.expand_dims(index, axis)) & np.expand_dims(kept, axis)
        share = weights / np.add.reduce(weights, axis=None) if self.reduction == "mean" else weights
        if self.reduction == "none":
            g = unsqueeze(g, axis)
        return where(mask, -g * np.expand_dims(share, axis), 0.0)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for reduction in REDUCTIONS:
            yield cls(reduction=reduction), (rng.normal(size=(3, 4)), np.array([2, 0, 1]), None)
            weight = rng.uniform(0.5, 2, size=4)
            yield cls(reduction=reduction, ignore_index=0), (rng.normal(size=(3, 4)), np.array([2, 0, 1]), weight)
            yield cls(reduction=reduction, spatial=True), (rng.normal(size=(2, 4, 2)), np.array([[2, 0], [1, 1]]), weight)
        yield cls(), (rng.normal(size=(4,)), np.int64(2), None)


def class_axis(target: Value) -> int:
    """The axis of the classes in x, from the end: behind the batch axis where there is one."""
    return -max(np.ndim(target), 1)


def nll_loss(
    x: Value,
    target: Value,
    weight: Value | None = None,
    size_average: Any = None,
    ignore_index: int = -100,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """-x[n, target[n]]: the negative log likelihood of class indices, from log probabilities."""
    spatial = x.ndim > 2
    check_classes(x, target, ignore_index)
    return NllLoss(reduction=reduction_of(reduction, size_average, reduce), ignore_index=ignore_index, spatial=spatial)(x, target, weight)


def check_classes(x: Any, target: Any, ignore_index: int) -> None:
    """What class indices must be, in PyTorch's words (ValueError, RuntimeError, IndexError)."""
    labels = np.asarray(raw(target))
    if labels.dtype not in (np.int64, np.uint8):
        raise DtypeError(
            f"expected target dtype to be Long or Byte, but got {scalar_type(labels)}",
            hint="class indices are integers: tensor([0, 2, 1]), or .long()",
        )
    if x.ndim == 0:
        raise ShapeError("nll_loss expects at least 1 dimension", hint="x has shape (classes) or (N, classes, ...)")
    expected = () if x.ndim == 1 else (x.shape[0], *x.shape[2:])
    if labels.shape != expected:
        if x.ndim > 1 and labels.shape[:1] != x.shape[:1]:
            count = labels.shape[0] if labels.ndim else 0
            raise DataError(f"Expected input batch_size ({x.shape[0]}) to match target batch_size ({count}).")
        raise ShapeError(f"Expected target size {list(expected)}, got {list(labels.shape)}")
    classes = x.shape[0 if x.ndim == 1 else 1]
    wrong = labels[(labels != ignore_index) & ((labels < 0) | (labels >= classes))]
    if wrong.size:
        raise RangeError(f"Target {wrong.flat[0]} is out of bounds.", hint=f"there are {classes} classes: 0 to {classes - 1}")


def cross_entropy(
    x: Any, target: Any, weight: Any = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None,
    reduction: str = "mean", label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """The cross-entropy of logits: of class indices -log softmax(x)[target], of class probabilities -sum(target * log softmax(x)).

    Shapes: x (C) or (N, C, d...); target () or (N, d...) of indices, or like x of probabilities. `label_smoothing` s
    mixes a share s of the uniform distribution into the target.
    """
    if not 0.0 <= label_smoothing <= 1.0:
        raise ShapeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    reduction = reduction_of(reduction, size_average, reduce)
    axis = 0 if x.ndim == 1 else 1
    logs = log_softmax(x, axis)
    along = None if weight is None else reshape(weight, (-1, *(1,) * (x.ndim - axis - 1)))
    if target.shape == x.shape and np.dtype(target.dtype).kind == "f":
        return of_probabilities(logs, target, along, axis, reduction, label_smoothing)
    if target.shape == x.shape and x.ndim > 1:
        raise DtypeError(f"Expected floating point type for target with class probabilities, got {scalar_type(target)}")
    hard = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    if not label_smoothing:
        return hard
    smooth = -total(logs if along is None else logs * along, axis)
    kept = np.asarray(np.not_equal(raw(target), ignore_index))
    smooth = masked_fill(smooth, ~kept, 0.0)
    if reduction == "mean":
        smooth = total(smooth) / smoothing_weight(raw(target), raw(weight), kept)
    elif reduction == "sum":
        smooth = total(smooth)
    return scaled(hard, 1 - label_smoothing) + scaled(smooth, label_smoothing / x.shape[axis])


def smoothing_weight(target: Any, weight: Any, kept: Any) -> float:
    """What the mean of the smoothed part divides by: the number, or the weights, of the targets that count."""
    return float(np.sum(kept) if weight is None else np.sum(np.where(kept, weight[np.where(kept, target, 0)], 0.0)))


def of_probabilities(logs: Any, target: Any, weight: Any, axis: int, reduction: str, smoothing: float) -> Any:
    """The cross-entropy of class probabilities; its mean divides by the number of distributions."""
    classes = logs.shape[axis]
    if smoothing:
        target = plus(scaled(target, 1 - smoothing), smoothing / classes)
    products = logs * target if weight is None else logs * target * weight
    if reduction == "none":
        return -total(products, axis)
    loss = -total(products)
    return divided(loss, int(np.prod(logs.shape)) // classes) if reduction == "mean" else loss


OPERATIONS = (NllLoss,)
FUNCTIONS = (nll_loss, cross_entropy)
