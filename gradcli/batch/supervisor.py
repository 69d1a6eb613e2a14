"""Worker processes, each with one task at a time: what hangs is killed, what dies is replaced, and no other task is lost.

The pools of the standard library give up all pending work when one worker dies.
"""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradcli.batch.codec import decode, encode, encode_source
from gradcli.batch.process import WorkerProcess
from gradcli.batch.task import Bug, Killed, Outcome, Task
from gradcli.check.result import FileResult
from gradcli.errors import GradcliError
from gradcli.syntax.directives import expectation

STARTS = 3
"""Workers that end before they are ready, one after the other, after which no more are started."""
START_SECONDS = 120.0


AHEAD = 2
"""Tasks that a worker has at a time: the next one is there when it is done with one, however busy the supervisor is."""


@dataclass
class Seat:
    """A worker: the tasks that it has, the first of them at work until the deadline; not `ready` while it starts."""

    worker: WorkerProcess
    deadline: float | None
    tasks: deque[int] = field(default_factory=deque)
    ready: bool = False


class WorkersBroken(GradcliError):
    """No worker can be started."""


class Supervisor:
    """Use it in a `with`: whatever happens inside, no worker is left."""

    def __init__(self, tasks: Sequence[Task], jobs: int) -> None:
        self.tasks = tasks
        self.jobs = min(jobs, len(tasks))
        self.waiting = list(range(len(tasks)))[::-1]
        self.events: queue.SimpleQueue[tuple[WorkerProcess, dict[str, Any] | None]] = queue.SimpleQueue()
        self.seats: dict[WorkerProcess, Seat] = {}
        self.failed_starts = 0
        self.encoded: tuple[object, Any] = (None, None)
        self.tight = any(task.bounds.tight for task in tasks)

    def __enter__(self) -> Supervisor:
        return self

    def __exit__(self, *exception: object) -> None:
        for seat in list(self.seats.values()):
            seat.worker.kill()
        self.seats.clear()

    def outcomes(self) -> Iterator[tuple[int, Outcome]]:
        """The number of each task with its outcome, as they come."""
        left = len(self.tasks)
        for _ in range(self.jobs):
            self._hire()
        while left:
            found = self._next()
            if found is not None:
                left -= 1
                yield found

    def _next(self) -> tuple[int, Outcome] | None:
        """Wait for one event or one deadline."""
        try:
            worker, said = self.events.get(timeout=self._patience())
        except queue.Empty:
            return self._overdue()
        seat = self.seats.get(worker)
        if seat is None:  # killed, and this is its last word
            return None
        return self._ended(seat) if said is None else self._said(seat, said)

    def _patience(self) -> float | None:
        deadlines = [seat.deadline for seat in self.seats.values() if seat.deadline is not None]
        return max(min(deadlines) - time.monotonic(), 0) if deadlines else None

    def _said(self, seat: Seat, said: dict[str, Any]) -> tuple[int, Outcome] | None:
        number = seat.tasks.popleft() if seat.ready else None
        seat.ready, self.failed_starts = True, 0
        while self.waiting and len(seat.tasks) < AHEAD:
            self._assign(seat)
        if seat.tasks:
            seat.deadline = self._deadline(seat.tasks[0])
        else:
            self._dismiss(seat)
        return None if number is None else (number, outcome(self.tasks[number], said))

    def _deadline(self, number: int) -> float | None:
        timeout = self.tasks[number].bounds.timeout
        return None if timeout is None else time.monotonic() + timeout

    def _assign(self, seat: Seat) -> None:
        number = self.waiting.pop()
        seat.tasks.append(number)
        task = self.tasks[number]
        if task.options is not self.encoded[0]:
            self.encoded = task.options, encode(task.options)
        line = {"path": task.path, "source": encode_source(task.source), "options": self.encoded[1], "memory": task.bounds.memory}
        seat.worker.send(line)

    def _hire(self) -> None:
        worker = WorkerProcess(self.events, symbolic=self.tight)
        self.seats[worker] = Seat(worker, time.monotonic() + START_SECONDS)

    def _dismiss(self, seat: Seat) -> None:
        del self.seats[seat.worker]
        seat.worker.kill()

    def _overdue(self) -> tuple[int, Outcome] | None:
        """Kill one worker whose time is over."""
        now = time.monotonic()
        seat = next((s for s in self.seats.values() if s.deadline is not None and s.deadline <= now), None)
        if seat is None:
            return None
        return self._replaced(seat, "did not start", timed_out=True)

    def _ended(self, seat: Seat) -> tuple[int, Outcome] | None:
        return self._replaced(seat, seat.worker.end(), timed_out=False)

    def _replaced(self, seat: Seat, how: str, *, timed_out: bool) -> tuple[int, Outcome] | None:
        """Take a lost worker's first task for done, and what else it had for not begun; another worker goes on."""
        self._dismiss(seat)
        number = seat.tasks.popleft() if seat.tasks else None
        self.waiting += reversed(seat.tasks)
        if number is None:
            self.failed_starts += 1
            if self.failed_starts >= STARTS:
                raise WorkersBroken(f"a worker process {how}", hint="does it go with -j 1 and without --timeout and --memory?")
        if len(self.waiting) > sum(not other.ready for other in self.seats.values()):
            self._hire()
        if number is None:
            return None
        task = self.tasks[number]
        error = task.bounds.out_of_time() if timed_out else Killed(f"the process that checked this file {how}", hint=HINT)
        return number, Outcome(lost(task, error))


HINT = "was the memory of the machine used up? --memory MB bounds what a file may take"


def outcome(task: Task, said: dict[str, Any]) -> Outcome:
    """A worker's answer as plain data again."""
    if "bug" in said:
        return Outcome(bug=Bug(**said["bug"]))
    if "memory" in said:
        return Outcome(lost(task, task.bounds.out_of_memory()))
    return Outcome(decode(said["result"], task.source), reads={(folder, name): value for folder, name, value in said["reads"]})


def lost(task: Task, error: Killed) -> FileResult:
    """The result of a file that was not checked to its end."""
    expected = expectation(task.source)
    met = None if expected is None else expected == "error"
    return FileResult(task.source.path, "error", failing=True, error=error, source=task.source, expected=expected, met=met)
