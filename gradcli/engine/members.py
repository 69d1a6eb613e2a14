"""What a program can ask of a tensor by name, apart from the operations: properties, what can be assigned, methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.backward import backward
from gradcli.engine.hooks import (
    RemovableHandle,
    register_hook,
    register_node_hook,
    register_node_prehook,
    register_post_accumulate_grad_hook,
    retain_grad,
    watch,
)
from gradcli.engine.inplace import inplace
from gradcli.engine.methods import find
from gradcli.engine.methods import furnish as furnish_methods
from gradcli.engine.mode import state
from gradcli.engine.node import Node
from gradcli.engine.restride import RESTRIDING
from gradcli.engine.sharing import detach, detach_in_place, get_data, get_volatile, numpy, set_data, set_volatile
from gradcli.engine.tensor import Tensor, require_grad
from gradcli.errors import ArgumentError, AutogradError, DtypeError, ShapeError
from gradcli.ops.devices import CPU, STRIDED
from gradcli.ops.promotion import SCALAR_TYPES, scalar_type
from gradcli.ops.structure import Copy, Fill, Zero

GRAD_WARNING = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be populated during "
    "autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf "
    "Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead."
)


def get_grad(tensor: Tensor) -> Tensor | None:
    """`.grad`, with PyTorch's warning on a result that does not keep it."""
    if tensor._grad is None and not tensor.retained and tensor.grad_fn is not None:
        state.warn_once("grad of a non-leaf", GRAD_WARNING)
    return tensor._grad


def set_grad(tensor: Tensor, value: Any) -> None:
    """`.grad = value`, checked as PyTorch checks it."""
    if value is None:
        tensor._grad = None
        return
    if not isinstance(value, Tensor):
        raise ArgumentError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
    if value is tensor:
        raise AutogradError("can't assign Variable as its own grad")
    if value.dtype != tensor.dtype:
        raise DtypeError(
            f"attempting to assign a gradient with dtype '{C_NAMES.get(value.dtype.name, value.dtype.name)}' to a tensor with grad_dtype "
            f"'{C_NAMES.get(tensor.dtype.name, tensor.dtype.name).title()}'. The gradient must match the tensor's grad_dtype (defaults to "
            "the tensor's dtype). You can set the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set "
            "grad_dtype with caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume they "
            "match."
        )
    if value.shape != tensor.shape:
        raise ShapeError(
            f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size '{list(tensor.shape)}'. "
            "Please ensure that the gradient and the tensor are the same size"
        )
    tensor._grad = value


C_NAMES = {"float64": "double", "float32": "float", "float16": "half", "int64": "long"}
"""What PyTorch calls a dtype in that message."""


def get_version(tensor: Tensor) -> int:
    if tensor.untracked:
        raise AutogradError("Inference tensors do not track version counter.")
    return tensor.version.count


def call_backward(
    tensor: Tensor, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
) -> None:
    """`tensor.backward(...)`."""
    backward(tensor, gradient, retain_graph, create_graph, inputs=inputs)


call_backward.__qualname__ = "Tensor.backward"  # what Python calls it where an argument does not fit


def set_requires_grad(tensor: Tensor, value: Any) -> None:
    """`tensor.requires_grad = value`."""
    require_grad(tensor, value)


def require(tensor: Tensor, requires_grad: bool = True) -> Tensor:
    """`tensor.requires_grad_()`."""
    if requires_grad is True and not tensor.is_floating:
        raise DtypeError("only Tensors of floating point dtype can require gradients", hint="make it floating first: .double()")
    return require_grad(tensor, requires_grad)


def zero(tensor: Tensor) -> Tensor:
    return inplace(Zero(), tensor)


def fill(tensor: Tensor, value: Any) -> Tensor:
    return inplace(Fill(form=3 if isinstance(value, Tensor) else 2), tensor, value)


