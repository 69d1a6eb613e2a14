"""What Python's compiler refuses although its parser takes it: return outside a function, and the like."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradcli.errors import SourceError
from gradcli.syntax.source import Source

Fault = tuple[ast.AST, str, str | None]
Place = tuple[bool, bool]
"""Whether a statement stands in a function, and in a loop."""


def structure_errors(module: ast.Module, source: Source) -> list[SourceError]:
    """The errors of Python's compiler, with Python's messages."""
    faults = [*misplaced(module), *(fault for node in ast.walk(module) for fault in of_node(node))]
    return [SourceError(message, source.span(node), hint=hint, type="SyntaxError") for node, message, hint in faults]


def misplaced(module: ast.Module) -> Iterator[Fault]:
    """return, break and continue where they have no meaning."""
    pending: list[tuple[ast.AST, Place]] = [(module, (False, False))]
    while pending:
        node, (in_function, in_loop) = pending.pop()
        if isinstance(node, ast.Return) and not in_function:
            yield node, "'return' outside function", "write the lines inside a def, or leave the return out"
        elif isinstance(node, ast.Break) and not in_loop:
            yield node, "'break' outside loop", None
        elif isinstance(node, ast.Continue) and not in_loop:
            yield node, "'continue' not properly in loop", None
        for name, value in ast.iter_fields(node):
            place = inner_place(node, name, (in_function, in_loop))
            children = value if isinstance(value, list) else [value]
            pending.extend((child, place) for child in children if isinstance(child, (ast.stmt, ast.ExceptHandler)))


def inner_place(node: ast.AST, field: str, place: Place) -> Place:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return True, False
    if isinstance(node, ast.ClassDef):
        return False, False
    if isinstance(node, (ast.For, ast.While, ast.AsyncFor)) and field == "body":
        return place[0], True
    return place


def of_node(node: ast.AST) -> Iterator[Fault]:
    if isinstance(node, ast.arguments):
        yield from repeated_arguments(node)
    elif isinstance(node, ast.Call):
        yield from repeated_keywords(node)
    elif isinstance(node, ast.Try):
        yield from bare_except_first(node)
    elif isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store):
        yield from several_stars(node)
    elif isinstance(node, (ast.Assign, ast.For, ast.Expr, ast.Return, ast.AnnAssign, ast.AugAssign)):
        yield from lone_star(node)


def repeated_arguments(node: ast.arguments) -> Iterator[Fault]:
    seen: set[str] = set()
    for arg in [*node.posonlyargs, *node.args, node.vararg, *node.kwonlyargs, node.kwarg]:
        if arg is not None:
            if arg.arg in seen:
                yield arg, f"duplicate argument '{arg.arg}' in function definition", None
            seen.add(arg.arg)


def repeated_keywords(node: ast.Call) -> Iterator[Fault]:
    seen: set[str] = set()
    for keyword in node.keywords:
        if keyword.arg is not None and keyword.arg in seen:
            yield keyword, f"keyword argument repeated: {keyword.arg}", None
        seen.add(keyword.arg or "")


def bare_except_first(node: ast.Try) -> Iterator[Fault]:
    for handler in node.handlers[:-1]:
        if handler.type is None:
            yield handler, "default 'except:' must be last", None


def several_stars(node: ast.Tuple | ast.List) -> Iterator[Fault]:
    stars = [item for item in node.elts if isinstance(item, ast.Starred)]
    if len(stars) > 1:
        yield stars[1], "multiple starred expressions in assignment", None


def lone_star(node: ast.AST) -> Iterator[Fault]:
    for target in getattr(node, "targets", None) or [getattr(node, "target", None)]:
        if isinstance(target, ast.Starred):
            yield target, "starred assignment target must be in a list or tuple", f"write a comma: *{ast.unparse(target.value)}, = ..."
    if isinstance(getattr(node, "value", None), ast.Starred):
        yield node.value, "can't use starred expression here", None  # type: ignore[attr-defined]
