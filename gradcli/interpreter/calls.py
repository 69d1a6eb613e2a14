"""Calls of functions and methods."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from gradcli.engine.mode import state
from gradcli.interpreter.attributes import find_method, get_attribute
from gradcli.interpreter.scope import Evaluate, Frame, Scope
from gradcli.interpreter.targets import Target

if TYPE_CHECKING:
    from gradcli.interpreter.compiler import Compiler


def call(c: Compiler, node: ast.Call, scope: Scope) -> Evaluate:
    callee = c.expression(node.func, scope)
    known = c.values.get(callee)
    if isinstance(known, Target):
        return known.compile(c, node, scope)
    plain = not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args)
    if isinstance(node.func, ast.Attribute) and callee not in c.values:
        return method_call(c, node, scope) if plain else method_call_with_keywords(c, node, scope)
    if not plain:
        return call_with_keywords(c, node, callee, scope)
    if callee in c.values:
        return call_of_constant(c, node, c.values[callee], scope)
    return plain_call(c, node, callee, scope)


def plain_call(c: Compiler, node: ast.Call, callee: Evaluate, scope: Scope) -> Evaluate:
    arguments, span = c.expressions(node.args, scope), c.span(node)

    def evaluate(frame: Frame) -> Any:
        function = callee(frame)
        values = [argument(frame) for argument in arguments]
        state.span = span
        return function(*values)

    return evaluate


def call_of_constant(c: Compiler, node: ast.Call, function: Any, scope: Scope) -> Evaluate:
    """A call of a function of the vocabulary, known beforehand."""
    arguments, span = c.expressions(node.args, scope), c.span(node)
    if len(arguments) == 1:
        argument = arguments[0]

        def unary(frame: Frame) -> Any:
            value = argument(frame)
            state.span = span
            return function(value)

        return unary

    def evaluate(frame: Frame) -> Any:
        values = [argument(frame) for argument in arguments]
        state.span = span
        return function(*values)

    return evaluate


def method_call(c: Compiler, node: ast.Call, scope: Scope) -> Evaluate:
    """`owner.name(...)` without making the bound method a value."""
    assert isinstance(node.func, ast.Attribute)
    owner, name, place = c.expression(node.func.value, scope), node.func.attr, c.span(node.func)
    arguments, span = c.expressions(node.args, scope), c.span(node)

    def evaluate(frame: Frame) -> Any:
        value = owner(frame)
        method = find_method(value, name)
        if method is None:
            state.span = place
            function = get_attribute(value, name)
            values = [argument(frame) for argument in arguments]
            state.span = span
            return function(*values)
        values = [argument(frame) for argument in arguments]
        state.span = span
        return method(value, *values)

    return evaluate


def arguments_of(c: Compiler, node: ast.Call, scope: Scope) -> Any:
    """A function from a frame to (positional, keyword) arguments, stars unpacked."""
    positional = [(c.expression(a.value if isinstance(a, ast.Starred) else a, scope), isinstance(a, ast.Starred)) for a in node.args]
    keywords = [(k.arg, c.expression(k.value, scope)) for k in node.keywords]
    consume, span = c.meter.consume, c.span(node)

    def evaluate(frame: Frame) -> tuple[list[Any], dict[str, Any]]:
        values: list[Any] = []
        for argument, star in positional:
            value = argument(frame)
            if star:
                state.span = span
                values.extend(consume(value))
            else:
                values.append(value)
        named: dict[str, Any] = {}
        for name, argument in keywords:
            value = argument(frame)
            if name is None:
                state.span = span
                spread(named, value)
            else:
                named[name] = value
        return values, named

    return evaluate


def spread(named: dict[str, Any], value: Any) -> None:
    """Enter `**value`."""
    if not isinstance(value, dict):
        raise TypeError(f"argument after ** must be a mapping, not {type(value).__name__}")
    for key, item in value.items():
        if not isinstance(key, str):
            raise TypeError("keywords must be strings")
        if key in named:
            raise TypeError(f"got multiple values for keyword argument '{key}'")
        if key.startswith("__"):
            raise TypeError(f"got an unexpected keyword argument '{key}'")
        named[key] = item


def call_with_keywords(c: Compiler, node: ast.Call, callee: Evaluate, scope: Scope) -> Evaluate:
    arguments, span = arguments_of(c, node, scope), c.span(node)

    def evaluate(frame: Frame) -> Any:
        function = callee(frame)
        values, named = arguments(frame)
        state.span = span
        return function(*values, **named)

    return evaluate


def method_call_with_keywords(c: Compiler, node: ast.Call, scope: Scope) -> Evaluate:
    assert isinstance(node.func, ast.Attribute)
    owner, name, place = c.expression(node.func.value, scope), node.func.attr, c.span(node.func)
    arguments, span = arguments_of(c, node, scope), c.span(node)

    def evaluate(frame: Frame) -> Any:
        value = owner(frame)
        state.span = place
        method = find_method(value, name)
        function = get_attribute(value, name) if method is None else None
        values, named = arguments(frame)
        state.span = span
        return function(*values, **named) if method is None else method(value, *values, **named)  # type: ignore[misc]

    return evaluate


RULES: dict[type[ast.expr], Any] = {ast.Call: call}
