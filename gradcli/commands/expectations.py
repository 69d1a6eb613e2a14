"""`check --update-expectations`: what is found becomes what the files state."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gradcli.commands.inputs import Given
from gradcli.commands.output import say, write
from gradcli.errors import LimitError, UsageError
from gradcli.report.text import printable
from gradcli.syntax.directives import DIRECTIVE, EXPECTATIONS
from gradcli.syntax.expecting import expecting
from gradcli.syntax.source import FPCORE

if TYPE_CHECKING:
    from gradcli.check.result import FileResult


def update(path: str, found: FileResult) -> bool:
    """Write one file's expectation; says what changed. False where nothing did."""
    why = reason(path, found)
    if why is not None:
        say(f"{printable(found.path)}: no expectation written: {why}")
        return False
    try:
        before = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}", code="G101") from error
    after = expecting(before, found.status, fpcore=path.endswith(FPCORE))
    if after == before:
        return False
    write(path, after)
    say(f"{printable(found.path)}: expect {found.status}{f', no longer {found.expected}' if found.expected else ''}")
    return True


def reason(path: str, found: FileResult) -> str | None:
    """Why this result cannot be stated in its file."""
    if isinstance(path, Given):
        return "it is no file"
    if found.source is None or isinstance(found.error, UsageError | LimitError):
        return "it was not checked to its end"
    if any(error.type == DIRECTIVE for error in getattr(found.error, "errors", ())):
        return "a comment for gradcli in it is wrong"
    return None if found.status in EXPECTATIONS else f"{found.status} is none"
