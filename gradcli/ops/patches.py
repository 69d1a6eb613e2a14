"""Sliding patches as columns and back, and pooling by power means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops.activation import Relu
from gradcli.ops.convolution import sizes_of
from gradcli.ops.operation import Operation, Structural, Value
from gradcli.ops.pooling import avg_pool1d, avg_pool2d
from gradcli.ops.rounding import Sign, absolute
from gradcli.ops.shape import squeeze, unsqueeze

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]
Sizes = tuple[int, ...]


class Patches(Structural, abstract=True):
    """Between images (n, channels, height, width) and their patches as columns (n, channels * kernel, places)."""

    kernel: Sizes
    dilation: Sizes
    padding: Sizes
    stride: Sizes

    def counts(self, image: Sizes) -> list[int]:
        """How many places a patch has along each axis."""
        around = zip(image, self.padding, self.dilation, self.kernel, self.stride, strict=True)
        return [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, p, d, k, s in around]

    def places(self, image: Sizes) -> tuple[Any, Any]:
        """The row and the column, in the image with its padding, of each element of each patch: (kernel, places)."""
        axes = zip(self.kernel, self.dilation, self.stride, self.counts(image), strict=True)
        rows, columns = (np.arange(k)[:, np.newaxis] * d + np.arange(count) * s for k, d, s, count in axes)
        shape = (math.prod(self.kernel), math.prod(self.counts(image)))
        full = (*self.kernel, *self.counts(image))
        return (
            np.broadcast_to(rows[:, np.newaxis, :, np.newaxis], full).reshape(shape),
            np.broadcast_to(columns[np.newaxis, :, np.newaxis, :], full).reshape(shape),
        )

    def geometry(self) -> dict[str, Sizes]:
        return {"kernel": self.kernel, "dilation": self.dilation, "padding": self.padding, "stride": self.stride}

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        (x,) = args
        return self.forward(x.reshape(-1, *x.shape[2:])).reshape(*x.shape[:2], *self.forward(x[0]).shape[1:])


class Im2col(Patches):
    """Every patch of the image as a column: (n, c, h, w) -> (n, c * kernel, places)."""

    row_major = True
    refused = "biu"
    kernel_name = "im2col_out_cpu"

    saves = "dilation kernel_size=kernel padding self_sym_argsize_minus_1=x_shape.-1 self_sym_argsize_minus_2=x_shape.-2 stride"
    node = "Im2ColBackward0"

    def forward(self, x: Value) -> Value:
        (top, left), (n, c) = self.padding, x.shape[:2]
        padded = np.pad(x, [(0, 0), (0, 0), (top, top), (left, left)])
        rows, columns = self.places(x.shape[2:])
        return padded[:, :, rows, columns].reshape(n, c * len(rows), -1)

    def size(self, *args: Value) -> int:
        n, c, *image = np.shape(args[0])
        return int(n * c * math.prod(self.kernel) * math.prod(max(count, 0) for count in self.counts(tuple(image))))

    def vjp_x(self, g: Value, x_shape: Sizes) -> Value:
        return Col2im(**self.geometry(), output=tuple(x_shape[2:]))(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for settings in FORMS:
            yield cls(**settings), (rng.normal(size=(2, 2, 5, 4)),)


class Col2im(Patches):
    """The sum of patches laid over each other, the transpose of Im2col: (n, c * kernel, places) -> (n, c, *output)."""

    saves = "dilation kernel_size=kernel padding stride"
    node = "Col2ImBackward0"
    output: Sizes

    def forward(self, x: Value) -> Value:
        (top, left), (height, width) = self.padding, self.output
        rows, columns = self.places(self.output)
        n, c = len(x), x.shape[1] // len(rows)
        out = np.zeros((n, c, height + 2 * top, width + 2 * left), x.dtype)
        index: Any = (slice(None), slice(None), rows, columns)
        np.add.at(out, index, x.reshape(n, c, *rows.shape))
        return np.array(out[:, :, top : top + height, left : left + width])

    def vjp_x(self, g: Value) -> Value:
        return Im2col(**self.geometry())(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for settings in FORMS:
            op = cls(**settings, output=(5, 4))
            yield op, (rng.normal(size=(2, 2 * math.prod(op.kernel), math.prod(op.counts((5, 4))))),)


FORMS = (
    {"kernel": (2, 2), "dilation": (1, 1), "padding": (0, 0), "stride": (1, 1)},
    {"kernel": (3, 2), "dilation": (1, 2), "padding": (1, 0), "stride": (2, 1)},
)


def patches_of(name: str, kernel: Any, dilation: Any, padding: Any, stride: Any) -> dict[str, Sizes]:
    """The geometry, one number standing for both axes."""
    given = {"kernel": kernel, "dilation": dilation, "padding": padding, "stride": stride}
    found = {key: sizes_of("kernel_size" if key == "kernel" else key, value, 2) for key, value in given.items()}
    for key, numbers in found.items():
        if min(numbers) < (0 if key == "padding" else 1):
            least = "non-negative" if key == "padding" else "greater than zero"
            raise ShapeError(f"{name}: {key} should be {least}, but got {list(numbers)}")
    return found


def unfold(x: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Every patch of an image as a column. (n, c, h, w) or (c, h, w) -> (n, c * kernel, places)."""
    if x.ndim not in (3, 4):
        raise ShapeError(f"Expected 3D or 4D (batch mode) tensor for input, but got input of size: {list(x.shape)}")
    op = Im2col(**patches_of("unfold", kernel_size, dilation, padding, stride))
    image = tuple(x.shape[-2:])
    counts = tuple(op.counts(image))
    if min(counts) < 1:
        raise ShapeError(
            f"Given input with spatial size {image}, kernel_size={op.kernel}, dilation={op.dilation}, padding={op.padding}, "
            f"calculated shape of the array of sliding blocks as {counts}, but its components must be at least one."
        )
    return op(x) if x.ndim == 4 else squeeze(op(unsqueeze(x, 0)), 0)


