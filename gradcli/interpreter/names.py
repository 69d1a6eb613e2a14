"""Names: local variables, those of outer functions, the module's, the vocabulary."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gradcli.engine.mode import state
from gradcli.engine.module import Module
from gradcli.errors import MissingNameError, Span, UnsupportedError
from gradcli.interpreter.attributes import TO_LIST
from gradcli.interpreter.faults import placed
from gradcli.interpreter.scope import OUTER, Evaluate, Frame, Scope, Store
from gradcli.interpreter.values import UNBOUND
from gradcli.ops.missing import MISSING, why_missing
from gradcli.syntax.spelling import did_you_mean

if TYPE_CHECKING:
    from gradcli.interpreter.compiler import Compiler

IMPORT_LINES = {
    "torch": "import torch", "t": "import torch as t", "F": "import torch.nn.functional as F", "np": "import numpy as np",
    "math": "import math", "nn": "import torch.nn as nn", "numpy": "import numpy",
}  # fmt: skip


HOMES = ("torch.nn.functional", "torch.nn", "torch.linalg", "torch")
"""Where a bare name that nothing is bound to may come from."""


def stable_imports(module: ast.Module, counts: Mapping[str, int]) -> dict[str, int]:
    """The names that one import line at the top level binds and nothing else does, each with that line.

    Below that line they are constants, which makes `torch.sin` as quick as `sin`. `counts`: how often each name is bound.
    """
    lines = {}
    for statement in module.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                name = alias.asname or alias.name.split(".")[0]
                if counts[name] == 1:
                    lines[name] = statement.lineno
    return lines


def load_name(c: Compiler, node: ast.Name, scope: Scope) -> Evaluate:
    name, span = node.id, c.span(node)
    place = scope.find(name)
    if place is not None:
        return load_variable(c, name, place, span, scope)
    if name in c.imported and node.lineno > c.imported[name]:
        found = c.recorder.imported(name)
        if found is not None:
            return c.constant(found)
    if name in c.bound:
        return load_global(c, name, span, scope)
    if name in c.vocabulary:
        return c.constant(c.vocabulary[name])

    def missing(frame: Frame) -> Any:
        raise unknown_name(c, name, span, scope)

    return missing


def load_variable(c: Compiler, name: str, place: tuple[int, int], span: Span, scope: Scope) -> Evaluate:
    """Read a variable of this frame, or of one around it."""
    hops, index = place

    def unbound() -> BaseException:
        if hops == 0:
            text = f"cannot access local variable '{name}' where it is not associated with a value"
            return placed(UnboundLocalError(text), span)
        text = f"cannot access free variable '{name}' where it is not associated with a value in enclosing scope"
        return placed(NameError(text), span)

    def local(frame: Frame) -> Any:
        value = frame[index]
        if value is UNBOUND:
            raise unbound()
        return value

    def outer(frame: Frame) -> Any:
        value = frame[OUTER][index]
        if value is UNBOUND:
            raise unbound()
        return value

    def far(frame: Frame) -> Any:
        for _ in range(hops):
            frame = frame[OUTER]
        if frame[index] is UNBOUND:
            raise unbound()
        return frame[index]

    if scope.kind == "class":  # not bound there yet: Python looks outside
        return class_variable(c, name, index, span)
    return (local, outer, far)[min(hops, 2)]


def class_variable(c: Compiler, name: str, index: int, span: Span) -> Evaluate:
    outside = load_global(c, name, span, Scope("module", None))

    def load(frame: Frame) -> Any:
        return outside(frame) if frame[index] is UNBOUND else frame[index]

    return load


def load_global(c: Compiler, name: str, span: Span, scope: Scope) -> Evaluate:
    variables, vocabulary = c.variables, c.vocabulary

    def load(frame: Frame) -> Any:
        try:
            return variables[name]
        except KeyError:
            if name in vocabulary:
                return vocabulary[name]
            raise unknown_name(c, name, span, scope) from None

    return load


def unknown_name(c: Compiler, name: str, span: Span, scope: Scope) -> BaseException:
    reason = next((why for home in HOMES if (why := why_missing(home, name)) is not None), None)
    if reason is not None and (name in MISSING or f"nn.functional.{name}" in MISSING or name[0].isupper()):
        return UnsupportedError(f"PyTorch has {name}, gradcli has not: {reason}", span, hint=TO_LIST)
    if name in IMPORT_LINES:
        hint: str | None = f"write `{IMPORT_LINES[name]}` first"
    else:
        hint = did_you_mean(name, [*scope.visible(), *c.variables]) or did_you_mean(name, c.vocabulary)
    return placed(MissingNameError(f"name '{name}' is not defined", hint=hint), span)


def store_name(c: Compiler, name: str, scope: Scope) -> Store:
    """Bind a name: in the frame where the scope says it lives, or in the module."""
    place = scope.find(name)
    if place is None:
        return store_global(c, name)
    hops, index = place

    def local(frame: Frame, value: Any) -> None:
        frame[index] = value

    def far(frame: Frame, value: Any) -> None:
        for _ in range(hops):
            frame = frame[OUTER]
        frame[index] = value

    return far if hops else local


def store_global(c: Compiler, name: str) -> Store:
    """Bind a variable of the module; the dict keeps the order of the last bindings."""
    variables = c.variables
    pop = variables.pop
    replace = c.recorder.override(name)

    def store(frame: Frame, value: Any) -> None:
        pop(name, None)
        variables[name] = value

    def store_override(frame: Frame, value: Any) -> None:
        pop(name, None)
        variables[name] = replace(value)

    def store_traced(frame: Frame, value: Any) -> None:
        pop(name, None)
        variables[name] = value = value if replace is None else replace(value)
        if state.tracer is not None:
            state.tracer.bound(value, name)
            for place, inside in value.places() if isinstance(value, Module) else ():
                state.tracer.bound(inside, name + place)

    if c.recorder.trace:
        return store_traced
    return store if replace is None else store_override


def delete_name(c: Compiler, name: str, span: Span, scope: Scope) -> Evaluate:
    place = scope.find(name)
    variables = c.variables

    def delete_global(frame: Frame) -> None:
        if name not in variables:
            raise unknown_name(c, name, span, scope)
        del variables[name]

    if place is None:
        return delete_global
    load, store = load_variable(c, name, place, span, scope), store_name(c, name, scope)

    def delete_local(frame: Frame) -> None:
        load(frame)
        store(frame, UNBOUND)

    return delete_local


def walrus(c: Compiler, node: ast.NamedExpr, scope: Scope) -> Evaluate:
    value, store = c.expression(node.value, scope), store_name(c, node.target.id, scope)

    def assign(frame: Frame) -> Any:
        result = value(frame)
        store(frame, result)
        return result

    return assign


def constant(c: Compiler, node: ast.Constant, scope: Scope) -> Evaluate:
    return c.constant(node.value)


RULES: dict[type[ast.expr], Any] = {ast.Name: load_name, ast.NamedExpr: walrus, ast.Constant: constant}
