"""Text with styles, before it is known whether anything can show them.

A part is (text, style), a line a list of parts. The styles are words of this module; what they look like
is decided here alone. Words carry the meaning, colour only repeats it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

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


def verdict_style(verdict: str, failing: bool) -> str:
    """A NaN that fails looks like a failure, a reported one does not."""
    return "fail" if failing else verdict


def render(lines: Iterable[Line], color: bool) -> str:
    """The lines as one string, each ended by a newline and without trailing blanks."""
    safe = ([(printable(text).replace("\n", "\\n"), style) for text, style in line] for line in lines)
    if color:
        return harmless(_styled(safe))
    return harmless("".join("".join(text for text, _ in line).rstrip() + "\n" for line in safe))


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


def _styled(lines: Iterable[Line]) -> str:
    import io

    from rich.console import Console
    from rich.text import Text

    out = io.StringIO()
    console = Console(file=out, force_terminal=True, no_color=False, color_system="standard", legacy_windows=False, width=1 << 20)
    for line in lines:
        text = Text.assemble(*((part, STYLES.get(style, "")) for part, style in line))
        text.rstrip()
        console.print(text, soft_wrap=True, highlight=False, markup=False, emoji=False)
    return out.getvalue()
