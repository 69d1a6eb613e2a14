"""Memory that several elements, or several tensors, share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds
from numpy.lib.stride_tricks import as_strided

from gradcli.errors import AutogradError
from gradcli.ops.layout import dense


def repeats(value: Any) -> bool:
    """Whether several elements of an array are one place in memory, as in an expansion."""
    return (
        isinstance(value, np.ndarray) and value.size > 0 and any(s == 0 and n > 1 for s, n in zip(value.strides, value.shape, strict=True))
    )


def write(array: np.ndarray, value: Any) -> None:
    """array[...] = value, also where elements share memory (the value is then the same for all of them)."""
    if not repeats(array):
        array[...] = value
        return
    once = tuple(1 if s == 0 else n for s, n in zip(array.strides, array.shape, strict=True))
    places = tuple(slice(0, n) for n in once)
    as_strided(array, once, array.strides, writeable=True)[...] = np.broadcast_to(value, array.shape)[places]


def check_overlap(target: Any, other: Any) -> None:
    """Raise where an operand shares part of the memory that is written to: what it is would depend on the order of the elements.

    PyTorch looks at dense arrays only, and takes the very same elements in the same order.
    """
    if not (isinstance(target, np.ndarray) and isinstance(other, np.ndarray)) or target is other or not (target.size and other.size):
        return
    if not np.may_share_memory(target, other):
        return
    ours, theirs = byte_bounds(target), byte_bounds(other)
    if not (dense(target) and dense(other)):
        return
    if ours == theirs and target.shape == other.shape and steps(target) == steps(other):
        return
    if ours[0] < theirs[1] and theirs[0] < ours[1]:
        raise AutogradError(
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )


def steps(array: np.ndarray) -> list[int]:
    """The strides that count: NumPy's of an axis of length 1 may be anything."""
    return [s for s, n in zip(array.strides, array.shape, strict=True) if n > 1]
