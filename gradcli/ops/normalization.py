"""Normalisation layers: less the mean, over the standard deviation, then scale and shift."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import DataError, ShapeError
from gradcli.ops.axes import raw
from gradcli.ops.exponential import Rsqrt, sqrt
from gradcli.ops.matmul import Examples
from gradcli.ops.numbered import plus
from gradcli.ops.operation import Operation, Value
from gradcli.ops.padding import pad
from gradcli.ops.pooling import average
from gradcli.ops.rearrange import repeat
from gradcli.ops.reduction import mean
from gradcli.ops.reduction import sum as total
from gradcli.ops.shape import reshape, squeeze, unsqueeze, view
from gradcli.ops.structure import SumTo

Sizes = tuple[int, ...]
rsqrt = Rsqrt()


class Normalized(Operation, abstract=True):
    """(x - mean) / sqrt(variance + eps) * weight + bias; mean and variance of x itself over `axes_of`, variance without correction.

    Gradient for x, with h = (x - mean) / deviation and gh = g * weight: (gh - mean(gh) - h * mean(gh * h)) / deviation.
    """

    row_major = True
    eps: float = 1e-5
    keeps_all = True

    def axes_of(self, x: Value) -> Sizes:
        """The axes over which mean and variance are taken, from the end."""
        raise NotImplementedError

    def parted(self, x: Value) -> Value:
        """x in the shape in which those axes exist."""
        return x

    def aligned(self, parameter: Value, x: Value) -> Value:
        """Weight or bias in a shape that broadcasts against x."""
        return parameter

    def hat(self, x: Value) -> Value:
        """Less the mean, over the deviation; plain values."""
        y = self.parted(x)
        axes = self.axes_of(y)
        count = math.prod(y.shape[d] for d in axes)
        away = y - np.add.reduce(y, axis=axes, keepdims=True) / count
        spread = np.add.reduce(away * away, axis=axes, keepdims=True) / count
        return (away / sqrt(spread + self.eps)).reshape(x.shape)

    def forward(self, x: Value, weight: Value, bias: Value) -> Value:
        out = self.hat(x)
        if weight is not None:
            out = out * self.aligned(weight, x)
        return out if bias is None else out + self.aligned(bias, x)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        if lead[0] and not any(lead[1:]) and self.lifts:
            return self.forward(*args)
        return super().batch(args, lead, decision)

    lifts = True
    """Whether `forward` works with one more leading axis of x."""

    def pieces(self, x: Value) -> tuple[Value, Value]:
        """x less its mean, over its deviation, and one over the deviation: with operations, in the parted shape."""
        y = self.parted(x)
        axes = self.axes_of(y)
        away = y - mean(y, axes, True)
        inverse = rsqrt(mean(away * away, axes, True) + self.eps)
        return away * inverse, inverse

    def means(self, x: Value) -> Value:
        """The means that PyTorch keeps."""
        y = self.parted(x)
        return self.kept_shape(np.mean(y, axis=self.axes_of(y), keepdims=True))

    def scales(self, x: Value) -> Value:
        """One over each deviation, which PyTorch keeps too."""
        y = self.parted(x)
        return self.kept_shape(1 / np.sqrt(np.var(y, axis=self.axes_of(y), keepdims=True) + self.eps))

    def kept_shape(self, values: Value) -> Value:
        """Numbers for each group, in the shape in which PyTorch keeps them."""
        return values.reshape(-1)

    def vjp_x(self, g: Value, x: Value, weight: Value) -> Value:
        if raw(weight) is not None:
            g = g * self.aligned(weight, x)
        h, inverse = self.pieces(x)
        axes = self.axes_of(h)
        g = reshape(g, h.shape)
        back = (g - mean(g, axes, True) - h * mean(g * h, axes, True)) * inverse
        return reshape(back, x.shape)

    def vjp_weight(self, g: Value, x: Value, weight_shape: Sizes) -> Value:
        return self.gathered(g * reshape(self.pieces(x)[0], x.shape), x, weight_shape)

    def vjp_bias(self, g: Value, x: Value, bias: Value) -> Value:
        return self.gathered(g, x, bias.shape)

    def gathered(self, g: Value, x: Value, shape: Sizes) -> Value:
        """A gradient summed to the shape of weight or bias."""
        return SumTo(shape=shape)(g)


class NativeLayerNorm(Normalized):
    """Normalised over the last `count` axes; weight and bias have the shape of those."""

    saves = "bias input=x normalized_shape result1=means result2=scales weight"
    derivative = "NativeLayerNormBackwardBackward0"
    joint = True
    refused = "c"
    count: int = 1

    def axes_of(self, x: Value) -> Sizes:
        return tuple(range(-self.count, 0))

    def kept_shape(self, values: Value) -> Value:
        return values

    def normalized_shape(self, x_shape: Sizes) -> Sizes:
        return x_shape[-self.count :]

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 4)), rng.normal(size=(4,)), rng.normal(size=(4,)))
        yield cls(count=2), (rng.normal(size=(2, 2, 3)), rng.normal(size=(2, 3)), None)
        yield cls(), (rng.normal(size=(4,)), None, None)


class Channelled(Normalized, abstract=True):
    """Weight and bias hold one number for each channel, axis 1."""

    def aligned(self, parameter: Value, x: Value) -> Value:
        return reshape(parameter, (-1, *(1,) * (len(x.shape) - 2)))

    def gathered(self, g: Value, x: Value, shape: Sizes) -> Value:
        return total(g, (0, *range(2, len(x.shape))))


class NativeBatchNorm(Channelled):
    """Normalised over all axes but the channels (axis 1). (N, C, ...) -> (N, C, ...)."""

    saves = "eps input=x result1=means result2=scales training:True weight"
    derivative = "NativeBatchNormBackwardBackward0"
    joint = True
    refused = "biuc"
    kernel_name = "batch_norm"
    lifts = False

    def axes_of(self, x: Value) -> Sizes:
        return (-x.ndim, *range(2 - x.ndim, 0))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(4, 3)), rng.normal(size=(3,)), rng.normal(size=(3,)))
        yield cls(), (rng.normal(size=(2, 2, 3)), None, None)


class NativeGroupNorm(Channelled):
    """Normalised over each of `groups` groups of channels (axis 1) and all further axes. (N, C, ...) -> (N, C, ...)."""

    saves = "C=x_shape.1 HxW=places N=x_shape.0 eps group=groups input=x result1=means result2=scales weight"
    refused = "biuc"
    kernel_name = "GroupNormKernelImpl"
    groups: int = 1
    lifts = False

    def parted(self, x: Value) -> Value:
        return reshape(x, (x.shape[0], self.groups, -1))

    def places(self, x_shape: Sizes) -> int:
        """How many numbers each channel has."""
        return math.prod(x_shape[2:])

    def kept_shape(self, values: Value) -> Value:
        return values[..., 0]

    def axes_of(self, x: Value) -> Sizes:
        return (-1,)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(groups=2), (rng.normal(size=(2, 4)), rng.normal(size=(4,)), rng.normal(size=(4,)))
        yield cls(groups=2), (rng.normal(size=(2, 4, 3)), rng.normal(size=(4,)), None)


class FixedBatchNorm(Operation):
    """(x - mean) / sqrt(var + eps) * weight + bias for constant mean and var of each channel, axis 1. (N, C, ...) -> (N, C, ...)."""

    saves = "eps input=x result1=nothing result2=nothing running_mean running_var training:False weight"
    derivative = "NativeBatchNormBackwardBackward0"
    joint = True
    refused = "c"
    name = "batch_norm_eval"
    node = "NativeBatchNormBackward0"
    eps: float = 1e-5
    keeps_all = True

    def forward(self, x: Value, weight: Value, bias: Value, running_mean: Value, running_var: Value) -> Value:
        out = self.hat(x, running_mean, running_var)
        if weight is not None:
            out = out * self.aligned(weight, x)
        return out if bias is None else out + self.aligned(bias, x)

    def aligned(self, parameter: Value, x: Value) -> Value:
        return reshape(parameter, (-1, *(1,) * (len(x.shape) - 2)))

    def nothing(self) -> Value:
        """PyTorch keeps no statistics of its own here."""
        return np.zeros(0)

    def hat(self, x: Value, running_mean: Value, running_var: Value) -> Value:
        return (x - self.aligned(running_mean, x)) / sqrt(self.aligned(running_var, x) + self.eps)

    def vjp_x(self, g: Value, x: Value, weight: Value, running_var: Value) -> Value:
        g = g / sqrt(self.aligned(running_var, x) + self.eps)
        return g if raw(weight) is None else g * self.aligned(weight, x)

    def vjp_weight(self, g: Value, x: Value, running_mean: Value, running_var: Value) -> Value:
        return total(g * self.hat(x, running_mean, running_var), (0, *range(2, len(x.shape))))

    def vjp_bias(self, g: Value) -> Value:
        return total(g, (0, *range(2, len(g.shape))))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        running_mean, running_var = rng.normal(size=(3,)), rng.uniform(0.5, 2, size=(3,))
        yield cls(), (rng.normal(size=(4, 3)), rng.normal(size=(3,)), rng.normal(size=(3,)), running_mean, running_var)


def layer_norm(x: Value, normalized_shape: Any, weight: Value | None = None, bias: Value | None = None, eps: float = 1e-5) -> Any:
    """x normalised over its last axes, which have `normalized_shape`, then scaled and shifted."""
    shape = tuple(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else (normalized_shape,)
    for name, parameter in (("weight", weight), ("bias", bias)):
        if parameter is not None and parameter.shape != shape:
            raise ShapeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(parameter.shape)} "
                f"and normalized_shape = {list(shape)}"
            )
    if x.shape[x.ndim - len(shape) :] != shape:
        raise ShapeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], "
            f"but got input of size{list(x.shape)}"
        )
    return NativeLayerNorm(count=len(shape), eps=eps)(x, weight, bias)


def batch_norm(
    x: Value, running_mean: Value | None, running_var: Value | None, weight: Value | None = None, bias: Value | None = None,
    training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """x normalised for each channel (axis 1): by its own mean and variance when training, else by the running ones.

    Training moves the running statistics by `momentum` towards those of x (variance with correction 1).
    """
    if not training:
        if running_mean is None or running_var is None:
            raise ShapeError("Expected running_mean and running_var to be defined when training=False")
        return FixedBatchNorm(eps=eps)(x, weight, bias, running_mean, running_var)
    count = math.prod(x.shape) // x.shape[1]
    if count == 1:
        raise DataError(f"Expected more than 1 value per channel when training, got input size torch.Size({list(x.shape)})")
    value, axes = raw(x), (0, *range(2, x.ndim))
    for running, batch in ((running_mean, value.mean(axes)), (running_var, value.var(axes, ddof=1))):
        if running is not None:
            held = raw(running)
            held[...] = (1 - momentum) * held + momentum * batch
    op = NativeBatchNorm(eps=eps).telling(running_mean=running_mean, running_var=running_var)
    return op(x, weight, bias)


def group_norm(x: Value, num_groups: int, weight: Value | None = None, bias: Value | None = None, eps: float = 1e-5) -> Any:
    """x normalised over groups of channels (axis 1) and all further axes, for each example by itself."""
    if x.ndim < 2:
        raise ShapeError(f"Expected at least 2 dimensions for input tensor but received {x.ndim}")
    if num_groups < 1:
        raise ShapeError(f"Expected num groups to be greater than 0, got {num_groups}")
    if x.shape[1] % num_groups:
        raise ShapeError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(x.shape)} and num_groups={num_groups}"
        )
    return NativeGroupNorm(groups=num_groups, eps=eps)(x, weight, bias)


def instance_norm(
    x: Value, running_mean: Value | None = None, running_var: Value | None = None, weight: Value | None = None, bias: Value | None = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """x normalised over the axes after the channels, for each example and channel by itself: all of them as channels of one example.

    Running statistics, and what is learned for each channel, stand there once for each example.
    """
    if use_input_stats and math.prod(x.shape[2:]) == 1:
        raise DataError(f"Expected more than 1 spatial element when training, got input size torch.Size({list(x.shape)})")
    if not use_input_stats and (running_mean is None or running_var is None):
        raise ShapeError("Expected running_mean and running_var to be defined when use_input_stats is false")
    rows, channels = x.shape[:2]
    running: list[Any] = [None if held is None else np.tile(raw(held), rows) for held in (running_mean, running_var)]
    learned: list[Any] = [None if v is None else repeat(v, rows) for v in (weight, bias)]
    flat = reshape(x, (1, rows * channels, *x.shape[2:]))
    out = batch_norm(flat, running[0], running[1], learned[0], learned[1], use_input_stats, momentum, eps)
    for held, moved in zip((running_mean, running_var), running, strict=True):
        if held is not None:
            raw(held)[...] = moved.reshape(rows, channels).mean(0)
    return reshape(out, x.shape)


def rms_norm(x: Value, normalized_shape: Any, weight: Value | None = None, eps: float | None = None) -> Any:
    """x over the root of the mean of its squares over the last axes; eps is that of the dtype unless given."""
    shape = tuple(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else (normalized_shape,)
    if x.shape[x.ndim - len(shape) :] != shape:
        raise ShapeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], "
            f"but got input of size{list(x.shape)}"
        )
    small = float(np.finfo(x.dtype).eps) if eps is None else eps
    out = x * rsqrt(plus(mean(x**2, tuple(range(x.ndim - len(shape), x.ndim)), True), small))
    return out if weight is None else out * weight


def local_response_norm(x: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Any:
    """x over (k + alpha * the mean of squares of `size` neighbouring channels, axis 1) ** beta."""
    if x.ndim < 3:
        raise DataError(f"Expected 3D or higher dimensionality input (got {x.ndim} dimensions)")
    rows, channels, *spatial = x.shape
    first = (rows, 1, channels, spatial[0], *([-1] if len(spatial) > 1 else []))
    around = (0, 0) * len(first[3:]) + (size // 2, (size - 1) // 2)
    ones = (1,) * len(first[3:])
    wide = view(x * x, first) if len(spatial) > 1 else unsqueeze(x * x, 1)
    means = squeeze(average(len(first) - 2, pad(wide, around), (size, *ones), 1, 0, False, True, None), 1)
    return x / ((view(means, x.shape) if len(spatial) > 1 else means) * alpha + k) ** beta


OPERATIONS = (NativeLayerNorm, NativeBatchNorm, NativeGroupNorm, FixedBatchNorm)
FUNCTIONS = (layer_norm, batch_norm, group_norm, instance_norm, rms_norm, local_response_norm)
