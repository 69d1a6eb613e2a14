"""A worker as its supervisor sees it: a process, a pipe to it, and what it says put into a queue."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from typing import Any

from gradcli.batch.task import ONE_THREAD

Line = dict[str, Any]
START = "import sys; sys.path[:] = {path!r}; from gradcli.batch.worker import main; main({symbolic})"


class WorkerProcess:
    """`events` receives (worker, line), and (worker, None) when the worker is at its end; `symbolic`: let it import SymPy first."""

    def __init__(self, events: queue.SimpleQueue[tuple[WorkerProcess, Line | None]], *, symbolic: bool = False) -> None:
        self.events = events
        self.process = subprocess.Popen(
            [sys.executable, "-X", "utf8", "-P", "-c", START.format(path=sys.path, symbolic=symbolic)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**dict.fromkeys(ONE_THREAD, "1"), **os.environ},
            start_new_session=True,  # Ctrl-C is ours to handle
        )
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as pipe, contextlib.suppress(ValueError):  # the last line may be cut off in the middle
            for line in pipe:
                self.events.put((self, json.loads(line)))
        self.events.put((self, None))

    def send(self, line: Line) -> None:
        """Hand over a task; that the worker has died will be seen as its end."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.write(json.dumps(line).encode() + b"\n")
            self.process.stdin.flush()

    def kill(self) -> None:
        """End it at once, and wait until it is gone."""
        self.process.kill()
        self.process.wait()
        self.listener.join()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def end(self) -> str:
        """How a worker that is at its end came to it."""
        status = self.process.wait()
        return f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
