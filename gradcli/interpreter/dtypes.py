"""The dtypes by PyTorch's names."""

from __future__ import annotations

import numpy as np

DTYPES: dict[str, np.dtype] = {
    "float64": np.dtype(np.float64),
    "double": np.dtype(np.float64),
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "half": np.dtype(np.float16),
    "int64": np.dtype(np.int64),
    "long": np.dtype(np.int64),
    "int32": np.dtype(np.int32),
    "int16": np.dtype(np.int16),
    "short": np.dtype(np.int16),
    "int8": np.dtype(np.int8),
    "uint8": np.dtype(np.uint8),
    "complex128": np.dtype(np.complex128),
    "cdouble": np.dtype(np.complex128),
    "complex64": np.dtype(np.complex64),
    "cfloat": np.dtype(np.complex64),
}

PREFIXED: dict[str, np.dtype] = {"float": np.dtype(np.float32), "int": np.dtype(np.int32), "bool": np.dtype(np.bool_)}
"""torch.float, torch.int, torch.bool: without the prefix these names are Python's types."""
