"""Types as values: what `type(x)` gives, what `isinstance` and `except` take."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.function import Context, Function, FunctionNode
from gradcli.engine.module import parameter
from gradcli.engine.node import Node
from gradcli.engine.parameters import is_parameter
from gradcli.engine.plain_layers import Plain
from gradcli.engine.tensor import Tensor
from gradcli.errors import builtin_name
from gradcli.interpreter.values import BoundMethod, Kind, LazyIterator, Size, module

EXCEPTIONS: dict[str, Kind] = {
    cls.__name__: Kind(cls.__name__, (cls,), cls)
    for cls in (
        Exception, ArithmeticError, AssertionError, AttributeError, ImportError, IndexError, KeyError, LookupError, NameError,
        NotImplementedError, OverflowError, RuntimeError, StopIteration, TypeError, UnboundLocalError, UserWarning, ValueError, Warning,
        ZeroDivisionError, FutureWarning, DeprecationWarning, FloatingPointError,
    )
}  # fmt: skip

PLAIN: dict[type, Kind] = {
    type(None): Kind("NoneType", (type(None),)),
    slice: Kind("slice", (slice,)),
    types.FunctionType: Kind("function", (types.FunctionType,)),
    types.BuiltinFunctionType: Kind("builtin_function_or_method", (types.BuiltinFunctionType, BoundMethod)),
    BoundMethod: Kind("builtin_function_or_method", (types.BuiltinFunctionType, BoundMethod)),
    module: Kind("module", (module,)),
    Kind: Kind("type", (Kind,)),
    type(Ellipsis): Kind("ellipsis", (type(Ellipsis),)),
    types.NotImplementedType: Kind("NotImplementedType"),
}
"""Kinds that have no name in the language."""

SIZE = Kind("torch.Size", (Size,), lambda sizes=(): Size(sizes))
DTYPE = Kind("torch.dtype", (np.dtype,))
PARAMETER = Kind("torch.nn.parameter.Parameter", (Tensor,), parameter, test=is_parameter)


LAYERS: dict[str, Kind] = {}
"""Kinds of layers that have no class of their own, by name."""


def add_layer(name: str, kind: Kind) -> Kind:
    LAYERS[name] = kind
    return kind


def add_kind(cls: type, kind: Kind) -> Kind:
    PLAIN[cls] = kind
    return kind


def kind_of(value: Any) -> Kind:
    """`type(value)`."""
    found = PLAIN.get(type(value))
    if found is not None:
        return PARAMETER if is_parameter(value) else found
    if isinstance(value, Node):
        return Kind(f"torch.autograd.function.{value.name}" if isinstance(value, FunctionNode) else value.name, (type(value),))
    if isinstance(value, Plain):
        return LAYERS[value.name]
    if isinstance(value, np.dtype):
        return DTYPE
    if isinstance(value, Size):
        return SIZE
    if isinstance(value, tuple):
        return Kind(f"torch.return_types.{type(value).__name__}", (type(value),))
    if isinstance(value, BaseException):
        return EXCEPTIONS.get(builtin_name(value)) or Kind(builtin_name(value), (type(value),))
    if isinstance(value, LazyIterator):
        return Kind(value.kind)
    if isinstance(value, type) and issubclass(value, Function):
        return Kind("torch.autograd.function.FunctionMeta", (type(Function),))
    if isinstance(value, Context):
        return Kind(f"torch.autograd.function.{value.name}", (Context,))
    return Kind(type(value).__name__, (type(value),))


def is_instance(value: Any, kinds: Any) -> bool:
    """`isinstance(value, kinds)`."""
    if isinstance(kinds, tuple):
        return any(is_instance(value, kind) for kind in kinds)
    if isinstance(kinds, type) and issubclass(kinds, Function):
        return False
    if not isinstance(kinds, Kind):
        raise TypeError("isinstance() arg 2 must be a type, a tuple of types, or a union")
    if isinstance(value, Node):
        return kinds.shown == value.name or Node in kinds.classes
    return isinstance(value, kinds.classes) and (kinds.test is None or kinds.test(value))


def is_subclass(kind: Any, kinds: Any) -> bool:
    """`issubclass(kind, kinds)`."""
    if isinstance(kinds, tuple):
        return any(is_subclass(kind, k) for k in kinds)
    if isinstance(kind, type) and isinstance(kinds, type):
        return issubclass(kind, kinds)
    if not isinstance(kind, (Kind, type)) or not isinstance(kinds, (Kind, type)):
        raise TypeError("issubclass() arg 1 must be a class")
    if isinstance(kind, type) or isinstance(kinds, type):
        return False
    return kind == kinds or any(issubclass(a, b) for a in kind.classes for b in kinds.classes)


def exception_classes(wanted: Any) -> tuple[type[BaseException], ...] | None:
    """The Python classes that an except clause names; None when it names something else."""
    kinds = wanted if isinstance(wanted, tuple) else (wanted,)
    classes: list[type[BaseException]] = []
    for kind in kinds:
        if not isinstance(kind, Kind) or not kind.classes or not all(issubclass(c, BaseException) for c in kind.classes):
            return None
        classes.extend(kind.classes)
    return tuple(classes)


def exception_from(value: Any) -> BaseException:
    """What `raise value` raises."""
    if isinstance(value, Kind) and exception_classes(value) is not None:
        value = value()
    if not isinstance(value, BaseException):
        raise TypeError("exceptions must derive from BaseException")
    return value


def tensor_kind(make: Callable[..., Any]) -> Kind:
    """`torch.Tensor`."""
    return add_kind(Tensor, Kind("torch.Tensor", (Tensor,), make))
