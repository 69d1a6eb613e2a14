"""Errors of one file, told with their place in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gradcli.commands.look import Look
from gradcli.commands.output import say
from gradcli.errors import ExitStatus, GradcliError, UsageError
from gradcli.report.errors import error_object

if TYPE_CHECKING:
    from gradcli.syntax import Source


class Told(Exception):
    """The user has been told; what is left is the exit status."""

    status = ExitStatus.ERROR


@contextmanager
def telling(source: Source, look: Look, *, as_json: bool = False) -> Iterator[None]:
    """Tell of an error inside with file, line and caret, as JSON too; then raise Told."""
    try:
        yield
    except GradcliError as error:
        look.tell(error, None if isinstance(error, UsageError) else source.path, source)
        if as_json:
            from gradcli.report.encode import document

            say(document(error_object(error)))
        raise Told from error
