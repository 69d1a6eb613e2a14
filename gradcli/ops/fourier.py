"""Discrete Fourier transforms, over one axis or several."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import DtypeError, ShapeError
from gradcli.ops.axes import counted, integer, many_dims, one_dim
from gradcli.ops.complex import complex_of, drawn, real
from gradcli.ops.conjugate import components, conj, is_complex
from gradcli.ops.indexing import narrow
from gradcli.ops.operation import Operation, Structural, Value
from gradcli.ops.padding import pad
from gradcli.ops.polar import Complex
from gradcli.ops.promotion import scalar_type
from gradcli.ops.rearrange import roll
from gradcli.ops.structure import To

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]


class Transform(Structural, abstract=True):
    """Over the axes `dim`, the result times `scale`."""

    row_major = True
    analytic = False
    dim: tuple[int, ...]
    scale: float = 1.0

    @property
    def mixed(self) -> tuple[int, ...]:
        return self.dim

    def lengths(self, x_shape: tuple[int, ...]) -> tuple[int, ...]:
        """How many numbers are transformed along each axis."""
        return tuple(x_shape[d] for d in self.dim)

    def normalization(self, x_shape: tuple[int, ...]) -> int:
        """PyTorch's number of the factor: 0 for none, 1 for 1 / sqrt(n), 2 for 1 / n."""
        n = math.prod(self.lengths(x_shape))
        return 0 if self.scale == 1.0 else 2 if math.isclose(self.scale * n, 1.0) else 1

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])


