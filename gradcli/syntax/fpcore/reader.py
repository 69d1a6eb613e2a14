"""S-expressions with their places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gradcli.errors import SourceError, SourceErrors, Span
from gradcli.syntax.nesting import too_deep
from gradcli.syntax.source import Source

TOKEN = re.compile(
    r"""(?P<blank>\s+|;[^\n]*)|(?P<open>[(\[])|(?P<close>[)\]])|(?P<text>"(?:[^"\\]|\\.)*")|(?P<atom>[^\s()\[\]";]+)|(?P<bad>.)""",
    re.DOTALL,
)
PAIRS = {"(": ")", "[": "]"}


@dataclass(frozen=True)
class Atom:
    """A symbol or a number."""

    text: str
    span: Span


@dataclass(frozen=True)
class Text:
    """A string."""

    text: str
    span: Span


@dataclass(frozen=True)
class Form:
    """A parenthesised list."""

    items: tuple[Expression, ...]
    span: Span

    @property
    def head(self) -> str | None:
        """The word that the list begins with."""
        return self.items[0].text if self.items and isinstance(self.items[0], Atom) else None


Expression = Atom | Text | Form


def read(source: Source, nesting: int) -> list[Expression]:
    """The expressions of a text. Raises SourceErrors where the brackets do not pair, LimitError where they are too deep."""
    found: list[Expression] = []
    opened: list[tuple[str, Span, list[Expression]]] = []
    for kind, text, span in tokens(source):
        inner = opened[-1][2] if opened else found
        if kind == "open":
            if len(opened) >= nesting:
                raise too_deep(span, nesting)
            opened.append((text, span, []))
        elif kind == "close":
            form = closed(opened, text, span)
            (opened[-1][2] if opened else found).append(form)
        elif kind == "text":
            inner.append(Text(re.sub(r"\\(.)", r"\1", text[1:-1]), span))
        elif kind == "atom":
            inner.append(Atom(text, span))
        else:
            raise wrong("unterminated string", span, "close the string with a double quote")
    if opened:
        raise wrong(f"'{opened[-1][0]}' was never closed", opened[-1][1], "add the closing bracket")
    return found


def closed(opened: list[tuple[str, Span, list[Expression]]], text: str, span: Span) -> Form:
    """The form that a closing bracket ends."""
    if not opened:
        raise wrong(f"unmatched '{text}'", span, "remove it, or open it before")
    bracket, start, items = opened.pop()
    if PAIRS[bracket] != text:
        hint = "close the brackets in the order in which they were opened"
        raise wrong(f"closing '{text}' does not match opening '{bracket}'", span, hint)
    return Form(tuple(items), Span(start.line, start.column, span.end_line, span.end_column))


def tokens(source: Source) -> Iterator[tuple[str, str, Span]]:
    """Kind, text and place of every token; blanks and comments are left out."""
    line, start = 1, 0
    for match in TOKEN.finditer(source.text):
        kind, text = match.lastgroup or "bad", match.group()
        first, column = line, match.start() - start + 1
        breaks = text.count("\n")
        if breaks:
            line, start = line + breaks, match.start() + text.rfind("\n") + 1
        if kind != "blank":
            yield kind, text, Span(first, column, line, match.end() - start + 1)


def wrong(message: str, span: Span, hint: str | None = None) -> SourceErrors:
    """One error of syntax."""
    return SourceErrors([SourceError(message, span, hint=hint, type="SyntaxError")])


def unsupported(message: str, span: Span, hint: str | None = None) -> SourceErrors:
    """One construct of FPCore that is not taken."""
    return SourceErrors([SourceError(message, span, hint=hint, code="G210")])
