"""pytest plugin: `*.grad` and `*.fpcore` files as tests, and the fixture `gradcheck`.

pytest loads this module wherever gradcli is installed, so it imports nothing, and collects nothing unless asked: by --grad, by
`gradcli = true` in pytest's configuration, or by naming a file. Collecting reads files without running them (`gradcli.api.parts`), so that
every worker of pytest-xdist finds the same; a file is checked when the first of its parts is run.
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
    from gradcli.syntax.source import Source

SUFFIXES = (".grad", ".fpcore")


class Option(NamedTuple):
    """`--gradcli-<name>`: a field of CheckOptions, which is not imported for it; a test compares the two."""

    name: str
    kind: Any
    help: str


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
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("gradcli", "gradients")
    group.addoption("--grad", action="store_true", help="collect *.grad and *.fpcore files, and check their gradients")
    for option in OPTIONS:
        flag = f"--gradcli-{option.name.replace('_', '-')}"
        if option.kind is bool:
            group.addoption(flag, action="store_true", help=option.help)
        else:
            group.addoption(flag, type=option.kind, default=None, metavar=option.kind.__name__.upper(), help=option.help)
    parser.addini("gradcli", "collect *.grad and *.fpcore files without --grad", type="bool", default=False)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    config = parent.config
    wanted = config.getoption("grad") or config.getini("gradcli") or parent.session.isinitpath(file_path)
    if file_path.suffix not in SUFFIXES or not wanted:
        return None
    collector: pytest.Collector = GradFile.from_parent(parent, path=file_path)
    return collector


def settings(config: pytest.Config) -> dict[str, Any]:
    """The options of the command line that differ from their defaults, as `gradcli.check` takes them."""
    given = {option.name: config.getoption(f"gradcli_{option.name}") for option in OPTIONS}
    if given["fail_on"] is not None:
        given["fail_on"] = [word.strip() for word in given["fail_on"].split(",")]
    return {name: value for name, value in given.items() if value is not None and value is not False}


@pytest.fixture
def gradcheck(pytestconfig: pytest.Config) -> Callable[..., Any]:
    """`gradcli.testing.check` with the options of the command line: fails the test, with the table, unless a gradient passes."""
    from gradcli.testing import check

    return partial(check, **settings(pytestconfig))


class GradFile(pytest.File):
    """A file of expressions; its items are the parts that can fail each for itself."""

    source: Source
    parts: list[Part]
    found: FileResult | None = None

    def collect(self) -> Iterator[pytest.Item]:
        from gradcli.api.parts import parts_of
        from gradcli.errors import GradcliError
        from gradcli.interpreter.limits import Limits
        from gradcli.report.errors import error_text
        from gradcli.syntax.source import Source

        try:
            self.source = Source.decode(self.shown, self.path.read_bytes())
        except GradcliError as error:
            raise self.CollectError(error_text(error, self.shown)) from None
        self.parts = parts_of(self.source, Limits())
        for part in self.parts:
            yield GradItem.from_parent(self, name=part.name, part=part)

    @property
    def shown(self) -> str:
        """The path as pytest shows it: from where it was started, with `/`."""
        return Path(self.session._node_location_to_relpath(self.path)).as_posix()

    def check(self) -> FileResult:
        """The result of the whole file, found once a process."""
        if self.found is None:
            from gradcli.api.checking import check

            self.found = check(self.shown, text=self.source.text, data=str(self.path.parent), **settings(self.config))
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

        assert isinstance(self.parent, GradFile)
        found = outcome(self.part, self.parent.parts, self.parent.check())
        self.user_properties.extend(found.properties.items())
        if found.word == "skipped":
            pytest.skip(found.text)
        if found.word == "failed":
            raise Wrong(found.text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return str(excinfo.value) if isinstance(excinfo.value, Wrong) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.part.line - 1, self.name
