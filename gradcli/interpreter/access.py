"""Attributes, items, slices: reading."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from gradcli.engine.mode import state
from gradcli.engine.trees import OrderedDict
from gradcli.interpreter.arithmetic import GROWING
from gradcli.interpreter.attributes import MISSING, get_attribute, static_attribute
from gradcli.interpreter.scope import Evaluate, Frame, Scope

if TYPE_CHECKING:
    from gradcli.interpreter.compiler import Compiler


def attribute(c: Compiler, node: ast.Attribute, scope: Scope) -> Evaluate:
    owner, name, span = c.expression(node.value, scope), node.attr, c.span(node)
    if owner in c.values:
        value = static_attribute(c.values[owner], name)
        if value is not MISSING:
            return c.constant(value)

    def evaluate(frame: Frame) -> Any:
        value = owner(frame)
        state.span = span
        return get_attribute(value, name)

    return evaluate


def subscript(c: Compiler, node: ast.Subscript, scope: Scope) -> Evaluate:
    owner, index = c.expression(node.value, scope), c.expression(node.slice, scope)
    span, meter = c.span(node), c.meter

    def evaluate(frame: Frame) -> Any:
        value = owner(frame)
        key = index(frame)
        state.span = span
        kind = type(value)
        if kind is dict or kind is OrderedDict:
            meter.scan(key)
            return value[key]
        result = value[key]
        return meter.grown(result) if kind in GROWING and type(key) is slice else result

    return evaluate


def slice_(c: Compiler, node: ast.Slice, scope: Scope) -> Evaluate:
    parts = [c.constant(None) if n is None else c.expression(n, scope) for n in (node.lower, node.upper, node.step)]
    if all(part in c.values for part in parts):
        return c.constant(slice(*[c.values[part] for part in parts]))
    lower, upper, step = parts

    def evaluate(frame: Frame) -> Any:
        return slice(lower(frame), upper(frame), step(frame))

    return evaluate


RULES: dict[type[ast.expr], Any] = {ast.Attribute: attribute, ast.Subscript: subscript, ast.Slice: slice_}
