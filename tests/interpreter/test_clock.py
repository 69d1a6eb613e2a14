"""The wall-time limit of a run: it leaves nothing behind, however close to the end it comes."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import pytest

from gradcli.interpreter import clock
from gradcli.interpreter.clock import Clock, OutOfTime


def ask():
    """Nobody listens."""


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(clock, "GRACE", 0.001)


def test_an_interruption_ends_what_takes_no_steps():
    with pytest.raises(OutOfTime), Clock(0.001, ask):
        while True:
            pass


def test_an_interruption_on_its_way_is_no_ones_later():
    """It is sent while the run is inside one call of C, which ends before it arrives."""
    for _ in range(20):
        with pytest.raises(OutOfTime), Clock(0.001, ask):
            time.sleep(0.01)
    running = Clock(1000, ask)
    with running:
        running.interrupted = True  # sent, says the watcher, and nothing has come yet
    assert sum(range(10_000)) == 49_995_000


def test_a_run_in_time_is_asked_nothing():
    asked = []
    with Clock(1000, lambda: asked.append(1)):
        pass
    assert not asked


def test_clocks_inside_clocks_and_beside_each_other(monkeypatch):
    """Each is asked at its own time: one that is due before those that are waited for already, too."""
    monkeypatch.setattr(clock, "GRACE", 1000.0)
    asked = []

    def spin(name, seconds):
        with Clock(1000, lambda: asked.append("never")), Clock(seconds, lambda: asked.append(name)):
            while name not in asked:
                pass

    beside = threading.Thread(target=spin, args=("late", 0.2))
    beside.start()
    spin("soon", 0.02)
    beside.join()
    assert asked == ["soon", "late"]
    assert not clock.watch.clocks


def test_the_longest_time_is_no_time_limit():
    with Clock(1e300, ask):
        pass
    test_an_interruption_ends_what_takes_no_steps()


def test_a_forked_process_has_a_watch_of_its_own():
    with Clock(1000, ask):
        pass
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons advise against it, and users do it nevertheless
        child = os.fork()
    if child == 0:
        with contextlib.suppress(OutOfTime), Clock(0.001, ask):
            while True:
                pass
        os._exit(7)
    deadline = time.monotonic() + 20
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    if ended == (0, 0):
        os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(ended[1]) == 7


PROFILED = """
import cProfile
from gradcli.interpreter.clock import Clock
def call():
    pass
profile = cProfile.Profile()
with Clock(1000, print):
    pass
late = Clock(1000, print)
with late:
    late.interrupted = True
profile.enable()
for _ in range(10):
    call()
profile.disable()
"""


def test_a_profiler_goes_on_after_a_run():
    """Python 3.11 hung in the next call: it looked for an interruption that had been called back, again and again."""
    subprocess.run([sys.executable, "-c", PROFILED], check=True, timeout=30)
