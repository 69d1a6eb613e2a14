"""Which names a piece of a tree binds, as Python's own symbol table decides it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def bound_names(tree: ast.AST) -> Counter[str]:
    """Every name that is bound anywhere in a tree, whatever the scope, with the number of places that bind it."""
    return Counter(name for node in ast.walk(tree) for name in binds(node))


def binds(node: ast.AST) -> Iterator[str]:
    """The names that this very node binds."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
        yield node.id
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.ExceptHandler) and node.name:
        yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.split(".")[0]


def scope_names(body: Iterable[ast.AST]) -> list[str]:
    """The names bound in a scope with these statements (or expressions), inner scopes left out, in order of appearance."""
    names: dict[str, None] = {}
    pending = list(body)[::-1]
    while pending:
        node = pending.pop()
        names.update(dict.fromkeys(binds(node)))
        pending.extend(reversed(list(same_scope(node))))
    return list(names)


def same_scope(node: ast.AST) -> Iterator[ast.AST]:
    """The children of a node that belong to the scope that the node stands in."""
    if isinstance(node, FUNCTIONS):
        yield from (d for d in [*node.args.defaults, *node.args.kw_defaults] if d is not None)
        yield from getattr(node, "decorator_list", [])
    elif isinstance(node, ast.ClassDef):
        yield from node.bases
    elif isinstance(node, COMPREHENSIONS):
        yield node.generators[0].iter
        yield from walrus_targets(node)
    else:
        yield from ast.iter_child_nodes(node)


def walrus_targets(node: ast.AST) -> Iterator[ast.Name]:
    """`(y := ...)` inside a comprehension binds in the scope around it."""
    pending = list(ast.iter_child_nodes(node))
    while pending:
        child = pending.pop()
        if isinstance(child, ast.NamedExpr):
            yield child.target
        if not isinstance(child, FUNCTIONS):
            pending.extend(ast.iter_child_nodes(child))
