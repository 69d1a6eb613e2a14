"""Losses of classes by margins, each one node as in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import DataError, DtypeError, ShapeError
from gradcli.ops.arithmetic import log
from gradcli.ops.axes import raw
from gradcli.ops.exponential import exp, floats, sigmoid
from gradcli.ops.loss import REDUCTIONS, Examples, Loss, reduction_of
from gradcli.ops.matmul import broadcast_lead
from gradcli.ops.operation import Value
from gradcli.ops.shape import unsqueeze
from gradcli.ops.structure import SumTo
from gradcli.ops.where import where


class SoftMarginLoss(Loss):
    """log(1 + exp(-target * x)), without overflow. The target is a constant. Shapes: alike, kept; a reduction gives ()."""

    saves = "reduction self=x target"
    derivative = "SoftMarginLossBackwardBackward0"
    refused = "c"
    analytic = False
    extended = True

    def forward(self, x: Value, target: Value) -> Value:
        return self.reduce(np.logaddexp(np.zeros((), x.dtype), -target * x))

    def exact(self, *args: Value, decision: Any = None) -> Value:
        x, target = args
        above = -target * x
        top = np.maximum(floats(above), 0.0)
        return self.reduce(log(exp(-top) + exp(above - top)) + top)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        x, target = args
        return self.reduce(np.logaddexp(np.zeros((), x.dtype), -target * x), 1)

    def vjp_x(self, g: Value, x: Value, target: Value) -> Value:
        return self.spread(g, x) * (-target * sigmoid(-target * x))


class Margins(Loss, abstract=True):
    """A loss of each row of classes, of pairs of them that are less than a margin apart. Shapes: x (N, C) or (C) -> (N), ()."""

    refused = "c"

    def share(self, g: Value, x: Value) -> Value:
        """The gradient of each row's loss, beside the axis of classes, divided by their number."""
        rows = math.prod(x.shape[:-1]) if self.reduction == "mean" else 1
        g = unsqueeze(g, -1) if self.reduction == "none" else g
        return g * (1.0 / (rows * x.shape[-1]))


class MultiMarginLoss(Margins):
    """The sum over other classes i of weight[t] * max(0, margin - x[t] + x[i]) ** p, over the number of classes C.

    Shapes: x (N, C) or (C), target (N) or () -> (N) or (); a reduction gives (). Kinks where a margin is just kept: derivative 0.
    """

    saves = "margin p reduction self=x target weight"
    p: int = 1
    margin: float = 1.0

    def gaps(self, x: Value, target: Value) -> Value:
        """margin - x[t] + x[i]."""
        own = self.own(x, target)
        chosen = np.add.reduce(np.where(own, x, 0), axis=-1, keepdims=True)
        return x - chosen + self.margin

    def own(self, x: Value, target: Value) -> Value:
        """Where the class of the target is."""
        return np.arange(x.shape[-1]) == np.expand_dims(raw(target), -1)

    def decide(self, x: Value, target: Value, weight: Value = None) -> Value:
        """The classes that come too near."""
        return np.asarray(self.gaps(x, target) > 0, dtype=bool) & ~self.own(x, target)

    def branch(self, x: Value, target: Value, weight: Value = None, decision: Any = None) -> Value:
        return self.reduce(self.rows(x, target, weight, decision))

    def rows(self, x: Value, target: Value, weight: Value, near: Value) -> Value:
        losses = np.where(near, self.gaps(x, target) ** self.p, 0)
        return np.add.reduce(losses * self.factor(x, target, weight), axis=-1) / x.shape[-1]

    def factor(self, x: Value, target: Value, weight: Value) -> Value:
        return 1.0 if raw(weight) is None else np.expand_dims(np.asarray(raw(weight))[raw(target)], -1)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.reduce(self.rows(args[0], args[1], args[2] if len(args) > 2 else None, decision), 1)

    def vjp_x(self, g: Value, x: Value, target: Value, weight: Value, decision: Value) -> Value:
        own = self.own(x, target)
        slope = np.where(decision, self.factor(x, target, weight), 0.0).astype(g.dtype)
        if self.p == 2:
            chosen = SumTo(shape=(*x.shape[:-1], 1))(where(own, x, 0.0))
            slope = where(decision, (x - chosen + self.margin) * (2.0 * slope), 0.0)
        pulled = SumTo(shape=(*x.shape[:-1], 1))(slope) if self.p == 2 else np.add.reduce(slope, axis=-1, keepdims=True)
        return self.share(g, x) * where(own, 0.0 - pulled, slope)

    def kinks(self, x: Value, target: Value, weight: Value = None) -> Value | None:
        return np.where(self.own(x, target), 1.0, self.gaps(x, target)) if self.p == 1 else None

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for reduction in REDUCTIONS:
            yield cls(reduction=reduction), (rng.normal(size=(3, 4)), np.array([2, 0, 1]), None)
            yield cls(reduction=reduction, p=2, margin=0.5), (rng.normal(size=(2, 3)), np.array([2, 0]), rng.uniform(0.5, 2, size=3))
        yield cls(), (rng.normal(size=(4,)), np.int64(2), None)


