"""Where a result goes: standard output, or a file that is complete or not there at all."""

from __future__ import annotations

import contextlib
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TextIO

from gradcli.errors import UsageError

STANDARD_OUTPUT = "-"


def emit(result: str | bytes, out: str | None, *, machine: bool = False) -> None:
    """Write the result to `out`, or to standard output; what is made for machines is always UTF-8."""
    if out not in (None, STANDARD_OUTPUT):
        write(out, result)
    elif isinstance(result, str) and not machine:
        sys.stdout.write(result)
        sys.stdout.flush()
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(encoded(result))
        sys.stdout.buffer.flush()


def say(text: str) -> None:
    """One message on standard error. Where it cannot be written it is lost, and nothing else."""
    with contextlib.suppress(OSError):  # who writes there next will hear of it
        sys.stdout.flush()
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)


def discard(stream: TextIO) -> None:
    """What is still in the buffer of a stream cannot be written: Python would try again at exit, and complain."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, stream.fileno())
    os.close(devnull)


def in_turn(writings: Iterable[Callable[[], None]]) -> None:
    """Write all, so that nothing is lost because something else cannot be written; then raise what went wrong."""
    faults: list[OSError | UsageError] = []
    for write_one in writings:
        try:
            write_one()
        except (OSError, UsageError) as error:
            faults.append(error)
    told = [fault for fault in faults if isinstance(fault, UsageError)]
    if len(told) > 1:
        raise UsageError("\n".join(fault.message for fault in told), hint=told[0].hint, code=told[0].code)
    for fault in [*told, *faults]:
        raise fault


def encoded(result: str | bytes) -> bytes:
    """UTF-8; a byte of a file name that is no text is spelled `\\udcXX`."""
    return result if isinstance(result, bytes) else result.encode("utf-8", "backslashreplace")


PLACE = (FileNotFoundError, NotADirectoryError, PermissionError)
"""Errors that are about where a file is to be."""

OPEN = re.compile(r"/(?:dev/(?:fd/(\d+)|stdout|(stderr))|proc/self/fd/(\d+))")
"""Names of what is open already: behind them may be a file that others are writing to."""


def write(path: str, result: str | bytes) -> None:
    """Replace a file in one step; UsageError where that cannot be done. A device, a pipe or an open stream is written to as it is."""
    try:
        opened = OPEN.fullmatch(path)
        if opened is not None:
            _write_open(int(opened[1] or opened[3] or (2 if opened[2] else 1)), encoded(result))
            return
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            target.write_bytes(encoded(result))
        else:
            _replace(target, encoded(result))
    except OSError as error:
        hint = "is the folder there, and may it be written to?" if isinstance(error, PLACE) else None
        raise UsageError(f"cannot write {path}: {error.strerror or error}", hint=hint, code="G105") from error


def refuse_to_replace(files: Iterable[str], outs: Iterable[str | None]) -> None:
    """UsageError where a result would take the place of a file that is read."""
    read = {os.path.realpath(path) for path in files}
    for out in outs:
        if out is not None and os.path.realpath(out) in read:
            raise UsageError(f"{out} is read, and would be replaced by the result", hint="give the result a file of its own", code="G102")


def _write_open(descriptor: int, data: bytes) -> None:
    sys.stdout.flush()
    with open(descriptor, "wb", closefd=False) as stream:
        stream.write(data)


def _replace(target: Path, data: bytes) -> None:
    beside = target.with_name(f".{target.name}.{os.urandom(4).hex()}")
    try:
        with open(beside, "xb") as file:
            file.write(data)
        if target.exists():
            os.chmod(beside, stat.S_IMODE(target.stat().st_mode))
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)
