"""Results kept between runs. An answer is used only where all that it depends on is the same to the last byte.

An entry is named by a hash of the file's text and path, every option, and everything that computes: gradcli's own files,
Python, NumPy and SymPy. It lists what the program loaded, with a hash of each, which must still be so. What depends on
the machine at that moment (a limit that was reached) is not kept. Entries are JSON: reading one cannot run anything.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import re
import shutil
import sys
import time
from functools import cache as computed_once
from pathlib import Path
from typing import Any

import gradcli
from gradcli.batch.codec import decode, encode, encode_source
from gradcli.batch.task import Task
from gradcli.check.result import FileResult
from gradcli.errors import LimitError
from gradcli.interpreter.loading import Reads, contents

NAME = ".gradcli_cache"
LAYOUT = 1
TAG = """Signature: 8a477f597d28d172789f06886806bc55
# This directory was made by gradcli; it can be deleted at any time.
"""
LIBRARIES = ("numpy", "sympy", "mpmath")
KEPT_DAYS = 30


@computed_once
def tool() -> str:
    """A hash of all that computes. The files of gradcli count by name, size and time, so that a change needs no new version."""
    package = Path(gradcli.__file__).parent
    files = sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in package.rglob("*.py"))
    versions = [importlib.metadata.version(name) for name in LIBRARIES]
    return digest([LAYOUT, gradcli.__version__, versions, sys.version, platform.machine(), sys.platform, files])


def digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


class Cache:
    """The entries in one folder, which is made when the first is written. `trouble` says why nothing can be written."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self.entries = self.folder / tool()[:16]
        self.trouble: str | None = None

    def path(self, task: Task) -> Path:
        """Where the entry of a task is, if there is one."""
        place = [task.source.path, os.path.abspath(task.path), os.path.realpath(task.path)]
        return self.entries / f"{digest([tool(), place, encode_source(task.source), encode(task.options)])}.json"

    def get(self, task: Task) -> FileResult | None:
        """The result of an earlier check, if it still holds; an entry that cannot be understood is none."""
        try:
            entry = json.loads(self.path(task).read_bytes())
            if entry["sum"] != digest([entry["reads"], entry["result"]]):
                return None
            if any(contents(folder, name) != before for folder, name, before in entry["reads"]):
                return None
            found = decode(entry["result"], task.source)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return found if isinstance(found, FileResult) else None

    def put(self, task: Task, found: FileResult, reads: Reads) -> None:
        """Keep a result; not where it may be another one next time, or where what was loaded has changed since."""
        if self.trouble is not None or isinstance(found.error, LimitError):
            return
        if any(contents(*key) != before for key, before in reads.items()):
            return
        try:
            listed: Any = [[folder, name, before] for (folder, name), before in reads.items()]
            result = encode(found)
            self._write(self.path(task), {"reads": listed, "result": result, "sum": digest([listed, result])})
        except OSError as error:
            self.trouble = f"{self.folder}: {error.strerror or error}"

    def _write(self, path: Path, entry: Any) -> None:
        """In one step, since other runs may read and write the same."""
        if not path.parent.is_dir():
            self._make()
        beside = path.with_name(f"{path.name}.{os.urandom(4).hex()}")
        try:
            beside.write_text(json.dumps(entry), encoding="utf-8")
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)

    def _make(self) -> None:
        """The folder, marked for backup programs and for git; entries that no version has used for long are removed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, text in (("CACHEDIR.TAG", TAG), (".gitignore", "*\n")):
            if not (self.folder / name).exists():
                (self.folder / name).write_text(text, encoding="utf-8")
        for old in self.folder.iterdir():
            if re.fullmatch("[0-9a-f]{16}", old.name) and old.stat().st_mtime < time.time() - KEPT_DAYS * 86400:
                shutil.rmtree(old, ignore_errors=True)
        self.entries.mkdir(exist_ok=True)
