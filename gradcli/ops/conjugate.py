"""Complex conjugation, which the rules of products are written with."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation, Value


class Conj(Elementwise):
    """The complex conjugate. The gradient is conjugated too."""

    analytic = False
    name = "conj"
    node = "ConjBackward0"

    def forward(self, x: Value) -> Value:
        return np.conjugate(x)

    def vjp_x(self, g: Value) -> Value:
        return conj(g)

    def symbolic(self, sympy: Any, x: Any, **decision: Any) -> Any:
        return x

    def parts(self, sympy: Any, *args: tuple[Any, Any]) -> tuple[Any, Any]:
        ((re, im),) = args
        return re, -im


_conj: Operation = Conj()


def of_pairs(x: Any) -> bool:
    """Whether an object array holds high-precision complex numbers."""
    return any(hasattr(number, "is_complex") for number in np.asarray(x, dtype=object).flat)


def is_complex(x: Any) -> bool:
    if not hasattr(x, "dtype"):
        return isinstance(x, complex)
    kind = x.dtype.kind
    return kind == "c" or (kind == "O" and of_pairs(x))


def conj(x: Value) -> Any:
    """The complex conjugate of x; a real x itself, without a node."""
    return _conj(x) if is_complex(x) else x


def components(x: Any, part: str) -> Any:
    """The real or the imaginary part of each element of an object array."""
    return np.frompyfunc(lambda number: getattr(number, part), 1, 1)(x)


def squared_size(x: Any) -> Any:
    """abs(x)**2, of plain or of high-precision numbers; complex ones of extended precision are real numbers with a tangent."""
    kind, char = np.asarray(x).dtype.kind, np.asarray(x).dtype.char
    if kind == "c" and char != np.dtype(np.clongdouble).char:
        return (x * np.conjugate(x)).real
    return components(x * np.conjugate(x), "real") if kind == "O" else x * x


OPERATIONS = (Conj,)
FUNCTIONS = (conj,)