def fold(x: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Patches summed into an image, the transpose of `unfold`. (n, c * kernel, places) or (c * kernel, places) -> (n, c, h, w)."""
    if x.ndim not in (2, 3):
        raise ShapeError(f"Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size, but got: {list(x.shape)}")
    op = Col2im(**patches_of("fold", kernel_size, dilation, padding, stride), output=sizes_of("output_size", output_size, 2))
    area, places = math.prod(op.kernel), math.prod(op.counts(op.output))
    if x.shape[-2] % area:
        raise ShapeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={x.shape[-2]} and kernel_size={op.kernel}."
        )
    if x.shape[-1] != places:
        raise ShapeError(
            f"Given output_size={op.output}, kernel_size={op.kernel}, dilation={op.dilation}, padding={op.padding}, stride={op.stride}, "
            f"expected size of input's dimension 2 to match the calculated number of sliding blocks {places}, "
            f"but got input.size(2)={x.shape[-1]}."
        )
    return op(x) if x.ndim == 3 else squeeze(op(unsqueeze(x, 0)), 0)


def power_mean(pooled: Any, count: int, norm_type: float) -> Any:
    """The root of a sum of powers, from their mean; of a negative sum (odd powers) with PyTorch's sign(out) * relu(abs(out))."""
    return (Sign()(pooled) * Relu()(absolute(pooled)) * count) ** (1.0 / norm_type)


def lp_pool1d(x: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """The norm of each window along the last axis: (sum x**p)**(1/p)."""
    (count,) = sizes_of("kernel_size", kernel_size, 1)
    return power_mean(avg_pool1d(x**norm_type, kernel_size, stride, 0, ceil_mode), count, norm_type)


def lp_pool2d(x: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
    """The norm of each window over the last two axes: (sum x**p)**(1/p)."""
    count = math.prod(sizes_of("kernel_size", kernel_size, 2))
    return power_mean(avg_pool2d(x**norm_type, kernel_size, stride, 0, ceil_mode), count, norm_type)


OPERATIONS = (Im2col, Col2im)
FUNCTIONS = (fold, lp_pool1d, lp_pool2d)
SPELLINGS = {"nn.functional.unfold": unfold}
