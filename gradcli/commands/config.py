"""`gradcli config [PATH]`: the options that hold, and where each comes from."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from gradcli.commands import configuration, options, terminal
from gradcli.commands.keys import keys
from gradcli.commands.output import emit
from gradcli.config.config import Config, Setting
from gradcli.config.key import Key
from gradcli.errors import ExitStatus

SCHEMA = "gradcli.config/1"


class ConfigFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


PathArgument = Annotated[
    str, typer.Argument(metavar="[PATH]", help="Show what holds for this file, its own section included.", show_default=False)
]
FormatOption = Annotated[ConfigFormat, typer.Option("--format", help="What goes to standard output.")]


def config(
    path: PathArgument = "",
    config: configuration.ConfigOption = None,
    no_config: configuration.NoConfig = False,
    format: FormatOption = ConfigFormat.TEXT,
    out: options.Out = None,
) -> ExitStatus:
    """Show the options that hold, and where each comes from.

    They stand in [tool.gradcli] of pyproject.toml, or in gradcli.toml: the nearest above the path, up to the root of its
    repository. The command line counts more, and so does what a file says itself. They are those of gradcli check; the other
    commands that run a file take those that they have.
    """
    found = configuration.configuration(path, keys(), config, no_config)
    settings = effective(found, keys(), path)
    emit(
        as_json(found, settings, path) if format is ConfigFormat.JSON else as_text(found, settings, terminal.width(sys.stdout)),
        out,
        machine=format is ConfigFormat.JSON,
    )
    return ExitStatus.PASSED


def effective(config: Config, keys: list[Key], path: str) -> dict[str, Setting]:
    """Every key with its value; the section of a file counts more than what holds for all."""
    own = config.for_file(path) if path and not os.path.isdir(path) else {}
    given = {**config.settings, **own}
    return {key.name: given.get(key.parameter, Setting(key.default, configuration.DEFAULT)) for key in keys}


def as_json(config: Config, settings: dict[str, Setting], path: str) -> str:
    from gradcli.report import encode

    return (
        encode.document(
            {
                "schema": SCHEMA,
                "config": config.path,
                "path": path or None,
                "options": {name: {"value": setting.value, "origin": setting.origin} for name, setting in settings.items()},
                "per_file": [
                    {"pattern": section.pattern, "origin": section.origin, "options": {k: s.value for k, s in section.settings.items()}}
                    for section in config.sections
                ],
            }
        )
        + "\n"
    )


def as_text(config: Config, settings: dict[str, Setting], screen: int) -> str:
    """A line for each key, as it would stand in the file; then the sections. What is too wide has its origin on a line of its own."""
    rows = [(f"{name} = {toml(setting.value)}", setting.origin) for name, setting in settings.items()]
    width = max(len(left) for left, origin in rows if len(left) < 50)
    lines = [f"configuration: {config.path or 'none'}"]
    for left, origin in rows:
        line = f"{left:{width}}  # {origin}"
        lines += [line] if len(line) <= screen else [left, f"  # {origin}"]
    for section in config.sections:
        inner = ", ".join(f"{name.replace('_', '-')} = {toml(setting.value)}" for name, setting in section.settings.items())
        lines.append(f"for {section.pattern}: {inner}  # {section.origin}")
    return "\n".join(lines) + "\n"


def toml(value: Any) -> str:
    """A value as TOML has it; `unset` for none, which TOML has not."""
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(toml, value))}]"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' if isinstance(value, str) else repr(value)
