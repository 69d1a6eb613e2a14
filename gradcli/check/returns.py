"""Where in the source a user Function's backward makes a gradient."""

from __future__ import annotations

import ast
from typing import Any

from gradcli.check.functions import Fault

Place = tuple[int | None, int | None]


def class_of(module: ast.Module, cls: Any) -> ast.ClassDef | None:
    """The definition of a class."""
    span = getattr(cls, "span", None)
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__ and (span is None or node.lineno == span.line):
            return node
    return None


def member(module: ast.Module, cls: Any, name: str) -> ast.FunctionDef | None:
    """One function of a class."""
    definition = class_of(module, cls)
    body = definition.body if definition is not None else []
    return next((m for m in body if isinstance(m, ast.FunctionDef) and m.name == name), None)


def backward_of(module: ast.Module, cls: Any) -> ast.FunctionDef | None:
    """The definition of a class's backward, which may be called vjp."""
    return member(module, cls, "backward") or member(module, cls, "vjp")


def parameter(module: ast.Module, cls: Any, index: int) -> str | None:
    """The name that forward gives to its argument with this index."""
    forward = member(module, cls, "forward")
    if forward is None:
        return None
    names = [a.arg for a in [*forward.args.posonlyargs, *forward.args.args]]
    with_context = member(module, cls, "setup_context") is None
    names = names[1:] if with_context else names
    if index < len(names):
        return names[index]
    return None if forward.args.vararg is None else forward.args.vararg.arg


def place_of(backward: ast.FunctionDef | None, fault: Fault, cls: Any) -> Place:
    """Line and column of what makes a wrong gradient: its expression in the return that ran, or the statement that changed grad_output."""
    if backward is None:
        span = getattr(cls, "span", None)
        return (span.line, span.column) if span is not None else (None, None)
    node: ast.AST | None = mutation(backward) if fault.kind == "inplace" else returned(backward, fault.index, fault.line)
    node = node or backward
    return node.lineno, node.col_offset + 1  # type: ignore[attr-defined]


def returned(backward: ast.FunctionDef, index: int, line: int | None) -> ast.expr | None:
    """The expression of one gradient in the first return from `line` on, or in the last."""
    values = [n.value for n in ast.walk(backward) if isinstance(n, ast.Return) and n.value is not None]
    if not values:
        return None
    values.sort(key=lambda v: v.lineno)
    value = next((v for v in values if line is not None and (v.end_lineno or v.lineno) >= line), values[-1])
    return value.elts[index] if isinstance(value, ast.Tuple) and index < len(value.elts) else value


def mutation(backward: ast.FunctionDef) -> ast.AST | None:
    """The first statement that writes into a parameter of backward."""
    names = {a.arg for a in backward.args.args[1:]} | ({backward.args.vararg.arg} if backward.args.vararg else set())
    found = [n for n in ast.walk(backward) if writes(n, names)]
    return min(found, key=lambda n: n.lineno, default=None)  # type: ignore[attr-defined]


def writes(node: ast.AST, names: set[str]) -> bool:
    """Whether a node writes into one of some tensors: `g *= 2`, `g[0] = 0`, `g.mul_(2)`."""
    if isinstance(node, ast.AugAssign):
        return root(node.target) in names
    if isinstance(node, ast.Assign):
        return any(isinstance(t, ast.Subscript) and root(t) in names for t in node.targets)
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr.endswith("_") and root(called.value) in names


def root(node: ast.expr) -> str | None:
    """The name that an expression of items and attributes begins with."""
    while isinstance(node, (ast.Subscript, ast.Attribute)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
