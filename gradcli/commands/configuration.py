"""The configuration as a command sees it: what it may set, and what of that the command line leaves to it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, get_args, get_origin

import typer

from gradcli.config.config import Config, Setting
from gradcli.config.key import FAILURES, METHODS, Key
from gradcli.discovery import walk
from gradcli.errors import UsageError
from gradcli.report.formats import FORMATS

NEVER = frozenset({"graph", "out", "update_expectations", "formula", "at", "stdin_filename", "config", "no_config", "debug"})
"""Options about one call."""
FOR_ALL = frozenset(
    {"seed", "format", "report", "quiet", "verbose", "color", "jobs", "fail_fast", "cache", "cache_dir", "force_exclude"},
)  # fmt: skip
"""Options about a run as a whole, which cannot differ from file to file."""
OF_CHECK = frozenset({"format"})
"""Options that other commands have under the same name, with another meaning."""
CHOICES: Mapping[str, Sequence[str]] = {"format": tuple(FORMATS), "method": METHODS, "fail_on": FAILURES}
"""The words of options that are strings to Typer, whose own messages we do not use."""
FOLDER = "DIR"
"""What options call a folder: in a configuration it is relative to that."""
DEFAULT = "default"

ConfigOption = Annotated[
    str | None,
    typer.Option("--config", metavar="PATH", show_default=False, help="Read this configuration, not the nearest one above the first path."),
]
NoConfig = Annotated[bool, typer.Option("--no-config", help="Read no configuration.")]


@dataclass(frozen=True)
class Configured:
    """A configuration beside a command line. `given`: the parameters that the command line sets."""

    config: Config = field(default_factory=Config)
    given: frozenset[str] = frozenset()

    def settings(self) -> dict[str, Setting]:
        """What the configuration sets for every file, by parameter."""
        return self._free(self.config.settings)

    def for_file(self, path: str) -> dict[str, Setting]:
        """What it sets for one file besides."""
        return self._free(self.config.for_file(path))

    def _free(self, settings: Mapping[str, Setting]) -> dict[str, Setting]:
        return {name: setting for name, setting in settings.items() if name not in self.given}


PARAMETERS = (
    inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
    inspect.Parameter("config", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=ConfigOption),
    inspect.Parameter("no_config", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=NoConfig),
)
"""What a command that can be configured has besides, for Typer."""


def configure(options: dict[str, Any], path: str) -> Configured:
    """Set the options that the configuration sets and the command line does not.

    Those of some files apply where the command has one file; where it has several (`paths`) they are left to it.
    """
    from gradcli.commands.keys import keys

    given, paths = options_given(options.pop("context")), options[path]
    several = isinstance(paths, list)
    config = configuration(paths[0] if several else paths, keys(), options.pop("config"), options.pop("no_config"))
    found = Configured(config, given)
    settings = found.settings() if several else {**found.settings(), **found.for_file(paths)}
    foreign = frozenset() if several else OF_CHECK
    options.update({name: setting.value for name, setting in settings.items() if name in options and name not in foreign})
    return found


def configuration(first: str, keys: Sequence[Key], path: str | None, none: bool) -> Config:
    """The configuration for a first path; raises ConfigError where it is wrong."""
    if none and path is not None:
        raise UsageError("--config and --no-config exclude each other", hint="leave out one", code="G102")
    if none:
        return Config()
    from gradcli.config.load import find, load, near

    found = path or find(_folder(first))
    return Config() if found is None else load(near(found), keys)


def _folder(path: str) -> str:
    """Where the search for the configuration of a path begins."""
    if os.path.isdir(path):
        return path
    return (os.path.dirname(path) if os.path.exists(path) else walk.prefix(path)) or "."


def options_given(context: typer.Context) -> frozenset[str]:
    """The parameters that the command line or the environment sets."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return frozenset(name for name, source in sources.items() if source is not None and not source.name.startswith("DEFAULT"))


def with_negations(parameters: Iterable[inspect.Parameter]) -> list[inspect.Parameter]:
    """The parameters, each flag that can be configured with a `--no-flag`: the command line can take back what the configuration sets."""
    from gradcli.commands.keys import keys

    known = {key.parameter for key in keys()}
    return [_negatable(item) if item.name in known else item for item in parameters]


def _negatable(parameter: inspect.Parameter) -> inspect.Parameter:
    if get_origin(parameter.annotation) is not Annotated or get_args(parameter.annotation)[0] is not bool:
        return parameter
    option = copy(get_args(parameter.annotation)[1])
    name = option.default
    if "/" not in name:
        option.default = f"{name}/--no-{name.removeprefix('--')}"
        option.show_default = False
    return parameter.replace(annotation=Annotated[bool, option])


def keys_of(parameters: Iterable[inspect.Parameter]) -> Iterator[Key]:
    """A key for each option of a command."""
    for parameter in parameters:
        if get_origin(parameter.annotation) is not Annotated or parameter.name in NEVER:
            continue
        kind, option = get_args(parameter.annotation)
        spelled = [getattr(option, "default", None), *(getattr(option, "param_decls", None) or ())]  # where Typer keeps what it is given
        names = [name for item in spelled if isinstance(item, str) for name in item.split("/") if name.startswith("--")]
        if names:
            yield _key(names[0].removeprefix("--"), parameter, kind, option)


def _key(name: str, parameter: inspect.Parameter, kind: Any, option: Any) -> Key:
    one = next((item for item in get_args(kind) if item is not type(None)), kind) if type(None) in get_args(kind) else kind
    many = get_origin(one) is list
    one = get_args(one)[0] if many else one
    choices = [item.value for item in one] if issubclass(one, StrEnum) else CHOICES.get(parameter.name, ())
    return Key(
        name, parameter.name, one, parameter.default, many, choices, getattr(option, "min", None), getattr(option, "max", None),
        each=parameter.name not in FOR_ALL, folder=option.metavar == FOLDER,
    )  # fmt: skip
