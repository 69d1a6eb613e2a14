"""mpmath's functions, as SymPy's derivatives are evaluated with: where one of mpmath's takes ages, a faster form of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import mpmath

FAR_BELOW = -50
HUGE = 100
"""The power of two from which mpmath multiplies e with itself where the exponent is whole."""


def polygamma(order: Any, x: Any) -> Any:
    """The derivatives of the logarithm of the gamma function; far below 0 mpmath adds up as many terms as x is away from it.

    Those terms are the difference of two sums above 0.
    """
    if order == 0 or not x < FAR_BELOW:
        return mpmath.psi(order, x)
    part = x - mpmath.floor(x)
    return mpmath.psi(order, part) - (-1) ** int(order) * (mpmath.psi(order, 1 - part) - mpmath.psi(order, 1 - x))


def exp(x: Any) -> Any:
    """e ** x; of a huge number e to the rest that a whole multiple of log(2) leaves."""
    if not isinstance(x, mpmath.mpf) or not mpmath.isfinite(x) or mpmath.mag(x) < HUGE:
        return mpmath.exp(x)
    with mpmath.workprec(mpmath.mp.prec + mpmath.mag(x) + 10):
        twos = int(mpmath.floor(x / mpmath.ln2))
        rest = x - twos * mpmath.ln2
    return mpmath.ldexp(mpmath.exp(rest), twos)


PRECISE = SimpleNamespace(**{**vars(mpmath), "psi": polygamma, "polygamma": polygamma, "exp": exp})
