"""Casts from one dtype to another."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import ArgumentError
from gradcli.ops.devices import Device, here
from gradcli.ops.operation import Value
from gradcli.ops.structure import To


def to(
    x: Value, *args: Any, dtype: Any = None, device: Any = None, non_blocking: bool = False, copy: bool = False, memory_format: Any = None
) -> Any:
    """x in another dtype, given as a dtype or by a tensor that has it; x itself where it has that dtype. The only device is the CPU."""
    for arg in args:
        if hasattr(arg, "dtype") and hasattr(arg, "shape") and not isinstance(arg, np.dtype):
            dtype = arg.dtype
        elif isinstance(arg, (np.dtype, type)):
            dtype = np.dtype(arg)
        elif isinstance(arg, (str, Device)):
            here(arg)
        elif not isinstance(arg, bool) and arg is not None:
            raise ArgumentError(f"to() received an invalid combination of arguments - got ({type(arg).__name__})")
    here(device)
    if dtype is None or (np.dtype(dtype) == x.dtype and not copy):
        return x.clone() if copy else x
    return To(dtype=np.dtype(dtype))(x)


def double(x: Any) -> Any:
    """x as float64; itself when it is."""
    return to(x, dtype=np.float64)


def float_(x: Any) -> Any:
    """x as float32."""
    return to(x, dtype=np.float32)


def half(x: Any) -> Any:
    """x as float16."""
    return to(x, dtype=np.float16)


def long(x: Any) -> Any:
    """x as int64, cut towards 0; no gradient."""
    return to(x, dtype=np.int64)


def int_(x: Any) -> Any:
    """x as int32, cut towards 0; no gradient."""
    return to(x, dtype=np.int32)


def short(x: Any) -> Any:
    """x as int16, cut towards 0; no gradient."""
    return to(x, dtype=np.int16)


def byte(x: Any) -> Any:
    """x as uint8, cut towards 0; no gradient."""
    return to(x, dtype=np.uint8)


def char(x: Any) -> Any:
    """x as int8, cut towards 0; no gradient."""
    return to(x, dtype=np.int8)


def bool_(x: Any) -> Any:
    """True where x is not 0; no gradient."""
    return to(x, dtype=np.bool_)


def cfloat(x: Any) -> Any:
    """x as complex64."""
    return to(x, dtype=np.complex64)


def cdouble(x: Any) -> Any:
    """x as complex128."""
    return to(x, dtype=np.complex128)


def type_as(x: Value, other: Value) -> Any:
    """x in the dtype of another tensor."""
    return to(x, dtype=other.dtype)


FUNCTIONS = (to, double, float_, half, long, int_, short, byte, char, bool_, cfloat, cdouble, type_as)
SPELLINGS = {"astype": to}
