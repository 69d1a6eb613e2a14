"""List, tuple, dict and set displays, f-strings."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradcli.engine.mode import state
from gradcli.interpreter.scope import Evaluate, Frame, Scope
from gradcli.interpreter.text import CONVERSIONS, formatted

if TYPE_CHECKING:
    from gradcli.interpreter.compiler import Compiler


def items(c: Compiler, nodes: list[ast.expr], scope: Scope) -> Callable[[Frame], list[Any]]:
    """The values of several expressions, stars unpacked."""
    if not any(isinstance(node, ast.Starred) for node in nodes):
        parts = c.expressions(nodes, scope)
        return lambda frame: [part(frame) for part in parts]
    stars = [isinstance(node, ast.Starred) for node in nodes]
    inner = [c.expression(node.value if isinstance(node, ast.Starred) else node, scope) for node in nodes]
    consume, spans = c.meter.consume, [c.span(node) for node in nodes]

    def evaluate(frame: Frame) -> list[Any]:
        values: list[Any] = []
        for part, star, span in zip(inner, stars, spans, strict=True):
            value = part(frame)
            if star:
                state.span = span
                values.extend(consume(value))
            else:
                values.append(value)
        return values

    return evaluate


def list_(c: Compiler, node: ast.List, scope: Scope) -> Evaluate:
    return items(c, node.elts, scope)


def tuple_(c: Compiler, node: ast.Tuple, scope: Scope) -> Evaluate:
    values = items(c, node.elts, scope)
    return lambda frame: tuple(values(frame))


def set_(c: Compiler, node: ast.Set, scope: Scope) -> Evaluate:
    values, scan, span = items(c, node.elts, scope), c.meter.scan, c.span(node)

    def evaluate(frame: Frame) -> Any:
        made = values(frame)
        state.span = span
        scan(made)
        return set(made)

    return evaluate


def dict_(c: Compiler, node: ast.Dict, scope: Scope) -> Evaluate:
    pairs = [(None if k is None else c.expression(k, scope), c.expression(v, scope)) for k, v in zip(node.keys, node.values, strict=True)]
    scan, span = c.meter.scan, c.span(node)

    def evaluate(frame: Frame) -> Any:
        made: dict[Any, Any] = {}
        for key, value in pairs:
            if key is None:
                merge(made, value(frame))
            else:
                k = key(frame)
                state.span = span
                scan(k)
                made[k] = value(frame)
        return made

    return evaluate


def merge(made: dict[Any, Any], other: Any) -> None:
    if not isinstance(other, dict):
        raise TypeError(f"'{type(other).__name__}' object is not a mapping")
    made.update(other)


def joined(c: Compiler, node: ast.JoinedStr, scope: Scope) -> Evaluate:
    """An f-string."""
    parts, string = c.expressions(node.values, scope), c.meter.string

    def evaluate(frame: Frame) -> str:
        text = "".join([part(frame) for part in parts])
        string(len(text))
        return text

    return evaluate


def replacement(c: Compiler, node: ast.FormattedValue, scope: Scope) -> Evaluate:
    value, span, meter = c.expression(node.value, scope), c.span(node.value), c.meter
    convert = CONVERSIONS.get(chr(node.conversion)) if node.conversion >= 0 else None
    spec = c.constant("") if node.format_spec is None else c.expression(node.format_spec, scope)

    def evaluate(frame: Frame) -> str:
        content = value(frame)
        detail = spec(frame)
        state.span = span
        return formatted(meter, content if convert is None else convert(meter, content), detail)

    return evaluate


RULES: dict[type[ast.expr], Any] = {
    ast.List: list_, ast.Tuple: tuple_, ast.Set: set_, ast.Dict: dict_, ast.JoinedStr: joined, ast.FormattedValue: replacement,
}  # fmt: skip
