"""Where a result goes: standard output, or a file that is complete or not there at all."""

from __future__ import annotations

import os
import re
import stat
import sys
from pathlib import Path

from gradcli.errors import UsageError


def emit(result: str | bytes, out: str | None, *, machine: bool = False) -> None:
    """Write the result to `out`, or to standard output; what is made for machines is always UTF-8."""
    if out is not None:
        write(out, result)
    elif isinstance(result, str) and not machine:
        sys.stdout.write(result)
        sys.stdout.flush()
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(encoded(result))
        sys.stdout.buffer.flush()


def say(text: str) -> None:
    """One message on standard error."""
    sys.stdout.flush()
    print(text, file=sys.stderr, flush=True)


def encoded(result: str | bytes) -> bytes:
    """UTF-8; a byte of a file name that is no text is spelled `\\udcXX`, which JSON understands."""
    return result if isinstance(result, bytes) else result.encode("utf-8", "backslashreplace")


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
        reason = error.strerror or str(error)
        raise UsageError(f"cannot write {path}: {reason}", hint="is the folder there, and may it be written to?", code="G105") from error


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
