"""Attributes: one table per kind of value. What is not in a table does not exist.

A table has `properties` (name -> function of the value), `methods` (name -> function whose first argument
is the value), `setters` and `deleters`. No attribute of a live object is ever looked up by a name that a
file gives.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcli.engine.function import Context, Function
from gradcli.engine.mode import state
from gradcli.engine.module import Module
from gradcli.engine.node import Node
from gradcli.engine.tensor import Tensor
from gradcli.errors import MissingAttributeError, UnsupportedError, builtin_name
from gradcli.interpreter.faults import placed
from gradcli.interpreter.values import BoundMethod, Kind, LazyIterator, Size, module
from gradcli.ops.missing import why_missing
from gradcli.syntax.spelling import did_you_mean

MISSING = object()

TO_LIST = "`gradcli ops --missing` lists the operations that are not there"

Getter = Callable[[Any], Any]


@dataclass
class Table:
    """The attributes of one kind of value; `shown` is what the message of AttributeError calls it.

    `other` looks for names that the value itself knows (members of a module, attributes of a ctx).
    """

    shown: str
    properties: dict[str, Getter] = field(default_factory=dict)
    methods: dict[str, Callable[..., Any]] = field(default_factory=dict)
    setters: dict[str, Callable[[Any, Any], None]] = field(default_factory=dict)
    deleters: dict[str, Callable[[Any], None]] = field(default_factory=dict)
    other: Callable[[Any, str], Any] | None = None
    set_other: Callable[[Any, str, Any], None] | None = None
    delete_other: Callable[[Any, str], None] | None = None
    names: Callable[[Any], list[str]] = lambda value: []

    def known(self, value: Any) -> list[str]:
        return [*self.properties, *self.methods, *self.setters, *self.names(value)]


TABLES: dict[type, Table] = {}
"""By exact class."""
FOUND: dict[type, Table] = {}
"""The table of every class met so far: classes that derive from one in `TABLES` share its table."""


def table_of(value: Any) -> Table:
    kind = type(value)
    table = FOUND.get(kind)
    if table is None:
        found = next((TABLES[base] for base in kind.__mro__ if base in TABLES), None)
        table = FOUND[kind] = Table(kind.__name__) if found is None else found
    return table


def find_method(value: Any, name: str) -> Callable[..., Any] | None:
    """The function behind `value.name(...)`, whose first argument is the value."""
    return table_of(value).methods.get(name)


def get_attribute(value: Any, name: str) -> Any:
    """`value.name`; AttributeError when the table has no such entry."""
    found = look_up(value, name)
    if found is MISSING:
        raise missing_attribute(value, name)
    return found


def look_up(value: Any, name: str) -> Any:
    table = table_of(value)
    getter = table.properties.get(name)
    if getter is not None:
        return getter(value)
    method = table.methods.get(name)
    if method is not None:
        return BoundMethod(value, name, method)
    return MISSING if table.other is None else table.other(value, name)


def static_attribute(value: Any, name: str) -> Any:
    """An attribute of a constant that can never change: a member of a module or of a type. Else MISSING."""
    return look_up(value, name) if isinstance(value, (module, Kind)) else MISSING


def missing_attribute(value: Any, name: str) -> BaseException:
    table = table_of(value)
    home = value.name if isinstance(value, module) else "torch.Tensor" if isinstance(value, Tensor) else ""
    reason = why_missing(home, name)
    if reason is not None:
        return UnsupportedError(f"PyTorch has {home}.{name}, gradcli has not: {reason}", state.span, hint=TO_LIST)
    if isinstance(value, module):
        text = f"module '{value.name}' has no attribute '{name}'"
    elif isinstance(value, Kind):
        text = f"type object '{value.name}' has no attribute '{name}'"
    else:
        text = f"'{shown_name(value, table)}' object has no attribute '{name}'"
    return placed(MissingAttributeError(text, hint=did_you_mean(name, table.known(value))), state.span)


def shown_name(value: Any, table: Table) -> str:
    if isinstance(value, Node):
        return value.name
    if isinstance(value, Module):
        return value.name
    return builtin_name(value) if isinstance(value, BaseException) else table.shown


def set_attribute(value: Any, name: str, new: Any) -> None:
    """`value.name = new`."""
    table = table_of(value)
    setter = table.setters.get(name)
    if setter is not None:
        setter(value, new)
    elif name in table.properties or name in table.methods:
        text = f"attribute '{name}' of '{table.shown}' objects is not writable"
        raise placed(MissingAttributeError(text), state.span)
    elif table.set_other is not None:
        table.set_other(value, name, new)
    else:
        raise missing_attribute(value, name)


def delete_attribute(value: Any, name: str) -> None:
    table = table_of(value)
    if name in table.deleters:
        table.deleters[name](value)
    elif table.delete_other is not None and name in table.names(value):
        table.delete_other(value, name)
    else:
        raise missing_attribute(value, name)


def member(value: Any, name: str) -> Any:
    """A member of a module or of a type."""
    return value.members.get(name, MISSING)


def context_attribute(ctx: Context, name: str) -> Any:
    return ctx.attributes.get(name, MISSING)


def set_context_attribute(ctx: Context, name: str, new: Any) -> None:
    ctx.attributes[name] = new


def delete_context_attribute(ctx: Context, name: str) -> None:
    del ctx.attributes[name]


def class_member(cls: type[Function], name: str) -> Any:
    """What the class statement of a user Function defined."""
    for base in cls.__mro__:
        if base is Function:
            break
        if name in base.__dict__:
            found = base.__dict__[name]
            return found.__func__ if isinstance(found, staticmethod) else found
    return MISSING


def add_tables(tables: dict[type, Table]) -> None:
    TABLES.update(tables)
    FOUND.clear()


add_tables(
    {
        module: Table("module", properties={"__name__": lambda m: m.name}, other=member, names=lambda m: list(m.members)),
        Kind: Table("type", properties={"__name__": lambda k: k.name}, other=member, names=lambda k: list(k.members)),
        types.FunctionType: Table("function", properties={"__name__": lambda f: f.__name__}),
        BoundMethod: Table("builtin_function_or_method", properties={"__name__": lambda m: m.name}),
        np.dtype: Table(
            "dtype",
            properties={
                "is_floating_point": lambda d: d.kind == "f",
                "is_complex": lambda d: d.kind == "c",
                "itemsize": lambda d: d.itemsize,
                "name": lambda d: d.name,
            },
        ),
        Size: Table("torch.Size", methods={"numel": Size.numel, "count": tuple.count, "index": tuple.index}),
        LazyIterator: Table("iterator"),
        BaseException: Table("Exception", properties={"args": lambda e: e.args}),
        Context: Table(
            "FunctionCtx",
            properties={
                "saved_tensors": lambda x: x.saved_tensors,
                "saved_variables": lambda x: x.saved_tensors,
                "needs_input_grad": lambda x: x.needs_input_grad,
            },
            methods={
                "save_for_backward": Context.save_for_backward,
                "save_for_forward": Context.save_for_forward,
                "mark_dirty": Context.mark_dirty,
                "mark_non_differentiable": Context.mark_non_differentiable,
                "set_materialize_grads": Context.set_materialize_grads,
            },
            other=context_attribute,
            set_other=set_context_attribute,
            delete_other=delete_context_attribute,
            names=lambda x: list(x.attributes),
        ),
        type(Function): Table(
            "type",
            properties={"apply": lambda cls: cls.apply, "__name__": lambda cls: cls.__name__},
            other=class_member,
        ),
    }
)
