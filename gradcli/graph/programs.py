"""Pictures by another program: whatever takes the flags of Graphviz's `dot`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

from gradcli.errors import UsageError

SECONDS = 30
VARIABLE = "GRADCLI_DOT"
"""Names the program to use."""


def engine(kind: str) -> str:
    """The program for a kind of picture; UsageError, with what to do, where there is none."""
    named = os.environ.get(VARIABLE)
    beside = Path(sysconfig.get_path("scripts")) / "graphviz-pure"
    candidates = [named] if named else ["dot", *([] if kind == "pdf" else [str(beside), "graphviz-pure"])]
    for candidate in candidates:
        found = shutil.which(candidate)
        if found:
            return found
    if named:
        raise UsageError(f"{VARIABLE} names {named!r}, and there is no such program", code="G108")
    if kind == "pdf":
        raise UsageError("--format pdf needs Graphviz's dot", hint="install graphviz, or print the html format to a PDF", code="G108")
    hint = "pip install 'gradcli[png]', or write --format svg"
    raise UsageError(f"--format {kind} needs a program that draws DOT", hint=hint, code="G108")


def drawn(dot: str, kind: str) -> bytes:
    """DOT text as a picture; UsageError where the program fails or takes too long."""
    program = engine(kind)
    flags = [f"-T{kind}", *(["-Gdpi=144"] if kind == "png" else [])]
    try:
        done = subprocess.run([program, *flags], input=dot.encode("utf-8"), capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        hint = "draw less (--max-nodes, --focus), or write --format svg"
        raise UsageError(f"{Path(program).name} did not finish within {SECONDS} s", hint=hint, code="G108") from None
    if done.returncode or not done.stdout:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"{Path(program).name} failed: {said[0] if said else f'exit status {done.returncode}'}", code="G108")
    return done.stdout
