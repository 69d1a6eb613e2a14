"""pytest plugin: `*.grad` and `*.fpcore` files as tests, and the fixture `gradcheck`.

pytest loads this module wherever gradcli is installed, so it imports nothing, and collects nothing unless asked: by --grad, by
`gradcli = true` in pytest's configuration, or by naming a file. Collecting reads files without running them (`gradcli.api.parts`), so that
every worker of pytest-xdist finds the same; a file is checked when the first of its parts is run.

What holds is decided as for `gradcli check`: the command line, then pytest's own configuration, then what a file says itself, then
`[tool.gradcli]` or gradcli.toml, the nearest above the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from gradcli.api.parts import Part
    from gradcli.check.result import FileResult
    from gradcli.config.config import Config
    from gradcli.syntax.source import Source

SUFFIXES = (".grad", ".fpcore")


class Option(NamedTuple):
    """`--gradcli-<name>`, and `gradcli_<name>` in pytest's configuration: a field of CheckOptions, which is not imported for it."""

    name: str
    kind: Any
    help: str

    @property
    def parameter(self) -> str:
        return f"gradcli_{self.name}"


OPTIONS = (
    Option("seed", int, "seed of random leaves"),
    Option("strict", bool, "count kinks, unstable, reported nan and unchecked as failures"),
    Option("fail_on", str, "count these verdicts as failures too (comma-separated)"),
    Option("rtol", float, "allow this relative error beyond rounding"),
    Option("atol", float, "allow this absolute error beyond rounding"),
    Option("max_ulps", float, "call a gradient unstable when rounding moves it by more units of its last place"),
    Option("method", str, "ask one reference alone: symbolic or fd"),
    Option("points", int, "check at so many points"),
    Option("symbolic_budget", int, "scalar operations that the symbolic reference may take"),
    Option("data", str, "load() reads from this folder, not from the file's own"),
)

GIVEN: pytest.StashKey[dict[str, Any]] = pytest.StashKey()
CONFIGURATIONS: pytest.StashKey[dict[Path, Config]] = pytest.StashKey()
"""By the folder from which the search began."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gradcli", "gradients")
    group.addoption("--grad", action="store_true", help="collect *.grad and *.fpcore files, and check their gradients")
    group.addoption("--gradcli-config", metavar="PATH", help="read this configuration, not the nearest one above a file")
    group.addoption("--gradcli-no-config", action="store_true", help="read no configuration of gradcli")
    parser.addini("gradcli", "collect *.grad and *.fpcore files without --grad", type="bool", default=False)
    for option in OPTIONS:
        flag = f"--gradcli-{option.name.replace('_', '-')}"
        if option.kind is bool:
            group.addoption(flag, action="store_true", default=None, help=option.help)
            parser.addini(option.parameter, f"the same as {flag}", type="bool", default=None)
        else:
            group.addoption(flag, type=option.kind, default=None, metavar=option.kind.__name__.upper(), help=option.help)
            parser.addini(option.parameter, f"the same as {flag}", type="string", default=None)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[GIVEN] = {option.name: value for option in OPTIONS if (value := _given(config, option)) is not None}
    config.stash[CONFIGURATIONS] = {}


def _given(config: pytest.Config, option: Option) -> Any:
    """What the command line, or pytest's configuration, says of an option, as `gradcli check` takes it; None for nothing."""
    value = config.getoption(option.parameter)
    value = config.getini(option.parameter) if value is None else value
    if value is None:
        return None
    from gradcli.commands.tasks import CONVERTED
    from gradcli.errors import UsageError

    try:
        value = option.kind(value)
        if option.name in CONVERTED:
            CONVERTED[option.name]([value] if option.name == "fail_on" else value)
    except (ValueError, UsageError) as error:
        raise pytest.UsageError(f"{option.parameter}: {error}") from None
    return [value] if option.name == "fail_on" else value


def configuration(config: pytest.Config, path: Path) -> Config:
    """The configuration of gradcli for a file. Raises its UsageError where that is wrong."""
    known = config.stash[CONFIGURATIONS]
    folder = path.parent
    if folder not in known:
        from gradcli.commands.configuration import configuration
        from gradcli.commands.keys import keys

        known[folder] = configuration(str(path), keys(), config.getoption("gradcli_config"), bool(config.getoption("gradcli_no_config")))
    return known[folder]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if not _wanted(file_path, parent.config, named=parent.session.isinitpath(file_path)):
        return None
    collector: pytest.Collector = GradFile.from_parent(parent, path=file_path)
    return collector