class MultilabelMarginLoss(Margins):
    """The sum over labels j and other classes i of max(0, 1 - x[j] + x[i]), over the number of classes; labels end at the first -1.

    Shapes: x (N, C) or (C), target like it -> (N) or (); a reduction gives (). Kinks where a margin is just kept: derivative 0.
    """

    saves = "is_target reduction self=x target"

    def labels(self, target: Value) -> Value:
        """How often each class is a label."""
        target = np.asarray(raw(target))
        named = np.cumprod(target >= 0, axis=-1).astype(bool)
        return np.add.reduce((target[..., None] == np.arange(target.shape[-1])) & named[..., None], axis=-2, dtype=np.int16)

    def is_target(self, target: Value) -> Value:
        """1.0 at each class that is a label."""
        return np.minimum(self.labels(target), 1) * 1.0

    def gaps(self, x: Value) -> Value:
        """1 - x[j] + x[i], of all pairs."""
        return 1 - x[..., :, None] + x[..., None, :]

    def decide(self, x: Value, target: Value) -> Value:
        """How often each pair counts: a label and a class that is none and comes too near."""
        labels = self.labels(target)
        return np.asarray(self.gaps(x) > 0, dtype=bool) * labels[..., :, None] * (labels == 0)[..., None, :]

    def branch(self, x: Value, target: Value, decision: Any = None) -> Value:
        return self.reduce(self.rows(x, decision))

    def rows(self, x: Value, pairs: Value) -> Value:
        return np.add.reduce(np.where(pairs > 0, self.gaps(x) * pairs, 0), axis=(-2, -1)) / x.shape[-1]

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.reduce(self.rows(args[0], decision), 1)

    def size(self, *args: Value) -> int:
        x = args[0]
        return int(np.size(x)) * x.shape[-1] if np.ndim(x) else 0

    def vjp_x(self, g: Value, x: Value, target: Value, decision: Value) -> Value:
        return self.share(g, x) * (np.add.reduce(decision, axis=-2) - np.add.reduce(decision, axis=-1)).astype(g.dtype)

    def kinks(self, x: Value, target: Value) -> Value | None:
        labels = self.labels(target)
        return np.where(labels[..., :, None] * (labels == 0)[..., None, :] > 0, self.gaps(x), 1.0)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for reduction in REDUCTIONS:
            yield cls(reduction=reduction), (rng.normal(size=(2, 3)), np.array([[0, 2, -1], [1, 1, -1]]))
        yield cls(), (rng.normal(size=(3,)), np.array([1, -1, 0]))


def soft_margin_loss(x: Value, target: Value, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Any:
    """log(1 + exp(-target * x)), without overflow."""
    if broadcast_lead(x.shape, target.shape) != x.shape:
        raise ShapeError(f"The target of shape {list(target.shape)} does not fit an input of shape {list(x.shape)}")
    return SoftMarginLoss(reduction=reduction_of(reduction, size_average, reduce))(x, target)


def multi_margin_loss(
    x: Value, target: Value, p: int = 1, margin: float = 1.0, weight: Value | None = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """The sum over other classes i of weight[t] * max(0, margin - x[t] + x[i]) ** p, over the number of classes."""
    if p not in (1, 2):
        raise DataError("only p == 1 and p == 2 supported")
    op = MultiMarginLoss(p=p, margin=float(margin), reduction=reduction_of(reduction, size_average, reduce))
    labels = labels_of(target)
    rows = math.prod(x.shape[:-1])
    if labels.ndim > 1 or labels.size != rows:
        raise ShapeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
            f"Expected target size [{rows}], but got {list(labels.shape)}. Input has shape {list(x.shape)}."
        )
    classes = x.shape[-1] if x.ndim else 1
    if np.any((labels < 0) | (labels >= classes)):
        raise ShapeError("target out of range", hint=f"there are {classes} classes: 0 to {classes - 1}")
    if weight is not None and weight.shape != (classes,):
        raise ShapeError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    return op(x if x.ndim else x.reshape(1), target if x.ndim > 1 else target.reshape(()), weight)


def multilabel_margin_loss(x: Value, target: Value, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Any:
    """The sum over labels j and other classes i of max(0, 1 - x[j] + x[i]), over the number of classes; labels end at the first -1."""
    if target.shape != x.shape:
        raise ShapeError(f"inconsistent target size: {list(target.shape)} for input of size: {list(x.shape)}")
    labels = labels_of(target)
    classes = x.shape[-1] if x.ndim else 1
    if np.any((labels < -1) | (labels >= classes)):
        raise ShapeError("argument #2 'target' is out of range", hint=f"the classes are 0 to {classes - 1}; -1 ends the labels")
    op = MultilabelMarginLoss(reduction=reduction_of(reduction, size_average, reduce))
    return op(x, target) if x.ndim else op(x.reshape(1), target.reshape(1))


def labels_of(target: Any) -> Value:
    """Class indices, which must be integers (RuntimeError)."""
    labels = np.asarray(raw(target))
    if labels.dtype.kind not in "iu":
        raise DtypeError("expected scalar type Long but found Double", hint="classes are integers: tensor([0, 2, 1]), or .long()")
    return labels


OPERATIONS = (SoftMarginLoss, MultiMarginLoss, MultilabelMarginLoss)
FUNCTIONS = (soft_margin_loss, multi_margin_loss, multilabel_margin_loss)