def copy(tensor: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    if not isinstance(src, Tensor):
        raise ArgumentError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
    return inplace(Copy(), tensor, src)


def drawn(draw: Callable[..., Any]) -> Callable[..., Tensor]:
    """A method that overwrites a tensor with random numbers: its history ends there."""

    def method(tensor: Tensor, *args: Any, **options: Any) -> Tensor:
        options.pop("generator", None)
        values = np.asarray(draw(tensor.shape, *args, **options)).astype(tensor.dtype)
        return inplace(Copy(), tensor, Tensor(values))

    return method


def uniform(shape: tuple[int, ...], a: float = 0.0, b: float = 1.0) -> Any:
    return state.rng.uniform(a, b, shape)


def normal(shape: tuple[int, ...], mean: float = 0.0, std: float = 1.0) -> Any:
    return state.rng.normal(mean, std, shape)


def exponential(shape: tuple[int, ...], lambd: float = 1.0) -> Any:
    return state.rng.exponential(1 / lambd, shape)


def bernoulli(shape: tuple[int, ...], p: Any = 0.5) -> Any:
    return state.rng.random(shape) < getattr(p, "value", p)


def integers(shape: tuple[int, ...], *bounds: int) -> Any:
    low, high = (0, *bounds) if len(bounds) == 1 else bounds or (0, 2**53)
    return state.rng.integers(low, high, shape)


RANDOM: dict[str, Callable[..., Tensor]] = {
    "uniform_": drawn(uniform),
    "normal_": drawn(normal),
    "exponential_": drawn(exponential),
    "bernoulli_": drawn(bernoulli),
    "random_": drawn(integers),
}


def type_(tensor: Tensor, dtype: Any = None) -> Any:
    """Its class as a string, or itself in another dtype."""
    if dtype is None:
        return f"torch.{scalar_type(tensor)}Tensor"
    if isinstance(dtype, str):
        by_name = {f"torch.{name}Tensor": kind for kind, name in SCALAR_TYPES.items()}
        if dtype not in by_name:
            raise DtypeError(f"invalid type: '{dtype}'")
        dtype = np.dtype(by_name[dtype])
    return tensor.to(dtype)


def strides(tensor: Tensor) -> tuple[int, ...]:
    value = np.asarray(tensor.value)
    return tuple(s // value.itemsize for s in value.strides)


def stride(tensor: Tensor, dim: int | None = None) -> Any:
    return strides(tensor) if dim is None else strides(tensor)[dim]


def is_contiguous(tensor: Tensor) -> bool:
    return bool(np.asarray(tensor.value).flags.c_contiguous)


def function_property(name: str) -> Callable[[Tensor], Any]:
    """A property that is a function of the catalogue: `x.T`."""

    def read(tensor: Tensor) -> Any:
        function = find(name)
        assert function is not None
        return function(tensor)

    return read


def matrix_property(name: str) -> Callable[[Tensor], Any]:
    """`x.H` and `x.mH`: transposed and conjugated."""

    def read(tensor: Tensor) -> Any:
        if name == "H" and tensor.ndim != 2:
            raise ShapeError(f"tensor.H is only supported on matrices (2-D tensors). Got {tensor.ndim}-D tensor.")
        swapped = tensor.transpose(-2, -1)
        return swapped.conj() if tensor.value.dtype.kind == "c" else swapped

    return read


def set_part(part: str) -> Callable[[Tensor, Any], None]:
    """`z.real = x` writes through the view of the real parts."""
    read = function_property(part)

    def write(tensor: Tensor, value: Any) -> None:
        read(tensor).copy_(value)

    return write


PROPERTIES: dict[str, Callable[[Tensor], Any]] = {
    "data": get_data,
    "grad": get_grad,
    "grad_fn": lambda t: t.grad_fn,
    "is_leaf": lambda t: t.is_leaf,
    "requires_grad": lambda t: t.asks,
    "retains_grad": lambda t: t.retained,
    "output_nr": lambda t: t.output_nr,
    "volatile": get_volatile,
    "_version": get_version,
    "_base": lambda t: t.shares.base if t.shares is not None else None,
    "_grad": lambda t: t._grad,
    "_grad_fn": lambda t: t.grad_fn,
    "dtype": lambda t: t.dtype,
    "ndim": lambda t: t.ndim,
    "itemsize": lambda t: t.dtype.itemsize,
    "nbytes": lambda t: t.size_ * t.dtype.itemsize,
    "device": lambda t: CPU,
    "layout": lambda t: STRIDED,
    "is_cpu": lambda t: True,
    "is_cuda": lambda t: False,
    "is_sparse": lambda t: False,
    "is_quantized": lambda t: False,
    "T": function_property("reverse_axes"),
    "mT": function_property("matrix_transpose"),
    "H": matrix_property("H"),
    "mH": matrix_property("mH"),
    "real": function_property("real"),
    "imag": function_property("imag"),
}

SETTERS: dict[str, Callable[[Tensor, Any], None]] = {
    "data": set_data,
    "grad": set_grad,
    "requires_grad": set_requires_grad,
    "volatile": set_volatile,
    "real": set_part("real"),
    "imag": set_part("imag"),
}

METHODS: dict[str, Callable[..., Any]] = {
    "backward": call_backward,
    "detach": detach,
    "detach_": detach_in_place,
    "register_hook": register_hook,
    "register_post_accumulate_grad_hook": register_post_accumulate_grad_hook,
    "retain_grad": retain_grad,
    "requires_grad_": require,
    "numpy": numpy,
    "item": lambda t: t.item(),
    "tolist": lambda t: t.tolist(),
    "zero_": zero,
    "fill_": fill,
    "copy_": copy,
    "numel": lambda t: t.size_,
    "nelement": lambda t: t.size_,
    "dim": lambda t: t.ndim,
    "ndimension": lambda t: t.ndim,
    "is_inference": lambda t: t.untracked,
    "_is_view": lambda t: t.shares is not None,
    "is_contiguous": is_contiguous,
    "is_floating_point": lambda t: t.value.dtype.kind == "f",
    "is_complex": lambda t: t.value.dtype.kind == "c",
    "is_signed": lambda t: t.value.dtype.kind not in "bu",
    "is_same_size": lambda t, other: t.shape == other.shape,
    "element_size": lambda t: t.dtype.itemsize,
    "stride": stride,
    "storage_offset": lambda t: 0,
    "data_ptr": lambda t: t.array.__array_interface__["data"][0],
    "type": type_,
    "cpu": lambda t: t,
    "cuda": lambda t, device="cuda", **options: t.to(device),
    "share_memory_": lambda t: t,
    **RANDOM,
    **RESTRIDING,
}

NODE_PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "next_functions": lambda n: n.next_functions,
    "variable": lambda n: n.variable,
    "metadata": lambda n: watch(n).metadata,
}

NODE_METHODS: dict[str, Callable[..., Any]] = {
    "name": lambda n: n.full_name,
    "register_hook": register_node_hook,
    "register_prehook": register_node_prehook,
}

HANDLE_METHODS: dict[str, Callable[..., Any]] = {"remove": RemovableHandle.remove}


def furnish() -> None:
    """Give the class Tensor what it has not of its own: programs go by the tables, Python by the class."""
    own = {name for cls in Tensor.__mro__[:-1] for name in vars(cls)}
    for name, read in PROPERTIES.items():
        if name not in own:
            setattr(Tensor, name, property(read, SETTERS.get(name)))
    for name, method in METHODS.items():
        if name not in own:
            setattr(Tensor, name, method)
    furnish_methods()


furnish()

__all__ = ["HANDLE_METHODS", "METHODS", "NODE_METHODS", "NODE_PROPERTIES", "PROPERTIES", "SETTERS", "Node"]
