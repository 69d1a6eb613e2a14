"""Kernels that work on one float, or on float64 arrays, as functions of arrays of any dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.ops.operation import Value


def each(function: Callable[[float], float], x: Value) -> Value:
    """A function of one float, element by element."""
    if type(x) is np.float64:
        return np.float64(function(float(x)))
    array = np.asarray(x)
    out = np.fromiter(map(function, array.ravel().tolist()), np.float64, array.size).reshape(array.shape)
    return out.astype(result_dtype(x), copy=False)[()]


def wide(function: Callable[..., Any], *args: Value) -> Value:
    """A function of float64 arrays of one shape, its result in the dtype that the arguments ask for."""
    if all(type(a) is np.float64 for a in args):
        return np.asarray(function(*args))[()]
    arrays = [np.ascontiguousarray(a, dtype=np.float64) for a in np.broadcast_arrays(*args)]
    shape = np.broadcast_shapes(*map(np.shape, args))
    return np.asarray(function(*arrays)).reshape(shape).astype(result_dtype(*args), copy=False)[()]


def result_dtype(*args: Value) -> Any:
    """float32 when that is the widest floating dtype among the arguments, else float64."""
    sizes = [a.dtype.itemsize for a in args if hasattr(a, "dtype") and a.dtype.kind == "f"]
    return np.float32 if sizes and max(sizes) <= 4 else np.float64