def _wanted(path: Path, config: pytest.Config, *, named: bool) -> bool:
    """A file that is named is taken by its suffix, any other as the configuration says; without one by its suffix, too."""
    if named or not (config.getoption("grad") or config.getini("gradcli")):
        return named and path.suffix in SUFFIXES
    from gradcli.discovery.walk import absolute
    from gradcli.errors import UsageError

    try:
        found = configuration(config, path)
    except UsageError:
        return path.suffix in SUFFIXES  # collecting it will tell
    included = found.wanted.takes(absolute(str(path))) if "include" in found.settings else path.suffix in SUFFIXES
    return included and not found.wanted.leaves_out_if_named(str(path))


@pytest.fixture
def gradcheck(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """`gradcli.testing.check` with the options that hold: fails the test, with the table, unless a gradient passes."""
    from gradcli.commands.tasks import CONVERTED
    from gradcli.testing import check

    given = request.config.stash[GIVEN]
    found = configuration(request.config, request.path)
    settings = {**found.settings, **found.for_file(str(request.path))}
    configured = {option.name: settings[option.name].value for option in OPTIONS if option.name in settings and option.name not in given}
    values = {**configured, **given}
    converted = {name: CONVERTED[name](value) if name in CONVERTED else value for name, value in values.items()}
    return partial(check, **converted, configured=frozenset(configured))


class GradFile(pytest.File):
    """A file of expressions; its items are the parts that can fail each for itself."""

    source: Source
    parts: list[Part]
    values: dict[str, Any]
    """The options that hold for it; `configured` are those that a configuration gives."""
    configured: frozenset[str]
    found: FileResult | None = None

    def collect(self) -> Iterator[pytest.Item]:
        from gradcli.api.parts import parts_of
        from gradcli.commands.inputs import decoded
        from gradcli.commands.tasks import limited, values
        from gradcli.errors import GradcliError
        from gradcli.interpreter.limits import Limits
        from gradcli.report.errors import error_text

        try:
            found, given = configuration(self.config, self.path), self.config.stash[GIVEN]
            configured = values({**found.settings, **found.for_file(str(self.path))})
            self.values, self.configured = {**configured, **given}, frozenset(configured.keys() - given.keys())
            limits = limited(Limits(), self.values)
            with self.path.open("rb") as file:
                self.source = decoded(self.shown, file.read(limits.file_size + 1), limits)
        except GradcliError as error:
            raise self.CollectError(error_text(error)) from None
        self.parts = parts_of(self.source, limits)
        for part in self.parts:
            yield GradItem.from_parent(self, name=part.name, part=part)

    @property
    def shown(self) -> str:
        """The path as pytest shows it: from where it was started, with `/`."""
        return Path(self.session._node_location_to_relpath(self.path)).as_posix()

    def check(self) -> FileResult:
        """The result of the whole file, found once a process."""
        if self.found is None:
            from gradcli.api.apart import apart
            from gradcli.check.file import check_file
            from gradcli.check.options import CheckOptions
            from gradcli.commands.tasks import changed

            options = changed(CheckOptions(data=str(self.path.parent)), self.values, self.configured)
            with apart():
                self.found = check_file(self.shown, self.source, options)
        return self.found


class Wrong(Exception):
    """A part of a file failed; the text is all that is shown of it."""


class GradItem(pytest.Item):
    """One part of a file."""

    def __init__(self, *, part: Part, **options: Any) -> None:
        super().__init__(**options)
        self.part = part

    def runtest(self) -> None:
        from gradcli.api.verdict import outcome
        from gradcli.report.text import harmless, printable

        assert isinstance(self.parent, GradFile)
        found = outcome(self.part, self.parent.parts, self.parent.check())
        self.user_properties.extend(found.properties.items())
        said = harmless(printable(found.text))
        if found.word == "skipped":
            pytest.skip(said)
        if found.word == "failed":
            raise Wrong(said)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return str(excinfo.value) if isinstance(excinfo.value, Wrong) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.part.line - 1, self.name
