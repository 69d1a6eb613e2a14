"""The functions that SymPy's derivatives are made of, over arrays of extended precision: what mpmath is for single numbers.

numpy's own where they take extended precision, else the values of the operations, which are good to float64.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from gradcli.ops.bessel import I0, I1
from gradcli.ops.error import Erf, Erfc
from gradcli.ops.gamma import Digamma, Lgamma, Polygamma
from gradcli.ops.operation import Operation


def number(value: Any) -> np.longdouble:
    """An exact number as SymPy's printers write it: an integer, or (sign, mantissa, exponent, bits)."""
    if isinstance(value, tuple):
        sign, mantissa, exponent, _ = value
        return np.longdouble((-1) ** sign * int(mantissa)) * np.longdouble(2) ** int(exponent)
    return np.longdouble(value)


def in_float64(op: Operation) -> Callable[[Any], Any]:
    """The values of an operation, for arrays of extended precision."""

    def function(x: Any) -> Any:
        return np.asarray(op.forward(np.asarray(x, dtype=np.float64)), dtype=np.longdouble)

    return function


def besseli(order: int, x: Any) -> Any:
    """The modified Bessel function of the first kind, of order 0, 1 or 2."""
    if order in (0, 1):
        return in_float64((I0(), I1())[order])(x)
    if order == 2:
        near = np.abs(x) < 1e-4
        safe = np.where(near, 1, x)
        return np.where(near, np.square(x) / 8, besseli(0, x) - 2 * besseli(1, x) / safe)
    raise NotImplementedError(f"besseli of order {order}")


def polygamma(order: int, x: Any) -> Any:
    """The derivatives of the logarithm of the gamma function, from the second on."""
    return in_float64(Polygamma(n=int(order)) if order else Digamma())(x)


ARRAYS = SimpleNamespace(
    mpf=number, pi=number((0, 0x6487ED5110B4611A62633145C06E0E68, -125, 127)), besseli=besseli,
    sign=np.sign, exp=np.exp, log=np.log, sqrt=np.sqrt, sin=np.sin, cos=np.cos, tan=np.tan, sinh=np.sinh, cosh=np.cosh, tanh=np.tanh,
    asin=np.arcsin, acos=np.arccos, atan=np.arctan, atan2=np.arctan2, asinh=np.arcsinh, acosh=np.arccosh, atanh=np.arctanh,
    erf=in_float64(Erf()), erfc=in_float64(Erfc()), loggamma=in_float64(Lgamma()), psi=polygamma, polygamma=polygamma,
)  # fmt: skip
