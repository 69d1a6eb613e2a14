"""Text that no writer stumbles over: nothing invisible, nothing that steers a terminal or breaks XML; and how wide it is."""

from __future__ import annotations

import re
import unicodedata

TITLE = 40
"""A title is cut here; the whole of it is in the tooltip."""

INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def printable(text: str) -> str:
    """Control, format and lone surrogate characters spelled out; a newline is `\\n`."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(c) if unicodedata.category(c) in INVISIBLE or ord(c) & 0xFFFE == 0xFFFE else c for c in text)


HALF = re.compile("[\ud800-\udfff]")
"""Half a character, as a program can make it, or a byte of a file name that is no text."""


def whole(document: str) -> str:
    """JSON with halves of characters spelled out as text: strict readers refuse a whole document for the escape of one."""
    return HALF.sub(lambda half: "\\" + _escaped(half[0]), document)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def cut(text: str, most: int = TITLE) -> str:
    """At most so many columns, with an ellipsis where something is left out."""
    if cells(text) <= most:
        return text
    taken, used = [], 0
    for character in text:
        used += cells(character)
        if used > most - 1:
            break
        taken.append(character)
    return "".join(taken) + "…"


def cells(text: str) -> int:
    """Columns of a monospace font: East Asian wide characters and emoji take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most so many columns, broken at blanks; a word longer than a line is cut."""
    lines: list[str] = []
    for word in text.split():
        if lines and cells(lines[-1]) + 1 + cells(word) <= width:
            lines[-1] += " " + word
        else:
            lines.append(cut(word, width))
    return lines
