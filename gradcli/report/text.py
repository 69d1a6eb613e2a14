"""Text with styles, before it is known whether anything can show them.

A part is (text, style), a line a list of parts. The styles are words of this module; what they look like
is decided here alone. Words carry the meaning, colour only repeats it.
"""

from __future__ import annotations

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


def plain(text: str) -> Line:
    return [(text, "")]


def verdict_style(verdict: str, failing: bool) -> str:
    """A NaN that fails looks like a failure, a reported one does not."""
    return "fail" if failing else verdict


def render(lines: Iterable[Line], color: bool) -> str:
    """The lines as one string, each ended by a newline and without trailing blanks."""
    if color:
        return _styled(lines)
    return "".join("".join(text for text, _ in line).rstrip() + "\n" for line in lines)


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
