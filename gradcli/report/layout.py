"""Rows as aligned columns where they fit, and as one block a row where they do not. No number is ever cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gradcli.report.rows import Row
from gradcli.report.text import Line, verdict_style
from gradcli.report.view import View

INDENT = 4
GAP = 2


def table(header: tuple[str, ...], rows: Sequence[Row], view: View) -> Iterator[Line]:
    """Lines no wider than the view, an indent of four columns kept free."""
    cells = [header, *(row.cells for row in rows)]
    widths = [max(len(line[k]) for line in cells) for k in range(len(header))]
    if INDENT + sum(widths) + GAP * (len(widths) - 1) > view.width:
        yield from _blocks(header, rows)
        return
    yield [("  ".join(name.ljust(width) for name, width in zip(header, widths, strict=True)), "heading")]
    for row in rows:
        *numbers, verdict = row.cells
        line = "".join(cell.ljust(width + GAP) for cell, width in zip(numbers, widths, strict=False))
        yield [(line, ""), (verdict, verdict_style(row.verdict, row.failing))]


def _blocks(header: tuple[str, ...], rows: Sequence[Row]) -> Iterator[Line]:
    names = header[1:-1]
    width = max(map(len, names))
    for row in rows:
        label, *numbers, verdict = row.cells
        yield [(f"{label}: ", "heading"), (verdict, verdict_style(row.verdict, row.failing))]
        for name, number in zip(names, numbers, strict=True):
            yield [(f"  {name.ljust(width)}  {number}", "")]
