"""PyTorch's rule for the dtype of a result: 0-d tensors only matter when they are of a higher kind."""

from __future__ import annotations

from typing import Any

import numpy as np

ORDER = "biufcO"


def promote(values: list[Any]) -> list[Any]:
    """Cast 0-d values to the dtype of arrays of the same or a higher kind; numbers of Python adapt by themselves."""
    dtypes = [v.dtype for v in values if hasattr(v, "dtype")]
    if len(set(dtypes)) < 2:
        return values
    arrays = [v.dtype for v in values if hasattr(v, "dtype") and v.ndim]
    if not arrays or len(arrays) == len(dtypes):
        return values
    common = np.result_type(*arrays)
    top = max(ORDER.index(d.kind) for d in dtypes)
    if top > ORDER.index(common.kind):
        if common.kind == "f" and ORDER[top] == "c":
            common = np.result_type(common, np.complex64)
        else:
            return values
    return [v.astype(common) if hasattr(v, "dtype") and v.ndim == 0 and v.dtype != common and v.dtype.kind != "b" else v for v in values]
