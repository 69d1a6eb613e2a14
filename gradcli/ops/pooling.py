"""Pooling and interpolation: maps of each axis by itself, and largest elements of windows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops.budget import budget
from gradcli.ops.convolution import sizes_of
from gradcli.ops.extreme import PutAlong
from gradcli.ops.matmul import Examples
from gradcli.ops.operation import Operation, Structural, Value
from gradcli.ops.reduction import mean
from gradcli.ops.shape import reshape, squeeze, unsqueeze

Sizes = tuple[int, ...]
Windows = tuple[tuple[int, ...], ...]


class AxisMap(Structural):
    """Each of the last axes multiplied by a constant matrix (out, in): means over windows, interpolation. (..., in...) -> (..., out...)."""

    row_major = True
    saves = ""
    matrices: tuple[Value, ...]
    label: str = "AvgPool2DBackward0"

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.node = self.label

    def forward(self, x: Value) -> Value:
        for axis, matrix in zip(range(-len(self.matrices), 0), self.matrices, strict=True):
            x = np.moveaxis(mapped(np.moveaxis(x, axis, -1), matrix), -1, axis)
        return x

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    def size(self, *args: Value) -> int:
        x = args[0]
        count = len(self.matrices)
        return math.prod(np.shape(x)[: np.ndim(x) - count]) * math.prod(len(m) for m in self.matrices)

    def work(self, *args: Value) -> int:
        return self.size(*args) * int(sum(m.shape[1] for m in self.matrices))

    def vjp_x(self, g: Value) -> Value:
        return AxisMap(matrices=tuple(m.T for m in self.matrices), label=self.label)(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(matrices=(rng.normal(size=(3, 2)),)), (rng.normal(size=(2, 2)),)
        yield cls(matrices=(rng.normal(size=(1, 2)), rng.normal(size=(4, 3)))), (rng.normal(size=(2, 2, 3)),)


class Pooled(AxisMap):
    """Means over windows; PyTorch's node keeps what they were taken of. (..., in...) -> (..., out...)."""

    name = "pooled"
    saves = "self=x"

    @property
    def derivative(self) -> str:  # type: ignore[override]
        return self.label.replace("Backward", "BackwardBackward")

    def vjp_x(self, g: Value, x: Value) -> Value:  # type: ignore[override]
        return AxisMap(matrices=tuple(m.T for m in self.matrices), label=self.label)(g)


def mapped(x: Value, matrix: Value) -> Value:
    """The last axis times a matrix, in which a zero means: not read (a plain product would make NaN of 0 * inf)."""
    if x.dtype != object and np.all(np.isfinite(x)):
        return np.matmul(x, matrix.T.astype(x.dtype))
    rows = []
    for weights in matrix:
        read = np.flatnonzero(weights)
        rows.append(np.add.reduce(x[..., read] * weights[read], axis=-1))
    return np.stack(rows, axis=-1)


class MaxPool(Operation):
    """The largest element of each window; the first of those that tie gets the gradient. (..., d...) -> (..., e...).

    `windows` gives, for each of the last axes, the places that every output reads.
    """

    refused = "c"
    saves = "result1=indices self=x"
    node = "MaxPool2DWithIndicesBackward0"
    windows: tuple[Windows, ...]

    @property
    def derivative(self) -> str:  # type: ignore[override]
        return self.node.replace("Backward", "BackwardBackward")

    def decide(self, x: Value) -> Value:
        spatial = x.shape[x.ndim - len(self.windows) :]
        out = tuple(len(w) for w in self.windows)
        flat = np.arange(math.prod(spatial)).reshape(spatial)
        lead = x.shape[: x.ndim - len(self.windows)]
        where = np.empty((*lead, math.prod(out)), np.int64)
        for k, places in enumerate(itertools.product(*self.windows)):
            grid = np.ix_(*places)
            inside = x[(Ellipsis, *grid)].reshape(*lead, -1)
            where[..., k] = flat[grid].reshape(-1)[np.argmax(inside, axis=-1)]
        return where

    def work(self, *args: Value) -> int:
        lead = math.prod(np.shape(args[0])[: np.ndim(args[0]) - len(self.windows)])
        return math.prod(len(w) for w in self.windows) * (20_000 + 10 * lead * math.prod(len(w[0]) for w in self.windows if w))

    def branch(self, x: Value, decision: Any = None) -> Value:
        lead = x.shape[: x.ndim - len(self.windows)]
        index = np.asarray(decision)
        index = index.reshape((1,) * (len(lead) + 1 - index.ndim) + index.shape)
        taken = np.take_along_axis(x.reshape(*lead, -1), index, -1)
        return taken.reshape(*lead, *(len(w) for w in self.windows))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.branch(args[0], decision=decision)

    def indices(self, decision: Value, x_shape: Sizes) -> Value:
        """Where the largest elements are in the flattened spatial axes, in the shape of the result."""
        return decision.reshape(*x_shape[: len(x_shape) - len(self.windows)], *(len(w) for w in self.windows))

    def kinks(self, x: Value) -> Value | None:
        """By how much the largest element of each window exceeds the next."""
        lead = x.shape[: x.ndim - len(self.windows)]
        gaps = []
        for places in itertools.product(*self.windows):
            inside = np.sort(x[(Ellipsis, *np.ix_(*places))].reshape(*lead, -1), axis=-1)
            gaps.append(inside[..., -1] - inside[..., -2] if inside.shape[-1] > 1 else np.full(lead, np.inf))
        return np.stack(gaps, axis=-1) if gaps else None

    def vjp_x(self, g: Value, x: Value, x_shape: Sizes, decision: Value) -> Value:
        lead = tuple(x_shape[: len(x_shape) - len(self.windows)])
        flat = (*lead, math.prod(x_shape[len(lead) :]))
        return reshape(PutAlong(dim=-1, shape=flat)(reshape(g, (*lead, -1)), decision), x_shape)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(windows=(((0, 1), (1, 2)), ((0, 1), (2, 3)))), (rng.normal(size=(1, 2, 3, 4)),)
        yield cls(windows=(((0, 1, 2), (1, 2, 3)),)), (rng.normal(size=(2, 4)),)


