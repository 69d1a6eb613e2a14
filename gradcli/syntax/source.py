"""The text of an expression file, and the places in it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cached_property

from gradcli.errors import Span, UsageError
from gradcli.syntax.excerpt import render

FPCORE = ".fpcore"
"""The suffix of files that are no Python but FPCore."""
NEWLINE = re.compile(r"\r\n?")
BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class Source:
    """A file's path and its text, with `\\n` as the only line end and no byte order mark."""

    path: str
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", NEWLINE.sub("\n", self.text.removeprefix(BYTE_ORDER_MARK)))

    @classmethod
    def decode(cls, path: str, data: bytes) -> Source:
        """The source that `data` holds; UsageError when it is not UTF-8."""
        try:
            return cls(path, data.decode("utf-8"))
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise UsageError(
                f"{path}: not UTF-8: byte 0x{data[error.start]:02x} in line {line}", hint="save the file as UTF-8", code="G103"
            ) from None

    @property
    def is_fpcore(self) -> bool:
        return self.path.endswith(FPCORE)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    def span(self, node: ast.AST) -> Span:
        """Where a node of the tree stands."""
        line, end_line = node.lineno, node.end_lineno or node.lineno  # type: ignore[attr-defined]
        start, end = node.col_offset, node.end_col_offset or node.col_offset  # type: ignore[attr-defined]
        return Span(line, self.column(line, start), end_line, self.column(end_line, end))

    def column(self, line: int, offset: int) -> int:
        """The column (from 1, in characters) of a byte offset, which is what `ast` counts in."""
        text = self.line(line)
        if text.isascii():
            return offset + 1
        return len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace")) + 1

    def line(self, number: int) -> str:
        """The text of a line, counted from 1; empty outside the file."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else ""

    def segment(self, node: ast.AST) -> str:
        """The text of a node, on one line."""
        return self.quoted(self.span(node))

    def quoted(self, span: Span) -> str:
        """The text of a span, on one line."""
        if span.line == span.end_line:
            return self.line(span.line)[span.column - 1 : span.end_column - 1]
        first = self.line(span.line)[span.column - 1 :]
        between = self.lines[span.line : span.end_line - 1]
        last = self.line(span.end_line)[: span.end_column - 1]
        return " ".join(part.strip() for part in [first, *between, last])

    def excerpt(self, span: Span, width: int = 80) -> str:
        """The source line of a span and, under it, a line of carets; no wider than `width` columns."""
        text = self.line(span.line)
        end = span.end_column if span.end_line == span.line else len(text) + 1
        return render(text, span.column - 1, max(end - 1, span.column), width)
