"""Patterns of `.gitignore`, as gitignore(5) has them: which paths below a folder a line speaks of.

Written here because it is small, and because a directory is searched before anything heavy is imported; a test holds
it against `git check-ignore`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

CLASSES = {
    "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r"\s", "blank": r" \t",
    "punct": r"!-/:-@\[-`{-~", "xdigit": "0-9A-Fa-f", "cntrl": r"\x00-\x1f\x7f", "print": r"\x20-\x7e", "graph": r"\x21-\x7e",
}  # fmt: skip
SPECIAL = frozenset("*?[\\")
NEVER = "(?!)"


@dataclass(frozen=True)
class Pattern:
    """One line. `anchored`: matched against the whole path below the folder of its file, not against the name alone."""

    text: str
    negated: bool
    directories: bool
    anchored: bool

    @cached_property
    def regex(self) -> re.Pattern[str]:
        return re.compile(translate(self.text), re.DOTALL)

    def matches(self, path: str, *, is_directory: bool) -> bool:
        """Whether it speaks of the path, which is relative to the folder, with `/`."""
        if self.directories and not is_directory:
            return False
        return self.regex.fullmatch(path if self.anchored else path.rpartition("/")[2]) is not None


def parse(text: str) -> list[Pattern]:
    """The patterns of an ignore file."""
    lines = (line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n"))
    return patterns(line for line in lines if not line.startswith("#"))


def patterns(lines: Iterable[str]) -> list[Pattern]:
    """One pattern a line; blank ones are none."""
    return [pattern for pattern in map(_pattern, lines) if pattern.text]


def _pattern(line: str) -> Pattern:
    line = _without_trailing_blanks(line)
    negated = line.startswith("!")
    body = line[negated:]
    directories = body.endswith("/")
    body = body[:-1] if directories else body
    return Pattern(body.removeprefix("/"), negated, directories, "/" in body)


def _without_trailing_blanks(line: str) -> str:
    """Blanks at the end do not count, unless the first of them is escaped."""
    bare = line.rstrip(" ")
    escapes = len(bare) - len(bare.rstrip("\\"))
    return line[: len(bare) + 1] if escapes % 2 and len(bare) < len(line) else bare


def translate(glob: str) -> str:
    """The regular expression of a glob in which `*` stops at `/` and `**` does not."""
    done, at = [], 0
    while at < len(glob):
        piece, at = _piece(glob, at)
        done.append(piece)
    return "".join(done)


def _piece(glob: str, at: int) -> tuple[str, int]:
    """The expression for what stands at `at`, and where the next piece begins."""
    character = glob[at]
    if character == "*":
        return _stars(glob, at)
    if character == "?":
        return "[^/]", at + 1
    if character == "[":
        return _bracket(glob, at + 1)
    if character == "\\":
        return (re.escape(glob[at + 1]), at + 2) if at + 1 < len(glob) else (NEVER, at + 1)
    return re.escape(character), at + 1


def _stars(glob: str, at: int) -> tuple[str, int]:
    """`**` between slashes stands for any number of folders; at the end, for all that is inside."""
    end = at
    while end < len(glob) and glob[end] == "*":
        end += 1
    free = glob[:at].endswith("/") or not SPECIAL & set(glob[:at])  # git cuts off what comes before the first special character
    if end - at < 2 or not free or glob[end : end + 1] not in ("", "/"):
        return "[^/]*", end
    return (".*", end) if end == len(glob) else ("(?:.*/)?", end + 1)


def _bracket(glob: str, at: int) -> tuple[str, int]:
    """`[a-z]`, `[!x]`, `[[:alpha:]]`; without an end it matches nothing at all."""
    negated = glob[at : at + 1] in ("!", "^")
    at += negated
    first, items = at, []
    while at < len(glob) and (glob[at] != "]" or at == first):
        item, at = _item(glob, at)
        items.append(item)
    if at >= len(glob):
        return NEVER, len(glob)
    inside = "".join(items)
    if negated:
        return f"(?![/{inside}])[\\s\\S]", at + 1
    return (f"(?!/)[{inside}]" if inside else NEVER), at + 1


def _item(glob: str, at: int) -> tuple[str, int]:
    """One member of a bracket expression: a class, a range or a character."""
    named = re.compile(r"\[:(\w*):\]").match(glob, at)
    if named:
        return CLASSES.get(named[1], ""), named.end()
    low, at = _character(glob, at)
    if glob[at : at + 1] != "-" or glob[at + 1 : at + 2] in ("]", ""):
        return re.escape(low), at
    high, at = _character(glob, at + 1)
    return (f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""), at


def _character(glob: str, at: int) -> tuple[str, int]:
    return (glob[at + 1], at + 2) if glob[at] == "\\" and at + 1 < len(glob) else (glob[at], at + 1)
