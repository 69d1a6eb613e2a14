"""copy.copy and copy.deepcopy of tensors, of what holds them, and of modules."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine.module import Module, parameter
from gradcli.engine.parameters import is_parameter
from gradcli.engine.tensor import Tensor
from gradcli.errors import AutogradError

LEAVES_ONLY = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were attempting to "
    "deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
)


def deepcopy(x: Any, memo: dict[int, Any] | None = None) -> Any:
    """The same value of new parts; what occurs twice is copied once. Numbers, words and functions stay."""
    memo = {} if memo is None else memo
    if id(x) not in memo:
        memo[id(x)] = x  # what holds itself
        memo[id(x)] = _copied(x, memo)
    return memo[id(x)]


def _copied(x: Any, memo: dict[int, Any]) -> Any:
    if isinstance(x, Tensor):
        return tensor_copy(x, memo)
    if isinstance(x, Module):
        return module_copy(x, memo)
    if isinstance(x, dict):
        return type(x)((deepcopy(key, memo), deepcopy(value, memo)) for key, value in x.items())
    if type(x) in (list, tuple, set):
        return type(x)(deepcopy(part, memo) for part in x)
    return x


def tensor_copy(x: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf on memory of its own, with its gradient."""
    if not x.is_leaf:
        raise AutogradError(LEAVES_ONLY, hint="copy x.detach().clone()")
    made = Tensor(np.array(x.value)[()])
    made = parameter(made, x.wants) if is_parameter(x) else made
    made.wants = x.wants
    made._grad = deepcopy(x._grad, memo) if x._grad is not None else None
    return made


def module_copy(x: Module, memo: dict[int, Any]) -> Module:
    """The same module with parameters, buffers and modules of its own."""
    made: Module = object.__new__(type(x))
    made.__dict__.update({name: deepcopy(value, memo) for name, value in x.__dict__.items()})
    return made


def copy(x: Any) -> Any:
    """The same parts in a new list, dict, set or module, a leaf on the same memory; anything else itself."""
    if isinstance(x, Tensor):
        leaf = x.detach()
        leaf.wants = x.wants
        return leaf
    if isinstance(x, Module):
        made: Module = object.__new__(type(x))
        made.__dict__.update({name: dict(value) if type(value) is dict else value for name, value in x.__dict__.items()})
        return made
    return type(x)(x) if isinstance(x, (list, dict, set)) else x
