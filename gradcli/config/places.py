"""In which line of a TOML file a key stands, which `tomllib` does not tell."""

from __future__ import annotations

import re
import tomllib
from typing import Any

Path = tuple[str, ...]
HEADER = re.compile(r"\s*\[(?!\[)(.+)\]\s*(?:#.*)?$")
ASSIGNMENT = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")


def places(text: str) -> dict[Path, int]:
    """The line of each table and each key, by their full path; what only looks like one is found under a path that nobody asks for."""
    found: dict[Path, int] = {}
    table: Path = ()
    for number, line in enumerate(text.splitlines(), 1):
        header, assignment = HEADER.match(line), ASSIGNMENT.match(line)
        if header:
            table = dotted(header[1])
            for end in range(1, len(table) + 1):
                found.setdefault(table[:end], number)
        elif assignment:
            found.setdefault((*table, *dotted(assignment[1])), number)
    return found


def dotted(key: str) -> Path:
    """`tool."a.b".c` split at its dots."""
    try:
        data: Any = tomllib.loads(f"{key} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    path = []
    while isinstance(data, dict):
        ((name, data),) = data.items()
        path.append(name)
    return tuple(path)
