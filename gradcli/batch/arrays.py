"""NumPy's arrays and numbers as JSON data and back."""

from __future__ import annotations

import base64
from functools import cache
from typing import Any

import numpy as np

from gradcli.batch.codec import decode, encode

PLAIN_DTYPES = "?bhilqBHILQefdgFDGU"


def encoded(value: Any) -> Any:
    """An array, or a number of NumPy's. Raises TypeError for anything else."""
    if not isinstance(value, np.ndarray | np.generic):
        raise TypeError(f"{type(value).__name__} has no form in JSON")
    kind, array = ("array", value) if isinstance(value, np.ndarray) else ("scalar", np.asarray(value))
    if array.dtype.hasobject:
        return {"objects": [list(array.shape), [encode(item) for item in array.ravel().tolist()]]}
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
    return {kind: [array.dtype.str, list(array.shape), data]}


def array(inner: Any) -> np.ndarray:
    dtype, shape, data = inner
    return np.frombuffer(bytearray(base64.b64decode(data)), dtype=plain(dtype)).reshape(shape)


@cache
def plain(dtype: str) -> np.dtype:
    """The dtype of that name; ValueError for one whose elements could be anything."""
    found = np.dtype(dtype)
    if found.char not in PLAIN_DTYPES:
        raise ValueError(f"no array of {dtype}")
    return found


def objects(inner: Any) -> np.ndarray:
    shape, items = inner
    flat = np.empty(len(items), dtype=object)
    flat[:] = [decode(item) for item in items]
    return flat.reshape(shape)
