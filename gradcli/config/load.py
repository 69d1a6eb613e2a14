"""Finding, reading and checking the configuration. Whatever is wrong with it is told with its line."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.config.config import Config, Section, Setting
from gradcli.config.key import EXCLUDE, INCLUDE, Key
from gradcli.config.places import Path, places
from gradcli.discovery.ignore import REPOSITORY
from gradcli.discovery.walk import absolute, shown
from gradcli.errors import UsageError
from gradcli.syntax.spelling import did_you_mean

OWN = "gradcli.toml"
SHARED = "pyproject.toml"
TABLE = ("tool", "gradcli")
PER_FILE = "per-file"
SHORT = 40
"""Characters of an array that a message shows."""


class ConfigError(UsageError):
    """Something in a configuration file is wrong."""

    code = "G113"
    type = "ConfigError"


def find(folder: str) -> str | None:
    """The nearest configuration in a folder or above it, up to the root of its repository: gradcli.toml before pyproject.toml."""
    at = absolute(folder)
    while True:
        for name in (OWN, SHARED):
            path = os.path.join(at, name)
            if os.path.isfile(path) and (name == OWN or _speaks_of_gradcli(path)):
                return path
        parent = os.path.dirname(at)
        if parent == at or os.path.exists(os.path.join(at, REPOSITORY)):
            return None
        at = parent


def _speaks_of_gradcli(path: str) -> bool:
    """One that is no TOML counts if it names our table, and one that cannot be read does: whoever wrote it should hear of it."""
    try:
        with open(path, "rb") as file:
            data = file.read()
        return "gradcli" in tomllib.loads(data.decode("utf-8-sig")).get("tool", {})
    except ValueError:
        return b"tool.gradcli" in data
    except OSError:
        return True


def load(path: str, keys: Sequence[Key]) -> Config:
    """Read a configuration. Raises ConfigError with everything that is wrong in it."""
    reader = Reader(path, keys)
    config = reader.config()
    if reader.faults:
        raise joined(reader.faults)
    return config


def joined(faults: Sequence[ConfigError]) -> ConfigError:
    """Several faults as one error; each has its place and its hint."""
    if len(faults) == 1:
        return faults[0]
    lines = [fault.message + (f" ({fault.hint})" if fault.hint else "") for fault in faults]
    return ConfigError("\n".join(lines))


class Reader:
    """Reads one file and collects what is wrong with it."""

    def __init__(self, path: str, keys: Sequence[Key]) -> None:
        self.path = path
        self.folder = os.path.dirname(absolute(path))
        self.keys = {key.name: key for key in (*keys, INCLUDE, EXCLUDE)}
        self.faults: list[ConfigError] = []
        self.text = self._text()
        self.places = places(self.text)

    def _text(self) -> str:
        try:
            with open(self.path, "rb") as file:
                return file.read().decode("utf-8-sig")
        except OSError as error:
            raise ConfigError(f"cannot read {shown(self.path)}: {error.strerror or error}", hint="see --config") from error
        except UnicodeDecodeError as error:
            raise ConfigError(f"{shown(self.path)}: not UTF-8", hint="save the file as UTF-8") from error

    def config(self) -> Config:
        table, at = self._table()
        sections = table.pop(PER_FILE, {})
        settings = self._settings(table, at)
        if not isinstance(sections, dict):
            self._fault(f"{PER_FILE}: a table for each pattern", (*at, PER_FILE), hint=f'[{".".join((*at, PER_FILE))}."slow/*.grad"]')
            sections = {}
        found = [self._section(pattern, inner, (*at, PER_FILE, pattern)) for pattern, inner in sections.items()]
        return Config(shown(self.path), self.folder, settings, found)

    def _table(self) -> tuple[dict[str, Any], Path]:
        """Our table, and its path; a gradcli.toml is all ours, and may have it under the long name too."""
        try:
            data: Any = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            raise ConfigError(syntax_error(shown(self.path), str(error)), hint="this is TOML, see https://toml.io") from error
        tool = data.get("tool")
        named = isinstance(tool, dict) and "gradcli" in tool
        if not named and os.path.basename(self.path) != SHARED:
            return dict(data), ()
        ours = tool["gradcli"] if named else {}
        if not isinstance(ours, dict):
            raise ConfigError(f"{self._place(TABLE)}: tool.gradcli is a table", hint="[tool.gradcli]")
        return dict(ours), TABLE

    def _section(self, pattern: str, inner: Any, at: Path) -> Section:
        if not isinstance(inner, dict):
            self._fault(f"{PER_FILE}.{pattern!r} is a table of options", at)
            inner = {}
        return Section(pattern, self._settings(inner, at, each=True), self._place(at))

    def _settings(self, table: Mapping[str, Any], at: Path, *, each: bool = False) -> dict[str, Setting]:
        found = {}
        for name, given in table.items():
            key = self.keys.get(name.replace("_", "-"))
            if key is None or (each and not key.each):
                self._unknown(name, key, (*at, name), each=each)
                continue
            try:
                value = key.value(given)
                found[key.parameter] = Setting(self._from_here(value) if key.folder else value, self._place((*at, name)))
            except ValueError as error:
                self._fault(f"{name} is {written(given)}, and not {error}", (*at, name), hint=near_choice(given, key))
        return found

    def _from_here(self, folder: str) -> str:
        """A folder that the configuration names, as seen from the working directory."""
        return shown(near(os.path.join(self.folder, folder)))

    def _unknown(self, name: str, key: Key | None, at: Path, *, each: bool) -> None:
        if key is not None:
            self._fault(f"{name} is the same for all files", at, hint="set it outside of the table for some files")
            return
        known = [key.name for key in self.keys.values() if key.each or not each]
        self._fault(f"unknown key {name!r}", at, hint=did_you_mean(name, [*known, PER_FILE]) or "gradcli config lists the keys")

    def _fault(self, message: str, at: Path, hint: str | None = None) -> None:
        self.faults.append(ConfigError(f"{self._place(at)}: {message}", hint=hint))

    def _place(self, at: Path) -> str:
        """File and line; of a key inside an inline table the line of that."""
        lines = (self.places[at[:end]] for end in range(len(at), 0, -1) if at[:end] in self.places)
        line = next(lines, None)
        return shown(self.path) if line is None else f"{shown(self.path)}:{line}"


def near_choice(given: Any, key: Key) -> str | None:
    """A hint to the word that was meant, where one of a few is wanted."""
    words = given if isinstance(given, list) else [given]
    wrong = [word for word in words if isinstance(word, str) and word not in key.choices]
    return did_you_mean(wrong[0], key.choices) if wrong and key.choices else None


def near(path: str) -> str:
    """A short relative path where it is below the working directory."""
    relative = os.path.relpath(path) if os.path.splitdrive(path)[0] == os.path.splitdrive(os.getcwd())[0] else path
    return path if relative.startswith(os.pardir) else relative


def syntax_error(path: str, message: str) -> str:
    """`Expected '=' (at line 3, column 5)` with its place in front."""
    match = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message, re.DOTALL)
    return f"{path}:{match[2]}:{match[3]}: {match[1]}" if match else f"{path}: {message}"


def written(value: Any) -> str:
    """A value about as it stands in the file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and len(str(value)) <= SHORT:
        return f"[{', '.join(map(written, value))}]"
    if isinstance(value, list | dict):
        return "an array" if isinstance(value, list) else "a table"
    return f'"{value}"' if isinstance(value, str) else str(value)
