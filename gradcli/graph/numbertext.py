"""Values as a reader wants them on a card: six significant digits, a few numbers, else their range."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

MOST = 6
"""So many numbers are shown one by one."""


def number(x: Any) -> str:
    """Six significant digits; -0.0 is 0."""
    x = x.item() if hasattr(x, "item") else x
    if isinstance(x, (bool, int)):
        return str(x)
    if isinstance(x, complex):
        return f"{number(x.real)}{'+' if not x.imag < 0 else '-'}{number(abs(x.imag))}j"
    x = float(x)
    if not math.isfinite(x):
        return "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"
    return f"{x + 0.0:.6g}"


def summary(value: Any) -> str:
    """A scalar, up to six numbers, else `min .. max` and how many are not finite."""
    if value is None:
        return "unknown"
    array = np.asarray(value)
    if array.size <= MOST:
        return nested(array)
    if array.dtype.kind in "cOb":
        return f"{array.size} values of {array.dtype.name}"
    return _range(array)


def _range(array: np.ndarray) -> str:
    finite = array[np.isfinite(array)] if array.dtype.kind == "f" else array.ravel()
    missing = array.size - finite.size
    text = f"{number(finite.min())} .. {number(finite.max())}" if finite.size else "nothing finite"
    if not missing:
        return text
    nans = int(np.isnan(array).sum())
    infinite = missing - nans
    return text + "".join(f", {count} {word}" for count, word in ((nans, "nan"), (infinite, "inf")) if count)


def nested(array: np.ndarray) -> str:
    """Every number, in brackets as the shape has them."""
    if array.ndim == 0:
        return number(array[()])
    return "[" + ", ".join(nested(part) for part in array) + "]"


def full(value: Any) -> str:
    """Every number, whatever their count."""
    return "unknown" if value is None else nested(np.asarray(value))


def shape(value: tuple[int, ...] | None) -> str:
    """`(2, 3)`, `(3)`, `()`: as torchviz writes shapes."""
    return "" if value is None else "(" + ", ".join(map(str, value)) + ")"


def index(position: Any) -> str:
    """`[0, 1]`, or nothing for a scalar."""
    parts = ", ".join(str(int(k)) for k in position)
    return f"[{parts}]" if parts else ""
