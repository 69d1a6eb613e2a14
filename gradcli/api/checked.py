"""The result of a check, for Python: the plain data of a report, and its table as text."""

from __future__ import annotations

from dataclasses import fields

from gradcli.check.result import CheckResult, FileResult
from gradcli.report import table, text
from gradcli.report.view import View


class Checked(FileResult):
    """What was found; `status`, `failing`, `outcome`, `targets`, ... as in gradcli.check.result, `str()` gives the table.

    It is true when it passed: `assert gc.check("net.grad")`.
    """

    @classmethod
    def of(cls, found: FileResult) -> Checked:
        return cls(**{field.name: getattr(found, field.name) for field in fields(FileResult)})

    def __bool__(self) -> bool:
        return self.outcome == "passed"

    def text(self, *, width: int = 80, color: bool = False, verbose: bool = False) -> str:
        """The table, as `gradcli check` prints it; where the file could not be run, the error with its place."""
        from gradcli.report.errors import error_text

        view = View(width=width, color=color, unicode=True, verbose=verbose)
        lines = [text.render(table.file_lines(self, view, full=True), color)]
        if self.error is not None:
            lines.append(error_text(self.error, self.path, self.source, width))
        return "\n".join(line.rstrip("\n") for line in lines)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<{self.outcome}: {self.path}, {self.status}>"

    @property
    def result(self) -> CheckResult:
        """As the one file of a report: what the formats of gradcli.report.formats render."""
        from gradcli import __version__

        return CheckResult([self], version=__version__)
