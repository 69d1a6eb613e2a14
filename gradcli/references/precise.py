"""mpmath's functions, as SymPy's derivatives are evaluated with: where one of mpmath's takes ages, a faster form of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import mpmath

FAR_BELOW = -50


def polygamma(order: Any, x: Any) -> Any:
    """The derivatives of the logarithm of the gamma function; far below 0 mpmath adds up as many terms as x is away from it.

    Those terms are the difference of two sums above 0.
    """
    if order == 0 or not x < FAR_BELOW:
        return mpmath.psi(order, x)
    part = x - mpmath.floor(x)
    return mpmath.psi(order, part) - (-1) ** int(order) * (mpmath.psi(order, 1 - part) - mpmath.psi(order, 1 - x))


PRECISE = SimpleNamespace(**{**vars(mpmath), "psi": polygamma, "polygamma": polygamma})
