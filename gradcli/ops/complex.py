"""Complex numbers: their parts, and pairs of real numbers in their place.

The gradient of a real loss for z = x + iy is dL/dx + i dL/dy, PyTorch's convention: the direction of steepest ascent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import DtypeError, ShapeError
from gradcli.ops.axes import raw
from gradcli.ops.conjugate import Conj, components, conj, is_complex
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.indexing import select
from gradcli.ops.operation import Operation, Value, View
from gradcli.ops.polar import Complex
from gradcli.ops.trigonometric import Atan2
from gradcli.ops.where import where

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]


def complex_of(dtype: Any) -> Any:
    """The complex dtype of a real one's precision."""
    return np.complex64 if np.dtype(dtype) in (np.float32, np.complex64) else np.complex128


def drawn(rng: np.random.Generator, *shape: int) -> Value:
    return np.asarray(rng.normal(size=shape) + 1j * rng.normal(size=shape))[()]


class Angle(Elementwise):
    """The angle of a complex number with the real axis, in (-pi, pi]; of a real one 0, or pi where negative, with derivative 0."""

    floating = True
    analytic = False

    def forward(self, x: Value) -> Value:
        return np.angle(x) if is_complex(x) else np.where(x < 0, np.pi, np.where(np.isnan(x), x, 0.0)).astype(x.dtype)[()]

    def vjp_x(self, g: Value, x: Value) -> Value:
        if not is_complex(x):
            return g * 0.0
        size = real(x * conj(x))
        zero = size == 0
        return where(zero, 0.0, g * 1j * x / where(zero, 1.0, size))

    def symbolic(self, sympy: Any, x: Any, **decision: Any) -> Any:
        return sympy.Integer(0) * x

    def exact(self, *args: Value, decision: Any = None) -> Value:
        return Atan2()(components(args[0], "imag"), components(args[0], "real"))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (drawn(rng, 2, 3),)


class ViewAsReal(View):
    """Complex numbers as pairs of real ones. (...) -> (..., 2)."""

    analytic = False

    def forward(self, x: Value) -> Value:
        part = np.asarray(x).real
        shape, strides = (*part.shape, 2), (*part.strides, part.itemsize)
        return np.lib.stride_tricks.as_strided(part, shape, strides, writeable=part.flags.writeable)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    def exact(self, *args: Value, decision: Any = None) -> Value:
        return np.stack([components(args[0], "real"), components(args[0], "imag")], axis=-1)

    def vjp_x(self, g: Value) -> Value:
        return ViewAsComplex()(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (drawn(rng, 2, 3),)


class ViewAsComplex(View):
    """Pairs of real numbers as complex ones. (..., 2) -> (...)."""

    analytic = False

    def forward(self, x: Value) -> Value:
        pairs = x if in_pairs(x) else np.ascontiguousarray(x)
        return pairs.view(complex_of(x.dtype))[..., 0]

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    def exact(self, *args: Value, decision: Any = None) -> Value:
        return Complex()(args[0][..., 0], args[0][..., 1])

    def vjp_x(self, g: Value) -> Value:
        return ViewAsReal()(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(3, 2)),)


def in_pairs(x: Value) -> bool:
    """Whether the two numbers of each pair lie side by side in memory."""
    *outer, last = x.strides
    return last == x.itemsize and all(s % (2 * last) == 0 for s, n in zip(outer, x.shape, strict=False) if n > 1)


def real(x: Value) -> Any:
    """The real part; of a real tensor itself."""
    return select(ViewAsReal()(x), len(x.shape), 0) if is_complex(x) else x


def imag(x: Value) -> Any:
    """The imaginary part of complex numbers; RuntimeError for real ones."""
    if not is_complex(x):
        raise DtypeError("imag is not implemented for tensors with non-complex dtypes.")
    return select(ViewAsReal()(x), len(x.shape), 1)


def view_as_real(x: Value) -> Any:
    """Complex numbers as pairs of real ones. (...) -> (..., 2)."""
    if not is_complex(x):
        raise DtypeError(f"view_as_real is only supported for complex tensors, but got a tensor of {x.dtype}")
    return ViewAsReal()(x)


def view_as_complex(x: Value) -> Any:
    """Pairs of real numbers as complex ones. (..., 2) -> (...)."""
    if not x.ndim or x.shape[-1] != 2:
        raise ShapeError("Tensor must have a last dimension of size 2")
    value = raw(x)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and not in_pairs(value):
        raise ShapeError("Tensor must have a last dimension with stride 1", hint="copy it first: .contiguous()")
    return ViewAsComplex()(x)


def resolve_conj(x: Value) -> Any:
    """x itself: conjugates are never lazy here."""
    return x


def conj_physical(x: Value) -> Any:
    """The complex conjugate; a real x itself."""
    return ConjPhysical()(x) if is_complex(x) else x


class ConjPhysical(Conj):
    """The complex conjugate, computed at once. The gradient is conjugated too."""

    def vjp_x(self, g: Value) -> Value:
        return conj_physical(g)


def is_complex_(x: Value) -> bool:
    """Whether the dtype is complex."""
    return is_complex(x)


OPERATIONS = (Angle,)
FUNCTIONS = (real, imag, conj_physical, view_as_real, view_as_complex, resolve_conj, is_complex_)
SPELLINGS = {"resolve_neg": resolve_conj}
