"""Numbers as JSON data: no NaN literal, complex numbers as objects, arrays as nested lists."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from gradcli.graph.letters import whole


def number(x: Any) -> Any:
    """One number, word or None. Non-finite numbers become "nan", "inf", "-inf"; complex ones {"re", "im"}."""
    if isinstance(x, np.generic):
        x = x.item()
    if x is None or isinstance(x, str | bool | int):
        return x
    if isinstance(x, complex):
        return {"re": number(x.real), "im": number(x.imag)}
    x = float(x)
    if math.isfinite(x):
        return x
    return "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"


def array(values: Any) -> Any:
    """Nested lists in the shape of the array; a number for no dimensions; None for None."""
    if values is None:
        return None
    values = np.asarray(values)
    if values.dtype.kind in "biu" or (values.dtype.kind == "f" and np.isfinite(values).all()):
        return values.tolist()
    return _nested(values.tolist())


def _nested(data: Any) -> Any:
    return [_nested(item) for item in data] if isinstance(data, list) else number(data)


def document(data: Any) -> str:
    """One line of JSON that UTF-8 can carry. A NaN that slipped through is our bug, so it raises."""
    return whole(json.dumps(data, ensure_ascii=False, allow_nan=False))
