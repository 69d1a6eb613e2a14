"""The wall-time limit of a run.

A thread waits for the limits of all runs, so that nobody has to read a clock at each step. First it asks: the meter's
alarm is set, and the next step of the program ends it. Where no step comes, because one operation works on
and on, it interrupts: Python raises OutOfTime in the thread of the run.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import queue
import threading
import time
from collections.abc import Callable

GRACE = 1.0
"""Seconds between asking and interrupting."""


class OutOfTime(BaseException):
    """Raised from outside into a run that takes no more steps. No except clause of ours or of a file catches it by accident."""


class Clock:
    """Around a run: calls `ask` when the time is over, and interrupts the calling thread when that does not end the run.

    `due` is when there is something to do next.
    """

    def __init__(self, seconds: float, ask: Callable[[], None]) -> None:
        self.seconds = seconds
        self.ask = ask
        self.lock = threading.Lock()
        self.asked = self.interrupted = self.stopped = False

    def __enter__(self) -> None:
        self.thread = threading.get_ident()
        self.due = time.monotonic() + self.seconds
        watch.add(self)

    def __exit__(self, *exception: object) -> None:
        """The run is over. An interruption that may still be on its way is replaced by one that comes now.

        Calling it back is no way out: Python 3.11 then looks for an interruption at every call from there on, which
        slows down all that follows, and under a profiler it does nothing else.
        """
        with self.lock:
            self.stopped = True
        watch.remove(self)
        if self.interrupted:
            with contextlib.suppress(OutOfTime):
                self.interrupt()
                while True:
                    pass

    def strike(self) -> None:
        """The time has come to ask, or to interrupt."""
        with self.lock:
            if self.stopped:
                return
            if not self.asked:
                self.asked, self.due = True, time.monotonic() + GRACE
                self.ask()
            else:
                self.interrupted = True
                watch.remove(self)
                self.interrupt()

    def interrupt(self) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), ctypes.py_object(OutOfTime))


class Watch:
    """The thread that waits for clocks, started with the first. It is woken only for one that is due before all others.

    A thread for each run takes longer to start and to end than a small program to run. There is no lock that an
    interrupted run could leave locked: all that threads share here changes in one step.
    """

    def __init__(self) -> None:
        self.clocks: set[Clock] = set()
        self.wakes = math.inf
        self.calls: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.thread = threading.Thread()

    def add(self, clock: Clock) -> None:
        self.clocks.add(clock)
        if not self.thread.is_alive():  # nor is it in a process that was forked
            self.start()
        elif clock.due < self.wakes:
            self.calls.put(None)

    def start(self) -> None:
        self.thread = threading.Thread(target=self.wait, daemon=True)
        self.thread.start()

    def remove(self, clock: Clock) -> None:
        self.clocks.discard(clock)

    def wait(self) -> None:
        while True:
            self.wakes = math.inf  # who comes from here on calls
            clocks = self.clocks.copy()
            for clock in clocks:
                if clock.due <= time.monotonic():
                    clock.strike()
            self.wakes = min((clock.due for clock in clocks), default=math.inf)
            with contextlib.suppress(queue.Empty):
                self.calls.get(timeout=min(max(self.wakes - time.monotonic(), 0), threading.TIMEOUT_MAX))


watch = Watch()
