"""How far a check of many files is: one line on a terminal, shown when it takes longer than a second."""

from __future__ import annotations

import os
import sys
import time
from typing import TextIO

QUIET_SECONDS = 1.0
EVERY_SECONDS = 0.1


class Progress:
    """`tick` at each file that is done; `clear` before anything else is written."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self.total = total
        self.stream = stream or sys.stderr
        self.shows = total > 1 and self.stream.isatty() and os.environ.get("TERM") != "dumb"
        self.done = 0
        self.began = self.last = time.monotonic()
        self.width = 0

    def tick(self) -> None:
        self.done += 1
        now = time.monotonic()
        if self.shows and now - self.began >= QUIET_SECONDS and now - self.last >= EVERY_SECONDS:
            self.last = now
            self._write(self.line(now - self.began))

    def line(self, seconds: float) -> str:
        """`120 of 1000 files, 0:32 left`."""
        left = round(seconds / max(self.done, 1) * (self.total - self.done))
        return f"{self.done} of {self.total} files, {left // 60}:{left % 60:02} left"

    def clear(self) -> None:
        if self.width:
            self._write("")
            self.stream.write("\r")
            self.stream.flush()
            self.width = 0

    def _write(self, text: str) -> None:
        self.stream.write("\r" + text.ljust(self.width))
        self.stream.flush()
        self.width = len(text)
