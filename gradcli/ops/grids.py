"""Images read at the points of a grid, and grids of affine maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import DataError, MissingRuleError, ShapeError
from gradcli.ops.indexing import select
from gradcli.ops.joining import stack
from gradcli.ops.matmul import Examples, bmm, transposed
from gradcli.ops.operation import Operation, Structural, Value
from gradcli.ops.picking import Index, Unindex
from gradcli.ops.reduction import sum as total
from gradcli.ops.shape import reshape, unsqueeze
from gradcli.ops.transposition import permute

MODES = ("bilinear", "nearest", "bicubic")
PADDINGS = ("zeros", "border", "reflection")
CUBIC = -0.75
"""PyTorch's coefficient of cubic convolution."""

POLYNOMIALS: dict[str, tuple[tuple[int, tuple[float, ...]], ...]] = {
    "nearest": ((0, (1.0,)),),
    "bilinear": ((0, (-1.0, 1.0)), (1, (1.0, 0.0))),
    "bicubic": (
        (-1, (CUBIC, -2 * CUBIC, CUBIC, 0.0)), (0, (CUBIC + 2, -CUBIC - 3, 0.0, 1.0)),
        (1, (-CUBIC - 2, 2 * CUBIC + 3, -CUBIC, 0.0)), (2, (-CUBIC, CUBIC, 0.0, 0.0)),
    ),
}  # fmt: skip
"""The neighbours that a point reads along an axis, and the weight of each as a polynomial of what the point lies behind the first."""


def polynomial(coefficients: Sequence[float], t: Value) -> Value:
    """By Horner's rule."""
    value: Any = t * 0.0 + coefficients[0]
    for c in coefficients[1:]:
        value = value * t + c
    return value


def slope_of(coefficients: Sequence[float]) -> tuple[float, ...]:
    """The coefficients of the derivative."""
    top = len(coefficients) - 1
    return tuple(c * (top - k) for k, c in enumerate(coefficients[:-1])) or (0.0,)


