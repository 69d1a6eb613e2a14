"""Checking in this process."""

from __future__ import annotations

import traceback

from gradcli.batch.task import Bug, Outcome, Task
from gradcli.check.file import check_file
from gradcli.interpreter.loading import READS, Reads


def check_one(task: Task, *, recording: bool = True) -> Outcome:
    """Check here and now; a bug of ours is an outcome, too."""
    reads: Reads = {}
    token = READS.set(reads if recording else None)
    try:
        result = check_file(task.source.path, task.source, task.options)
        return Outcome(result.brief() if task.brief else result, reads=reads)
    except BrokenPipeError:
        raise
    except Exception as error:
        return Outcome(bug=bug_of(error))
    finally:
        READS.reset(token)


def bug_of(error: Exception) -> Bug:
    return Bug(type(error).__name__, str(error), "".join(traceback.format_exception(error)).rstrip())