class FftC2C(Transform):
    """sum over k of x[k] * exp(-2 pi i j k / n), or with + (`inverse`), along each axis: complex to complex, of one shape.

    As a matrix it is symmetric, so that its adjoint is the transform with the other sign.
    """

    saves = "dim forward=forwards normalization"
    name = "fft_c2c"
    inverse: bool = False
    forwards = property(lambda self: not self.inverse)

    def forward(self, x: Value) -> Value:
        full = complex_of(x.dtype)
        out = np.fft.ifftn(x, axes=self.dim, norm="forward") if self.inverse else np.fft.fftn(x, axes=self.dim)
        return (out * self.scale).astype(full)

    def exact(self, *args: Value, decision: Any = None) -> Value:
        return by_definition(args[0], self.dim, self.scale, self.inverse)

    def vjp_x(self, g: Value) -> Value:
        return FftC2C(dim=self.dim, scale=self.scale, inverse=not self.inverse)(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for inverse in (False, True):
            yield cls(dim=(-1,), inverse=inverse), (drawn(rng, 2, 3),)
            yield cls(dim=(-2, -1), scale=0.5, inverse=inverse), (drawn(rng, 2, 3),)


class FftR2C(Transform):
    """The transform of real numbers, complex. (..., n, ...) -> (..., n // 2 + 1, ...).

    `onesided`: of the last axis in `dim` only the frequencies 0 to n / 2, the others being their conjugates; else all.
    """

    saves = "dim normalization onesided self=x"
    name = "fft_r2c"
    onesided: bool = True

    def forward(self, x: Value) -> Value:
        if not self.onesided:
            return FftC2C(dim=self.dim, scale=self.scale).forward(x)
        return (np.fft.rfftn(x, axes=self.dim) * self.scale).astype(complex_of(x.dtype))

    def exact(self, *args: Value, decision: Any = None) -> Value:
        (x,) = args
        full = by_definition(x, self.dim, self.scale, False)
        return np.take(full, range(x.shape[self.dim[-1]] // 2 + 1), self.dim[-1]) if self.onesided else full

    def vjp_x(self, g: Value, x: Value) -> Value:
        last = self.dim[-1]
        full = extended(g, x.shape[last], last) if self.onesided else g
        return real(FftC2C(dim=self.dim, scale=self.scale, inverse=True)(full))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for n in (3, 4):
            yield cls(dim=(-1,)), (rng.normal(size=(2, n)),)
            yield cls(dim=(-1, -2), scale=0.5), (rng.normal(size=(n, 3)),)
            yield cls(dim=(-1,), onesided=False), (rng.normal(size=(2, n)),)


class FftC2R(Transform):
    """The inverse of FftR2C without its division: n real numbers from the frequencies 0 to n / 2 of the last axis in `dim`.

    (..., n // 2 + 1, ...) -> (..., n, ...). The imaginary parts of the frequencies 0 and n / 2 are not read.
    """

    saves = "dim normalization"
    name = "fft_c2r"
    count: int = 1

    def lengths(self, x_shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*super().lengths(x_shape)[:-1], self.count)

    def forward(self, x: Value) -> Value:
        shape = [x.shape[d] for d in self.dim[:-1]] + [self.count]
        out = np.fft.irfftn(x, shape, axes=self.dim, norm="forward") * self.scale
        return out.astype(np.float32 if x.dtype in (np.complex64, np.float32) else np.float64)

    def exact(self, *args: Value, decision: Any = None) -> Value:
        n, last = self.count, self.dim[-1]
        x = by_definition(args[0], self.dim[:-1], 1.0, True) if len(self.dim) > 1 else args[0]
        cosines, sines = waves(n)
        double = np.array([1 if 2 * k in (0, n) else 2 for k in range(n // 2 + 1)], dtype=object)[:, np.newaxis]
        first = (components(x, part) for part in ("real", "imag"))
        re, im = (np.moveaxis(part, last, -1)[..., : n // 2 + 1] for part in first)
        return np.moveaxis(re @ (double * cosines[: n // 2 + 1]) - im @ (double * sines[: n // 2 + 1]), -1, last) * self.scale

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        last = self.dim[-1]
        n = self.count
        back = FftR2C(dim=self.dim, scale=self.scale)(g)
        twice = np.full(n // 2 + 1, 2.0)
        twice[0] = 1.0
        if n % 2 == 0:
            twice[-1] = 1.0
        return back * twice.reshape(-1, *(1,) * (-1 - last)).astype(np.real(np.zeros(0, back.dtype)).dtype)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for n in (4, 5):
            yield cls(dim=(-1,), count=n), (drawn(rng, 2, n // 2 + 1),)
        yield cls(dim=(-2, -1), count=4, scale=0.5), (drawn(rng, 2, 3),)


def waves(n: int) -> tuple[np.ndarray, np.ndarray]:
    """cos and sin of 2 pi j k / n, in high precision."""
    import mpmath

    angles = [mpmath.mpf(2 * k) / n for k in range(n)]
    cosines, sines = (np.array([wave(a) for a in angles], dtype=object) for wave in (mpmath.cospi, mpmath.sinpi))
    places = np.multiply.outer(np.arange(n), np.arange(n)) % n
    return cosines[places], sines[places]


def by_definition(x: Value, dims: Sequence[int], scale: float, inverse: bool) -> Value:
    """The transform of an array of high-precision numbers as the sum that it is."""
    for d in dims:
        cosines, sines = waves(x.shape[d])
        if not inverse:
            sines = -sines
        re, im = (np.moveaxis(components(x, part), d, -1) for part in ("real", "imag"))
        x = np.moveaxis(Complex()(re @ cosines - im @ sines, re @ sines + im @ cosines), -1, d)
    return x * scale


def extended(x: Value, n: int, dim: int) -> Value:
    """x with zeros behind it along an axis, up to n elements."""
    more = n - x.shape[dim]
    return x if not more else pad(x, [0, 0] * (-1 - dim) + [0, more])


def resized(x: Any, n: int, dim: int) -> Any:
    """x cut or extended by zeros to n elements along an axis."""
    if n < 1:
        raise ShapeError(f"Invalid number of data points ({n}) specified")
    if x.shape[dim] > n:
        return narrow(x, dim, 0, n)
    return extended(x, n, dim)


def scale_of(norm: str | None, count: int, inverse: bool) -> float:
    """What `norm` divides by: everything once (backward: the inverse; forward: the forward one), or the root each way."""
    if norm not in (None, "backward", "forward", "ortho"):
        raise ShapeError(f'Invalid normalization mode: "{norm}"')
    if norm == "ortho":
        return 1.0 / math.sqrt(count)
    return 1.0 / count if (norm == "forward") != inverse else 1.0


def as_complex(x: Any) -> Any:
    """x as complex numbers."""
    if is_complex(x):
        return x
    return To(dtype=complex_of(x.dtype if np.dtype(x.dtype).kind == "f" else np.float64))(x)


def as_real(name: str, x: Any) -> Any:
    if is_complex(x):
        raise DtypeError(f"{name} expects a real input tensor, but got {scalar_type(x)}")
    return x if np.dtype(x.dtype).kind == "f" else To(dtype=np.float64)(x)


def axes_and_sizes(x: Any, s: Any, dim: Any) -> tuple[tuple[int, ...], list[int | None]]:
    """The axes of a transform over several, and the size that each gets (None: its own)."""
    s = (s,) if isinstance(s, int) else s
    dims = tuple(range(-(x.ndim if s is None else len(s)), 0)) if dim is None else many_dims(dim, x.ndim)
    sizes: list[int | None] = [None] * len(dims) if s is None else [None if n == -1 else integer(n, "s") for n in s]
    if len(dims) > x.ndim:
        raise ShapeError(f"Got shape with {len(dims)} values but input tensor only has {x.ndim} dimensions.")
    if len(sizes) != len(dims):
        raise ShapeError("When given, dim and shape arguments must have the same length")
    return counted(dims, x.ndim), sizes


def c2c(x: Any, s: Any, dim: Any, norm: str | None, inverse: bool) -> Any:
    dims, sizes = axes_and_sizes(x, s, dim)
    y = as_complex(x)
    for d, n in zip(dims, sizes, strict=True):
        y = y if n is None else resized(y, n, d)
    return FftC2C(dim=dims, scale=scale_of(norm, math.prod(y.shape[d] for d in dims), inverse), inverse=inverse)(y)


def along_one(x: Any, n: int | None, dim: int, norm: str | None, inverse: bool) -> Any:
    """The transform along one axis; real numbers are not made complex before it."""
    s, dims = None if n is None else [n], [one_dim(dim, x.ndim)]
    return c2c(x, s, dims, norm, inverse) if is_complex(x) else r2c("fft", x, s, dims, norm, inverse, onesided=False)


def r2c(name: str, x: Any, s: Any, dim: Any, norm: str | None, inverse: bool, onesided: bool = True) -> Any:
    dims, sizes = axes_and_sizes(x, s, dim)
    y = as_real(name, x)
    for d, n in zip(dims, sizes, strict=True):
        y = y if n is None else resized(y, n, d)
    out = FftR2C(dim=dims, scale=scale_of(norm, math.prod(y.shape[d] for d in dims), inverse), onesided=onesided)(y)
    return conj(out) if inverse else out


def c2r(x: Any, s: Any, dim: Any, norm: str | None, inverse: bool) -> Any:
    dims, sizes = axes_and_sizes(x, s, dim)
    y = as_complex(x)
    count = 2 * (y.shape[dims[-1]] - 1) if sizes[-1] is None else sizes[-1]
    if count < 1:
        raise ShapeError(f"Invalid number of data points ({count}) specified")
    wanted = [*sizes[:-1], count // 2 + 1]
    for d, n in zip(dims, wanted, strict=True):
        y = y if n is None else resized(y, n, d)
    total = math.prod(y.shape[d] for d in dims[:-1]) * count
    return FftC2R(dim=dims, count=count, scale=scale_of(norm, total, inverse))(y if inverse else conj(y))


def fft(x: Value, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The discrete Fourier transform along an axis, cut or padded to n."""
    return along_one(x, n, dim, norm, False)


def ifft(x: Value, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The inverse of `fft`."""
    return along_one(x, n, dim, norm, True)


def rfft(x: Value, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The transform of real numbers, only the frequencies 0 to n / 2."""
    return r2c("rfft", x, None if n is None else [n], [one_dim(dim, x.ndim)], norm, False)


def irfft(x: Value, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The inverse of `rfft`: n real numbers (2 * (m - 1) unless given)."""
    return c2r(x, None if n is None else [n], [one_dim(dim, x.ndim)], norm, True)


def hfft(x: Value, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The transform of numbers with Hermitian symmetry, given by their first half: real."""
    return c2r(x, None if n is None else [n], [one_dim(dim, x.ndim)], norm, False)


def ihfft(x: Value, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The inverse of `hfft`."""
    return r2c("ihfft", x, None if n is None else [n], [one_dim(dim, x.ndim)], norm, True)


def fftn(x: Value, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The transform over several axes, all unless given."""
    return c2c(x, s, dim, norm, False)


def ifftn(x: Value, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The inverse of `fftn`."""
    return c2c(x, s, dim, norm, True)


def rfftn(x: Value, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The transform of real numbers over several axes; the last holds frequencies 0 to n / 2."""
    return r2c("rfftn", x, s, dim, norm, False)


def irfftn(x: Value, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    """The inverse of `rfftn`."""
    return c2r(x, s, dim, norm, True)


def fft2(x: Value, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
    """The transform over two axes."""
    return c2c(x, s, dim, norm, False)


def ifft2(x: Value, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
    """The inverse of `fft2`."""
    return c2c(x, s, dim, norm, True)


def rfft2(x: Value, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
    """The transform of real numbers over two axes."""
    return r2c("rfft2", x, s, dim, norm, False)


def irfft2(x: Value, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Any:
    """The inverse of `rfft2`."""
    return c2r(x, s, dim, norm, True)


def fftshift(x: Value, dim: Any = None) -> Any:
    """Frequency 0 moved to the middle of each axis."""
    dims = many_dims(tuple(range(x.ndim)) if dim is None else dim, x.ndim)
    return roll(x, [x.shape[d] // 2 for d in dims], dims)


def ifftshift(x: Value, dim: Any = None) -> Any:
    """The inverse of `fftshift`."""
    dims = many_dims(tuple(range(x.ndim)) if dim is None else dim, x.ndim)
    return roll(x, [(x.shape[d] + 1) // 2 for d in dims], dims)


SPELLINGS = {
    "fft.fft": fft, "fft.ifft": ifft, "fft.rfft": rfft, "fft.irfft": irfft, "fft.hfft": hfft, "fft.ihfft": ihfft, "fft.fftn": fftn,
    "fft.ifftn": ifftn, "fft.rfftn": rfftn, "fft.irfftn": irfftn, "fft.fft2": fft2, "fft.ifft2": ifft2, "fft.rfft2": rfft2,
    "fft.irfft2": irfft2, "fft.fftshift": fftshift, "fft.ifftshift": ifftshift,
}  # fmt: skip
OPERATIONS: tuple[type[Operation], ...] = (FftC2C, FftR2C, FftC2R)
