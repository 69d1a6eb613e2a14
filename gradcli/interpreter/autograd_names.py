"""The names of the engine: tensors from data, modes, backward and grad, Function."""

from __future__ import annotations

from typing import Any

from gradcli import engine
from gradcli.engine import mode
from gradcli.engine.function import Function
from gradcli.engine.tensor import Tensor, require_grad
from gradcli.errors import ArgumentError
from gradcli.interpreter.creation import CREATION, FLOAT, legacy_tensor
from gradcli.interpreter.kinds import tensor_kind
from gradcli.interpreter.warner import Warner

Members = dict[str, Any]

MODES: Members = {
    "no_grad": mode.no_grad,
    "enable_grad": mode.enable_grad,
    "set_grad_enabled": mode.set_grad_enabled,
    "inference_mode": mode.inference_mode,
    "is_grad_enabled": lambda: mode.state.grad,
    "is_inference_mode_enabled": lambda: mode.state.inference,
}

TENSOR_KIND = tensor_kind(legacy_tensor)


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """torch.autograd.backward."""
    if grad_variables is not None:
        mode.state.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise RuntimeError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`.")
        grad_tensors = grad_variables
    engine.backward(tensors, grad_tensors, retain_graph, create_graph, inputs)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> Any:
    """torch.autograd.grad."""
    if not only_inputs:
        mode.state.warn("only_inputs argument is deprecated and is ignored now (defaults to True).", FutureWarning)
    return engine.grad(outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads)


def variable(data: Any, requires_grad: bool = False) -> Tensor:
    """Variable(tensor): a new leaf on the same memory, its flag as given."""
    if not isinstance(data, Tensor):
        raise ArgumentError(f"Variable data has to be a tensor, but got {type(data).__name__}")
    made = Tensor(data.array if data.ndim == 0 else data.value)
    return require_grad(made, True) if requires_grad else made


def once_differentiable(function: Any) -> Any:
    """A backward that is not itself differentiated."""

    def once(*args: Any) -> Any:
        with mode.no_grad():
            return function(*args)

    return once


def compiled(function: Any = None, **options: Any) -> Any:
    """torch.compile: the function as it is, called or as a decorator."""
    return (lambda f: f) if function is None else function


def is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor)


def tensor_names(warner: Warner) -> Members:
    """What the engine adds to `torch` itself."""
    return {
        **CREATION, **MODES, "Tensor": TENSOR_KIND, "DoubleTensor": TENSOR_KIND, "is_tensor": is_tensor, "compile": compiled,
        "set_default_dtype": set_default_dtype, "get_default_dtype": lambda: FLOAT,
    }  # fmt: skip


def set_default_dtype(dtype: Any) -> None:
    """The default is float64 and stays so."""
    if dtype != FLOAT:
        mode.state.warn("the default dtype of gradcli is float64; give dtype=torch.float32 where single precision matters", UserWarning)


def autograd_members(names: Members) -> dict[str, Members]:
    """The modules around autograd, by their full names."""
    autograd = {
        "backward": backward, "grad": grad, "Function": Function, "Variable": variable,
        **{name: names[name] for name in ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode")},
    }  # fmt: skip
    return {
        "torch.autograd": autograd,
        "torch.autograd.function": {"Function": Function, "once_differentiable": once_differentiable},
        "torch.autograd.functional": {},
        "torch.autograd.forward_ad": {},
        "torch.autograd.gradcheck": {},
        "torch.autograd.graph": {},
        "torch.func": {},
        "torch.optim": {},
        "torch.utils": {},
        "torch.utils.checkpoint": {},
        "torchviz": {},
    }
