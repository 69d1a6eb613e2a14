"""Checking tasks one after the other, or in worker processes, what is known from the cache left out; results come in order."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing

from gradcli.batch.cache import Cache
from gradcli.batch.supervisor import Supervisor
from gradcli.batch.task import Bug, Outcome, Task
from gradcli.check import check_file
from gradcli.interpreter.loading import READS, Reads

Numbered = tuple[int, Outcome]


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def outcomes(tasks: Sequence[Task], jobs: int, cache: Cache | None = None, tick: Callable[[], None] = lambda: None) -> Generator[Outcome]:
    """The outcome of each task, in their order, as soon as those before it are there. `tick` is called at each that is done.

    One process does it all as long as nothing asks for more: it starts faster, and no limit of the system is touched.
    """
    known = {} if cache is None else dict(recalled(tasks, cache))
    for _ in known:
        tick()
    missing = [number for number in range(len(tasks)) if number not in known]
    apart = any(tasks[number].bounds.given for number in missing) or (jobs > 1 and len(missing) > 1)
    fresh = in_workers(tasks, missing, jobs) if apart else in_process(tasks, missing, recording=cache is not None)
    with closing(fresh):
        for number in range(len(tasks)):
            while number not in known:
                done, found = next(fresh)
                known[done] = found
                tick()
                if cache is not None and found.result is not None:
                    cache.put(tasks[done], found.result, found.reads)
            yield known.pop(number)


def recalled(tasks: Sequence[Task], cache: Cache) -> Iterator[Numbered]:
    for number, task in enumerate(tasks):
        found = cache.get(task)
        if found is not None:
            yield number, Outcome(found)


def in_workers(tasks: Sequence[Task], numbers: Sequence[int], jobs: int) -> Generator[Numbered]:
    with Supervisor([tasks[number] for number in numbers], jobs) as supervisor:
        for position, found in supervisor.outcomes():
            yield numbers[position], found


def in_process(tasks: Sequence[Task], numbers: Sequence[int], *, recording: bool) -> Generator[Numbered]:
    for number in numbers:
        yield number, check_one(tasks[number], recording=recording)


def check_one(task: Task, *, recording: bool = True) -> Outcome:
    """Check here and now; a bug of ours is an outcome, too."""
    reads: Reads = {}
    token = READS.set(reads if recording else None)
    try:
        return Outcome(check_file(task.source.path, task.source, task.options), reads=reads)
    except BrokenPipeError:
        raise
    except Exception as error:
        text = "".join(traceback.format_exception(error)).rstrip()
        return Outcome(bug=Bug(type(error).__name__, str(error), text))
    finally:
        READS.reset(token)
