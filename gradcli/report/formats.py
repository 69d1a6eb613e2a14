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
    from gradcli.check.result import CheckResult


@dataclass(frozen=True)
class Format:
    """`machine`: made for programs, so it is always UTF-8, whatever the terminal speaks."""

    name: str
    module: str
    machine: bool

    def render(self, result: CheckResult, view: View) -> str:
        text: str = import_module(self.module).render(result, view)
        return text


FORMATS = {
    row.name: row
    for row in (
        Format("table", "gradcli.report.table", machine=False),
        Format("json", "gradcli.report.check_json", machine=True),
    )
}


def find(name: str) -> Format:
    """The row of that name, or a UsageError with the nearest one."""
    if name in FORMATS:
        return FORMATS[name]
    raise UsageError(f"no format {name!r}", hint=choice_hint(name, list(FORMATS)))


def choice_hint(name: str, choices: list[str]) -> str:
    """`did you mean 'json'?` when one is near, and all the choices else."""
    return did_you_mean(name, choices) or f"choose from {', '.join(choices)}"
