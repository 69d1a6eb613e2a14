"""Which files the paths of a command line stand for, and what is in them."""

from __future__ import annotations

import os
import sys

from gradcli.discovery import walk
from gradcli.discovery.walk import Wanted
from gradcli.errors import UsageError
from gradcli.interpreter.limits import Limits
from gradcli.syntax.formula import PATH
from gradcli.syntax.source import Source
from gradcli.syntax.spelling import nearest

STANDARD_INPUT = "-"
STANDARD_INPUT_NAME = "<stdin>"


class Given(str):
    """Stands for a path where the text comes from elsewhere; as a string it is the name of that in reports."""

    def source(self, limits: Limits, data: str | None) -> Source:
        raise NotImplementedError


class StandardInput(Given):
    """What is on standard input."""

    def source(self, limits: Limits, data: str | None) -> Source:
        return decoded(self, sys.stdin.buffer.read(limits.file_size + 1), limits)


class Formula(Given):
    """A formula of the command line."""

    text: str
    at: tuple[tuple[str, str], ...]

    def __new__(cls, text: str, at: tuple[tuple[str, str], ...]) -> Formula:
        made = super().__new__(cls, PATH)
        made.text, made.at = text, at
        return made

    def source(self, limits: Limits, data: str | None) -> Source:
        from gradcli.interpreter.formula import formula_source

        return formula_source(self.text, self.at, limits, data)


def find(paths: list[str], wanted: Wanted = Wanted()) -> tuple[list[str], list[UsageError]]:
    """The files in the order of the paths, each once; and the paths behind which there is nothing to check.

    A file that is named and missing is among the files: whoever reads it says so, and the others are still checked.
    """
    files: list[str] = []
    empty: list[UsageError] = []
    for path in paths:
        found = _expand(path, wanted)
        files += found
        if not found:
            kind = f"no {_names(wanted)} file in directory" if os.path.isdir(path) else "no file matches"
            empty.append(UsageError(f"{kind} {path}", hint="name a file, or a directory that has some", code="G104"))
    return walk.once(files), empty


def _expand(path: str, wanted: Wanted) -> list[str]:
    if isinstance(path, Given):
        return [path]
    if os.path.isdir(path):
        return walk.search(path, wanted)
    if walk.is_glob(path) and not os.path.exists(path):
        return [file for match in walk.expand(path) for file in (walk.search(match, wanted) if os.path.isdir(match) else [match])]
    return [walk.shown(path)]


def _names(wanted: Wanted) -> str:
    return " or ".join(pattern.text for pattern in wanted.include)


def read(path: str, limits: Limits, data: str | None = None) -> Source:
    """The text of one file; UsageError where it cannot be read, LimitError where it is too large. `data`: where load(...) looks."""
    if isinstance(path, Given):
        return path.source(limits, data)
    try:
        with open(path, "rb") as file:
            return decoded(walk.shown(path), file.read(limits.file_size + 1), limits)
    except OSError as error:
        raise unreadable(path, error) from error


def decoded(name: str, data: bytes, limits: Limits) -> Source:
    if len(data) > limits.file_size:
        raise limits.reached("file_size")
    return Source.decode(name, data)


def unreadable(path: str, error: OSError) -> UsageError:
    """In the system's words, with a near name where there is one."""
    if os.path.islink(path):
        return UsageError(f"cannot read {path}: it is a link to {os.readlink(path)}: {error.strerror}", code="G101")
    if isinstance(error, FileNotFoundError):
        return UsageError(f"no such file: {path}", hint=_near(path), code="G101")
    return UsageError(f"cannot read {path}: {error.strerror or error}", code="G101")


def _near(path: str) -> str | None:
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return f"there is no folder {folder}"
    found = next((other for other in sorted(names) if other.startswith(f"{name}.")), None) or nearest(name, names)
    return None if found is None else f"did you mean {os.path.join(folder, found)!r}?"
