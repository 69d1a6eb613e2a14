"""Convolutions over one, two or three axes.

out[n, o, p] = sum over c, k of x[n, c, p * stride - padding + k * dilation] * weight[o, c, k] is linear in each factor. Its
three faces, the result from x and weight, the input from g and weight, the weight from x and g, are each other's derivatives.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradcli.errors import ArgumentError, ShapeError
from gradcli.ops.conjugate import conj
from gradcli.ops.indexing import narrow
from gradcli.ops.matmul import Examples
from gradcli.ops.operation import Structural, Value
from gradcli.ops.padding import pad
from gradcli.ops.reduction import sum as total
from gradcli.ops.shape import squeeze, unsqueeze

Sizes = tuple[int, ...]


class Sliding(Structural, abstract=True):
    """How the kernel slides: one number for each spatial axis."""

    stride: Sizes
    padding: Sizes
    dilation: Sizes
    groups: int = 1

    def geometry(self) -> dict[str, Any]:
        return {"stride": self.stride, "padding": self.padding, "dilation": self.dilation, "groups": self.groups}

    def windows(self, kernel: Sizes, out: Sizes) -> Iterator[tuple[Sizes, tuple[slice, ...]]]:
        """Each place in the kernel, with the padded inputs that it meets."""
        for offset in itertools.product(*map(range, kernel)):
            starts = [o * d for o, d in zip(offset, self.dilation, strict=True)]
            yield offset, tuple(slice(a, a + s * (n - 1) + 1, s) for a, s, n in zip(starts, self.stride, out, strict=True))

    def padded(self, x: Value) -> Sizes:
        """The spatial sizes of x with zeros around."""
        return tuple(n + 2 * p for n, p in zip(np.shape(x)[2:], self.padding, strict=True))

    def outer(self, x: Value) -> Value:
        """x with zeros around its spatial axes."""
        return np.pad(x, [(0, 0)] * (x.ndim - len(self.padding)) + [(p, p) for p in self.padding]) if any(self.padding) else x

    def grouped(self, x: Value) -> Value:
        """(N, C, spatial...) -> (N, groups, C / groups, product of spatial)."""
        return x.reshape(x.shape[0], self.groups, x.shape[1] // self.groups, math.prod(x.shape[2:]))

    def weights(self, weight: Value, offset: Sizes) -> Value:
        """The weights at one place of the kernel: (groups, O / groups, C / groups)."""
        at = weight[(slice(None), slice(None), *offset)]
        return at.reshape(self.groups, len(at) // self.groups, at.shape[1])

    def result(self, x: Value, weight: Value) -> Value:
        """The output from x and weight."""
        kernel = weight.shape[2:]
        padded = self.outer(x)
        out = tuple((n - d * (k - 1) - 1) // s + 1 for n, k, d, s in zip(padded.shape[2:], kernel, self.dilation, self.stride, strict=True))
        parts = (
            np.matmul(self.weights(weight, offset), self.grouped(padded[(slice(None), slice(None), *place)]))
            for offset, place in self.windows(kernel, out)
        )
        return _added(parts).reshape(x.shape[0], weight.shape[0], *out)

    def source(self, g: Value, weight: Value, spatial: Sizes) -> Value:
        """The input from g and weight: where each output came from."""
        shape = (g.shape[0], weight.shape[1] * self.groups, *(n + 2 * p for n, p in zip(spatial, self.padding, strict=True)))
        x = np.zeros(shape, np.result_type(g, weight))
        for offset, place in self.windows(weight.shape[2:], g.shape[2:]):
            index: Any = (slice(None), slice(None), *place)
            part = np.matmul(np.swapaxes(self.weights(weight, offset), -1, -2), self.grouped(g))
            x[index] = x[index] + part.reshape(x[index].shape)
        return x[(slice(None), slice(None), *(slice(p, p + n) for p, n in zip(self.padding, spatial, strict=True)))]

    def kernel(self, x: Value, g: Value, kernel: Sizes) -> Value:
        """The weight from x and g."""
        padded = self.outer(x)
        weight = np.zeros((g.shape[1], x.shape[1] // self.groups, *kernel), np.result_type(x, g))
        for offset, place in self.windows(kernel, g.shape[2:]):
            met = self.grouped(padded[(slice(None), slice(None), *place)])
            part = np.add.reduce(np.matmul(self.grouped(g), np.swapaxes(met, -1, -2)), axis=0)
            at: Any = (slice(None), slice(None), *offset)
            weight[at] = part.reshape(weight.shape[:2])
        return weight

    @classmethod
    def forms(cls) -> Iterator[tuple[dict[str, Any], Sizes, Sizes, Sizes]]:
        """Geometries for the tests, with shapes of x, weight and result."""
        yield {"stride": (1,), "padding": (0,), "dilation": (1,)}, (2, 2, 5), (3, 2, 3), (2, 3, 3)
        yield {"stride": (2,), "padding": (1,), "dilation": (2,)}, (1, 2, 6), (2, 2, 2), (1, 2, 3)
        yield {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 1), "groups": 2}, (1, 2, 3, 3), (2, 1, 2, 2), (1, 2, 2, 2)


def reached(out: Value, shape: Sizes) -> Value:
    """A convolution without the last places that a transposed one with much output padding left empty: cut to a shape."""
    for axis in range(2, len(shape)):
        if out.shape[axis] > shape[axis]:
            out = narrow(out, axis, 0, shape[axis])
    return out


def _added(parts: Iterator[Value]) -> Value:
    out = next(parts)
    for part in parts:
        out = out + part
    return out


class Convolution(Sliding):
    """out[n, o, p] = bias[o] + sum over c, k of x[n, c, p * stride - padding + k * dilation] * weight[o, c, k].

    Shapes: x (N, C, d...), weight (O, C / groups, k...), bias (O) or none -> (N, O, e...).
    """

    saves = "dilation groups input=x padding stride transposed:False weight"
    derivative = "ConvolutionBackwardBackward0"
    joint = True
    keeps_all = True

    def forward(self, x: Value, weight: Value, bias: Value = None) -> Value:
        return biased(self.result(x, weight), bias)

    def size(self, *args: Value) -> int:
        x, weight = args[0].shape, args[1].shape
        return int(x[0] * max(x[1], weight[0]) * math.prod(self.padded(args[0])))

    def work(self, *args: Value) -> int:
        places = zip(self.padded(args[0]), self.stride, strict=True)
        return int(np.shape(args[0])[0] * math.prod(n // s + 1 for n, s in places) * np.size(args[1]))

    def vjp_x(self, g: Value, weight: Value, x_shape: Sizes) -> Value:
        return ConvolutionInput(**self.geometry(), spatial=tuple(x_shape[2:]))(g, conj(weight), None)

    def vjp_weight(self, g: Value, x: Value, weight_shape: Sizes) -> Value:
        return ConvolutionWeight(**self.geometry(), kernel_size=tuple(weight_shape[2:]))(conj(x), g)

    def vjp_bias(self, g: Value) -> Value:
        return over_channels(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for form, x, weight, _ in cls.forms():
            yield cls(**form), (rng.normal(size=x), rng.normal(size=weight), rng.normal(size=weight[:1]))


class ConvolutionInput(Sliding):
    """The transposed convolution: the input of a convolution from its result x and the weight, plus bias. `spatial`: its shape."""

    saves = "dilation groups input=x padding stride transposed:True weight"
    derivative = "ConvolutionBackwardBackward0"
    joint = True
    node = "ConvolutionBackward0"
    keeps_all = True
    spatial: Sizes = ()

    def forward(self, x: Value, weight: Value, bias: Value = None) -> Value:
        return biased(self.source(x, weight, self.spatial), bias)

    def size(self, *args: Value) -> int:
        spatial = math.prod(n + 2 * p for n, p in zip(self.spatial, self.padding, strict=True))
        return int(args[0].shape[0] * args[1].shape[1] * self.groups * spatial)

    def work(self, *args: Value) -> int:
        return int(np.size(args[0]) // max(args[0].shape[1], 1) * np.size(args[1]))

    def vjp_x(self, g: Value, weight: Value, x_shape: Sizes) -> Value:
        return reached(Convolution(**self.geometry())(g, conj(weight), None), x_shape)

    def vjp_weight(self, g: Value, x: Value, weight_shape: Sizes) -> Value:
        return ConvolutionWeight(**self.geometry(), kernel_size=tuple(weight_shape[2:]))(g, conj(x))

    def vjp_bias(self, g: Value) -> Value:
        return over_channels(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for form, x, weight, out in cls.forms():
            yield cls(**form, spatial=x[2:]), (rng.normal(size=out), rng.normal(size=weight), rng.normal(size=x[1:2]))
        yield cls(stride=(2,), padding=(0,), dilation=(3,), spatial=(9,)), (rng.normal(size=(1, 2, 2)), rng.normal(size=(2, 1, 2)), None)


class ConvolutionWeight(Sliding):
    """The weight of a convolution from its input x and its result y: the third face of the same sum.

    x (N, C, d...), y (N, O, e...) -> (O, C / groups, k...).
    """

    node = "ConvolutionBackward0"
    kernel_size: Sizes = ()

    def forward(self, x: Value, y: Value) -> Value:
        return self.kernel(x, y, self.kernel_size)

    def vjp_x(self, g: Value, y: Value, x_shape: Sizes) -> Value:
        return ConvolutionInput(**self.geometry(), spatial=tuple(x_shape[2:]))(conj(y), g, None)

    def vjp_y(self, g: Value, x: Value, y_shape: Sizes) -> Value:
        return reached(Convolution(**self.geometry())(conj(x), g, None), y_shape)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for form, x, weight, out in cls.forms():
            yield cls(**form, kernel_size=weight[2:]), (rng.normal(size=x), rng.normal(size=out))


def biased(out: Value, bias: Value) -> Value:
    return out if bias is None else out + bias.reshape(-1, *(1,) * (out.ndim - 2))


def over_channels(g: Value) -> Value:
    """A gradient summed over everything but the channels."""
    return total(g, (0, *range(2, g.ndim)))


def sizes_of(name: str, value: Any, count: int) -> Sizes:
    """One number for every axis, from one or from several."""
    numbers = tuple(value) if isinstance(value, (tuple, list)) else (value,) * count
    if len(numbers) == 1:
        numbers *= count
    if len(numbers) != count:
        raise ArgumentError(f"expected {name} to be a single integer value or a list of {count} values, but got {name}={list(numbers)}")
    return tuple(int(n) for n in numbers)


def check(name: str, axes: int, x: Any, weight: Any, groups: int, transposed: bool) -> None:
    """What PyTorch says of shapes that do not fit (RuntimeError)."""
    if x.ndim != axes + 2:
        raise ShapeError(
            f"Expected {axes + 1}D (unbatched) or {axes + 2}D (batched) input to {name}, but got input of size: {list(x.shape)}"
        )
    if weight.ndim != axes + 2:
        raise ShapeError(f"expected weight with {axes + 2} dimensions in {name}, but got weight of size: {list(weight.shape)}")
    channels = weight.shape[0] if transposed else weight.shape[1] * groups
    if x.shape[1] != channels:
        given = "transposed=1" if transposed else f"groups={groups}"
        raise ShapeError(
            f"Given {given}, weight of size {list(weight.shape)}, expected input{list(x.shape)} to have {channels} channels, "
            f"but got {x.shape[1]} channels instead"
        )
    if weight.shape[0] % groups:
        raise ShapeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size "
            f"{list(weight.shape)}"
        )


def convolve(name: str, axes: int, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    """A convolution over the last `axes` axes, with or without a batch axis."""
    if x.ndim == axes + 1:
        return squeeze(convolve(name, axes, unsqueeze(x, 0), weight, bias, stride, padding, dilation, groups), 0)
    check(name, axes, x, weight, groups, False)
    steps, apart = sizes_of("stride", stride, axes), sizes_of("dilation", dilation, axes)
    kernel = weight.shape[2:]
    if padding == "same":
        if any(s != 1 for s in steps):
            raise ShapeError("padding='same' is not supported for strided convolutions")
        whole = [d * (k - 1) for d, k in zip(apart, kernel, strict=True)]
        if any(w % 2 for w in whole):
            x = pad(x, [n for w in reversed(whole) for n in (0, w % 2)])
        around: Sizes = tuple(w // 2 for w in whole)
    else:
        around = (0,) * axes if padding == "valid" else sizes_of("padding", padding, axes)
    padded = [n + 2 * p for n, p in zip(x.shape[2:], around, strict=True)]
    reach = [d * (k - 1) + 1 for d, k in zip(apart, kernel, strict=True)]
    if any(n < r for n, r in zip(padded, reach, strict=True)):
        raise ShapeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). Kernel size: ({' x '.join(map(str, reach))}). "
            "Kernel size can't be greater than actual input size"
        )
    op = Convolution(stride=steps, padding=around, dilation=apart, groups=groups)
    return op.telling(bias_sym_sizes_opt=bias_shape(bias), output_padding=(0,) * axes)(x, weight, bias)


def convolve_back(
    name: str, axes: int, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any, groups: int, dilation: Any
) -> Any:
    """A transposed convolution over the last `axes` axes."""
    if x.ndim == axes + 1:
        return squeeze(convolve_back(name, axes, unsqueeze(x, 0), weight, bias, stride, padding, output_padding, groups, dilation), 0)
    check(name, axes, x, weight, groups, True)
    steps, around, apart = sizes_of("stride", stride, axes), sizes_of("padding", padding, axes), sizes_of("dilation", dilation, axes)
    more = sizes_of("output_padding", output_padding, axes)
    spatial = tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + o + 1
        for n, s, p, d, k, o in zip(x.shape[2:], steps, around, apart, weight.shape[2:], more, strict=True)
    )
    op = ConvolutionInput(stride=steps, padding=around, dilation=apart, groups=groups, spatial=spatial)
    return op.telling(bias_sym_sizes_opt=bias_shape(bias), output_padding=more)(x, weight, bias)


def bias_shape(bias: Any) -> Sizes:
    """What PyTorch keeps of a bias."""
    return (0,) if bias is None else tuple(bias.shape)


def conv1d(
    x: Value, weight: Value, bias: Value | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """The convolution over the last axis. x (N, C, L) or (C, L), weight (O, C / groups, k); padding a number, "same" or "valid"."""
    return convolve("conv1d", 1, x, weight, bias, stride, padding, dilation, groups)


def conv2d(
    x: Value, weight: Value, bias: Value | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """The convolution over the last two axes. x (N, C, H, W) or (C, H, W), weight (O, C / groups, kH, kW)."""
    return convolve("conv2d", 2, x, weight, bias, stride, padding, dilation, groups)


def conv3d(
    x: Value, weight: Value, bias: Value | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
) -> Any:
    """The convolution over the last three axes. x (N, C, D, H, W) or (C, D, H, W), weight (O, C / groups, kD, kH, kW)."""
    return convolve("conv3d", 3, x, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(
    x: Value,
    weight: Value,
    bias: Value | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transpose of conv1d as a linear map. x (N, C, L), weight (C, O / groups, k)."""
    return convolve_back("conv_transpose1d", 1, x, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    x: Value,
    weight: Value,
    bias: Value | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Any:
    """The transpose of conv2d as a linear map. x (N, C, H, W), weight (C, O / groups, kH, kW)."""
    return convolve_back("conv_transpose2d", 2, x, weight, bias, stride, padding, output_padding, groups, dilation)


OPERATIONS = (Convolution, ConvolutionInput, ConvolutionWeight)
FUNCTIONS = (conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d)
