"""The wall-time limit of a run: it leaves nothing behind, however close to the end it comes."""

import subprocess
import sys
import time

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
