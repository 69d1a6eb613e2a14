"""A worker process: takes tasks from standard input, a line each, and answers each with a line.

It ends when standard input does, so that no worker outlives the one that it works for, however that one ended.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import queue
import sys
import threading
from typing import IO, Any

from gradcli.batch.process import Line

MEGABYTE = 1_000_000


def main(symbolic: bool) -> None:
    """What the process does. The pipes are taken first, so that nothing printed can get between the answers."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    tasks: queue.SimpleQueue[Line] = queue.SimpleQueue()
    threading.Thread(target=listen, args=(sys.stdin.buffer, tasks), daemon=True).start()
    os.dup2(2, 1)
    warm_up(symbolic)
    say(answers, {"ready": True})
    while True:
        say(answers, answer(tasks.get()))


def listen(pipe: IO[bytes], tasks: queue.SimpleQueue[Line]) -> None:
    """Pass on tasks as they come; a thread of its own, to see the end of the pipe in the middle of a task too."""
    for line in pipe:
        tasks.put(json.loads(line))
    os._exit(0)


def say(pipe: IO[str], line: Line) -> None:
    try:
        pipe.write(json.dumps(line) + "\n")
        pipe.flush()
    except BrokenPipeError:
        os._exit(0)


def warm_up(symbolic: bool) -> None:
    """Import what every file needs before the time of the first one runs; SymPy, which only some need, if asked to.

    The thread that watches the time takes memory that is not the file's. None of it is ever garbage: the collector need not look at it.
    """
    gc.disable()
    import numpy.random  # noqa: F401 - NumPy itself puts it off

    import gradcli.batch.arrays
    import gradcli.batch.here  # noqa: F401
    from gradcli.interpreter.clock import watch

    watch.start()
    if symbolic:
        import sympy  # noqa: F401
    gc.freeze()
    gc.enable()


def answer(line: Line) -> Line:
    """The outcome of one task: `result` and `reads`, `bug`, or `memory` where the limit was reached."""
    from gradcli.batch.codec import encode
    from gradcli.batch.here import bug_of

    try:
        with limited_memory(line["memory"]):
            found = check(line)
        if line["memory"] is not None and exhausted(found):
            return {"memory": True}
        if found.bug is not None:
            return {"bug": vars(found.bug)}
        return {"result": encode(found.result), "reads": [[*key, value] for key, value in found.reads.items()]}
    except MemoryError:
        return {"memory": True}
    except Exception as error:
        return {"bug": vars(bug_of(error))}


def check(line: Line) -> Any:
    from gradcli.batch.codec import decode, decode_source
    from gradcli.batch.here import check_one
    from gradcli.batch.task import Task

    return check_one(Task(line["path"], decode_source(line["source"]), decode(line["options"]), brief=line["brief"]))


def exhausted(found: Any) -> bool:
    """Has the file met a MemoryError, or the check of it? The message is the one of `faults.program_error`."""
    if found.bug is not None:
        return bool(found.bug.type == "MemoryError")
    return found.result.error is not None and found.result.error.message == "limit reached: memory"


@contextlib.contextmanager
def limited_memory(megabytes: int | None) -> Any:
    """Let the process grow by so much and no more, where the system can say no."""
    used = None if megabytes is None else address_space()
    if megabytes is None or used is None:
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    most = sys.maxsize if before[1] == resource.RLIM_INFINITY else before[1]
    resource.setrlimit(resource.RLIMIT_AS, (min(used + megabytes * MEGABYTE, most), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def address_space() -> int | None:
    """Bytes of this process; None where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None
