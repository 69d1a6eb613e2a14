"""Complex conjugation, which the rules of products are written with."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.operation import Elementwise, Operation, Value


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


_conj: Operation = Conj()


def is_complex(x: Any) -> bool:
    return x.dtype.kind == "c" if hasattr(x, "dtype") else isinstance(x, complex)


def conj(x: Any) -> Any:
    """The complex conjugate of x; a real x itself, without a node."""
    return _conj(x) if is_complex(x) else x


OPERATIONS = (Conj,)
FUNCTIONS = (conj,)
