"""Directories searched and globs expanded, in an order that depends on names alone."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from gradcli.discovery.ignore import Layer, ignored, inside, layers_above, layers_of
from gradcli.discovery.pattern import Pattern, patterns, translate

DEFAULT_INCLUDE = ("*.grad",)
ENVIRONMENTS = ("pyvenv.cfg", "conda-meta")
"""A folder with one of these is somebody's Python."""
SKIPPED = frozenset({"node_modules", "__pycache__"})
MAGIC = frozenset("*?[")


@dataclass(frozen=True)
class Wanted:
    """What a search is for: patterns as in .gitignore, relative to `folder`, which is that of the configuration."""

    folder: str = ""
    include: Sequence[Pattern] = field(default_factory=lambda: patterns(DEFAULT_INCLUDE))
    exclude: Sequence[Pattern] = ()

    def takes(self, path: str) -> bool:
        """Is the file at an absolute path one to check?"""
        return Layer(self.folder, self.include).says(path, is_directory=False) is True

    def leaves_out(self, path: str, *, is_directory: bool) -> bool:
        return Layer(self.folder, self.exclude).says(path, is_directory=is_directory) is True

    def leaves_out_if_named(self, path: str) -> bool:
        """The same for a file that nobody came upon by a search: the folders around it count, as far as the configuration sees."""
        at = absolute(path)
        around = [at[:end] for end in range(len(self.folder) + 1, len(at)) if at[end] == "/"] if inside(at, self.folder) else []
        return any(self.leaves_out(folder, is_directory=True) for folder in around) or self.leaves_out(at, is_directory=False)


def shown(path: str) -> str:
    """A path as reports show it, on every system with `/`."""
    return PurePath(path).as_posix()


def search(directory: str, wanted: Wanted) -> list[str]:
    """The files below a directory. Links to directories are not followed, so that there are no circles.

    A folder that may not be read is among them, lest what is in it count as checked: whoever reads it says what is wrong.
    """
    start = absolute(directory)
    found: list[str] = []
    pending = [(directory, start, layers_above(start))]
    while pending:
        folder, here, outer = pending.pop()
        layers = [*outer, *layers_of(here)]
        try:
            inner = entries(folder)
        except PermissionError:
            found.append(shown(folder))
            continue
        for entry in inner:
            path, is_directory = f"{here.rstrip('/')}/{entry.name}", entry.is_dir(follow_symlinks=False)
            if wanted.leaves_out(path, is_directory=is_directory) or ignored(path, layers, is_directory=is_directory):
                continue
            if is_directory:
                if not passed_over(entry):
                    pending.append((os.path.join(folder, entry.name), path, layers))
            elif wanted.takes(path) and entry.is_file():
                found.append(shown(os.path.join(folder, entry.name)))
    return sorted(found)


def absolute(path: str) -> str:
    return os.path.abspath(path).replace(os.sep, "/")


def entries(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing where it is gone. Raises PermissionError where it may not be read."""
    try:
        with os.scandir(folder) as found:
            return list(found)
    except PermissionError:
        raise
    except OSError:
        return []


def passed_over(entry: os.DirEntry[str]) -> bool:
    """Hidden folders, Python environments, and what tools keep for themselves."""
    return entry.name.startswith(".") or entry.name in SKIPPED or any(os.path.exists(os.path.join(entry.path, m)) for m in ENVIRONMENTS)


def is_glob(path: str) -> bool:
    return bool(MAGIC & set(path))


def prefix(glob: str) -> str:
    """The part of a glob, or of a plain path, before its first special character: a folder."""
    parts = PurePath(glob).parts
    fixed = next((k for k, part in enumerate(parts) if is_glob(part)), len(parts) - 1)
    return os.path.join(*parts[:fixed]) if fixed > 0 else ""


def expand(glob: str) -> list[str]:
    """What a glob stands for, as in a shell: ignore files do not count, and what is hidden must be named so."""
    start = prefix(glob)
    rest = PurePath(glob).parts[len(PurePath(start).parts) :]
    regex = re.compile(translate("/".join(rest)), re.DOTALL)
    deep = None if "**" in rest else len(rest)
    hidden = any(part.startswith(".") for part in rest)
    return sorted(shown(os.path.join(start, path)) for path in below(start or ".", deep, hidden=hidden) if regex.fullmatch(path))


def below(folder: str, deep: int | None, *, hidden: bool) -> Iterator[str]:
    """Every path below a folder, relative to it, down to `deep` levels; links to directories are named and not followed."""
    pending = [("", folder)]
    while pending:
        path, here = pending.pop()
        try:
            listed = entries(here)
        except PermissionError:
            continue  # a shell passes over it, too
        for entry in listed:
            if entry.name.startswith(".") and not hidden:
                continue
            inner = f"{path}/{entry.name}" if path else entry.name
            yield inner
            if entry.is_dir(follow_symlinks=False) and (deep is None or inner.count("/") + 1 < deep):
                pending.append((inner, entry.path))


def once(paths: Iterable[str]) -> list[str]:
    """Each file once, under the first of its names: by the real place of its folder, so that a linked folder is no other one."""
    first: dict[tuple[str, str], str] = {}
    for path in paths:
        folder, name = os.path.split(path)
        first.setdefault((os.path.realpath(folder or "."), name), path)
    return list(first.values())
