"""Quantiles: between two neighbours in the order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.errors import DtypeError, ShapeError
from gradcli.ops.axes import one_dim, raw, written
from gradcli.ops.budget import budget
from gradcli.ops.combining import lerp
from gradcli.ops.gathering import gather
from gradcli.ops.operation import Value
from gradcli.ops.ordering import Sort, vector
from gradcli.ops.shape import Squeeze, Unsqueeze, ViewAs, flatten, in_place, unsqueeze
from gradcli.ops.transposition import Transpose, transpose

ROUNDED: dict[str, Any] = {"lower": np.floor, "higher": np.ceil, "nearest": np.round}
MODES = ("linear", "midpoint", *ROUNDED)


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
    axis = -1 if dim is None else one_dim(dim, x.ndim)
    last = flatten(x) if dim is None else vector(x) if axis == -1 else transpose(unsqueeze(x, -1), axis + x.ndim, -1)
    kept = (1,) * x.ndim if dim is None else tuple(1 if k - x.ndim == axis else n for k, n in enumerate(x.shape))
    lead = kept if keepdim else kept[: x.ndim + axis] + kept[x.ndim + axis + 1 :] if dim is not None else ()
    budget.elements(points.size * math.prod(lead))
    ordered = ViewAs(shape=(*lead, math.prod(last.shape[-1:])))(Sort(dim=-1)(last)[0])
    out = between(ordered, positions(raw(ordered), points.reshape(-1), skip_nan), interpolation)
    if points.ndim:
        out = in_place(Unsqueeze(dim=written(-1 - out.ndim, 0)), "UnsqueezeBackward1")(out)
        out = in_place(Transpose(dim0=written(-out.ndim, 0), dim1=-1), "TransposeBackward1")(out)
    return Squeeze(dim=(-1,), form=4)(out)


def positions(ordered: Any, points: Any, skip_nan: bool) -> Any:
    """Where in the order along the last axis each point is; NaN stands last: where it is not to be skipped, all points are there."""
    missing = np.asarray(ordered != ordered, dtype=bool)
    n = ordered.shape[-1]
    if skip_nan:
        return points * np.maximum(n - 1 - np.add.reduce(missing, axis=-1, keepdims=True, dtype=np.int64), 0)
    return np.where(missing.any(-1, keepdims=True), n - 1.0, points * (n - 1))


def between(ordered: Any, position: Any, interpolation: str) -> Any:
    """What stands at a place along the last axis; between two places a mixture, or one of them."""
    low, high = np.floor(position).astype(np.int64), np.ceil(position).astype(np.int64)
    if interpolation in ROUNDED:
        return gather(ordered, -1, ROUNDED[interpolation](position).astype(np.int64))
    weight = position - low if interpolation == "linear" else np.full(position.shape, 0.5)
    return lerp(gather(ordered, -1, low), gather(ordered, -1, high), np.array(weight, ordered.dtype))


def quantile(x: Value, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
    """The quantiles q in [0, 1], of all elements or along an axis; NaN where some element is NaN."""
    return quantiles("quantile", x, q, dim, keepdim, interpolation, False)


def nanquantile(x: Value, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
    """The quantiles q in [0, 1] of what is not NaN."""
    return quantiles("nanquantile", x, q, dim, keepdim, interpolation, True)


FUNCTIONS = (quantile, nanquantile)
