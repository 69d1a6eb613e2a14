"""What every function that makes tensors shares: shapes held against the limits, new leaves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.tensor import Tensor, require_grad
from gradcli.errors import ArgumentError, DtypeError, ShapeError
from gradcli.ops.devices import here

FLOAT = np.dtype(np.float64)
INTEGER = np.dtype(np.int64)
IGNORED = frozenset({"device", "layout", "pin_memory", "memory_format", "generator", "out"})
"""Keywords of PyTorch that mean nothing here and are taken all the same, when they are None or say the default."""


def leaf(value: Any, requires_grad: bool = False) -> Tensor:
    """A new leaf; 0-d values as numpy scalars."""
    made = Tensor(value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value)
    if state.storage is not None and not requires_grad and made.value.dtype.kind in "fc":
        state.storage.constant(made, state.span)
    if requires_grad and not made.is_floating:
        raise DtypeError("Only Tensors of floating point and complex dtype can require gradients", hint="write floating numbers: [1., 2.]")
    return require_grad(made, True) if requires_grad else made


def sizes(given: tuple[Any, ...], name: str) -> tuple[int, ...]:
    """The shape that `f(2, 3)`, `f((2, 3))` or `f([2, 3])` means; charged before anything is allocated."""
    shape = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    lengths = [whole(n, name) for n in shape]
    for n in lengths:
        if n < 0:
            raise ShapeError(f"Trying to create tensor with negative dimension {n}: {lengths}")
    if len(lengths) > 32:
        raise ShapeError(f"{name}(): a tensor has at most 32 dimensions, not {len(lengths)}")
    state.charge(math.prod(lengths))
    return tuple(lengths)


def whole(value: Any, name: str) -> int:
    """A length given as an int or an integer tensor."""
    if isinstance(value, Tensor) and value.ndim == 0 and value.dtype.kind in "iu":
        value = int(value.value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ArgumentError(f"{name}(): argument 'size' must be tuple of ints, but found element of type {type(value).__name__}")
    return value


def plain(options: dict[str, Any], name: str) -> None:
    """Refuse keywords that the function does not have."""
    for key in options:
        if key not in IGNORED:
            raise ArgumentError(f"{name}() got an unexpected keyword argument '{key}'")
    here(options.get("device"))
