"""Interpolation between grid points, and elements moved between channels and places."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.errors import DataError, MissingRuleError
from gradcli.ops.budget import budget
from gradcli.ops.pooling import AxisMap, Pooled, mean_matrix, shares

NODES = {
    ("nearest", 1): "UpsampleNearest1DBackward0", ("nearest", 2): "UpsampleNearest2DBackward0",
    ("nearest", 3): "UpsampleNearest3DBackward0", ("nearest-exact", 1): "UpsampleNearestExact1DBackward0",
    ("nearest-exact", 2): "UpsampleNearestExact2DBackward0",
    ("nearest-exact", 3): "UpsampleNearestExact3DBackward0", ("linear", 1): "UpsampleLinear1DBackward0",
    ("bilinear", 2): "UpsampleBilinear2DBackward0", ("trilinear", 3): "UpsampleTrilinear3DBackward0",
    ("bicubic", 2): "UpsampleBicubic2DBackward0", ("area", 1): "AdaptiveAvgPool1DBackward0", ("area", 2): "AdaptiveAvgPool2DBackward0",
    ("area", 3): "AdaptiveAvgPool3DBackward0",
}  # fmt: skip
"""The modes, with the number of axes that each is for."""

SCALES = {1: ("scales",), 2: ("scales_h", "scales_w"), 3: ("scales_d", "scales_h", "scales_w")}
"""What PyTorch calls the factors over as many axes."""


class Upsampled(AxisMap):
    """Grid points and what lies between them, read anew. (..., in...) -> (..., out...)."""

    name = "upsampled"
    saves = "self_sym_sizes=x_shape"

    @property
    def derivative(self) -> str:  # type: ignore[override]
        return self.label.replace("Backward", "BackwardBackward")


CUBIC = -0.75
"""PyTorch's coefficient of cubic convolution."""


def sources(n: int, out: int, scale: float | None, align_corners: bool) -> Any:
    """The place in the input, as a number between grid points, that every output looks at."""
    k = np.arange(out)
    if align_corners:
        return k * ((n - 1) / (out - 1) if out > 1 else 0.0)
    ratio = n / out if scale is None else 1.0 / scale
    return (k + 0.5) * ratio - 0.5


def nearest(n: int, out: int, scale: float | None, exact: bool) -> Any:
    """Each output takes the input at floor(k * ratio), or at the middle of its cell."""
    ratio = n / out if scale is None else 1.0 / scale
    index = np.floor((np.arange(out) + (0.5 if exact else 0.0)) * ratio).astype(int)
    return np.eye(n)[np.minimum(index, n - 1)]


def linear(n: int, out: int, scale: float | None, align_corners: bool) -> Any:
    """Each output a mean of its two neighbours, weighted by nearness."""
    at = np.maximum(sources(n, out, scale, align_corners), 0.0)
    low = np.minimum(np.floor(at).astype(int), n - 1)
    part = (at - low)[:, None]
    return np.eye(n)[low] * (1 - part) + np.eye(n)[np.minimum(low + 1, n - 1)] * part


def cubic(n: int, out: int, scale: float | None, align_corners: bool) -> Any:
    """Each output a mean of four neighbours with the weights of cubic convolution. Source: R. Keys, 1981."""
    at = sources(n, out, scale, align_corners)
    low = np.floor(at).astype(int)
    matrix = np.zeros((out, n))
    for offset in range(-1, 3):
        d = np.abs(at - low - offset)
        near = ((CUBIC + 2) * d - (CUBIC + 3)) * d * d + 1
        far = ((CUBIC * d - 5 * CUBIC) * d + 8 * CUBIC) * d - 4 * CUBIC
        np.add.at(matrix, (np.arange(out), np.clip(low + offset, 0, n - 1)), np.where(d <= 1, near, far))
    return matrix


def interpolate(
    x: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None, antialias: bool = False,
) -> Any:  # fmt: skip
    """x resampled over the axes after the first two, to `size` or by `scale_factor`.

    Modes: nearest, nearest-exact, linear (1 axis), bilinear, bicubic (2), trilinear (3), area.
    """
    axes = x.ndim - 2
    if (mode, axes) not in NODES:
        known = sorted({m for m, _ in NODES})
        raise MissingRuleError(f"Got {x.ndim}D input, but {mode} mode needs another rank, or is unknown", hint=f"modes: {', '.join(known)}")
    if (size is None) == (scale_factor is None):
        which = "either" if size is None else "only one of"
        raise DataError(f"{which} size or scale_factor should be defined")
    if align_corners is not None and mode in ("nearest", "nearest-exact", "area"):
        raise DataError("align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear")
    if antialias:
        raise MissingRuleError("interpolate(antialias=True) is not implemented")
    factors: list[float | None] = [None] * axes
    if size is None:
        given = list(scale_factor) if isinstance(scale_factor, (tuple, list)) else [scale_factor] * axes
        sizes = [math.floor(n * f) for n, f in zip(x.shape[2:], given, strict=True)]
        if not recompute_scale_factor:
            factors = [float(f) for f in given]
    else:
        sizes = [int(n) for n in size] if isinstance(size, (tuple, list)) else [int(size)] * axes
    if len(sizes) != axes:
        raise DataError(f"Input and output must have the same number of spatial dimensions, but got {axes} and {len(sizes)}")
    for n, out in zip(x.shape[2:], sizes, strict=True):
        budget.elements(n * out)
    matrices = tuple(matrix_of(mode, n, out, f, bool(align_corners)) for n, out, f in zip(x.shape[2:], sizes, factors, strict=True))
    op: AxisMap = (Pooled if mode == "area" else Upsampled)(matrices=matrices, label=NODES[mode, axes])
    if mode != "area":
        scales = dict(zip(SCALES[axes], factors, strict=True))
        corners = {} if mode.startswith("nearest") else {"align_corners": bool(align_corners)}
        op = op.telling(output_size=tuple(sizes), **scales, **corners)
    return op(x)


def matrix_of(mode: str, n: int, out: int, scale: float | None, align_corners: bool) -> Any:
    """How one axis of n places is read to give `out`."""
    if mode == "area":
        return mean_matrix(shares(n, out), n, 0, False, True)
    if mode in ("nearest", "nearest-exact"):
        return nearest(n, out, scale, mode == "nearest-exact")
    return cubic(n, out, scale, align_corners) if mode == "bicubic" else linear(n, out, scale, align_corners)


def upsample(x: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None) -> Any:
    """The older name of `interpolate`."""
    return interpolate(x, size, scale_factor, mode, align_corners)


OPERATIONS = (Upsampled,)
FUNCTIONS = (interpolate, upsample)
