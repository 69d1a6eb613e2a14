"""Rows as aligned columns where they fit, and as one block a row where they do not. No number is ever cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradcli.report.rows import Row
from gradcli.report.text import Line, fold, verdict_style

INDENT = 4
GAPS = (2, 1)
"""Spaces between columns; the second where the first makes the table too wide."""


SPARE = ("ulps", "bars")
"""What makes room in this order where a table is too wide: it says again, in other units, what the numbers beside it say."""


def fitting(header: tuple[str, ...], rows: Sequence[Row], width: int) -> tuple[list[int], int] | None:
    """The columns, and the space between them, with which the table and its indent keep within a width; None where nothing does."""
    widths, shown = _widths(header, rows), list(range(len(header)))
    for spare in ("", *SPARE):
        shown = [k for k in shown if header[k] != spare]
        needed = INDENT + sum(widths[k] for k in shown)
        space = next((space for space in GAPS if needed + space * (len(shown) - 1) <= width), None)
        if space is not None:
            return shown, space
    return None


def columns(header: tuple[str, ...], rows: Sequence[Row], shown: Sequence[int], space: int) -> Iterator[Line]:
    """A line for the header and one for each row, of the columns shown."""
    widths = _widths(header, rows)
    yield [("".join(header[k].ljust(widths[k] + space) for k in shown), "heading")]
    for row in rows:
        *numbers, verdict = shown
        line = "".join(row.cells[k].ljust(widths[k] + space) for k in numbers)
        yield [(line, ""), (row.cells[verdict], verdict_style(row.verdict, row.failing))]


def _widths(header: tuple[str, ...], rows: Sequence[Row]) -> list[int]:
    cells = [header, *(row.cells for row in rows)]
    return [max(len(line[k]) for line in cells) for k in range(len(header))]


def blocks(names: tuple[str, ...], rows: Sequence[Row], width: int) -> Iterator[Line]:
    """A line with leaf and verdict for each row, and one for each of its numbers."""
    longest = max(map(len, names))
    for row in rows:
        label, *numbers, verdict = row.cells
        yield [(f"{label}: ", "heading"), (verdict, verdict_style(row.verdict, row.failing))]
        for name, number in zip(names, numbers, strict=True):
            yield from fold([(f"  {name.ljust(longest)}  {number}", "")], width - INDENT, longest + 4)
