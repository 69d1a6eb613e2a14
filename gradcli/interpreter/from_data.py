"""Tensors from data: numbers, nested sequences, other tensors, with PyTorch's choice of dtype."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError, DataError, RangeError
from gradcli.interpreter.arrays import ndarray, tensor_on
from gradcli.interpreter.leaves import FLOAT, INTEGER, leaf, plain, sizes

ARRAYS = (Tensor, ndarray, np.ndarray, np.generic)
"""What holds its numbers as an array: a tensor, an array, or (from Python, never in a program) numpy's own."""


COPY_WARNING = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
)


ONE_ELEMENT = "only one element tensors can be converted to Python scalars"


def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
    """A leaf that copies its data: a number, nested sequences of numbers or tensors, a tensor."""
    plain(options, "tensor")
    if isinstance(data, Tensor):
        state.warn(COPY_WARNING, UserWarning)
    return leaf(array(data, dtype).copy(), requires_grad)


def as_tensor(data: Any, dtype: Any = None, **options: Any) -> Tensor:
    """The data as a tensor: itself when it is one of the right dtype."""
    plain(options, "as_tensor")
    if isinstance(data, Tensor) and dtype in (None, data.dtype):
        return data
    if isinstance(data, ndarray) and dtype in (None, data.value.dtype):
        return tensor_on(data)
    return leaf(array(data, dtype))


def legacy_tensor(*data: Any) -> Tensor:
    """torch.Tensor(data), torch.Tensor(2, 3): floating in any case."""
    if len(data) == 1 and isinstance(data[0], (list, tuple, Tensor)):
        return tensor(data[0], dtype=FLOAT)
    return leaf(np.zeros(sizes(data or (0,), "Tensor")))


def from_numpy(ndarray: Any) -> Tensor:
    """A tensor on the memory of an array (of a tensor too: a file without torch has no other arrays)."""
    if not isinstance(ndarray, ARRAYS):
        raise ArgumentError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return as_tensor(ndarray)


def array(data: Any, dtype: Any = None) -> np.ndarray:
    """The numpy array that data means, with PyTorch's choice of dtype."""
    if isinstance(data, range):
        state.charge(max(0, (data.stop - data.start) // data.step))
        data = list(data)
    shape = shape_of(data)
    state.charge(math.prod(shape))
    value = np.asarray(data.value if isinstance(data, (Tensor, ndarray)) else data) if isinstance(data, ARRAYS) else numbers(data, shape)
    if dtype is not None and value.dtype.kind == "c" and np.dtype(dtype).kind in "biuf" and not isinstance(data, ARRAYS):
        raise ArgumentError("must be real number, not complex", hint="give the tensor a complex dtype, e.g. torch.complex128")
    return value if dtype is None else value.astype(dtype)


def numbers(data: Any, shape: tuple[int, ...]) -> np.ndarray:
    flat: list[Any] = []
    flatten(data, len(shape), flat)
    return np.array(flat, dtype=common_dtype(flat)).reshape(shape)


def shape_of(data: Any) -> tuple[int, ...]:
    """The shape that the first items of nested sequences give, where a tensor is a number and an array is a sequence."""
    shape: list[int] = []
    while isinstance(data, (list, tuple)):
        if len(shape) == 32:
            raise DataError("too many dimensions: a tensor has at most 32")
        shape.append(len(data))
        if not data:
            return tuple(shape)
        data = data[0]
    return (*shape, *data.shape) if isinstance(data, (ndarray, np.ndarray)) or (not shape and isinstance(data, Tensor)) else tuple(shape)


def flatten(data: Any, rank: int, flat: list[Any]) -> None:
    """Append the numbers of nested sequences of one rank, which must be of equal lengths."""
    if isinstance(data, ARRAYS):
        flat.extend(np.asarray(getattr(data, "value", data)).ravel().tolist())
        return
    level, depth = [data], 0
    while level and isinstance(level[0], (list, tuple)):
        expected = len(level[0])
        for row in level:
            if not isinstance(row, (list, tuple)):
                raise ArgumentError("not a sequence")
            if len(row) != expected:
                raise DataError(f"expected sequence of length {expected} at dim {depth} (got {len(row)})")
        level = [item for row in level for item in row]
        state.charge(len(level))
        depth += 1
    for item in level:
        append_number(item, rank - depth, flat)


def append_number(item: Any, rank: int, flat: list[Any]) -> None:
    if isinstance(item, ARRAYS):
        value = np.asarray(getattr(item, "value", item))
        if value.size != 1 and (rank == 0 or isinstance(item, Tensor)):
            raise DataError(ONE_ELEMENT, hint="torch.stack(tensors) puts tensors side by side, and keeps their graph")
        flat.extend(value.ravel().tolist())
    elif isinstance(item, (list, tuple)):
        raise DataError(f"expected a number, got a sequence of length {len(item)}: the rows are nested unequally")
    elif isinstance(item, (int, float, complex)):
        flat.append(item)
    elif isinstance(item, str):
        raise ArgumentError("new(): invalid data type 'str'")
    else:
        raise DataError(f"Could not infer dtype of {type(item).__name__}")


def common_dtype(flat: list[Any]) -> np.dtype:
    """float64 as soon as one number is a float, int64 for ints, bool for bools."""
    kinds = {type(v) for v in flat}
    if complex in kinds:
        return np.dtype(np.complex128)
    if float in kinds or not flat:
        return FLOAT
    if int not in kinds:
        return np.dtype(np.bool_)
    if any(not -(2**63) <= v < 2**63 for v in flat):
        raise RangeError("Overflow when unpacking long long")
    return INTEGER
