"""torch.nn.init and torch.nn.utils: first values of parameters, and what is done to many parameters at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gradcli.engine.inplace import inplace
from gradcli.engine.mode import recording, state
from gradcli.engine.module import Module
from gradcli.engine.sharing import variable
from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError, AutogradError, DataError
from gradcli.ops.catalogue import FUNCTIONS
from gradcli.ops.structure import Copy

GAINS = {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}


def write(tensor: Tensor, values: Any) -> Tensor:
    """Overwrite a tensor, outside the graph."""
    with recording(False):
        return inplace(Copy(), tensor, Tensor(np.broadcast_to(np.asarray(values, tensor.dtype), tensor.shape)))


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """How much a layer before a nonlinearity should spread its values."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))
    return GAINS.get(nonlinearity, 1.0)


def fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs come to an output of a layer, and how many outputs an input goes to."""
    if tensor.ndim < 2:
        raise DataError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def fan(tensor: Tensor, mode: str) -> int:
    if mode not in ("fan_in", "fan_out"):
        raise DataError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return fans(tensor)[mode == "fan_out"]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    return write(tensor, state.rng.uniform(a, b, tensor.shape))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    return write(tensor, state.rng.normal(mean, std, tensor.shape))


def constant_(tensor: Tensor, val: float) -> Tensor:
    return write(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    return write(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    return write(tensor, 0.0)


def eye_(tensor: Tensor) -> Tensor:
    if tensor.ndim != 2:
        raise DataError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    return write(tensor, np.eye(rows, columns))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    bound = gain * math.sqrt(6.0 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(fans(tensor))))


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3.0 / fan(tensor, mode))
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Tensor:
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(fan(tensor, mode)))


INITIAL: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        calculate_gain, uniform_, normal_, constant_, ones_, zeros_, eye_, xavier_uniform_, xavier_normal_, kaiming_uniform_,
        kaiming_normal_,
    )
}  # fmt: skip


def asked(parameters: Any) -> list[Tensor]:
    """The parameters that have a gradient."""
    given: Iterable[Tensor] = [parameters] if isinstance(parameters, Tensor) else parameters
    return [p for p in given if p._grad is not None]


def total_norm(tensors: Any, norm_type: float, *, error_if_nonfinite: bool) -> float:
    """The norm of all elements of several tensors together."""
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norms = [np.linalg.norm(np.ravel(t.value), norm_type) for t in given]
    total = float(np.linalg.norm(norms, norm_type)) if norms else 0.0
    if error_if_nonfinite and not math.isfinite(total):
        raise AutogradError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is non-finite, so it cannot be clipped. "
            "To disable this error and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


def get_total_norm(tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None) -> Tensor:
    """The norm of all elements of several tensors together."""
    return Tensor(np.float64(total_norm(tensors, norm_type, error_if_nonfinite=error_if_nonfinite)))


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """Shrink all gradients together so that their common norm is at most `max_norm`; gives the norm that they had."""
    holders = asked(parameters)
    total = total_norm([p.grad for p in holders], norm_type, error_if_nonfinite=error_if_nonfinite)
    factor = min(1.0, max_norm / (total + 1e-6))
    for p in holders:
        assert p.grad is not None
        write(p.grad, np.asarray(p.grad.value) * factor)
    return Tensor(np.float64(total))


def clip_grad_value_(parameters: Any, clip_value: float, **options: Any) -> None:
    """Clamp every element of every gradient."""
    for p in asked(parameters):
        assert p.grad is not None
        write(p.grad, np.clip(np.asarray(p.grad.value), -clip_value, clip_value))


def parameters_to_vector(parameters: Iterable[Tensor]) -> Any:
    """All parameters, one after the other, as one vector."""
    return FUNCTIONS["cat"]([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Take the values of parameters from one vector."""
    place = 0
    for p in parameters:
        p.data = vec[place : place + p.size_].reshape(p.shape).data
        place += p.size_


UTILS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (get_total_norm, clip_grad_norm_, clip_grad_value_, parameters_to_vector, vector_to_parameters)
}


def stack_module_state(models: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """torch.func.stack_module_state: the parameters, and the buffers, of modules of one kind, each as one tensor with an axis more."""
    models = list(models)
    if not models:
        raise AutogradError("stack_module_state: Expected at least one model, got 0.")
    if len({m.training for m in models}) > 1:
        raise AutogradError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({m.name for m in models}) > 1:
        raise AutogradError("stack_module_state: Expected all models to be of the same class.")
    parameters, buffers = ([dict(named(m)) for m in models] for named in (Module.named_parameters, Module.named_buffers))
    return stacked(parameters), stacked(buffers)


def stacked(tables: list[dict[str, Tensor]]) -> dict[str, Any]:
    """The tensors of each name as one leaf."""
    return {
        name: variable(FUNCTIONS["stack"]([table[name] for table in tables]).detach(), first.requires_grad)
        for name, first in tables[0].items()
    }


def functional_call(module: Module, parameter_and_buffer_dicts: Any, args: Any = (), kwargs: Any = None, **options: Any) -> Any:
    """torch.func.functional_call: the module called with other tensors in the place of its parameters and buffers."""
    dicts = parameter_and_buffer_dicts if isinstance(parameter_and_buffer_dicts, (tuple, list)) else (parameter_and_buffer_dicts,)
    if not isinstance(module, Module):
        raise ArgumentError(f"functional_call(): argument 'module' (position 1) must be torch.nn.Module, not {type(module).__name__}")
    for d in dicts:
        if not isinstance(d, dict):
            raise ArgumentError(f"functional_call(): parameters must be in a dict, name to Tensor, not {type(d).__name__}")
    given = {path: value for d in dicts for path, value in d.items()}
    modules = dict(module.named_modules())
    before = []
    try:
        for path, value in given.items():
            owner, _, name = path.rpartition(".")
            if owner not in modules or name not in modules[owner].names():
                continue
            table = modules[owner].buffered if name in modules[owner].buffered else modules[owner].held
            before.append((table, name, table[name]))
            table[name] = value
        return module(*(args if isinstance(args, tuple) else (args,)), **(kwargs or {}))
    finally:
        for table, name, value in before:
            table[name] = value
