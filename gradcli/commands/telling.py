"""Errors of one file, told with their place in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gradcli.commands.look import Look
from gradcli.commands.output import say
from gradcli.errors import ExitStatus, GradcliError, LimitError, UsageError
from gradcli.interpreter.clock import Clock, OutOfTime
from gradcli.interpreter.limits import Limits
from gradcli.report.errors import error_object

if TYPE_CHECKING:
    from gradcli.syntax import Source


class Told(Exception):
    """The user has been told; what is left is the exit status."""

    status = ExitStatus.ERROR


@contextmanager
def telling(source: Source, look: Look, limits: Limits, *, as_json: bool = False) -> Iterator[None]:
    """Tell of an error inside with file, line and caret, as JSON too; then raise Told. All that is done inside has one limit of time."""
    try:
        with within(limits):
            yield
    except GradcliError as error:
        look.tell(error, None if isinstance(error, UsageError) else source.path, source)
        if as_json:
            from gradcli.report.encode import document

            say(document(error_object(error)))
        raise Told from error


@contextmanager
def within(limits: Limits) -> Iterator[None]:
    """What outlasts the time of a file, or nests deeper than Python can go, is a limit that was reached."""
    try:
        with Clock(limits.seconds, ask=lambda: None):
            yield
    except OutOfTime:
        raise limits.reached("seconds") from None
    except RecursionError:
        raise LimitError("limit reached: recursion", hint="what the file computes is nested too deep for this") from None