def places(n: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> list[range]:
    """What every output of a window that slides along one axis reads, padding included (negative, or n and more)."""
    reach = dilation * (kernel - 1) + 1
    span = n + 2 * padding - reach
    if span < 0:
        raise ShapeError(f"Given input size: ({n}). Calculated output size: ({span // stride + 1}). Output size is too small")
    count = (span + stride - 1) // stride + 1 if ceil_mode else span // stride + 1
    budget.elements(count)
    budget.elements(count * kernel)
    if ceil_mode and (count - 1) * stride >= n + padding:
        count -= 1
    return [range(k * stride - padding, k * stride - padding + reach, dilation) for k in range(count)]


def check_windows(kernel: Sizes, step: Sizes, padding: Sizes) -> None:
    """PyTorch's errors for windows without size, without an end, or wholly in the padding."""
    if min(kernel) < 1:
        raise ShapeError(f"kernel size should be greater than zero, but got {list(kernel)}")
    if min(step) < 1:
        raise ShapeError("stride should be greater than zero")
    for k, p in zip(kernel, padding, strict=True):
        if p > k // 2:
            raise ShapeError(f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation=1")


def mean_matrix(windows: list[range], n: int, padding: int, include_pad: bool, divide: bool) -> Value:
    """The means over the windows of one axis, as a matrix."""
    budget.elements(len(windows) * n)
    matrix = np.zeros((len(windows), n))
    for row, window in zip(matrix, windows, strict=True):
        inside = [k for k in window if 0 <= k < n]
        counted = len([k for k in window if -padding <= k < n + padding]) if include_pad else len(inside)
        row[inside] = 1.0 / counted if divide else 1.0
    return matrix


def average(axes: int, x: Any, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, include_pad: bool, divisor: Any) -> Any:
    need_axes("avg_pool", x, axes)
    size = sizes_of("kernel_size", kernel, axes)
    own, around = own_steps(stride, axes), sizes_of("padding", padding, axes)
    step = own or size
    check_windows(size, step, around)
    matrices = tuple(
        mean_matrix(places(n, k, s, p, 1, ceil_mode), n, p, include_pad, divisor is None)
        for n, k, s, p in zip(x.shape[-axes:], size, step, around, strict=True)
    )
    if divisor is not None:
        matrices = (matrices[0] / divisor, *matrices[1:])
    op = Pooled(matrices=matrices, label=f"AvgPool{axes}DBackward0").telling(
        ceil_mode=ceil_mode, count_include_pad=include_pad, divisor_override=divisor, kernel_size=size, padding=around, stride=own
    )
    return op(x)


def own_steps(stride: Any, axes: int) -> Sizes:
    """The steps from window to window where they are given; without, windows follow each other."""
    return () if stride in (None, (), []) else sizes_of("stride", stride, axes)


def need_axes(name: str, x: Any, axes: int) -> None:
    if x.ndim not in (axes + 1, axes + 2):
        raise ShapeError(
            f"{name}{axes}d(): Expected {axes + 1}D or {axes + 2}D (batch mode) tensor, but got input of size: {list(x.shape)}"
        )


def along_one(function: Callable[[Any], Any], x: Any) -> Any:
    """What works over two axes applied to one, as PyTorch does it."""
    return squeeze(function(unsqueeze(x, -2)), -2)


def avg_pool1d(
    x: Value, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True
) -> Any:
    """The mean of each window along the last axis. (N, C, L) or (C, L)."""
    need_axes("avg_pool", x, 1)
    kernel, around = sizes_of("kernel_size", kernel_size, 1), sizes_of("padding", padding, 1)
    step = own_steps(stride, 1) or kernel
    return along_one(lambda y: average(2, y, (1, *kernel), (1, *step), (0, *around), ceil_mode, count_include_pad, None), x)


def avg_pool2d(
    x: Value, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:  # fmt: skip
    """The mean of each window over the last two axes. (N, C, H, W) or (C, H, W)."""
    return average(2, x, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def largest(axes: int, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> tuple[Any, Any]:
    """The largest element of each window, and the windows."""
    need_axes("max_pool", x, axes)
    size, around, apart = sizes_of("kernel_size", kernel, axes), sizes_of("padding", padding, axes), sizes_of("dilation", dilation, axes)
    own = own_steps(stride, axes)
    step = own or size
    check_windows(size, step, around)
    windows = tuple(
        tuple(tuple(i for i in window if 0 <= i < n) for window in places(n, k, s, p, d, ceil_mode))
        for n, k, s, p, d in zip(x.shape[-axes:], size, step, around, apart, strict=True)
    )
    op = MaxPool(windows=windows).telling(ceil_mode=ceil_mode, dilation=apart, kernel_size=size, padding=around, stride=own)
    return op(x), windows


class PoolIndices(Operation):
    """Where MaxPool found the largest elements: places in the flattened spatial axes."""

    differentiable = False
    windows: tuple[Windows, ...]

    def forward(self, x: Value) -> Value:
        return MaxPool(windows=self.windows).decide(x).reshape(*x.shape[: x.ndim - len(self.windows)], *(len(w) for w in self.windows))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(windows=(((0, 1), (1, 2)),)), (rng.normal(size=(1, 3)),)


def max_pool1d(
    x: Value,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window along the last axis. (N, C, L) or (C, L)."""
    need_axes("max_pool", x, 1)
    kernel = sizes_of("kernel_size", kernel_size, 1)
    step = own_steps(stride, 1) or kernel
    wide = unsqueeze(x, -2)
    around, apart = sizes_of("padding", padding, 1), sizes_of("dilation", dilation, 1)
    out, windows = largest(2, wide, (1, *kernel), (1, *step), (0, *around), (1, *apart), ceil_mode)
    return (squeeze(out, -2), squeeze(PoolIndices(windows=windows)(wide), -2)) if return_indices else squeeze(out, -2)


def max_pool2d(
    x: Value,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest element of each window over the last two axes. (N, C, H, W) or (C, H, W)."""
    out, windows = largest(2, x, kernel_size, stride, padding, dilation, ceil_mode)
    return (out, PoolIndices(windows=windows)(x)) if return_indices else out


def shares(n: int, out: int) -> list[range]:
    """The windows of adaptive pooling: output k reads from floor(k * n / out) to ceil((k + 1) * n / out)."""
    budget.elements(out)
    return [range(k * n // out, -(-(k + 1) * n // out)) for k in range(out)]


def adaptive_sizes(output_size: Any, x: Any, axes: int) -> Sizes:
    wanted = output_size if isinstance(output_size, (tuple, list)) else (output_size,) * axes
    return tuple(n if size is None else int(size) for size, n in zip(wanted, x.shape[-axes:], strict=True))


def adaptive_avg_pool2d(x: Value, output_size: Any) -> Any:
    """Means over windows that share out the last two axes as evenly as they can."""
    need_axes("adaptive_avg_pool", x, 2)
    wanted = adaptive_sizes(output_size, x, 2)
    if wanted == (1, 1):
        return mean(x, (-1, -2), True)
    matrices = tuple(mean_matrix(shares(n, size), n, 0, False, True) for n, size in zip(x.shape[-2:], wanted, strict=True))
    return Pooled(matrices=matrices, label="AdaptiveAvgPool2DBackward0")(x)


def adaptive_avg_pool1d(x: Value, output_size: Any) -> Any:
    """Means over windows that share out the last axis as evenly as they can."""
    return along_one(lambda y: adaptive_avg_pool2d(y, (1, *adaptive_sizes(output_size, x, 1))), x)


def adaptive_max_pool2d(x: Value, output_size: Any, return_indices: bool = False) -> Any:
    """Largest elements of windows that share out the last two axes as evenly as they can."""
    need_axes("adaptive_max_pool", x, 2)
    wanted = adaptive_sizes(output_size, x, 2)
    windows = tuple(tuple(tuple(w) for w in shares(n, size)) for n, size in zip(x.shape[-2:], wanted, strict=True))
    op = MaxPool(windows=windows)
    op.node = "AdaptiveMaxPool2DBackward0"
    return (op(x), PoolIndices(windows=windows)(x)) if return_indices else op(x)


def adaptive_max_pool1d(x: Value, output_size: Any, return_indices: bool = False) -> Any:
    """Largest elements of windows that share out the last axis as evenly as they can."""
    result = adaptive_max_pool2d(unsqueeze(x, -2), (1, *adaptive_sizes(output_size, x, 1)), return_indices)
    return tuple(squeeze(part, -2) for part in result) if return_indices else squeeze(result, -2)


OPERATIONS = (AxisMap, Pooled, MaxPool)
FUNCTIONS = (
    avg_pool1d, avg_pool2d, max_pool1d, max_pool2d, adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_max_pool1d, adaptive_max_pool2d,
)  # fmt: skip
