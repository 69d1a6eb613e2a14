"""What the reader's end can show: colour, width, characters beyond ASCII."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

from gradcli.commands.options import Color
from gradcli.report.view import View

NARROWEST = 20


def view(color: Color, *, quiet: bool = False, verbose: bool = False, to_file: bool = False) -> View:
    """How to write for standard output, or for a file, which is 80 columns of UTF-8 and coloured only on demand."""
    if to_file:
        return View(color=color is Color.ALWAYS, unicode=True, quiet=quiet, verbose=verbose)
    return View(
        width=width(sys.stdout),
        color=wants_color(color, sys.stdout),
        unicode=speaks(sys.stdout, "±"),
        quiet=quiet,
        verbose=verbose,
    )


def wants_color(choice: Color, stream: TextIO) -> bool:
    """The option, then NO_COLOR, then FORCE_COLOR, then whether a capable terminal reads."""
    if choice is not Color.AUTO:
        return choice is Color.ALWAYS
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return os.environ.get("TERM") != "dumb" and stream.isatty()


def width(stream: TextIO, otherwise: int = 80) -> int:
    """COLUMNS, else the terminal's own width, else 80 or what else is said to do where nobody looks."""
    if stream.isatty() or os.environ.get("COLUMNS", "").isdigit():
        return max(shutil.get_terminal_size((80, 24)).columns, NARROWEST)
    return otherwise


def speaks(stream: TextIO, characters: str) -> bool:
    """Can the stream's encoding carry these characters?"""
    try:
        characters.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
