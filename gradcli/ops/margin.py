"""Losses with margins, and losses of distributions: compositions of operations, node by node as in PyTorch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.errors import DataError, ShapeError
from gradcli.ops.arithmetic import log, sub
from gradcli.ops.axes import raw
from gradcli.ops.bounds import clamp_min, minimum
from gradcli.ops.distance import pairwise_distance
from gradcli.ops.exponential import Xlogy, exp, sqrt
from gradcli.ops.logistic import Logaddexp, LogSigmoid
from gradcli.ops.loss import reduced
from gradcli.ops.notice import notice
from gradcli.ops.numbered import minus, plus
from gradcli.ops.operation import Value
from gradcli.ops.reduction import sum as total
from gradcli.ops.shape import clone, unsqueeze
from gradcli.ops.where import where

logsigmoid = LogSigmoid()
xlogy = Xlogy()
larger = Logaddexp()


def kl_div(x: Value, target: Value, size_average: Any = None, reduce: Any = None, reduction: str = "mean", log_target: bool = False) -> Any:
    """target * (log(target) - x) for log probabilities x; `log_target`: exp(target) * (target - x). 0 where the target is 0.

    Reductions also "batchmean": the sum over the first axis' length.
    """
    losses = exp(target) * (target - x) if log_target else xlogy(target, target) - target * x
    if reduction == "mean" and size_average is None and reduce is None:
        notice.tell(
            "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by the batch "
            "size, and aligns with the KL div math definition.'mean' will be changed to behave the same as 'batchmean' in the next major "
            "release."
        )
    if reduction == "batchmean":
        return total(losses) / x.shape[0]
    return reduced(losses, reduction, size_average, reduce)


def hinge_embedding_loss(
    x: Value, target: Value, margin: float = 1.0, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """x where the target is 1, max(0, margin - x) where it is -1."""
    apart = where(target != 1, clamp_min(sub(margin, x), 0), 0.0)
    return reduced(apart + where(target != -1, x, 0.0), reduction, size_average, reduce)


def margin_ranking_loss(
    x: Value, input2: Value, target: Value, margin: float = 0.0, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """max(0, -target * (x - input2) + margin)."""
    if not x.ndim == input2.ndim == target.ndim:
        raise ShapeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: torch.Size({list(x.shape)}), input2: torch.Size({list(input2.shape)}), target: torch.Size({list(target.shape)}) "
        )
    return reduced(clamp_min(plus(-target * (x - input2), margin), 0), reduction, size_average, reduce)


def cosine_embedding_loss(
    x: Value, input2: Value, target: Value, margin: float = 0.0, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """1 - cos(x, input2) where the target is 1, max(0, cos - margin) where it is -1; cos over the last axis."""
    last = x.ndim - 1
    sizes = [plus(total(v * v, last), 1e-12) for v in (x, input2)]
    cosine = total(x * input2, last) / sqrt(sizes[0] * sizes[1])
    near = where(target == 1, sub(1, cosine), 0.0)
    return reduced(near + where(target == -1, clamp_min(minus(cosine, margin), 0), 0.0), reduction, size_average, reduce)


def triplet_margin_loss(
    x: Value, positive: Value, negative: Value, margin: float = 1.0, p: float = 2, eps: float = 1e-6, swap: bool = False,
    size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """max(0, distance(x, positive) - distance(x, negative) + margin); `swap` takes the nearer of both to negative."""
    if margin <= 0:
        raise DataError(f"triplet_margin_loss: margin must be > 0, got {margin}")
    near, far = pairwise_distance(x, positive, p, eps), pairwise_distance(x, negative, p, eps)
    if swap:
        far = minimum(far, pairwise_distance(positive, negative, p, eps))
    return reduced(clamp_min(plus(near, margin) - far, 0), reduction, size_average, reduce)


def triplet_margin_with_distance_loss(
    x: Any, positive: Any, negative: Any, *, distance_function: Any = None, margin: float = 1.0, swap: bool = False, reduction: str = "mean"
) -> Any:
    """The triplet loss with a distance of one's own (default pairwise_distance)."""
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(x, positive), distance(x, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    return reduced(clamp_min(margin + near - far, 0), reduction)


def poisson_nll_loss(
    x: Value, target: Value, log_input: bool = True, full: bool = False, size_average: Any = None, eps: float = 1e-8,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """exp(x) - target * x, or x - target * log(x + eps); `full` adds Stirling's formula where the target exceeds 1."""
    product = target * (x if log_input else log(plus(x, eps)))
    losses = (exp(x) if log_input else x) - product
    if full:
        large = target > 1
        safe = where(large, target, 1.0)
        losses = losses + where(large, safe * log(safe) - safe + 0.5 * log(2 * math.pi * safe), 0.0)
    return reduced(losses, reduction, size_average, reduce)


def gaussian_nll_loss(x: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> Any:
    """(log(var) + (x - target) ** 2 / var) / 2; var is raised to `eps`, which its gradient does not see."""
    if isinstance(var, (int, float)):
        var = x * 0.0 + var
    if np.any(raw(var) < 0):
        raise DataError("var has negative entry/entries")
    if var.shape != x.shape:
        if var.shape == x.shape[:-1]:
            var = unsqueeze(var, -1)
        elif var.shape[:-1] != x.shape[:-1] or var.shape[-1] != 1:
            raise DataError("var is of incorrect size")
    var = clone(var)
    lift = np.maximum(raw(var), eps) - raw(var)
    if np.any(lift):
        var = var + lift
    losses = 0.5 * (log(var) + (x - target) ** 2 / var)
    return reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, reduction)


def multilabel_soft_margin_loss(
    x: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """The mean over classes of -(target * log sigmoid(x) + (1 - target) * log sigmoid(-x))."""
    losses = -(target * logsigmoid(x) + (1 - target) * logsigmoid(-x))
    if weight is not None:
        losses = losses * weight
    return reduced(total(losses, x.ndim - 1) / x.shape[-1], reduction, size_average, reduce)


FUNCTIONS = (
    kl_div, hinge_embedding_loss, margin_ranking_loss, cosine_embedding_loss, triplet_margin_loss, triplet_margin_with_distance_loss,
    poisson_nll_loss, gaussian_nll_loss, multilabel_soft_margin_loss,
)  # fmt: skip
