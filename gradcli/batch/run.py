"""Checking tasks one after the other, or in worker processes, what is known from the cache left out; results come in order.

What checks is imported where this process does so itself: one that has workers is ready to hear of them long before.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from gradcli.batch.codec import decode, encode, encode_source
from gradcli.batch.process import Line
from gradcli.batch.supervisor import Lost, Supervisor, start
from gradcli.batch.task import Bug, Killed, Outcome, Task
from gradcli.check.options import CheckOptions
from gradcli.check.result import FileResult
from gradcli.syntax.directives import expectation

if TYPE_CHECKING:
    from gradcli.batch.cache import Cache

Numbered = tuple[int, Outcome]


def outcomes(
    items: Sequence[Task | Outcome],
    jobs: int,
    cache: Cache | None = None,
    tick: Callable[[], None] = lambda: None,
    workers: Supervisor | None = None,
) -> Generator[Numbered]:
    """The number and the outcome of each item, in their order, as soon as those before it are there. `tick` is called at each that is done.

    `workers` are those that have been started for these items already. When interrupted, it still gives what is done
    behind what is not.
    """
    known = {number: item for number, item in enumerate(items) if isinstance(item, Outcome)}
    tasks = {number: item for number, item in enumerate(items) if isinstance(item, Task)}
    if cache is not None:
        known.update(recalled(tasks, cache))
    for _ in known:
        tick()
    missing = {number: task for number, task in tasks.items() if number not in known}
    workers = workers or start([task.bounds for task in missing.values()], jobs)
    fresh = in_process(missing, recording=cache is not None) if workers is None else in_workers(missing, workers)
    with closing(fresh):
        try:
            for number in range(len(items)):
                while number not in known:
                    done, found = next(fresh)
                    known[done] = found
                    tick()
                    if cache is not None and found.result is not None:
                        cache.put(tasks[done], found.result, found.reads)
                yield number, known.pop(number)
        except KeyboardInterrupt:
            yield from sorted(known.items())
            raise


def recalled(tasks: Mapping[int, Task], cache: Cache) -> Iterator[Numbered]:
    for number, task in tasks.items():
        found = cache.get(task)
        if found is not None:
            yield number, Outcome(found)


def in_process(tasks: Mapping[int, Task], *, recording: bool) -> Generator[Numbered]:
    if not tasks:
        return
    from gradcli.batch.here import check_one

    for number, task in tasks.items():
        yield number, check_one(task, recording=recording)


def in_workers(tasks: Mapping[int, Task], workers: Supervisor) -> Generator[Numbered]:
    numbers = list(tasks)
    with workers:
        for position, said in workers.answers(list(tasks.values()), Lines().line):
            number = numbers[position]
            yield number, outcome(tasks[number], said)


class Lines:
    """Tasks as workers are told of them. Options are encoded once as long as they are the same object."""

    def __init__(self) -> None:
        self.options: tuple[CheckOptions | None, Line] = (None, {})

    def line(self, task: Task) -> Line:
        if task.options is not self.options[0]:
            self.options = task.options, encode(task.options)
        return {
            "path": task.path, "source": encode_source(task.source), "options": self.options[1], "memory": task.bounds.memory,
            "brief": task.brief,
        }  # fmt: skip


def outcome(task: Task, said: Line | Lost) -> Outcome:
    """A worker's answer as plain data again."""
    if isinstance(said, Lost):
        error = task.bounds.out_of_time() if said.timed_out else Killed(f"the process that checked this file {said.how}", hint=HINT)
        return Outcome(lost(task, error))
    if "bug" in said:
        return Outcome(bug=Bug(**said["bug"]))
    if "memory" in said:
        return Outcome(lost(task, task.bounds.out_of_memory()))
    return Outcome(decode(said["result"], task.source), reads={(folder, name): value for folder, name, value in said["reads"]})


HINT = "was the memory of the machine used up? --memory MB bounds what a file may take"


def lost(task: Task, error: Killed) -> FileResult:
    """The result of a file that was not checked to its end."""
    expected = expectation(task.source)
    met = None if expected is None else expected == "error"
    return FileResult(task.source.path, "error", failing=True, error=error, source=task.source, expected=expected, met=met)
