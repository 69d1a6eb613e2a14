"""The allow-list pass: every construct outside the language, all at once, each with its place and what to write instead."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from gradcli.errors import SourceError
from gradcli.syntax.binding import bound_names
from gradcli.syntax.constructs import ALLOWED, FORBIDDEN_NAMES, READABLE_DUNDERS, REFUSED, is_dunder
from gradcli.syntax.imports import MODULES, unknown_module
from gradcli.syntax.source import Source

Complaint = tuple[ast.AST, str, str | None]
"""The node, what is wrong with it, what to write instead."""


def violations(module: ast.Module, source: Source) -> list[SourceError]:
    """Everything of a tree that is outside the language, in the order of the lines."""
    complaints: list[Complaint] = []
    named: list[ast.Name] = []
    pending: list[ast.AST] = [module]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.pattern):
            continue  # the match statement around it is refused already
        if isinstance(node, (ast.stmt, ast.expr)) and type(node) not in ALLOWED:
            what, instead = REFUSED.get(type(node).__name__, (type(node).__name__, "see the language's documentation"))
            complaints.append((node, f"{what} is not in the language", instead))
        rule = RULES.get(type(node))
        if rule is not None:
            complaints.extend(rule(node))
        if isinstance(node, ast.Name) and node.id in FORBIDDEN_NAMES:
            named.append(node)
        if isinstance(node, ast.ClassDef) and not derives_from_function(node):
            continue  # what stands in a class that is refused goes with it
        pending.extend(looked_at(node))
    bound = bound_names(module) if named else ()
    complaints += [(n, f"{n.id!r} is not in the language", FORBIDDEN_NAMES[n.id]) for n in named if n.id not in bound]
    errors = [SourceError(message, source.span(node), hint=hint, code="G210") for node, message, hint in complaints]
    return sorted(errors, key=lambda e: e.span or (0, 0, 0, 0))


def looked_at(node: ast.AST) -> Iterator[ast.AST]:
    """The children of a node; annotations are skipped because they are never evaluated."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_params"):
            continue
        if isinstance(value, ast.AST):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, ast.AST))


def dunder(node: ast.AST, name: str | None) -> Iterator[Complaint]:
    if name is not None and is_dunder(name):
        yield node, f"the name {name!r} is not in the language", "names that start with two underscores are Python's own"


def name_rule(node: ast.Name) -> Iterator[Complaint]:
    if node.id == "__name__":
        yield node, "the name '__name__' is not in the language", "a file is always the main program: write the lines at the top level"
    else:
        yield from dunder(node, node.id)


def attribute_rule(node: ast.Attribute) -> Iterator[Complaint]:
    if not (node.attr in READABLE_DUNDERS and isinstance(node.ctx, ast.Load)):
        yield from dunder(node, node.attr)


def constant_rule(node: ast.Constant) -> Iterator[Complaint]:
    if isinstance(node.value, bytes):
        yield node, "a bytes literal is not in the language", "use a string"


def function_rule(node: ast.FunctionDef) -> Iterator[Complaint]:
    yield from dunder(node, node.name)


def argument_rule(node: ast.arg | ast.keyword) -> Iterator[Complaint]:
    yield from dunder(node, node.arg)


def handler_rule(node: ast.ExceptHandler) -> Iterator[Complaint]:
    yield from dunder(node, node.name)


def import_rule(node: ast.Import) -> Iterator[Complaint]:
    for alias in node.names:
        if alias.name not in MODULES:
            yield alias, *unknown_module(alias.name)
        yield from dunder(alias, alias.asname)


def import_from_rule(node: ast.ImportFrom) -> Iterator[Complaint]:
    module = "." * node.level + (node.module or "")
    if module not in MODULES:
        yield node, *unknown_module(module)
    for alias in node.names:
        if alias.name == "*":
            yield alias, "a star-import is not in the language", f"write `import {module}`, or name what you use"
        yield from dunder(alias, alias.name)
        yield from dunder(alias, alias.asname)


def class_rule(node: ast.ClassDef) -> Iterator[Complaint]:
    yield from dunder(node, node.name)
    if node.decorator_list:
        yield node.decorator_list[0], "a decorator of a class is not in the language", None
    if not derives_from_function(node):
        yield (
            node,
            f"class {node.name} is not in the language: only a class F(Function) is",
            "build it from layers with nn.Sequential(...), or write a def over them"
            if any(ast.unparse(base).endswith("Module") for base in node.bases)
            else "write a def, or class F(torch.autograd.Function) with static forward(ctx, ...) and backward(ctx, ...)",
        )
        return
    for statement in node.body:
        if not isinstance(statement, (ast.FunctionDef, ast.Assign, ast.AnnAssign, ast.Pass)) and not is_docstring(statement):
            yield statement, "only def and assignments stand in the body of a class", "write it outside the class"


def derives_from_function(node: ast.ClassDef) -> bool:
    """One base whose last name is Function, or a name that the file bound (told when it runs)."""
    if len(node.bases) != 1 or node.keywords:
        return False
    base = node.bases[0]
    return isinstance(base, ast.Name) or (isinstance(base, ast.Attribute) and base.attr == "Function")


def is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


RULES: dict[type[ast.AST], Callable[..., Iterator[Complaint]]] = {
    ast.Name: name_rule,
    ast.Attribute: attribute_rule,
    ast.Constant: constant_rule,
    ast.FunctionDef: function_rule,
    ast.arg: argument_rule,
    ast.keyword: argument_rule,
    ast.ExceptHandler: handler_rule,
    ast.Import: import_rule,
    ast.ImportFrom: import_from_rule,
    ast.ClassDef: class_rule,
}
