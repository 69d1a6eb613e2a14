"""`gradcli run FILE`: the file as a program, printing exactly what it prints."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from gradcli.commands import options
from gradcli.commands.look import Look
from gradcli.commands.start import Start
from gradcli.commands.telling import telling
from gradcli.errors import ExitStatus


class ErrorFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[
    ErrorFormat, typer.Option("--format", help="json: the error object as the last line of standard error, where the program fails.")
]


def run(
    file: options.File,
    start: Start = Start(),
    format: FormatOption = ErrorFormat.TEXT,
    look: Look = Look(),
) -> ExitStatus:
    """Run a file as a program.

    Exactly what it prints is printed; --quiet leaves its warnings out. Exit status: 0, or 2 where the program fails; what
    it had printed stays.
    """
    source = start.read(file)
    to_file = look.out is not None
    with telling(source, look, start.limits, as_json=format is ErrorFormat.JSON):
        done = start.run(source, stdout=None if to_file else sys.stdout, stderr=None if look.quiet else sys.stderr)
        if to_file:
            look.emit(done.output)
        if done.error is not None:
            raise done.error
    sys.stdout.flush()
    return ExitStatus.PASSED
