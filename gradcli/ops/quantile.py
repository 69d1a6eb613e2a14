"""Quantiles: between two neighbours in the order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.errors import DtypeError, ShapeError
from gradcli.ops.axes import one_dim, raw
from gradcli.ops.budget import budget
from gradcli.ops.combining import lerp
from gradcli.ops.extreme import TakeAlong
from gradcli.ops.joining import Stack
from gradcli.ops.ordering import Sort, vector
from gradcli.ops.shape import Squeeze, reshape

MODES = ("linear", "lower", "higher", "midpoint", "nearest")


def weights(position: Any, interpolation: str) -> tuple[Any, Any, Any]:
    """The two places in the order that a fractional position lies between, and the weight of the second."""
    low, high = np.floor(position).astype(np.int64), np.ceil(position).astype(np.int64)
    fraction = {
        "linear": position - low,
        "lower": np.zeros(np.shape(position)),
        "higher": (high > low) * 1.0,
        "midpoint": np.where(high > low, 0.5, 0.0),
        "nearest": (np.round(position) > low) * 1.0,
    }[interpolation]
    return low, high, np.asarray(fraction)[()]


def one_quantile(ordered: Any, q: float, axis: int, interpolation: str, count: Any, spoilt: Any) -> Any:
    """One quantile of what is sorted along `axis`, of which the first `count` elements count; the last one, NaN, where `spoilt`."""
    low, high, weight = weights(np.where(spoilt, ordered.shape[axis] - 1.0, q * (np.maximum(count, 1) - 1)), interpolation)
    shape = tuple(1 if k - ordered.ndim == axis else n for k, n in enumerate(ordered.shape))
    take = TakeAlong(dim=axis)
    first = take(ordered, np.broadcast_to(low, shape))
    if interpolation in ("lower", "higher", "nearest"):
        return take(ordered, np.broadcast_to(np.where(weight > 0, high, low), shape))
    return lerp(first, take(ordered, np.broadcast_to(high, shape)), np.array(np.broadcast_to(weight, shape), ordered.dtype))


POINT = 1_000_000
"""What one point costs, in elementary operations: each is a handful of operations of its own."""


def quantiles(name: str, x: Any, q: Any, dim: Any, keepdim: bool, interpolation: str, skip_nan: bool) -> Any:
    """The quantiles q (a number, or a vector that becomes the first axis) of all elements or along an axis."""
    if x.dtype.kind not in "fO":
        raise DtypeError(f"{name}() input tensor must be either float or double dtype", hint="make it floating first: .double()")
    if interpolation not in MODES:
        raise ShapeError(f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}")
    points = np.asarray(raw(q), dtype=np.float64)
    if points.ndim > 1 or points.size == 0:
        raise ShapeError(f"{name}() q must be a scalar or 1D tensor")
    if not all(0 <= p <= 1 for p in points.reshape(-1).tolist()):
        which = "q values must be in the range [0, 1]" if points.ndim else f"q must be in the range [0, 1] but got {points}"
        raise ShapeError(f"{name}() {which}")
    if math.prod(x.shape) == 0:
        raise ShapeError(f"{name}() input tensor must be non-empty")
    shape = x.shape
    flat = reshape(x, -1) if dim is None else vector(x)
    axis = -1 if dim is None else one_dim(dim, x.ndim)
    values = np.asarray(raw(flat))
    missing = np.asarray(values != values, dtype=bool)
    count = np.add.reduce(~missing, axis=axis, keepdims=True, dtype=np.int64) if skip_nan else values.shape[axis]
    ordered = Sort(dim=axis)(flat)[0]
    spoilt = missing.any(axis, keepdims=True) & (not skip_nan)
    budget.work(points.size * POINT)
    results = [one_quantile(ordered, float(p), axis, interpolation, count, spoilt) for p in points.reshape(-1)]
    if not keepdim:
        results = [Squeeze(dim=(axis,), form=4)(r) for r in results]
    elif dim is None or not shape:
        results = [reshape(r, (1,) * len(shape)) for r in results]
    return results[0] if points.ndim == 0 else Stack(dim=-1 - results[0].ndim)(*results)


def quantile(x: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
    """The quantiles q in [0, 1], of all elements or along an axis; NaN where some element is NaN."""
    return quantiles("quantile", x, q, dim, keepdim, interpolation, False)


def nanquantile(x: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
    """The quantiles q in [0, 1] of what is not NaN."""
    return quantiles("nanquantile", x, q, dim, keepdim, interpolation, True)


FUNCTIONS = (quantile, nanquantile)
