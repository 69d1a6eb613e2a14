"""The catalogue's functions as programs call them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from gradcli.engine.methods import find, is_tensor
from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError
from gradcli.interpreter.faults import wants_tensor
from gradcli.ops.accepted import fitted
from gradcli.ops.catalogue import FUNCTIONS, METHODS, call

IN_PLACE = frozenset(
    {"relu", "relu6", "leaky_relu", "elu", "selu", "celu", "silu", "mish", "hardtanh", "hardswish", "hardsigmoid", "threshold", "rrelu"}
)
"""The activations that take `inplace=True`."""

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def public(name: str, function: Callable[..., Any], bound: int = 0) -> Callable[..., Any]:
    """A function whose calls are explained when they do not fit, and that takes NumPy's and PyTorch's spellings.

    A call that obviously fits (positional arguments in the right number, a tensor first) goes straight through.
    """

    def operation(*args: Any, **kwargs: Any) -> Any:
        try:
            if args and not kwargs and type(args[0]) is Tensor and len(args) in positional(function):
                return function(*(args if len(args) == 1 else fitted(name, function, args, kwargs, bound)[0]))
            if name in IN_PLACE:
                args, inplace = in_place(function, args, kwargs)
                if inplace:
                    write = find(f"{name}_")
                    assert write is not None
                    return write(*args, **kwargs)
            return call(name, function, args, kwargs, is_tensor, bound)
        except AttributeError as error:
            if wants_tensor(error):
                raise no_tensor(name, function, error.obj, args) from None
            raise

    operation.__name__ = operation.__qualname__ = name.rpartition(".")[2]
    return operation


def in_place(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], bool]:
    """The arguments without `inplace`, which PyTorch takes behind all others, and what it is."""
    if "inplace" in kwargs:
        return args, bool(kwargs.pop("inplace"))
    if len(args) == positional(function).stop and isinstance(args[-1], bool):
        return args[:-1], args[-1]
    return args, False


def no_tensor(name: str, function: Callable[..., Any], value: Any, args: tuple[Any, ...]) -> ArgumentError:
    """What PyTorch says of a plain value where a tensor belongs."""
    names = list(inspect.signature(function).parameters)
    position = next((k for k, arg in enumerate(args[: len(names)]) if arg is value), None)
    where = "an argument" if position is None else f"argument '{names[position]}' (position {position + 1})"
    return ArgumentError(f"{name.rpartition('.')[2]}(): {where} must be Tensor, not {type(value).__name__}", hint="write torch.tensor(...)")


@cache
def positional(function: Callable[..., Any]) -> range:
    """With how many positional arguments a function can be called: to look at its signature takes several times the operation itself."""
    parameters = list(inspect.signature(function).parameters.values())
    if any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in parameters):
        return range(0)
    least = sum(p.kind in POSITIONAL and p.default is p.empty for p in parameters)
    most = sum(p.kind in POSITIONAL for p in parameters)
    return range(least, 1_000_000 if any(p.kind is p.VAR_POSITIONAL for p in parameters) else most + 1)


OPERATIONS: dict[str, Callable[..., Any]] = {name: public(name, function) for name, function in FUNCTIONS.items()}
"""By the catalogue's name; "linalg.norm" where a module has its own."""

METHOD_OPERATIONS: dict[str, Callable[..., Any]] = {name: public(name, function, 1) for name, function in METHODS.items()}
"""Those whose first argument is the tensor."""
