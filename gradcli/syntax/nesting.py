"""How deep a file is nested, found before and after Python's parser so that neither it nor we overflow."""

from __future__ import annotations

import ast

from gradcli.errors import LimitError, Span
from gradcli.syntax.source import Source

OPENING, CLOSING = "([{", ")]}"
HINT = "give parts of the expression names"


def too_deep(span: Span | None, limit: int) -> LimitError:
    return LimitError(f"limit reached: nesting of {limit} levels (--max-nesting {limit})", span, hint=HINT)


def check_brackets(source: Source, limit: int) -> None:
    """Refuse text whose brackets could overflow the parser, whether or not they stand in strings or comments that never end.

    A text is only looked at closely when it has more opening brackets than the limit on end.
    """
    for number, line in enumerate(source.lines, 1):
        depth = deepest = 0
        place = 0
        for column, character in enumerate(line):
            if character in OPENING:
                depth += 1
                if depth > deepest:
                    deepest, place = depth, column
            elif character in CLOSING:
                depth -= 1
        if deepest > limit and not line.lstrip().startswith("#"):
            raise too_deep(Span(number, place + 1, number, place + 2), limit)


def check_depth(module: ast.Module, source: Source, limit: int) -> None:
    """Refuse a tree that is deeper than the limit."""
    pending: list[tuple[ast.AST, int]] = [(module, 0)]
    while pending:
        node, depth = pending.pop()
        if depth > limit:
            raise too_deep(source.span(node) if hasattr(node, "lineno") else None, limit)
        pending.extend((child, depth + 1) for child in ast.iter_child_nodes(node))
