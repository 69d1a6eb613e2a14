"""Which files the paths of a command line stand for, and what is in them."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterator
from pathlib import PurePath

from gradcli.errors import UsageError
from gradcli.interpreter.limits import Limits
from gradcli.syntax.source import Source
from gradcli.syntax.spelling import nearest

STANDARD_INPUT = "-"
STANDARD_INPUT_NAME = "<stdin>"
SUFFIX = ".grad"
GLOB = frozenset("*?[")


def find(paths: list[str]) -> tuple[list[str], list[UsageError]]:
    """The files in the order of the paths, each once; and the paths behind which there is nothing to check.

    A file that is named and missing is among the files: whoever reads it says so, and the others are still checked.
    """
    files: dict[str, None] = {}
    empty: list[UsageError] = []
    for path in paths:
        found = list(_expand(path))
        files.update(dict.fromkeys(found))
        if not found:
            kind = f"no *{SUFFIX} file in directory" if os.path.isdir(path) else "no file matches"
            empty.append(UsageError(f"{kind} {path}", hint="name a file, or a directory that has some", code="G104"))
    return list(files), empty


def _expand(path: str) -> Iterator[str]:
    if path == STANDARD_INPUT:
        yield path
    elif os.path.isdir(path):
        yield from _walk(path)
    elif GLOB & set(path) and not os.path.exists(path):
        for match in sorted(glob.glob(path, recursive=True)):
            yield from _walk(match) if os.path.isdir(match) else [_shown(match)]
    else:
        yield _shown(path)


def _walk(directory: str) -> Iterator[str]:
    found = []
    for folder, subfolders, names in os.walk(directory):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        found += [os.path.join(folder, name) for name in names if name.endswith(SUFFIX)]
    yield from sorted(map(_shown, found))


def _shown(path: str) -> str:
    return PurePath(path).as_posix()


def read(path: str, limits: Limits) -> Source:
    """The text of one file; UsageError where it cannot be read, LimitError where it is too large."""
    if path == STANDARD_INPUT:
        return Source.decode(STANDARD_INPUT_NAME, standard_input())
    try:
        with open(path, "rb") as file:
            data = file.read(limits.file_size + 1)
    except OSError as error:
        raise unreadable(path, error) from error
    if len(data) > limits.file_size:
        raise limits.reached("file_size")
    return Source.decode(_shown(path), data)


def unreadable(path: str, error: OSError) -> UsageError:
    """In the system's words, with a near name where there is one."""
    if isinstance(error, FileNotFoundError):
        return UsageError(f"no such file: {path}", hint=_near(path), code="G101")
    return UsageError(f"cannot read {path}: {error.strerror or error}", code="G101")


def _near(path: str) -> str | None:
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder or ".")
    except OSError:
        return f"there is no folder {folder}"
    found = nearest(name, names)
    return None if found is None else f"did you mean {os.path.join(folder, found)!r}?"


def standard_input() -> bytes:
    """All of standard input."""
    return sys.stdin.buffer.read()
