"""A line of source with carets under a part of it, as a terminal shows it.

A terminal's columns are not characters: tabs are wide, East Asian characters take two columns,
combining ones none. Control characters would act on the terminal, so they are shown as a mark.
"""

from __future__ import annotations

import unicodedata

INDENT = "    "
TAB = 4
CUT = "..."
UNSAFE = frozenset({"Cc", "Cs", "Zl", "Zp"})
REORDERING = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
CONTROL = "\N{REPLACEMENT CHARACTER}"


def columns(character: str) -> int:
    """How many columns a printable character takes."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def display(text: str) -> list[str]:
    """What is shown for each character of the text."""
    cells: list[str] = []
    column = 0
    for character in text:
        if character == "\t":
            shown = " " * (TAB - column % TAB)
        elif unicodedata.category(character) in UNSAFE or unicodedata.bidirectional(character) in REORDERING:
            shown = CONTROL
        else:
            shown = character
        cells.append(shown)
        column += width_of(shown)
    return cells


def width_of(text: str) -> int:
    return sum(columns(character) for character in text)


def render(text: str, start: int, end: int, width: int = 80) -> str:
    """The text, cut around `start` to fit `width` columns, and a caret line under characters start..end."""
    room = max(width - len(INDENT), 20)
    far = start + 4 * room  # what lies farther away can never be shown
    near = max(0, start - 4 * room)
    cells = display(text[near:far])
    start, end = min(start - near, len(cells)), min(end - near, far - near)
    widths = [width_of(cell) for cell in cells]
    first, last = window(widths, start, room, cut_left=near > 0, cut_right=len(text) > far)
    left = CUT if first > 0 or near > 0 else ""
    right = CUT if last < len(cells) or len(text) > far else ""
    shown = left + "".join(cells[first:last]) + right
    offset = len(left) + sum(widths[first:start])
    marked = sum(widths[start : min(max(end, start + 1), last)]) or 1
    return f"{INDENT}{shown.rstrip()}\n{INDENT}{' ' * offset}{'^' * marked}"


def window(widths: list[int], start: int, room: int, *, cut_left: bool, cut_right: bool) -> tuple[int, int]:
    """The range of cells to show: all when they fit, else those around `start`, a third of the room before it."""
    if sum(widths) <= room and not cut_left and not cut_right:
        return 0, len(widths)
    room -= 2 * len(CUT) + 1  # and one column for a caret past the end of the line
    first, used = start, 0
    while first > 0 and used + widths[first - 1] <= room // 3:
        first -= 1
        used += widths[first]
    last = start
    while last < len(widths) and used + widths[last] <= room:
        used += widths[last]
        last += 1
    while first > 0 and used + widths[first - 1] <= room:
        first -= 1
        used += widths[first]
    return first, last
