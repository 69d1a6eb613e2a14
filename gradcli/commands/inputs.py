"""Which files the paths of a command line stand for, and what is in them."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Iterator
from pathlib import PurePath

from gradcli.errors import UsageError

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


def standard_input() -> bytes:
    """All of standard input."""
    return sys.stdin.buffer.read()
