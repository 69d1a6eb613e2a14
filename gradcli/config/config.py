"""A configuration that has been read and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gradcli.discovery.ignore import Layer
from gradcli.discovery.pattern import patterns
from gradcli.discovery.walk import DEFAULT_INCLUDE, Wanted, absolute


class Setting(NamedTuple):
    """A value, and where it stands: `pyproject.toml:12`."""

    value: Any
    origin: str


@dataclass(frozen=True)
class Section:
    """Settings of the files that a pattern speaks of."""

    pattern: str
    settings: Mapping[str, Setting]
    origin: str


@dataclass(frozen=True)
class Config:
    """`settings` by the name of their parameter. Patterns are those of .gitignore, relative to `folder`; path None: there is no file."""

    path: str | None = None
    folder: str = ""
    settings: Mapping[str, Setting] = field(default_factory=dict)
    sections: Sequence[Section] = ()

    @property
    def wanted(self) -> Wanted:
        """What directories are searched for."""
        include = self.settings["include"].value if "include" in self.settings else DEFAULT_INCLUDE
        exclude = self.settings["exclude"].value if "exclude" in self.settings else ()
        return Wanted(self.folder, patterns(include), patterns(exclude))

    def for_file(self, path: str) -> dict[str, Setting]:
        """What the sections say of one file; a later one counts more."""
        return {name: setting for section in self._speaking(path) for name, setting in section.settings.items()}

    def _speaking(self, path: str) -> Iterator[Section]:
        for section in self.sections:
            if Layer(self.folder, patterns([section.pattern])).says(absolute(path), is_directory=False):
                yield section
