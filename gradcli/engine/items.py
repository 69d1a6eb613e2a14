"""x[index] = value: a write through the views that the index makes, or at arrays of indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine.inplace import inplace
from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError, DtypeError, ShapeError
from gradcli.ops.axes import raw
from gradcli.ops.indexing import route
from gradcli.ops.picking import IndexPut
from gradcli.ops.promotion import scalar_type
from gradcli.ops.shape import reshape
from gradcli.ops.structure import Copy, Fill


def setitem(x: Tensor, index: Any, value: Any) -> None:
    """Write a number or a tensor, broadcast, to what the index takes of x."""
    if not isinstance(value, (Tensor, bool, int, float, complex, np.ndarray, np.generic)):
        text = f"can't assign a {type(value).__name__} to a torch.{scalar_type(x)}Tensor"
        raise ArgumentError(text, hint="write torch.tensor(...)")
    window, axes, indices = route(x, index, alone=False)
    if axes:
        put(window, axes, indices, value)
    elif np.ndim(raw(value)) == 0:
        inplace(Fill(form=3), window, value)
    else:
        inplace(Copy(), window, fitting(value, window.shape))


def put(window: Tensor, axes: tuple[int, ...], indices: Any, value: Any) -> None:
    """Write at arrays of indices."""
    if isinstance(value, Tensor) and value.dtype != window.dtype and value.ndim:
        raise DtypeError(
            f"Index put requires the source and destination dtypes match, got {scalar_type(window)} for the destination "
            f"and {scalar_type(value)} for the source.",
            hint="convert the value first, e.g. with .double()",
        )
    op = IndexPut(axes=axes)
    taken = np.broadcast_to(False, window.shape)[op.places(window.ndim, raw(indices))].shape
    given = fitting(value, taken)
    if not broadcasts(np.shape(raw(given)), taken):
        raise ShapeError(
            f"shape mismatch: value tensor of shape {list(np.shape(raw(value)))} cannot be broadcast "
            f"to indexing result of shape {list(taken)}"
        )
    inplace(op, window, given, indices)


def broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    """Whether a shape can be repeated to another."""
    return len(shape) <= len(to) and all(n in (1, m) for n, m in zip(shape[::-1], to[::-1], strict=False))


def fitting(value: Any, shape: tuple[int, ...]) -> Any:
    """The value without leading axes of length 1 beyond the rank of what it is written to."""
    given = np.shape(raw(value))
    extra = len(given) - len(shape)
    return reshape(value, given[extra:]) if extra > 0 and all(n == 1 for n in given[:extra]) else value


Tensor.store = setitem
