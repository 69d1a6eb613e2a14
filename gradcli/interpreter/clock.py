"""The wall-time limit of a run.

A thread waits for the limit, so that nobody has to read a clock at each step. First it asks: the meter's
alarm is set, and the next step of the program ends it. Where no step comes, because one operation works on
and on, it interrupts: Python raises OutOfTime in the thread of the run.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable

GRACE = 1.0
"""Seconds between asking and interrupting."""


class OutOfTime(BaseException):
    """Raised from outside into a run that takes no more steps. No except clause of ours or of a file catches it by accident."""


class Clock:
    """Calls `ask` when the time is over, and interrupts the calling thread when that does not end the run."""

    def __init__(self, seconds: float, ask: Callable[[], None]) -> None:
        self.seconds = seconds
        self.ask = ask
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.thread = threading.get_ident()

    def start(self) -> None:
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self) -> None:
        if self.stopped.wait(self.seconds):
            return
        self.ask()
        if self.stopped.wait(GRACE):
            return
        with self.lock:
            if not self.stopped.is_set():
                self.interrupt(ctypes.py_object(OutOfTime))

    def interrupt(self, error: ctypes.py_object[type[OutOfTime]] | None) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), error)

    def stop(self) -> None:
        """The run is over: an interruption that was on its way is called back."""
        with self.lock:
            self.stopped.set()
            self.interrupt(None)