class GridSampler2D(Operation):
    """x read at the points of a grid, whose coordinates (x, y) run from -1 to 1. (N, C, H, W), (N, h, w, 2) -> (N, C, h, w).

    Linear between neighbours, or of the nearest one, or cubic; outside 0, or the edge, or mirrored. Kinks where a point
    lies on a pixel (bilinear), jumps half way between two (nearest).
    """

    saves = "align_corners grid input=x interpolation_mode=mode_number padding_mode=padding_number"
    name = "grid_sample"
    refused = "biuc"
    keeps_all = True
    mode: str = "bilinear"
    padding: str = "zeros"
    align_corners: bool = False

    mode_number = property(lambda self: MODES.index(self.mode))
    padding_number = property(lambda self: PADDINGS.index(self.padding))

    def scale(self, n: int) -> tuple[float, float]:
        """Factor and offset from coordinates to pixels."""
        return ((n - 1) / 2, (n - 1) / 2) if self.align_corners else (n / 2, (n - 1) / 2)

    def padded(self, at: Value, n: int) -> tuple[Value, Value]:
        """Where pixels outside are read, and the slope of that: 1, -1 where it is mirrored, 0 at the edge."""
        slope = np.ones_like(at)
        if self.padding == "zeros":
            return at, slope
        if self.padding == "reflection":
            low, span = (0.0, n - 1.0) if self.align_corners else (-0.5, float(n))
            away = np.abs(at - low)
            flips, extra = np.divmod(away, span) if span else (np.zeros_like(at), np.zeros_like(at))
            slope = np.where(at < low, -1.0, 1.0) * np.where(flips % 2 == 0, 1.0, -1.0) * (span > 0)
            at = np.where(flips % 2 == 0, extra, span - extra) + low
        return np.clip(at, 0, n - 1), slope * ((at > 0) & (at < n - 1))

    def decide(self, x: Value, grid: Value) -> Any:
        """For each axis (x, then y): slope and offset of the padding, the first neighbour of each point."""
        grid = np.asarray(grid, dtype=float) if np.asarray(grid).dtype.kind == "O" else np.asarray(grid)
        found = []
        for k, n in enumerate((x.shape[-1], x.shape[-2])):
            factor, offset = self.scale(n)
            at = grid[..., k] * factor + offset
            place, slope = (at, np.ones_like(at)) if self.mode == "bicubic" else self.padded(at, n)
            first = np.rint(place) if self.mode == "nearest" else np.floor(place)
            found.append(tuple(np.asarray(v, dtype=grid.dtype) for v in (slope, place - slope * at, first)))
        return found

    def taps(self, grid: Value, sizes: Sequence[int], decision: Any, slopes: bool) -> list[list[tuple[Value, Value]]]:
        """For each axis the neighbours that points read: their indices, and their weights (or the slopes of those by the coordinate)."""
        found = []
        for k, (n, (slope, shift, first)) in enumerate(zip(sizes, decision, strict=True)):
            factor, offset = self.scale(n)
            behind = (select(grid, -1, k) * factor + offset) * slope + (shift - first)
            axis = []
            for step, coefficients in POLYNOMIALS[self.mode]:
                place = first + step
                if self.mode == "bicubic":
                    place = np.rint(self.padded(place, n)[0])
                inside = (place >= 0) & (place < n)
                weight = polynomial(slope_of(coefficients), behind) * (slope * factor) if slopes else polynomial(coefficients, behind)
                axis.append((np.clip(place, 0, n - 1).astype(np.int64), weight * inside))
            found.append(axis)
        return found

    def indices(self, rows: Value, columns: Value) -> Value:
        """What Index takes for the axes of examples, rows and columns."""
        examples = np.arange(rows.shape[0]).reshape(-1, 1, 1)
        return np.stack(np.broadcast_arrays(examples, rows, columns))

    def branch(self, x: Value, grid: Value, decision: Any = None) -> Value:
        return self.read(x, *self.taps(grid, (x.shape[-1], x.shape[-2]), decision, False))

    def read(self, x: Value, across: list[Any], down: list[Any]) -> Value:
        """The weighted sum of the neighbours."""
        out: Any = None
        for rows, by_row in down:
            for columns, by_column in across:
                pixels = permute(Index(axes=(-4, -2, -1))(x, self.indices(rows, columns)), (0, 3, 1, 2))
                part = pixels * unsqueeze(by_row * by_column, 1)
                out = part if out is None else out + part
        return out

    def vjp_x(self, g: Value, grid: Value, decision: Value, x_shape: tuple[int, ...]) -> Value:
        across, down = self.taps(grid, (x_shape[-1], x_shape[-2]), decision, False)
        out: Any = None
        for rows, by_row in down:
            for columns, by_column in across:
                weighted = permute(g * unsqueeze(by_row * by_column, 1), (0, 2, 3, 1))
                part = Unindex(axes=(-4, -2, -1), shape=tuple(x_shape))(weighted, self.indices(rows, columns))
                out = part if out is None else out + part
        return out

    def vjp_grid(self, g: Value, x: Value, grid: Value, decision: Value) -> Value:
        sizes = (x.shape[-1], x.shape[-2])
        across, down = self.taps(grid, sizes, decision, False)
        steep_across, steep_down = self.taps(grid, sizes, decision, True)
        by_x = total(g * self.read(x, steep_across, down), 1)
        return stack([by_x, total(g * self.read(x, across, steep_down), 1)], -1)

    def kinks(self, x: Value, grid: Value) -> Value | None:
        """How far each point lies from where another neighbour takes over."""
        if self.mode == "bicubic":
            return None
        gaps = []
        for k, n in enumerate((x.shape[-1], x.shape[-2])):
            factor, offset = self.scale(n)
            at = grid[..., k] * factor + offset
            gaps.append(at - np.rint(at) if self.mode == "bilinear" else at - np.floor(at) - 0.5)
        return np.stack(gaps, axis=-1)

    def size(self, *args: Value) -> int:
        x, grid = args
        return int(np.prod(np.shape(x)[:2]) * np.prod(np.shape(grid)[1:3])) * len(POLYNOMIALS[self.mode]) ** 2

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for mode in MODES:
            for padding in PADDINGS:
                for corners in (True, False):
                    op = cls(mode=mode, padding=padding, align_corners=corners)
                    yield op, (rng.normal(size=(1, 2, 3, 4)), rng.uniform(-1.4, 1.4, size=(1, 2, 2, 2)))


