"""Python's tree nodes, each at the place of the FPCore text that it stands for."""

from __future__ import annotations

import ast
from typing import TypeVar

from gradcli.errors import Span
from gradcli.syntax.source import Source

N = TypeVar("N", bound=ast.AST)


class Nodes:
    """Makes nodes; `ast` counts columns in bytes, a Span in characters."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def at(self, node: N, span: Span) -> N:
        """The node, placed."""
        line, column, end_line, end_column = span
        node.lineno, node.end_lineno = line, end_line  # type: ignore[attr-defined]
        node.col_offset, node.end_col_offset = self.offset(line, column), self.offset(end_line, end_column)  # type: ignore[attr-defined]
        return node

    def offset(self, line: int, column: int) -> int:
        text = self.source.line(line)
        return column - 1 if text.isascii() else len(text[: column - 1].encode("utf-8", "surrogatepass"))

    def name(self, name: str, span: Span) -> ast.expr:
        return self.at(ast.Name(name, ast.Load()), span)

    def number(self, value: float, span: Span) -> ast.expr:
        return self.at(ast.Constant(value), span)

    def call(self, function: str, arguments: list[ast.expr], span: Span, **keywords: ast.expr) -> ast.expr:
        given = [self.at(ast.keyword(name, value), span) for name, value in keywords.items()]
        return self.at(ast.Call(self.name(function, span), arguments, given), span)

    def binary(self, op: ast.operator, left: ast.expr, right: ast.expr, span: Span) -> ast.expr:
        return self.at(ast.BinOp(left, op, right), span)

    def assign(self, names: list[str], values: list[ast.expr], span: Span) -> ast.stmt:
        """`a = x`, `a, b = x, y`: the values are all taken before the names change."""
        targets: list[ast.expr] = [self.at(ast.Name(name, ast.Store()), span) for name in names]
        if len(names) == 1:
            return self.at(ast.Assign([targets[0]], values[0]), span)
        target, value = self.at(ast.Tuple(targets, ast.Store()), span), self.at(ast.Tuple(values, ast.Load()), span)
        return self.at(ast.Assign([target], value), span)

    def function(self, name: str, parameters: list[str], body: list[ast.stmt], span: Span) -> ast.stmt:
        arguments = ast.arguments([], [self.at(ast.arg(p), span) for p in parameters], None, [], [], None, [])
        made = ast.FunctionDef(name, arguments, body, [])
        if hasattr(made, "type_params"):
            made.type_params = []
        return self.at(made, span)
