"""Worker processes, each at one task at a time: what hangs is killed, what dies is replaced, and no other task is lost.

The pools of the standard library give up all pending work when one worker dies. A supervisor can be made before there
are tasks, and imports nothing heavy, so that the workers get ready while the files are found and read.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from gradcli.batch.process import PAUSE, Events, Line, WorkerProcess
from gradcli.batch.task import Bounds, Task
from gradcli.errors import GradcliError

STARTS = 3
"""Workers that end before they are ready, one after the other, after which no more are started."""
START_SECONDS = 120.0


AHEAD = 2
"""Tasks that a worker has at least: the next one is there when it is done with one, however busy the supervisor is."""


@dataclass
class Seat:
    """A worker: the tasks that it has, the first of them at work until the deadline; not `ready` while it starts.

    `heard` is when it last spoke.
    """

    worker: WorkerProcess
    deadline: float | None
    tasks: deque[int] = field(default_factory=deque)
    ready: bool = False
    heard: float = 0.0


@dataclass(frozen=True)
class Lost:
    """A task whose worker was killed when the time was over, or came to an end by itself: `how`."""

    how: str
    timed_out: bool


Answer = tuple[int, Line | Lost]
"""The number of a task, and what its worker says of it."""


class WorkersBroken(GradcliError):
    """No worker can be started."""


def cores() -> int:
    """How many processors this process may use."""
    return len(processors()) or os.cpu_count() or 1


def processors() -> list[int]:
    """The processors that this process may use; empty where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


class Supervisor:
    """Use it in a `with`: whatever happens inside, no worker is left. `symbolic`: workers import SymPy before they are ready."""

    def __init__(self, jobs: int, *, symbolic: bool = False) -> None:
        self.symbolic = symbolic
        self.tasks: Sequence[Task] = ()
        self.waiting: list[int] = []
        self.shared: set[int] = set()
        self.events: Events = queue.SimpleQueue()
        self.seats: dict[WorkerProcess, Seat] = {}
        self.failed_starts = 0
        self.homes = processors() if jobs == cores() else []
        """Where there is a worker for every processor, each keeps to its own: a move costs it what it has in the caches."""
        for _ in range(jobs):
            self._hire()

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(self, *exception: object) -> None:
        for seat in list(self.seats.values()):
            seat.worker.kill()
        self.seats.clear()

    def answers(self, tasks: Sequence[Task], line: Callable[[Task], Line]) -> Iterator[Answer]:
        """What workers say of each task, as it comes; `line` is how a worker is told of one."""
        self.tasks, self.line, self.waiting = tasks, line, list(range(len(tasks)))[::-1]
        self.timed = any(task.bounds.timeout is not None for task in tasks)
        done: set[int] = set()
        while len(done) < len(tasks):
            for number, answer in self._next():
                if number not in done:
                    done.add(number)
                    yield number, answer

    def _next(self) -> list[Answer]:
        """Wait for one event or one deadline."""
        try:
            worker, said = self.events.get(timeout=self._patience())
        except queue.Empty:
            return self._overdue()
        seat = self.seats.get(worker)
        if seat is None:  # killed, and these are its last words
            return []
        return self._said(seat, said) if said else self._ended(seat)

    def _patience(self) -> float | None:
        deadlines = [seat.deadline for seat in self.seats.values() if seat.deadline is not None]
        return min(max(min(deadlines) - time.monotonic(), 0), threading.TIMEOUT_MAX) if deadlines else None

    def _said(self, seat: Seat, said: list[Line]) -> list[Answer]:
        """Take what a worker says, and give it more to do."""
        answers = said if seat.ready else said[1:]  # first it says that it is ready
        found: list[Answer] = [(seat.tasks.popleft(), answer) for answer in answers]
        seat.ready, self.failed_starts = True, 0
        self._supply(seat, self._ahead(seat, len(answers)))
        if seat.tasks:
            seat.deadline = self._deadline(seat.tasks[0])
        else:
            self._dismiss(seat)
        return found

    def _ahead(self, seat: Seat, answers: int) -> int:
        """How many tasks a worker should have that has done so many since it was heard: enough for two pauses, at its pace.

        Few where a deadline counts, or where others would get none.
        """
        now = time.monotonic()
        pace, seat.heard = answers / max(now - seat.heard, 0.001), now
        fair = 0 if self.timed else len(self.waiting) // (2 * len(self.seats))
        return max(AHEAD, min(int(2 * PAUSE * pace), fair))

    def _supply(self, seat: Seat, ahead: int) -> None:
        """Hand over tasks until the worker has so many; one that has few is heard at once."""
        given = []
        while len(seat.tasks) < ahead and (task := self._task(idle=not seat.tasks)) is not None:
            seat.tasks.append(task)
            given.append(self.line(self.tasks[task]))
        if ahead > AHEAD:
            seat.worker.attentive.clear()
        else:
            seat.worker.attentive.set()
        if given:
            seat.worker.send(given)

    def _task(self, *, idle: bool) -> int | None:
        """What waits next; for a worker without any also what another one has not begun, which may hang at the one before."""
        if self.waiting:
            return self.waiting.pop()
        later = (number for seat in self.seats.values() for number in list(seat.tasks)[:0:-1])
        task = next((number for number in later if number not in self.shared), None) if idle else None
        if task is not None:
            self.shared.add(task)
        return task

    def _deadline(self, number: int) -> float | None:
        timeout = self.tasks[number].bounds.timeout
        return None if timeout is None else time.monotonic() + timeout

    def _hire(self) -> None:
        taken = {seat.worker.processor for seat in self.seats.values()}
        processor = next((home for home in self.homes if home not in taken), None)
        worker = WorkerProcess(self.events, symbolic=self.symbolic, processor=processor)
        self.seats[worker] = Seat(worker, time.monotonic() + START_SECONDS)

    def _dismiss(self, seat: Seat) -> None:
        seat.worker.kill()
        del self.seats[seat.worker]  # only now: Ctrl-C may come in between, and whoever has a seat is ended then

    def _overdue(self) -> list[Answer]:
        """Kill one worker whose time is over."""
        now = time.monotonic()
        seat = next((s for s in self.seats.values() if s.deadline is not None and s.deadline <= now), None)
        return [] if seat is None else self._replaced(seat, Lost("did not start", timed_out=True))

    def _ended(self, seat: Seat) -> list[Answer]:
        return self._replaced(seat, Lost(seat.worker.end(), timed_out=False))

    def _replaced(self, seat: Seat, lost: Lost) -> list[Answer]:
        """Take a lost worker's first task for done, and what else it had for not begun; another worker goes on."""
        self._dismiss(seat)
        number = seat.tasks.popleft() if seat.tasks else None
        self.waiting += [task for task in reversed(seat.tasks) if task not in self.shared]
        if number is None:
            self.failed_starts += 1
            if self.failed_starts >= STARTS:
                hint = "does it go with -j 1 and without --timeout and --memory?"
                raise WorkersBroken(f"a worker process {lost.how}", hint=hint)
        if len(self.waiting) > sum(not other.ready for other in self.seats.values()):
            self._hire()
        return [] if number is None else [(number, lost)]


def start(bounds: Sequence[Bounds], jobs: int) -> Supervisor | None:
    """The workers for files with these bounds.

    None where nothing asks for more than one process: it starts faster, and no limit of the system is touched.
    """
    if any(each.given for each in bounds) or (jobs > 1 and len(bounds) > 1):
        return Supervisor(min(jobs, len(bounds)), symbolic=any(each.tight for each in bounds))
    return None
