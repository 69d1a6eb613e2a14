"""Assignments: names, tuples with a star, items, attributes; in place; del."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from gradcli.engine.mode import state
from gradcli.interpreter.arithmetic import GROWING, bounded
from gradcli.interpreter.attributes import delete_attribute, get_attribute, set_attribute
from gradcli.interpreter.iteration import iterate
from gradcli.interpreter.names import delete_name, load_name, store_name
from gradcli.interpreter.scope import Evaluate, Execute, Frame, Scope, Store

if TYPE_CHECKING:
    from gradcli.interpreter.compiler import Compiler


def store(c: Compiler, target: ast.expr, scope: Scope) -> Store:
    """How a value is put where a target says."""
    if isinstance(target, ast.Name):
        return store_name(c, target.id, scope)
    if isinstance(target, ast.Attribute):
        return store_attribute(c, target, scope)
    if isinstance(target, ast.Subscript):
        return store_item(c, target, scope)
    assert isinstance(target, (ast.Tuple, ast.List))
    return store_several(c, target, scope)


def store_attribute(c: Compiler, target: ast.Attribute, scope: Scope) -> Store:
    owner, name, span = c.expression(target.value, scope), target.attr, c.span(target)

    def assign(frame: Frame, value: Any) -> None:
        holder = owner(frame)
        state.span = span
        set_attribute(holder, name, value)

    return assign


def store_item(c: Compiler, target: ast.Subscript, scope: Scope) -> Store:
    owner, index = c.expression(target.value, scope), c.expression(target.slice, scope)
    span, scan, consume = c.span(target), c.meter.scan, c.meter.consume

    def assign(frame: Frame, value: Any) -> None:
        holder = owner(frame)
        key = index(frame)
        state.span = span
        if isinstance(holder, dict):
            scan(key)
        elif type(holder) is list and type(key) is slice:
            value = list(consume(value))
        holder[key] = value

    return assign


def store_several(c: Compiler, target: ast.Tuple | ast.List, scope: Scope) -> Store:
    """Unpack an iterable; Python's messages when the number of values is wrong."""
    star = next((k for k, item in enumerate(target.elts) if isinstance(item, ast.Starred)), None)
    stores = [store(c, item.value if isinstance(item, ast.Starred) else item, scope) for item in target.elts]
    span, count, meter = c.span(target), len(stores), c.meter

    def assign(frame: Frame, value: Any) -> None:
        state.span = span
        for put, item in zip(stores, exactly(value, count), strict=True):
            put(frame, item)

    def assign_star(frame: Frame, value: Any) -> None:
        state.span = span
        values = list(meter.consume(value))
        after = count - 1 - (star or 0)
        if len(values) < count - 1:
            raise ValueError(f"not enough values to unpack (expected at least {count - 1}, got {len(values)})")
        end = len(values) - after
        for put, item in zip(stores, [*values[:star], values[star:end], *values[end:]], strict=True):
            put(frame, item)

    return assign if star is None else assign_star


def exactly(value: Any, count: int) -> list[Any]:
    """`count` values from an iterable, no more and no fewer."""
    if type(value) in (tuple, list) and len(value) == count:
        return list(value)
    try:
        items = iterate(value)
    except TypeError as error:
        if "iterable" in str(error):
            raise TypeError(f"cannot unpack non-iterable {type(value).__name__} object") from None
        raise
    values = []
    for item in items:
        values.append(item)
        if len(values) > count:
            raise ValueError(f"too many values to unpack (expected {count})")
    if len(values) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(values)})")
    return values


def assign(c: Compiler, node: ast.Assign, scope: Scope) -> Execute:
    value = c.expression(node.value, scope)
    stores = [store(c, target, scope) for target in node.targets]
    put = stores[0]

    def single(frame: Frame) -> None:
        put(frame, value(frame))

    def several(frame: Frame) -> None:
        result = value(frame)
        for put in stores:
            put(frame, result)

    return single if len(stores) == 1 else several


def annotated(c: Compiler, node: ast.AnnAssign, scope: Scope) -> Execute:
    """`x: float = 1.0`; the annotation is not looked at."""
    if node.value is None:
        return lambda frame: None
    value, put = c.expression(node.value, scope), store(c, node.target, scope)
    return lambda frame: put(frame, value(frame))


def augmented(c: Compiler, node: ast.AugAssign, scope: Scope) -> Execute:
    """`target op= value`: the target's owner and index are evaluated once."""
    operand, span = c.expression(node.value, scope), c.span(node)
    apply, grown, consume = bounded(type(node.op), c.meter, inplace=True), c.meter.grown, c.meter.consume

    adds = isinstance(node.op, ast.Add)

    def combine(old: Any, frame: Frame) -> Any:
        value = operand(frame)
        state.span = span
        if type(old) is list:
            return apply(old, list(consume(value)) if adds else value)
        result = apply(old, value)
        return grown(result) if type(result) in GROWING else result

    if isinstance(node.target, ast.Name):
        return augmented_name(c, node.target, combine, scope)
    if isinstance(node.target, ast.Attribute):
        return augmented_attribute(c, node.target, combine, scope)
    return augmented_item(c, node.target, combine, scope)


def augmented_name(c: Compiler, target: ast.Name, combine: Any, scope: Scope) -> Execute:
    load, put = load_name(c, target, scope), store_name(c, target.id, scope)

    def execute(frame: Frame) -> None:
        put(frame, combine(load(frame), frame))

    return execute


def augmented_attribute(c: Compiler, target: ast.Attribute, combine: Any, scope: Scope) -> Execute:
    owner, name, span = c.expression(target.value, scope), target.attr, c.span(target)

    def execute(frame: Frame) -> None:
        holder = owner(frame)
        state.span = span
        result = combine(get_attribute(holder, name), frame)
        set_attribute(holder, name, result)

    return execute


def augmented_item(c: Compiler, target: ast.Subscript, combine: Any, scope: Scope) -> Execute:
    owner, index, span = c.expression(target.value, scope), c.expression(target.slice, scope), c.span(target)

    def execute(frame: Frame) -> None:
        holder, key = owner(frame), index(frame)
        state.span = span
        result = combine(holder[key], frame)
        holder[key] = result

    return execute


def delete(c: Compiler, node: ast.Delete, scope: Scope) -> Execute:
    deleters = [delete_target(c, target, scope) for target in node.targets]

    def execute(frame: Frame) -> None:
        for remove in deleters:
            remove(frame)

    return execute


def delete_target(c: Compiler, target: ast.expr, scope: Scope) -> Evaluate:
    span = c.span(target)
    if isinstance(target, ast.Name):
        return delete_name(c, target.id, span, scope)
    if isinstance(target, ast.Attribute):
        owner, name = c.expression(target.value, scope), target.attr

        def forget(frame: Frame) -> None:
            value = owner(frame)
            state.span = span
            delete_attribute(value, name)

        return forget
    if isinstance(target, ast.Subscript):
        holder, index = c.expression(target.value, scope), c.expression(target.slice, scope)

        def remove(frame: Frame) -> None:
            value, key = holder(frame), index(frame)
            state.span = span
            del value[key]

        return remove
    assert isinstance(target, (ast.Tuple, ast.List))
    inner = [delete_target(c, item, scope) for item in target.elts]
    return lambda frame: [remove(frame) for remove in inner] and None


RULES: dict[type[ast.stmt], Any] = {
    ast.Assign: assign, ast.AnnAssign: annotated, ast.AugAssign: augmented, ast.Delete: delete,
}  # fmt: skip
