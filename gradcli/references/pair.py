"""Complex numbers as pairs of real ones, so that every derivative is one along the real or the imaginary direction.

Arrays of float64 hold a pair in a last axis of length 2; arrays of 50-digit numbers hold one `Pair` of Scalars.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np

from gradcli.ops.operation import Operation
from gradcli.references.scalar import ZERO, Scalar, Tape, lift, lower, number, to_float


class Pair:
    """A complex number of two Scalars."""

    __slots__ = ("imag", "real")
    __operation_priority__ = 2
    shape = ()
    ndim = 0
    size = 1
    dtype = np.dtype(object)
    is_complex = True

    def __init__(self, real: Any, imag: Any) -> None:
        self.real = real
        self.imag = imag

    @staticmethod
    def __operation__(op: Operation, args: tuple[Any, ...]) -> Any:
        from gradcli.references.derived import apply

        return apply(op, args, op.decide(*map(lowered, args)) if op.decides else None)

    def __repr__(self) -> str:
        return f"Pair({self.real!r}, {self.imag!r})"

    def __complex__(self) -> complex:
        return complex(float(self.real), float(self.imag))

    def __bool__(self) -> bool:
        return bool(self.real) or bool(self.imag)

    def conjugate(self) -> Pair:
        return Pair(self.real, -self.imag)

    def __add__(self, other: Any) -> Any:
        if not is_number(other):
            return NotImplemented
        if is_complex(other):
            o = pair(other)
            return Pair(self.real + o.real, self.imag + o.imag)
        return Pair(self.real + other, self.imag)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -other if is_number(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other if is_number(other) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        if not is_number(other):
            return NotImplemented
        if is_complex(other):
            o = pair(other)
            return Pair(self.real * o.real - self.imag * o.imag, self.real * o.imag + self.imag * o.real)
        return Pair(self.real * other, self.imag * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if not is_number(other):
            return NotImplemented
        if is_complex(other):
            o = pair(other)
            return self * o.conjugate() / (o.real * o.real + o.imag * o.imag)
        return Pair(self.real / other, self.imag / other)

    def __rtruediv__(self, other: Any) -> Any:
        return pair(other) / self if is_number(other) else NotImplemented

    def __neg__(self) -> Pair:
        return Pair(-self.real, -self.imag)

    def __pos__(self) -> Pair:
        return self

    def __abs__(self) -> Any:
        from gradcli.ops.rounding import absolute

        return absolute(self)

    def __pow__(self, other: Any) -> Any:
        from gradcli.ops.arithmetic import power

        return power(self, other)

    def __rpow__(self, other: Any) -> Any:
        from gradcli.ops.arithmetic import power

        return power(other, self)

    def __eq__(self, other: object) -> Any:
        if not is_number(other):
            return NotImplemented
        o = pair(other)
        return self.real == o.real and self.imag == o.imag

    def __ne__(self, other: object) -> Any:
        return not self == other if is_number(other) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.real, self.imag))


def is_number(value: Any) -> bool:
    return isinstance(value, (Pair, Scalar, int, float, complex, np.generic, mpmath.mpf, mpmath.mpc))


def is_complex(value: Any) -> bool:
    return isinstance(value, (Pair, complex, np.complexfloating, mpmath.mpc))


def pair(value: Any) -> Pair:
    """Any number as a pair."""
    if isinstance(value, Pair):
        return value
    if is_complex(value):
        return Pair(Scalar(mpmath.mpf(value.real)), Scalar(mpmath.mpf(value.imag)))
    return Pair(value if isinstance(value, Scalar) else Scalar(number(value)), Scalar(ZERO))


def holds_complex(value: Any) -> bool:
    """Whether a plain value is complex."""
    return getattr(getattr(value, "dtype", None), "kind", "") == "c" or isinstance(value, complex)


def parts(value: Any) -> np.ndarray:
    """Complex numbers as real ones, (...) -> (..., 2); real ones as they are."""
    array = np.asarray(value)
    return np.stack([array.real, array.imag], axis=-1) if array.dtype.kind == "c" else array


def joined(array: np.ndarray) -> np.ndarray:
    """The complex numbers of which `parts` gives the pairs. (..., 2) -> (...)."""
    return np.asarray(array[..., 0] + 1j * array[..., 1])


def lifted(value: Any, tape: Tape | None = None) -> Any:
    """Plain numbers as an object array of Scalars, or of Pairs where they are complex; variables of the tape when one is given."""
    if not holds_complex(value):
        return lift(value, tape)
    return paired(lift(parts(value), tape))


def paired(array: np.ndarray) -> np.ndarray:
    """Scalars two by two. (..., 2) -> (...)."""
    out = np.empty(array.shape[:-1], dtype=object)
    out.reshape(-1)[:] = [Pair(real, imag) for real, imag in array.reshape(-1, 2)]
    return out


def constant(value: Any) -> Any:
    """A constant of the program as 50-digit arithmetic takes it."""
    return lifted(value) if holds_complex(value) else value


def scalars(value: Any, complex_: bool) -> Iterator[Any]:
    """The real numbers that a result consists of, in the order of `parts`."""
    for element in np.asarray(value, dtype=object).flat:
        if complex_:
            p = pair(element)
            yield p.real
            yield p.imag
        else:
            yield element.real if isinstance(element, Pair) else element


def lowered(value: Any) -> Any:
    """Scalars and Pairs rounded to double precision, anything else as it is."""
    if isinstance(value, Pair):
        return np.complex128(complex(value))
    if isinstance(value, Scalar):
        return np.float64(to_float(value.value))
    if not (isinstance(value, np.ndarray) and value.dtype.char == "O"):
        return value
    if any(isinstance(v, Pair) for v in value.flat):
        return np.array([complex(v) for v in value.flat], dtype=complex).reshape(value.shape)
    return lower(value)
