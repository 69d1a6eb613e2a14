"""Workers that hang, die or use too much: their files are lost, and no others."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from gradcli.batch import process
from gradcli.batch.run import Lines, outcomes
from gradcli.batch.supervisor import Supervisor, WorkersBroken
from gradcli.batch.task import Bounds, Outcome, Task
from gradcli.check.options import CheckOptions
from gradcli.interpreter.limits import Limits
from gradcli.syntax.source import Source

GOOD = "x = tensor([1.0, 2.0], requires_grad=True)\nout = (x**2).sum()\n"
ENDLESS = "while True:\n    pass\n"
HUGE = "x = ones(5000, 5000)\ny = x + 1\nz = y + 1\n"
PATIENT = CheckOptions(limits=Limits(seconds=600.0, steps=10**12))


def task(text: str, name: str = "x.grad", *, timeout: float | None = None, memory: int | None = None) -> Task:
    return Task(name, Source(name, text), PATIENT, Bounds(timeout, memory))


def run(tasks: list[Task], jobs: int) -> dict[int, str]:
    """What became of each: its status, or its error."""
    supervisor = Supervisor(jobs)
    found = {number: outcome.result for number, outcome in outcomes(tasks, jobs, workers=supervisor)}
    assert not supervisor.seats
    return {number: result.status if result.error is None else result.error.message for number, result in sorted(found.items())}


def test_what_hangs_and_what_explodes_is_lost_alone():
    tasks = [task(GOOD, timeout=60), task(ENDLESS, timeout=0.5), task(HUGE, memory=300), *[task(GOOD, timeout=60)] * 6]
    began = time.monotonic()
    found = run(tasks, 2)
    assert time.monotonic() - began < 60
    assert found.pop(1) == "limit reached: 0.5 seconds (--timeout 0.5)"
    assert found.pop(2) == "limit reached: 300 MB of memory (--memory 300)"
    assert list(found.values()) == ["pass"] * 7


def test_a_worker_checks_many_files(monkeypatch):
    """What takes long to import, SymPy above all, is imported once a process: so their number is what counts."""
    started = []
    monkeypatch.setattr("gradcli.batch.supervisor.WorkerProcess", lambda *a, **k: started.append(1) or process.WorkerProcess(*a, **k))
    assert list(run([task(GOOD)] * 20, 2).values()) == ["pass"] * 20
    assert len(started) == 2


def test_quick_workers_get_more_ahead_and_are_heard_less_often(monkeypatch):
    """And slow ones, or those that a deadline waits for, only the next task."""
    sent: list[int] = []
    whole = process.WorkerProcess.send
    monkeypatch.setattr(process.WorkerProcess, "send", lambda self, lines: sent.append(len(lines)) or whole(self, lines))
    quick = [task(GOOD)] * 120
    assert list(run(quick, 2).values()) == ["pass"] * 120
    assert max(sent) > 2
    assert len(sent) < 100
    sent.clear()
    assert list(run([*quick[:20], task(GOOD, timeout=60)], 2).values()) == ["pass"] * 21
    assert max(sent) <= 2


def test_what_a_worker_has_not_begun_is_done_by_others():
    """The first of four tasks hangs; the worker that has it has the second too, which is not lost behind it."""
    with Supervisor(2) as supervisor:
        answers = supervisor.answers([task(ENDLESS), *[task(GOOD)] * 3], Lines().line)
        assert sorted(number for number, _ in itertools.islice(answers, 3)) == [1, 2, 3]


def test_a_worker_that_is_killed_is_replaced():
    tasks = [task(ENDLESS), *[task(GOOD)] * 4]
    supervisor = Supervisor(1)
    threading.Thread(target=kill_when_busy, args=(supervisor,), daemon=True).start()
    found = dict(outcomes(tasks, 1, workers=supervisor))
    assert "ended by signal 9" in found[0].result.error.message
    assert [found[k].result.status for k in range(1, 5)] == ["pass"] * 4


def kill_when_busy(supervisor: Supervisor) -> None:
    while not any(seat.ready and seat.tasks[0] == 0 for seat in supervisor.seats.values()):
        time.sleep(0.05)
    (worker,) = supervisor.seats
    os.kill(worker.process.pid, signal.SIGKILL)


def test_no_workers_at_all(monkeypatch):
    monkeypatch.setattr(process, "START", "raise SystemExit(7)")
    with pytest.raises(WorkersBroken, match="ended with status 7"):
        run([task(GOOD)], 1)


def test_no_worker_is_left_behind():
    with Supervisor(2) as supervisor:
        next_event = supervisor.answers([task(ENDLESS), task(ENDLESS)], Lines().line)
        workers = []

        def look():
            workers.extend(supervisor.seats)
            raise KeyboardInterrupt

        supervisor._patience = look
        with pytest.raises(KeyboardInterrupt):
            next(next_event)
    assert workers
    assert all(worker.process.poll() is not None for worker in workers)


@pytest.mark.parametrize(("jobs", "done"), [(1, [3]), (2, [0, 2, 3])])
def test_an_interrupt_leaves_what_is_done(monkeypatch, jobs, done):
    """The second task is at work; the last item needs none."""

    def interrupted(tasks, *rest, **options):
        yield from ((number, Outcome()) for number in (2, 0) if number in done)
        raise KeyboardInterrupt

    monkeypatch.setattr("gradcli.batch.run.in_workers", interrupted)
    monkeypatch.setattr("gradcli.batch.run.in_process", interrupted)
    monkeypatch.setattr("gradcli.batch.run.start", lambda bounds, jobs: jobs - 1 or None)
    seen = []
    with pytest.raises(KeyboardInterrupt):
        for number, _ in outcomes([task(GOOD), task(GOOD), task(GOOD), Outcome()], jobs):
            seen.append(number)
    assert seen == done


def test_a_worker_ends_with_the_one_it_works_for():
    starter = subprocess.Popen(
        [sys.executable, "-c", "import queue, time; from gradcli.batch.process import WorkerProcess\n"
         "w = WorkerProcess(queue.SimpleQueue()); print(w.process.pid, flush=True)\n"
         f"source = ['Source', {{'path': 'a', 'text': {ENDLESS!r}}}]\nw.events.get()\n"
         "w.send([{'path': 'a', 'source': source, 'options': {'CheckOptions': {}}, 'memory': None, 'brief': False}])\n"
         "time.sleep(0.5); print('sent', flush=True); time.sleep(100)"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    pid = int(starter.stdout.readline())
    assert starter.stdout.readline() == "sent\n"
    starter.kill()
    starter.wait()
    starter.stdout.close()
    deadline = time.monotonic() + 20
    while alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
