"""PyTorch's rule for the dtype of a result: a float beats any integer, and 0-d tensors only matter when they are of a higher kind."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

KINDS = "biufcO"

SCALAR_TYPES = {
    "float64": "Double", "float32": "Float", "float16": "Half", "int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char",
    "uint8": "Byte", "bool": "Bool", "complex128": "ComplexDouble", "complex64": "ComplexFloat",
}  # fmt: skip
"""What PyTorch calls a dtype in its messages."""


def scalar_type(value: Any) -> str:
    """PyTorch's word for the dtype of a value, or for a dtype."""
    dtype = np.dtype(getattr(value, "dtype", value))
    return SCALAR_TYPES.get(str(dtype), str(dtype))


def tensor_type(value: Any) -> str:
    """PyTorch's word for the class that tensors of a value's dtype once had, which some messages still show."""
    return f"CPU{scalar_type(value)}Type" if value.dtype.kind in "bc" else f"torch.{scalar_type(value)}Tensor"


def promote(values: list[Any], tensors: list[bool]) -> list[Any]:
    """Values of different dtypes cast to the one that those of tensors have together.

    Truth values, numbers of Python, and real numbers among complex ones adapt by themselves.
    """
    given = [v for v, tensor in zip(values, tensors, strict=True) if tensor]
    dtypes = {v.dtype for v in values if hasattr(v, "dtype")}
    if len(dtypes) < 2 or not given or any(d.kind not in KINDS[:-1] for d in dtypes):
        return values
    common = joined([v.dtype for v in given if v.ndim], [v.dtype for v in given if not v.ndim])
    alone = "bc" if common.kind != "c" else "biuf"
    return [v.astype(common) if hasattr(v, "dtype") and v.dtype != common and v.dtype.kind not in alone else v for v in values]


def floated(values: list[Any]) -> list[Any]:
    """Values that are truth values and integers alone as floats of PyTorch's default dtype, which NumPy's functions do not ask for."""
    dtypes = [v.dtype for v in values if hasattr(v, "dtype")]
    if all(dtype.kind in "biu" for dtype in dtypes):
        return [v.astype(np.float64) if hasattr(v, "dtype") else v for v in values]
    return values


def joined(arrays: list[np.dtype], numbers: list[np.dtype]) -> np.dtype:
    """The dtype of arrays and 0-d tensors together."""
    if not arrays or not numbers:
        return reduce(wider, arrays or numbers)
    high, low = reduce(wider, arrays), reduce(wider, numbers)
    if high.kind == "c" or (level(low) <= level(high) and high.kind != "b"):
        return high
    if high.kind == "f":
        return np.result_type(high, np.complex64)
    return wider(high, low)


def level(dtype: np.dtype) -> int:
    """Truth values and integers, floats, complex numbers."""
    return max(KINDS.index(dtype.kind), 2)


def wider(x: np.dtype, y: np.dtype) -> np.dtype:
    """What two dtypes of the same rank give: numpy's answer, but for integers and floats, where it is the float."""
    if level(x) == 2 < level(y):
        return y
    return x if level(y) == 2 < level(x) else np.result_type(x, y)
