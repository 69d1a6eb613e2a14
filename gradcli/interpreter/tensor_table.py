"""The attributes and methods of tensors that programs can name."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from gradcli.engine.methods import find
from gradcli.engine.tensor import Tensor, require_grad
from gradcli.interpreter.attributes import Table
from gradcli.interpreter.namespaces import INPLACE
from gradcli.interpreter.values import Size
from gradcli.ops.catalogue import METHODS

READABLE = (
    "H", "T", "data", "device", "dtype", "grad", "grad_fn", "imag", "is_cpu", "is_cuda", "is_leaf", "itemsize", "layout", "mH", "mT",
    "names",
    "nbytes", "ndim", "output_nr", "real", "requires_grad", "retains_grad", "volatile", "_base", "_version",
)  # fmt: skip

WRITABLE = ("data", "grad", "requires_grad", "volatile", "names")

ENGINE_METHODS = (
    "apply_", "backward", "bool", "byte", "char", "clone", "contiguous", "copy_", "cpu", "cuda", "data_ptr", "detach", "detach_", "dim",
    "double",
    "element_size", "exponential_", "fill_", "float", "half", "index_put_", "int", "is_complex", "is_contiguous", "is_floating_point",
    "is_inference", "item", "long", "ndimension", "new_empty", "new_full", "new_ones", "new_tensor", "new_zeros", "normal_", "numel",
    "numpy",
    "random_", "register_hook", "register_post_accumulate_grad_hook", "requires_grad_", "resize_", "retain_grad", "set_", "short", "size",
    "squeeze_", "stride", "storage_offset", "swapaxes_", "swapdims_", "t_", "to", "tolist", "transpose_", "type", "type_as", "uniform_",
    "unsqueeze_", "view_as", "zero_", "nelement", "bernoulli_", "cfloat", "cdouble", "is_same_size", "expand_as", "reshape_as",
    "share_memory_",
)  # fmt: skip


def shape(tensor: Tensor) -> Size:
    return Size(tensor.shape)


def size(tensor: Tensor, dim: int | None = None) -> Any:
    """The shape, or the length of one dimension."""
    sizes = Size(tensor.shape)
    if dim is None:
        return sizes
    if not -len(sizes) <= dim < len(sizes):
        low, high = -max(len(sizes), 1), max(len(sizes), 1) - 1
        raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")
    return sizes[dim]


OWN_PROPERTIES: dict[str, Callable[[Any], Any]] = {"shape": shape}
OWN_METHODS: dict[str, Callable[..., Any]] = {"size": size}
"""What is defined here because it gives a value of the language's own."""


def methods() -> dict[str, Callable[..., Any]]:
    """The catalogue's methods, their in-place forms, and those of the engine."""
    table: dict[str, Callable[..., Any]] = {}
    for name in METHODS:
        if "." not in name:
            table[name] = found(name)
            if name in INPLACE:
                table[f"{name}_"] = found(f"{name}_")
    for name in ENGINE_METHODS:
        method = vars(Tensor).get(name)
        if callable(method):
            table[name] = method
    return {**table, **OWN_METHODS}


def found(name: str) -> Callable[..., Any]:
    function = find(name)
    assert function is not None
    return function


def properties() -> dict[str, Callable[[Any], Any]]:
    known = [name for name in READABLE if hasattr(Tensor, name)]
    return {**{name: attrgetter(name) for name in known}, **OWN_PROPERTIES}


def setters() -> dict[str, Callable[[Any, Any], None]]:
    def setter(name: str) -> Callable[[Any, Any], None]:
        return lambda tensor, value: setattr(tensor, name, value)

    made = {name: setter(name) for name in WRITABLE if hasattr(Tensor, name)}
    return {**made, "requires_grad": set_requires_grad}


def set_requires_grad(tensor: Tensor, value: Any) -> None:
    if not isinstance(value, bool):
        raise RuntimeError("requires_grad must be a bool")
    require_grad(tensor, value)


TENSOR_TABLE = Table("Tensor", properties(), methods(), setters())
