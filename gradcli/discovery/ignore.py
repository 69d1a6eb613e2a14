"""What ignore files say of a path: the last pattern that speaks of it decides, those of inner folders before those of outer ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from gradcli.discovery.pattern import Pattern, parse

NAMES = (".gitignore", ".gradcliignore")
"""In this order: what the second says counts more."""
REPOSITORY = ".git"
EXCLUDE = os.path.join(REPOSITORY, "info", "exclude")


@dataclass(frozen=True)
class Layer:
    """The patterns of one file. `folder` is absolute, with `/`."""

    folder: str
    patterns: Sequence[Pattern]

    def says(self, path: str, *, is_directory: bool) -> bool | None:
        """True for ignored, False for kept, None where no pattern speaks of the path."""
        below = path[len(self.folder.rstrip("/")) + 1 :] if inside(path, self.folder) else os.path.basename(path)
        for pattern in reversed(self.patterns):
            if pattern.matches(below, is_directory=is_directory):
                return not pattern.negated
        return None


def inside(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def ignored(path: str, layers: Sequence[Layer], *, is_directory: bool) -> bool:
    """What the innermost layer that speaks of the path says."""
    for layer in reversed(layers):
        answer = layer.says(path, is_directory=is_directory)
        if answer is not None:
            return answer
    return False


def layers_of(folder: str) -> list[Layer]:
    """The layers of the ignore files in one folder."""
    found = []
    for name in NAMES:
        patterns = read(os.path.join(folder, name))
        if patterns:
            found.append(Layer(folder, patterns))
    return found


def layers_above(folder: str) -> list[Layer]:
    """The layers that the repository around a folder has above it; none outside of a repository."""
    above = []
    at = folder
    while not os.path.exists(os.path.join(at, REPOSITORY)):
        parent = os.path.dirname(at)
        if parent == at:
            return []
        at = parent
        above.append(at)
    own = read(os.path.join(at, EXCLUDE))
    found = [Layer(at, own)] if own else []
    for outer in reversed(above):
        found += layers_of(outer)
    return found


def read(path: str) -> list[Pattern]:
    """The patterns of an ignore file; one that is not there, or cannot be read, has none."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return parse(file.read())
    except OSError:
        return []
