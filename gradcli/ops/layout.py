"""How results lie in memory: what `stride()` says, and which views of them there are, is as in PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def dense(array: np.ndarray) -> bool:
    """Whether the elements fill their stretch of memory, in any order of the axes and without sharing places."""
    step = 1
    for stride, length in sorted((s, n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if stride != step * array.itemsize:
            return False
        step *= length
    return True


def rows(out: Any) -> Any:
    """A result row by row."""
    return np.ascontiguousarray(out) if type(out) is np.ndarray and out.ndim > 1 else out


def following(out: np.ndarray, operands: Sequence[Any]) -> np.ndarray:
    """An elementwise result in the order of the first operand of its shape; row by row where that one has gaps."""
    for operand in operands:
        if type(operand) is np.ndarray and operand.shape == out.shape:
            if operand.flags.c_contiguous or not dense(operand):
                return out if out.flags.c_contiguous else np.ascontiguousarray(out)
            if operand.strides != out.strides:
                laid = np.empty_like(operand, out.dtype, order="K")
                laid[...] = out
                return laid
            return out
    return out
