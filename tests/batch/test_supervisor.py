"""Workers that hang, die or use too much: their files are lost, and no others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from gradcli.batch import process
from gradcli.batch.run import Lines, outcomes
from gradcli.batch.supervisor import AHEAD, Seat, Supervisor, WorkersBroken
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


def test_a_quick_worker_checks_many_files_and_is_seldom_heard(monkeypatch):
    """What takes long to import, SymPy above all, is imported once a process: so their number is what counts."""
    started, given = [], []
    send = process.WorkerProcess.send
    monkeypatch.setattr("gradcli.batch.supervisor.WorkerProcess", lambda *a, **k: started.append(1) or process.WorkerProcess(*a, **k))
    monkeypatch.setattr(process.WorkerProcess, "send", lambda self, lines: given.append(len(lines)) or send(self, lines))
    assert list(run([task(GOOD)] * 120, 2).values()) == ["pass"] * 120
    assert len(started) == 2
    assert max(given) > AHEAD
    assert len(given) < 100


@pytest.mark.parametrize(
    ("seconds", "waiting", "timed", "ahead"),
    [(1 / 32, 1000, False, 17), (9.0, 1000, False, AHEAD), (1 / 32, 12, False, 6), (1 / 32, 0, False, AHEAD), (1 / 32, 1000, True, AHEAD)],
)
def test_what_a_worker_is_given_ahead(monkeypatch, seconds, waiting, timed, ahead):
    """As much as it does in two pauses; less where others would get none, and where a deadline counts."""
    supervisor = Supervisor(0)
    seat = Seat(None, None, heard=100.0)
    supervisor.timed, supervisor.waiting, supervisor.seats = timed, [0] * waiting, {None: seat}
    monkeypatch.setattr("time.monotonic", lambda: 100.0 + seconds)
    assert supervisor._ahead(seat, 9) == ahead


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


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system does not say where processes run")
@pytest.mark.parametrize("count", [2, 3])
def test_workers_for_every_processor_keep_to_their_own(monkeypatch, count):
    """Two on a machine that is said to have two processors; not two of three, which would stand in each other's way for nothing."""
    real = sorted(os.sched_getaffinity(0))
    if len(real) < 2:
        pytest.skip("one processor")
    monkeypatch.setattr("gradcli.batch.supervisor.processors", lambda: [*real, *range(1000, 1003)][:count])
    with Supervisor(2) as supervisor:
        homes = [os.sched_getaffinity(seat.worker.process.pid) for seat in supervisor.seats.values()]
        assert homes == ([{real[0]}, {real[1]}] if count == 2 else [set(real), set(real)])
        if count == 2:
            seat = next(iter(supervisor.seats.values()))
            seat.worker.process.kill()
            supervisor.waiting = [0] * 9
            supervisor._ended(seat)
            assert [os.sched_getaffinity(s.worker.process.pid) for s in supervisor.seats.values()] == [{real[1]}, {real[0]}]
