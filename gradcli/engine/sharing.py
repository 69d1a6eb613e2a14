"""Tensors on the same memory outside the graph: detach, .data, numpy, Variable."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine.inplace import overwrite
from gradcli.engine.mode import state
from gradcli.engine.tensor import Tensor, require_grad
from gradcli.errors import ArgumentError, AutogradError, DtypeError

NO_NUMPY = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."


def detach(tensor: Tensor) -> Tensor:
    """The same memory and version counter, outside the graph."""
    result = shared(tensor, "detach")
    result.counter = tensor.version
    return result


def detach_in_place(tensor: Tensor) -> Tensor:
    """Cut a tensor from its history; it becomes a leaf that asks for nothing."""
    if tensor.shares is not None:
        raise AutogradError(
            "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and "
            "gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on these "
            "gradients. To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution.",
            hint="write x = x.detach()",
        )
    note_stop(tensor, "detach")
    tensor.node, tensor.output_nr, tensor.wants, tensor.own_record = None, 0, False, None
    return tensor


def get_data(tensor: Tensor) -> Tensor:
    """The same memory outside the graph, with a version counter of its own."""
    return shared(tensor, ".data")


def shared(tensor: Tensor, kind: str) -> Tensor:
    """A tensor without history on the memory of another."""
    note_stop(tensor, kind)
    result = Tensor(tensor.array.view())
    result.origin = tensor if tensor.origin is None else tensor.origin
    return result


def note_stop(tensor: Tensor, kind: str) -> None:
    """Tell the tracer that a value which depends on a leaf is a constant from here on."""
    if state.tracer is not None and tensor.record() is not None:
        state.tracer.stop(kind)


def set_data(tensor: Tensor, new: Any) -> None:
    """`tensor.data = new`: from now on the tensor is on the memory of `new`; nothing is counted as a write."""
    if not isinstance(new, Tensor):
        raise ArgumentError(f"Variable data has to be a tensor, but got {type(new).__name__}")
    if tensor.wants and not new.is_floating:
        raise DtypeError("data set to a tensor that requires gradients must be floating point or complex dtype")
    old, value = tensor.value, new.array.view()
    if old.shape != value.shape or old.dtype != value.dtype:
        tensor._accumulator = None
    tensor.value = value
    tensor.version.move(old, value, inputs_only=True)
    if state.tracer is not None:
        overwrite(tensor)
        tensor.own_record = None


def numpy(tensor: Tensor, *, force: bool = False) -> Any:
    """The memory as a numpy array."""
    if tensor.asks and not force:
        raise AutogradError(NO_NUMPY, hint="write x.detach().numpy()")
    return tensor.array


def variable(data: Any = None, requires_grad: Any = False, volatile: Any = None) -> Tensor:
    """Variable(tensor): a new leaf on the same memory, its flag as given."""
    if volatile is not None:
        state.warn(VOLATILE_SET, UserWarning)
    if data is None:
        return Tensor(np.empty(0))
    if not isinstance(data, Tensor):
        raise ArgumentError(f"Variable data has to be a tensor, but got {type(data).__name__}", hint="write torch.tensor(...)")
    made = shared(data, "Variable") if data.wants else Tensor(data.array.view())
    return require_grad(made, True) if requires_grad else made


VOLATILE_GET = "volatile was removed (Variable.volatile is always False)"
VOLATILE_SET = "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."


def get_volatile(tensor: Tensor) -> bool:
    state.warn(VOLATILE_GET, UserWarning)
    return False


def set_volatile(tensor: Tensor, value: Any) -> None:
    state.warn(VOLATILE_SET, UserWarning)
