"""Writing `# gradcli: expect WORD`, or `; gradcli: expect WORD`, into the text of a file; every other byte stays as it is."""

from __future__ import annotations

import re

from gradcli.syntax.directives import COMMENT, comments
from gradcli.syntax.source import BYTE_ORDER_MARK

LINE = re.compile(r".*?(?:\r\n|\r|\n|\Z)", re.DOTALL)
STATED = re.compile(r"(\bexpect(?:\s*=\s*|\s+))(\w+)")


def expecting(data: bytes, word: str, *, fpcore: bool = False) -> bytes:
    """The file with this expectation: in place of the one that it states, else in a first line of its own.

    Raises UnicodeDecodeError for what is not UTF-8.
    """
    text = data.decode("utf-8")
    lines = [line for line in LINE.findall(text) if line]
    stated = [(line - 1, column) for line, column, comment in comments(_unix(lines), fpcore=fpcore) if _states(comment)]
    for number, column in stated:
        column += number == 0 and text.startswith(BYTE_ORDER_MARK)
        lines[number] = lines[number][:column] + STATED.sub(rf"\g<1>{word}", lines[number][column:])
    if not stated:
        _insert(lines, f"{';' if fpcore else '#'} gradcli: expect {word}")
    return "".join(lines).encode("utf-8")


def _states(comment: str) -> bool:
    match = COMMENT.match(comment)
    return match is not None and any(STATED.match(item.strip()) for item in comment[match.end() :].split(","))


def _unix(lines: list[str]) -> str:
    """The text as `Source` has it, whose lines and columns those of the comments are."""
    return "".join(line.rstrip("\r\n") + "\n" for line in lines).removeprefix(BYTE_ORDER_MARK)


def _insert(lines: list[str], directive: str) -> None:
    """A line at the top: behind a byte order mark, and below `#!`; with the line end of the file."""
    first = lines[0] if lines else ""
    end = first[len(first.rstrip("\r\n")) :] or "\n"
    if first.removeprefix(BYTE_ORDER_MARK).startswith("#!"):
        lines[0] = first.rstrip("\r\n") + end
        lines.insert(1, directive + end)
    elif first.startswith(BYTE_ORDER_MARK):
        lines[0] = BYTE_ORDER_MARK + directive + end + first.removeprefix(BYTE_ORDER_MARK)
    else:
        lines.insert(0, directive + end)
