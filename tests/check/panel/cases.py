"""The panel: gradients of known rightness, as programs in `right.txt` and `wrong.txt` beside this file.

A case begins with a line "=== name | what". For a right one `what` lists the statuses that are right besides failing
nothing ("pass" unless given); for a wrong one it is the class of the user Function or the line that a report must
name, or "nan" where a gradient that is not finite is all there is to find.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    """A program, and what checking it must say."""

    name: str
    program: str
    right: bool
    what: str

    @property
    def allowed(self) -> tuple[str, ...]:
        """The file statuses that a right gradient may get."""
        return tuple(word.strip() for word in (self.what or "pass").split(","))

    @property
    def guilty(self) -> str | int | None:
        """The class or the line that is to be named."""
        return int(self.what) if self.what.isdigit() else None if self.what == "nan" else self.what


def cases() -> list[Case]:
    """All of the panel."""
    return [*read("right"), *read("wrong")]


def read(kind: str) -> list[Case]:
    """The cases of one file."""
    text = (FOLDER / f"{kind}.txt").read_text(encoding="utf-8")
    found = []
    for part in text.split("=== ")[1:]:
        head, _, program = part.partition("\n")
        name, _, what = head.partition(" | ")
        found.append(Case(name.strip(), program.strip("\n") + "\n", kind == "right", what.strip()))
    return found
