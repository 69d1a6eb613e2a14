"""Questions about tensors whose answer is a value of Python's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError, DtypeError
from gradcli.ops.promotion import scalar_type
from gradcli.ops.structure import rounded


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same shape and the same elements; NaN is not the same as NaN."""
    a, b = both("equal", input, other)
    return a.shape == b.shape and bool(np.all(a == b))


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether |input - other| <= atol + rtol * |other| for every element; infinities agree when they are equal."""
    a, b = both("allclose", input, other)
    if a.dtype != b.dtype:
        raise DtypeError(f"{scalar_type(a)} did not match {scalar_type(b)}", hint="convert one of them, e.g. with .double()")
    return bool(np.all(np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)))


def both(name: str, input: Any, other: Any) -> tuple[np.ndarray, np.ndarray]:
    for position, value in enumerate((input, other)):
        if not isinstance(value, Tensor):
            argument = ("input", "other")[position]
            raise ArgumentError(f"{name}(): argument '{argument}' (position {position + 1}) must be Tensor, not {type(value).__name__}")
    return np.asarray(rounded(input.value)), np.asarray(rounded(other.value))


TENSOR_QUESTIONS: dict[str, Callable[..., Any]] = {"equal": equal, "allclose": allclose}
"""Functions of `torch` that are methods too."""
