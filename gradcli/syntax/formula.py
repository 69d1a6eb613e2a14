"""A formula given on the command line, as a program: a leaf for each of its variables, then the formula itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gradcli.errors import SourceError, SourceErrors
from gradcli.syntax.binding import bound_names
from gradcli.syntax.directives import Directives
from gradcli.syntax.source import Source
from gradcli.syntax.tree import Task, Tree

PATH = "<formula>"
OUTPUTS = ("f", "y", "out", "result")
"""What the value of a formula is called: the first that is no variable of it."""
MODULES = {"torch": "torch", "F": "torch.nn.functional", "np": "numpy", "math": "math"}
"""On the command line there is no room for import lines."""


@dataclass(frozen=True)
class FormulaSource(Source):
    """The text of a formula, with an expression for the value of each of its variables."""

    at: tuple[tuple[str, str], ...] = ()
    complex: frozenset[str] = frozenset()
    """The variables whose values are complex numbers."""


def formula_tree(module: ast.Module, source: FormulaSource) -> Tree:
    """The program of a formula. Raises SourceErrors where the text is no expression."""
    body = module.body
    if len(body) != 1 or not isinstance(body[0], ast.Expr):
        place = source.span(body[0]) if body else None
        hint = "-e takes one formula; write a file for statements"
        raise SourceErrors([SourceError("this is no expression", place, hint=hint, type="SyntaxError")])
    expression = body[0].value
    output = next(name for name in OUTPUTS if name not in {*names(expression), *bound_names(module)})
    statements = [*imports(expression, source), *(leaf(name, name in source.complex, expression) for name, _ in source.at)]
    value = ast.Assign([ast.copy_location(ast.Name(output, ast.Store()), expression)], expression)
    made = ast.Module([*statements, ast.copy_location(value, expression)], [])
    return Tree(made, source, Directives(), Task(output, tuple(name for name, _ in source.at), point(source)))


def names(expression: ast.AST) -> set[str]:
    """Every name that an expression reads."""
    return {node.id for node in ast.walk(expression) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def free_names(module: ast.Module) -> list[str]:
    """The names that an expression reads and does not bind itself, in the order in which they stand there."""
    bound = bound_names(module)
    found = [node for node in ast.walk(module) if isinstance(node, ast.Name) and node.id not in bound]
    return list(dict.fromkeys(node.id for node in sorted(found, key=lambda n: (n.lineno, n.col_offset))))


def imports(expression: ast.expr, source: FormulaSource) -> list[ast.stmt]:
    """The import lines of the modules that a formula names."""
    given = {name for name, _ in source.at}
    used = [name for name in MODULES if name in names(expression) - given]
    made: list[ast.stmt] = [ast.Import([ast.alias(MODULES[name], name)]) for name in used]
    return [ast.fix_missing_locations(ast.copy_location(node, expression)) for node in made]


def leaf(name: str, complex: bool, expression: ast.expr) -> ast.stmt:
    """`name = tensor(..., requires_grad=True)`; its value comes from the point."""
    place = next((n for n in ast.walk(expression) if isinstance(n, ast.Name) and n.id == name), expression)
    start = ast.Constant(0j if complex else float("nan"))
    call = ast.Call(ast.Name("tensor", ast.Load()), [start], [ast.keyword("requires_grad", ast.Constant(True))])
    made = ast.Assign([ast.Name(name, ast.Store())], call)
    for node in ast.walk(made):
        if isinstance(node, (ast.expr, ast.stmt, ast.keyword)):
            ast.copy_location(node, place)
    return made


def point(source: FormulaSource) -> Callable[[int, Mapping[str, str]], dict[str, str]]:
    """The values of --at, whatever the seed."""

    def values(seed: int, given: Mapping[str, str]) -> dict[str, str]:
        return {**dict(source.at), **given}

    return values