class AffineGridGenerator(Structural):
    """The points of a grid of `extent` (N, C, H, W) after an affine map: theta (N, 2, 3) -> (N, H, W, 2)."""

    saves = "align_corners size=extent"
    name = "affine_grid"
    refused = "biuc"
    extent: tuple[int, ...]
    align_corners: bool = False

    def points(self, dtype: Any) -> Value:
        """(x, y, 1) of every point: (N, H * W, 3)."""
        count, _, height, width = self.extent
        x, y = (np.linspace(-1, 1, n) * (1 if self.align_corners else (n - 1) / n) if n > 1 else np.zeros(1) for n in (width, height))
        grid = np.stack(np.broadcast_arrays(x, y[:, np.newaxis], 1.0), axis=-1).reshape(-1, 3)
        return np.broadcast_to(grid, (count, *grid.shape)).astype(dtype)

    def forward(self, theta: Value) -> Value:
        count, _, height, width = self.extent
        dtype = np.float64 if theta.dtype.kind == "O" else theta.dtype
        return np.matmul(self.points(dtype), np.swapaxes(theta, -1, -2)).reshape(count, height, width, 2)

    def vjp_theta(self, g: Value) -> Value:
        points = self.points(g.dtype)
        return transposed(bmm(np.swapaxes(points, -1, -2), reshape(g, (self.extent[0], -1, 2))))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for corners in (True, False):
            yield cls(extent=(2, 1, 2, 3), align_corners=corners), (rng.normal(size=(2, 2, 3)),)


def grid_sample(x: Value, grid: Value, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool | None = None) -> Any:
    """x read at the points of a grid, whose coordinates (x, y) run from -1 to 1. (N, C, H, W), (N, h, w, 2) -> (N, C, h, w)."""
    if mode not in MODES:
        raise DataError(f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if padding_mode not in PADDINGS:
        raise DataError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )  # fmt: skip
    if x.ndim == 5:
        raise MissingRuleError("grid_sample is there for images, not for volumes (N, C, D, H, W)", hint="sample plane by plane")
    if x.ndim != 4 or grid.ndim != 4:
        raise ShapeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes "
            f"{list(x.shape)} and grid with sizes {list(grid.shape)}"
        )
    if x.shape[0] != grid.shape[0]:
        raise ShapeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{list(x.shape)} and grid with sizes {list(grid.shape)}"
        )
    if grid.shape[-1] != 2:
        raise ShapeError(f"grid_sampler(): expected grid to have size 2 in last dimension, but got grid with sizes {list(grid.shape)}")
    return GridSampler2D(mode=mode, padding=padding_mode, align_corners=bool(align_corners))(x, grid)


def affine_grid(x: Value, size: Any, align_corners: bool | None = None) -> Any:
    """The points of a grid of `size` (N, C, H, W) after the affine maps x: (N, 2, 3) -> (N, H, W, 2)."""
    wanted = tuple(int(n) for n in size)
    if len(wanted) == 5:
        raise MissingRuleError("affine_grid is there for images, not for volumes (N, C, D, H, W)", hint="sample plane by plane")
    if len(wanted) != 4:
        raise MissingRuleError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {wanted}."
        )
    if x.ndim != 3 or x.shape[1:] != (2, 3):
        raise DataError(f"Expected a batch of 2D affine matrices of shape Nx2x3 for size {wanted}. Got torch.Size({list(x.shape)}).")
    if min(wanted) <= 0:
        raise DataError(f"Expected non-zero, positive output size. Got {wanted}")
    if x.shape[0] != wanted[0]:
        raise ShapeError(f"Expected size for first two dimensions of batch2 tensor to be: [{wanted[0]}, 3] but got: [{x.shape[0]}, 3].")
    return AffineGridGenerator(extent=wanted, align_corners=bool(align_corners))(x)


OPERATIONS = (GridSampler2D, AffineGridGenerator)
FUNCTIONS = (grid_sample, affine_grid)
