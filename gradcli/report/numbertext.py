"""Numbers as text for people: as few digits as show the difference, never cut off."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

SHORT = 6
LONG = 17
LARGE = 100


def number(x: Any, digits: int = SHORT) -> str:
    """`digits` significant digits; "nan", "inf"; "1+2j"; "-" for None."""
    if x is None:
        return "-"
    if isinstance(x, np.generic):
        x = x.item()
    if isinstance(x, complex):
        imaginary = number(x.imag, digits)
        return f"{number(x.real, digits)}{'' if imaginary.startswith('-') else '+'}{imaginary}j"
    if isinstance(x, float):
        return format(x, f".{digits}g")
    return str(x)


def bar(x: Any) -> str:
    """An error, of which only the size matters: "0", "7.2e-11"."""
    x = float(x)
    return "0" if x == 0 else format(x, ".1e") if math.isfinite(x) else format(x, "g")


def short(x: Any) -> str:
    """A ratio, of which two digits are enough, and one where it is large: "0.12", "34", "3e13"; "-" for None and NaN."""
    if x is None or math.isnan(x):
        return "-"
    return format(float(x), ".2g" if x < LARGE else ".0e").replace("e+0", "e").replace("e+", "e")


def relative_error(x: Any, reference: Any) -> float:
    """abs(x - reference) relative to the reference; absolute where the reference is 0; NaN where either is not finite."""
    x, reference = complex(x), complex(reference)
    size: float = abs(reference)
    distance: float = abs(x - reference)
    if not (math.isfinite(size) and math.isfinite(distance)):
        return math.nan
    return distance / size if size else distance


def digits_to_tell(x: Any, reference: Any) -> int:
    """How many digits x and its reference need so that a reader sees where they part."""
    error = relative_error(x, reference)
    if not 0 < error < 1:
        return SHORT
    return min(max(math.ceil(-math.log10(error)) + 2, SHORT), LONG)
