"""Rows as aligned columns where they fit, and as one block a row where they do not. No number is ever cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradcli.report.rows import Row
from gradcli.report.text import Line, fold, verdict_style

INDENT = 4
GAPS = (2, 1)
"""Spaces between columns; the second where the first makes the table too wide."""


def gap(header: tuple[str, ...], rows: Sequence[Row], width: int) -> int | None:
    """The space between columns with which the table, with its indent, keeps within a width; None where it does not."""
    needed = INDENT + sum(_widths(header, rows))
    return next((space for space in GAPS if needed + space * (len(header) - 1) <= width), None)


def columns(header: tuple[str, ...], rows: Sequence[Row], space: int) -> Iterator[Line]:
    """A line for the header and one for each row."""
    widths = _widths(header, rows)
    yield [("".join(name.ljust(width + space) for name, width in zip(header, widths, strict=True)), "heading")]
    for row in rows:
        *numbers, verdict = row.cells
        line = "".join(cell.ljust(width + space) for cell, width in zip(numbers, widths, strict=False))
        yield [(line, ""), (verdict, verdict_style(row.verdict, row.failing))]


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
