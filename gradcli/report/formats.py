"""The formats of `gradcli check`. A new one is a file beside this one, and a row here.

The table names modules and imports one when it is used, so that `--help` can list them without numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from gradcli.errors import UsageError
from gradcli.report.view import View
from gradcli.syntax.spelling import did_you_mean

if TYPE_CHECKING:
    from gradcli.check.result import CheckResult, FileResult


@dataclass(frozen=True)
class Format:
    """`machine`: made for programs, so it is always UTF-8, whatever the terminal speaks.

    `streams`: a file can be written as soon as it is done. `pictures`: it shows the graph of each file, and how the error
    of differences depends on their step. `quiet`: with --quiet it leaves files out that passed.
    """

    name: str
    module: str
    machine: bool
    streams: bool = False
    pictures: bool = False
    quiet: bool = False

    def render(self, result: CheckResult, view: View) -> str:
        text: str = import_module(self.module).render(result, view)
        return text

    def item(self, file: FileResult, view: View) -> str:
        """What a format that streams writes for one file."""
        text: str = import_module(self.module).item(file, view)
        return text


FORMATS = {
    row.name: row
    for row in (
        Format("table", "gradcli.report.table", machine=False, quiet=True),
        Format("concise", "gradcli.report.concise", machine=False),
        Format("json", "gradcli.report.check_json", machine=True),
        Format("jsonl", "gradcli.report.jsonl", machine=True, streams=True),
        Format("junit", "gradcli.report.junit", machine=True),
        Format("github", "gradcli.report.github", machine=True),
        Format("gitlab", "gradcli.report.gitlab", machine=True),
        Format("sarif", "gradcli.report.sarif", machine=True),
        Format("html", "gradcli.report.html", machine=True, pictures=True),
    )
}


def find(name: str) -> Format:
    """The row of that name, or a UsageError with the nearest one."""
    if name in FORMATS:
        return FORMATS[name]
    raise UsageError(f"no format {name!r}", hint=choice_hint(name, list(FORMATS)), code="G102")


def choice_hint(name: str, choices: list[str]) -> str:
    """`did you mean 'json'?` when one is near, and all the choices else."""
    return did_you_mean(name, choices) or f"choose from {', '.join(choices)}"
