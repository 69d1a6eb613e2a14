"""Text with styles, before it is known whether anything can show them.

A part is (text, style), a line a list of parts. The styles are words of this module; what they look like
is decided here alone. Words carry the meaning, colour only repeats it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

Part = tuple[str, str]
Line = Sequence[Part]

STYLES = {
    "pass": "green",
    "kink": "cyan",
    "unstable": "yellow",
    "unchecked": "yellow",
    "nan": "yellow",
    "fail": "bold red",
    "error": "bold red",
    "heading": "bold",
    "quiet": "dim",
    "hint": "cyan",
}

UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that steer, hide or end a line, or that UTF-8 cannot carry."""


def plain(text: str) -> Line:
    return [(text, "")]


WORD = re.compile(r"[ \t]*[^ \t]+|[ \t]+$")
"""With the blanks before it. A no-break space keeps together what it stands between, and comes out as a blank."""


def fold(line: Line, width: int, indent: int) -> Iterator[Line]:
    """The line in lines of the width, later ones indented, broken at blanks alone; what has none may stick out."""
    made: list[Part] = []
    used = 0
    for text, style in line:
        for word in WORD.findall(printable(text).replace("\n", "\\n")):
            if used > indent and used + len(word) > width:
                yield made
                made, word, used = [(" " * indent, "")], word.lstrip(" \t"), indent
            word = word.replace("\xa0", " ")
            if made and made[-1][1] == style:
                made[-1] = (made[-1][0] + word, style)
            else:
                made.append((word, style))
            used += len(word)
    yield made


def folded(line: str, width: int, indent: int = 8) -> list[str]:
    """The same of a line without styles."""
    return ["".join(part for part, _ in made) for made in fold(plain(line), width, indent)]


MOST_LINES = 20
LONGEST = 1000
"""Lines of a message that people are shown, and characters of a line."""


def shortened(message: str, *, verbose: bool) -> list[str]:
    """The lines of a message, as much of it as a reader looks at; all if `verbose`."""
    lines = printable(message).splitlines() or [""]
    if verbose:
        return lines
    shown = [line if len(line) <= LONGEST else f"{line[:LONGEST]}... ({len(line)} characters)" for line in lines[:MOST_LINES]]
    more = len(lines) - len(shown)
    return [*shown, f"... {more} more line{'' if more == 1 else 's'} (--verbose shows all)"] if more else shown


def verdict_style(verdict: str, failing: bool) -> str:
    """A NaN that fails looks like a failure, a reported one does not."""
    return "fail" if failing else verdict


def render(lines: Iterable[Line], color: bool) -> str:
    """The lines as one string, each ended by a newline and without trailing blanks."""
    return harmless("".join(_line(line, color) + "\n" for line in lines))


def _line(line: Line, color: bool) -> str:
    parts = [(printable(text).replace("\n", "\\n"), style) for text, style in line]
    while parts and not parts[-1][0].rstrip():
        parts.pop()
    if parts:
        parts[-1] = (parts[-1][0].rstrip(), parts[-1][1])
    return "".join(paint(text, style) if color else text for text, style in parts)


def paint(text: str, style: str) -> str:
    """The text in the colours of a style, as every terminal has them."""
    if not text or style not in STYLES:
        return text
    from rich.color import ColorSystem
    from rich.style import Style

    return Style.parse(STYLES[style]).render(text, color_system=ColorSystem.STANDARD)


COMMAND = re.compile(r"^([^\S\n]*(?:\x1b\[[\d;]*m)*[^\S\n]*):(?=:)|#(?=#(?:\[|vso\[))", re.MULTILINE)
"""What CI systems take for commands in a log: `::error::` at the start of a line, `##[group]` and `##vso[task]` anywhere."""


def harmless(lines: str) -> str:
    """The lines, with a blank inside whatever a CI system would obey: a checked file must not speak to it."""
    return COMMAND.sub(lambda match: f"{match[0]} ", lines)


def printable(text: str) -> str:
    """Control characters spelled out: a checked file must not steer the terminal, or the CI log, that shows it."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in UNSEEN else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
