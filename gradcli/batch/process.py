"""A worker as its supervisor sees it: a process, a pipe to it, and what it says put into a queue."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable
from typing import Any

from gradcli.batch.task import ONE_THREAD

Line = dict[str, Any]
START = "import sys; sys.path[:] = {path!r}; from gradcli.batch.worker import main; main({symbolic})"


PAUSE = 0.03
"""Seconds between two looks at a worker with much to do. Each look takes the processor from a worker, and what it had at hand there."""
CHUNK = 1 << 20

Events = queue.SimpleQueue["tuple[WorkerProcess, list[Line]]"]


class WorkerProcess:
    """`events` receives (worker, what it has said), with nothing said when it is at its end.

    `attentive` says that it is heard at once; else a little later, together with what it says in the meantime.
    `symbolic`: let it import SymPy first. `processor`: it runs on that one alone.
    """

    def __init__(self, events: Events, *, symbolic: bool = False, processor: int | None = None) -> None:
        self.events = events
        self.processor = processor
        self.attentive = threading.Event()
        self.attentive.set()
        self.process = subprocess.Popen(
            [sys.executable, "-X", "utf8", "-P", "-c", START.format(path=sys.path, symbolic=symbolic)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**dict.fromkeys(ONE_THREAD, "1"), **os.environ},
            start_new_session=True,  # Ctrl-C is ours to handle
        )
        if processor is not None:
            with contextlib.suppress(OSError):  # it has ended already, or the processor is no longer ours
                os.sched_setaffinity(self.process.pid, {processor})
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as pipe:
            rest = b""
            while data := pipe.read1(CHUNK):  # type: ignore[attr-defined]
                *lines, rest = (rest + data).split(b"\n")  # the very last line may be cut off in the middle
                if lines:
                    self.events.put((self, [json.loads(line) for line in lines]))
                self.attentive.wait(PAUSE)
        self.events.put((self, []))

    def send(self, lines: Iterable[Line]) -> None:
        """Hand over tasks; that the worker has died will be seen as its end."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
            self.process.stdin.flush()

    def kill(self) -> None:
        """End it at once, and wait until it is gone."""
        self.process.kill()
        self.attentive.set()
        self.process.wait()
        self.listener.join()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def end(self) -> str:
        """How a worker that is at its end came to it."""
        status = self.process.wait()
        return f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
