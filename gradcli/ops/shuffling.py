"""Channels and places of images exchanged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops.matmul import Examples
from gradcli.ops.operation import Structural, Value


class PixelShuffle(Structural):
    """Channels spread over r x r places. (..., C * r * r, H, W) -> (..., C, H * r, W * r), r = `upscale_factor`."""

    row_major = True

    upscale_factor: int

    def forward(self, x: Value) -> Value:
        r = self.upscale_factor
        *lead, channels, height, width = x.shape
        apart = x.reshape(*lead, channels // (r * r), r, r, height, width)
        spread = np.moveaxis(apart, (-4, -3), (-3, -1))
        return np.array(spread).reshape(*lead, channels // (r * r), height * r, width * r)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    def vjp_x(self, g: Value) -> Value:
        return PixelUnshuffle(downscale_factor=self.upscale_factor)(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(upscale_factor=2), (rng.normal(size=(2, 8, 1, 3)),)


class PixelUnshuffle(Structural):
    """Places gathered into channels. (..., C, H * r, W * r) -> (..., C * r * r, H, W), r = `downscale_factor`."""

    row_major = True

    downscale_factor: int

    def forward(self, x: Value) -> Value:
        r = self.downscale_factor
        *lead, channels, height, width = x.shape
        apart = x.reshape(*lead, channels, height // r, r, width // r, r)
        gathered = np.moveaxis(apart, (-3, -1), (-4, -3))
        return np.array(gathered).reshape(*lead, channels * r * r, height // r, width // r)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    def vjp_x(self, g: Value) -> Value:
        return PixelShuffle(upscale_factor=self.downscale_factor)(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(downscale_factor=2), (rng.normal(size=(2, 1, 4, 2)),)


class ChannelShuffle(Structural):
    """Channels (axis 1) of all groups interleaved. (N, C, ...) -> (N, C, ...)."""

    row_major = True

    groups: int

    def forward(self, x: Value) -> Value:
        rows, channels, *rest = x.shape
        return np.array(np.swapaxes(x.reshape(rows, self.groups, channels // self.groups, *rest), 1, 2)).reshape(x.shape)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        (x,) = args
        return self.forward(x.reshape(-1, *x.shape[2:])).reshape(x.shape)

    def vjp_x(self, g: Value) -> Value:
        return ChannelShuffle(groups=g.shape[1] // self.groups)(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(groups=2), (rng.normal(size=(2, 6, 2)),)


def pixel_shuffle(x: Value, upscale_factor: int) -> Any:
    """Channels spread over r x r places. (..., C * r * r, H, W) -> (..., C, H * r, W * r)."""
    if x.ndim < 3:
        raise ShapeError(f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {x.ndim} dimension(s)")
    if upscale_factor <= 0:
        raise ShapeError(f"pixel_shuffle expects a positive upscale_factor, but got {upscale_factor}")
    channels, square = x.shape[-3], upscale_factor**2
    if channels % square:
        raise ShapeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {square}"
        )
    return PixelShuffle(upscale_factor=upscale_factor)(x)


def pixel_unshuffle(x: Value, downscale_factor: int) -> Any:
    """Places gathered into channels: the inverse of pixel_shuffle."""
    if x.ndim < 3:
        raise ShapeError(f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {x.ndim} dimension(s)")
    if downscale_factor <= 0:
        raise ShapeError(f"pixel_unshuffle expects a positive downscale_factor, but got {downscale_factor}")
    for k, name in ((-2, "height"), (-1, "width")):
        if x.shape[k] % downscale_factor:
            raise ShapeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, "
                f"but input.size({k})={x.shape[k]} is not divisible by {downscale_factor}"
            )
    return PixelUnshuffle(downscale_factor=downscale_factor)(x)


def channel_shuffle(x: Value, groups: int) -> Any:
    """Channels (axis 1) of all groups interleaved. (N, C, ...)."""
    if x.ndim < 3:
        raise ShapeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(x.shape)}")
    if groups <= 0:
        raise ShapeError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    if x.shape[1] % groups:
        raise ShapeError(f"Number of channels must be divisible by groups. Got {x.shape[1]} channels and {groups} groups.")
    return ChannelShuffle(groups=groups)(x)


OPERATIONS = (PixelShuffle, PixelUnshuffle, ChannelShuffle)
FUNCTIONS = (pixel_shuffle, pixel_unshuffle, channel_shuffle)
