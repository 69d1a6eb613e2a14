"""`gradcli run FILE`: the file as a program, printing exactly what it prints."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from gradcli.commands import options
from gradcli.commands.inputs import read
from gradcli.commands.telling import telling
from gradcli.errors import ExitStatus
from gradcli.interpreter.limits import Limits


class ErrorFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[
    ErrorFormat, typer.Option("--format", help="json: the error object as the last line of standard error, where the program fails.")
]


def run(
    file: options.File,
    seed: options.Seed = 0,
    set: options.Set = None,
    format: FormatOption = ErrorFormat.TEXT,
    limits: Limits = Limits(),
) -> ExitStatus:
    """Run a file as a program.

    Exactly what it prints is printed. Exit status: 0, or 2 where the program fails; what it had printed stays.
    """
    overrides = dict(options.assignments(set))
    source = read(file, limits)

    from gradcli.interpreter import run_file

    with telling(source, as_json=format is ErrorFormat.JSON):
        done = run_file(source, seed=seed, overrides=overrides, limits=limits, trace=False, stdout=sys.stdout, stderr=sys.stderr)
        if done.error is not None:
            raise done.error
    sys.stdout.flush()
    return ExitStatus.PASSED
