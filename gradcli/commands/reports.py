"""The reports of one run: one for standard output, further ones for files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradcli.commands.output import STANDARD_OUTPUT, emit, say
from gradcli.errors import UsageError
from gradcli.report import formats
from gradcli.report.formats import Format
from gradcli.report.view import View

if TYPE_CHECKING:
    from gradcli.check.result import CheckResult, FileResult

SUMMARY = "GITHUB_STEP_SUMMARY"
"""Names the file in which GitHub looks for the summary of a step."""


@dataclass
class Reports:
    """`main` goes to `out`, or to standard output; `further` are formats with their files."""

    main: Format
    out: str | None
    view: View
    further: list[tuple[Format, str]] = field(default_factory=list)
    fault: OSError | None = None
    """Why standard output takes no more."""

    @property
    def rows(self) -> list[Format]:
        return [self.main, *(row for row, _ in self.further)]

    @property
    def pictures(self) -> bool:
        return any(row.pictures for row in self.rows)

    @property
    def brief(self) -> bool:
        """Is a file that passed left out of all there is?"""
        return self.view.quiet and self.main.quiet and not self.further

    @property
    def streams(self) -> bool:
        """Is each file written as soon as it is done?"""
        return self.main.streams and self.out in (None, STANDARD_OUTPUT)

    def done(self, file: FileResult) -> bool:
        """A file is done; False where nobody takes what there is to say of it."""
        try:
            if self.streams:
                emit(self.main.item(file, self.view), None, machine=self.main.machine)
        except OSError as error:
            self.fault = error
        return self.fault is None

    def writings(self, result: CheckResult) -> Iterator[Callable[[], None]]:
        """All are done: what is left to write, each for itself."""
        yield lambda: self._write_main(result)
        plain = View(unicode=True, verbose=self.view.verbose)
        for row, path in self.further:
            yield lambda row=row, path=path: emit(row.render(result, plain), path)  # type: ignore[misc]
        if any(row.name == "github" for row in self.rows):
            yield lambda: append_summary(result)

    def _write_main(self, result: CheckResult) -> None:
        if self.fault is not None:
            raise self.fault
        if self.streams:
            return
        silent = self.brief and all(file.outcome == "passed" for file in result.files)  # the format need not even be loaded
        emit("" if silent else self.main.render(result, self.view), self.out, machine=self.main.machine)


def append_summary(result: CheckResult) -> None:
    """For the page of a job on GitHub; elsewhere there is no such file."""
    path = os.environ.get(SUMMARY)
    if not path:
        return
    from gradcli.report import github

    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
            written = github.summary(result, file.tell())
            file.write(written)
    except OSError as error:
        say(f"gradcli: warning: no summary in {path}: {error.strerror or error}")
        return
    if not written:
        say(f"gradcli: warning: no summary in {path}: what others wrote there leaves no room below {github.SUMMARY_BYTES} bytes")


def parse(items: list[str] | None, out: str | None, graph: str | None = None) -> list[tuple[Format, str]]:
    """Each `FORMAT=PATH` as the row of the format, and the path; no file is written twice."""
    found: list[tuple[Format, str]] = []
    taken = {out or STANDARD_OUTPUT, graph}
    for item in items or ():
        name, equals, path = (part.strip() for part in item.partition("="))
        if not equals or not path:
            raise UsageError(f"--report takes FORMAT=PATH, not {item!r}", hint="for example --report junit=gradients.xml", code="G102")
        if path in taken:
            name = "standard output" if path == STANDARD_OUTPUT else path
            raise UsageError(f"--report {item}: {name} is written already", hint="give each report a file of its own", code="G102")
        taken.add(path)
        found.append((formats.find(name), path))
    return found
