"""What a reader calls a node: the variable it was assigned to, and the source text that made it."""

from __future__ import annotations

import ast

from gradcli.errors import Span
from gradcli.syntax.source import Source

RECORDED_PASSES = frozenset({"grad", "backward", "hessian", "jacobian", "vjp", "jvp", "hvp", "vhp"})
"""Calls whose nodes are those of a backward pass, written nowhere in the file."""


class Naming:
    """The assignments of a file, by place."""

    def __init__(self, source: Source | None) -> None:
        self.source = source
        self.targets: dict[Span, str] = {}
        self.statements: dict[Span, str] = {}
        self.passes: set[Span] = set()
        self.first: dict[str, Span] = {}
        if source is not None and not source.is_fpcore:
            self._read(source)

    def _read(self, source: Source) -> None:
        for node in ast.walk(ast.parse(source.text)):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assigned(source, target, node.value, node)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self._assigned(source, node.target, node.value, node)
            elif isinstance(node, ast.AugAssign):
                self.targets[source.span(node)] = source.segment(node.target)
                self.statements[source.span(node)] = source.segment(node)
            elif isinstance(node, ast.Call) and source.segment(node.func).rpartition(".")[2] in RECORDED_PASSES:
                self.passes.add(source.span(node))

    def _assigned(self, source: Source, target: ast.expr, value: ast.expr, statement: ast.stmt) -> None:
        if isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                for part, item in zip(target.elts, value.elts):
                    self._assigned(source, part, item, statement)
            else:
                self.targets.setdefault(source.span(value), source.segment(target))
        elif isinstance(target, ast.Name):
            self.targets.setdefault(source.span(value), target.id)
            self.first.setdefault(target.id, source.span(value))
        else:
            self.targets.setdefault(source.span(value), source.segment(target))
            self.statements[source.span(target)] = source.segment(statement)

    def text(self, span: Span | None) -> str:
        """The source text at a place, on one line."""
        if span is None or self.source is None:
            return ""
        if span in self.statements:
            return " ".join(self.statements[span].split())
        lines = [self.source.line(number) for number in range(span.line, span.end_line + 1)]
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return " ".join(" ".join(lines).split())

    def binding(self, name: str | None, line: int | None) -> Span | None:
        """Where the value of a variable stands that was bound on a line, or else first in the file."""
        bare = (name or "").partition("[")[0]
        here = (span for span, target in self.targets.items() if span.line == line and target == bare)
        return next(here, self.first.get(bare))

    def name(self, span: Span | None) -> str | None:
        """The variable that the value made at a place is assigned to."""
        return None if span is None else self.targets.get(span)
