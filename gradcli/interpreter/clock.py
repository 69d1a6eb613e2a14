"""The wall-time limit of a run.

A thread waits for the limit, so that nobody has to read a clock at each step. First it asks: the meter's
alarm is set, and the next step of the program ends it. Where no step comes, because one operation works on
and on, it interrupts: Python raises OutOfTime in the thread of the run.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable

GRACE = 1.0
"""Seconds between asking and interrupting."""


class OutOfTime(BaseException):
    """Raised from outside into a run that takes no more steps. No except clause of ours or of a file catches it by accident."""


class Clock:
    """Around a run: calls `ask` when the time is over, and interrupts the calling thread when that does not end the run."""

    def __init__(self, seconds: float, ask: Callable[[], None]) -> None:
        self.seconds = seconds
        self.ask = ask
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.thread = threading.get_ident()
        self.interrupted = False

    def __enter__(self) -> None:
        threading.Thread(target=self.watch, daemon=True).start()

    def __exit__(self, *exception: object) -> None:
        """The run is over. An interruption that may still be on its way is replaced by one that comes now.

        Calling it back is no way out: Python 3.11 then looks for an interruption at every call from there on, which
        slows down all that follows, and under a profiler it does nothing else.
        """
        with self.lock:
            self.stopped.set()
        if self.interrupted:
            with contextlib.suppress(OutOfTime):
                self.interrupt()
                while True:
                    pass

    def watch(self) -> None:
        if self.stopped.wait(self.seconds):
            return
        self.ask()
        if self.stopped.wait(GRACE):
            return
        with self.lock:
            if not self.stopped.is_set():
                self.interrupted = True
                self.interrupt()

    def interrupt(self) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), ctypes.py_object(OutOfTime))
