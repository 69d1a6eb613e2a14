"""Methods of tensors, from the catalogue of operations: `x.sin()`, and in place `x.sin_()`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradcli.engine.apply import apply
from gradcli.engine.inplace import check_fits, inplace
from gradcli.engine.tensor import Tensor
from gradcli.errors import MissingAttributeError
from gradcli.ops.catalogue import METHODS, call
from gradcli.ops.operation import Operation
from gradcli.ops.structure import Copy


class Deferred:
    """Stands for a tensor and keeps the operation that a function would apply to it, instead of applying it."""

    __operation_priority__ = 3

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor
        self.shape, self.ndim, self.dtype = tensor.shape, tensor.ndim, tensor.dtype

    def __operation__(self, op: Operation, args: tuple[Any, ...]) -> tuple[Operation, tuple[Any, ...]]:
        return op, args


def is_tensor(value: Any) -> bool:
    return isinstance(value, (Tensor, Deferred))


def find(name: str) -> Callable[..., Any] | None:
    """The function behind a method name, taking the tensor first; a trailing underscore writes in place. None where there is none."""
    function = METHODS.get(name)
    if function is not None:
        return partial(_call, name, function)
    if name.endswith("_") and name[:-1] in METHODS:
        return partial(_write, name, METHODS[name[:-1]])
    return None


def method(tensor: Tensor, name: str) -> Callable[..., Any]:
    """A method bound to its tensor; AttributeError when there is none of that name."""
    function = find(name)
    if function is None:
        raise MissingAttributeError(f"'Tensor' object has no attribute '{name}'")
    return partial(function, tensor)


def _call(name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return call(name, function, args, kwargs, is_tensor)


def _write(name: str, function: Callable[..., Any], target: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Apply the single operation of a function in place; what is made of several is computed and copied."""
    deferred = Deferred(target)
    planned = None
    try:
        planned = call(name, function, (deferred, *args), kwargs, is_tensor)
    except (TypeError, AttributeError):
        planned = None
    if isinstance(planned, tuple) and len(planned) == 2 and isinstance(planned[0], Operation) and planned[1][0] is deferred:
        op, (_, *others) = planned
        return inplace(op, target, *others) if not op.compares else _compare(op, target, others)
    result = call(name, function, (target, *args), kwargs, is_tensor)
    return inplace(Copy(), target, result if isinstance(result, Tensor) else Tensor(np.asarray(result)))


def _compare(op: Operation, target: Tensor, others: Sequence[Any]) -> Tensor:
    """A comparison in place: of what stood there before, nothing is left to differentiate."""
    found, written = apply(op, (target, *others)), Copy()
    check_fits(target, found.value)
    written.node = f"{type(op).__name__}Backward{int(isinstance(others[0], Tensor))}"
    return inplace(written, target, found)


def named(name: str) -> Callable[..., Any]:
    """The method of a name as the class has it."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        return type(self).method(self, name)(*args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


def furnish() -> None:
    """Give the class every method that it has not otherwise. A `__getattr__` would do the same, but with one Python looks up each
    attribute of a tensor five times slower."""
    for name in METHODS:
        for spelling in (name, f"{name}_"):
            if not hasattr(Tensor, spelling):
                setattr(Tensor, spelling, named(spelling))


Tensor.method = staticmethod(method)
"""Operators and rules reach the catalogue through the class: it cannot import this module, which is written with it."""
