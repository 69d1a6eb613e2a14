"""The files of a command line as tasks, each with its own options; and what becomes of them."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gradcli.batch.supervisor import Supervisor, start
from gradcli.batch.task import Bounds, Bug, Outcome, Task
from gradcli.commands import inputs, judging, options
from gradcli.commands.configuration import Configured
from gradcli.commands.progress import Progress
from gradcli.config.config import Setting
from gradcli.errors import GradcliError
from gradcli.interpreter.limits import Limits

if TYPE_CHECKING:
    from gradcli.batch.cache import Cache
    from gradcli.check.options import CheckOptions
    from gradcli.check.result import FileResult

BUG_CODE = "G900"
CONVERTED: Mapping[str, Any] = {"wrt": tuple, "set": options.assignments, "fail_on": judging.verdicts, "method": judging.method}
"""Options of the command line that CheckOptions has in another form."""


@dataclass(frozen=True)
class Plan:
    """How files are checked: `settings` and `bounds` are those of all files, and `config` knows more about some.

    `brief`: nobody looks into results where all is well, unless a cache keeps them.
    """

    settings: CheckOptions
    bounds: Bounds
    config: Configured
    jobs: int = 1
    cache: Cache | None = None
    brief: bool = False

    @cached_property
    def common(self) -> CheckOptions:
        """The options of a file that no section of the configuration speaks of: one object, for it is sent with each task."""
        return changed(self.settings, {}, frozenset(self.config.settings()))

    def settings_of(self, path: str) -> CheckOptions:
        """The options for one file, its section of the configuration included."""
        own = values(self.config.for_file(path))
        return changed(self.common, own, frozenset({*self.config.settings(), *own})) if own else self.common

    def bounds_of(self, path: str) -> Bounds:
        """What one file may take, its section of the configuration included."""
        own = self.config.for_file(path)
        return replace(self.bounds, **{name: own[name].value for name in ("timeout", "memory") if name in own})

    def task(self, path: str) -> Task:
        """The task for one path. Raises GradcliError where it cannot be read."""
        settings = self.settings_of(path)
        source = inputs.read(path, settings.limits, settings.data)
        return Task(path, source, settings, self.bounds_of(path), self.brief and self.cache is None)

    def workers(self, paths: Sequence[str]) -> Supervisor | None:
        """Workers that begin to get ready now, if these files will need any; what a cache knows needs none."""
        return start([self.bounds_of(path) for path in paths], self.jobs) if self.cache is None else None


def values(settings: Mapping[str, Setting]) -> dict[str, Any]:
    """What a configuration sets, without where that stands."""
    return {name: setting.value for name, setting in settings.items()}


def changed(settings: CheckOptions, given: Mapping[str, Any], configured: frozenset[str]) -> CheckOptions:
    """The options with others that are named as on the command line; `configured` are those that a configuration gives."""
    known = {item.name for item in fields(settings)}
    own = {name: CONVERTED[name](value) if name in CONVERTED else value for name, value in given.items() if name in known}
    return replace(settings, **own, limits=limited(settings.limits, given), configured=configured & known)


def limited(limits: Limits, given: Mapping[str, Any]) -> Limits:
    """The limits with those that are given, among other options."""
    return replace(limits, **{limit.name: given[f"max_{limit.name}"] for limit in fields(limits) if f"max_{limit.name}" in given})


def results(
    paths: Sequence[str], plan: Plan, known: Mapping[str, FileResult], progress: Progress
) -> Generator[tuple[str, FileResult, Bug | None]]:
    """Each path with its result, in order, as soon as it is there; `known` are those that need no check.

    When interrupted, it still gives what is done behind what is not.
    """
    with plan.workers([path for path in paths if path not in known]) or nullcontext() as workers:
        from gradcli.batch.run import outcomes

        items = [_planned(path, plan, known) for path in paths]
        with closing(outcomes(items, plan.jobs, plan.cache, progress.tick, workers)) as found:
            for number, outcome in found:
                path, bug = paths[number], outcome.bug
                yield path, outcome.result or not_checked(path, bug_error(bug)), bug


def _planned(path: str, plan: Plan, known: Mapping[str, FileResult]) -> Task | Outcome:
    """The task for a path, or its outcome where there is one already: an error of reading it is one."""
    if path in known:
        return Outcome(known[path])
    try:
        return plan.task(path)
    except GradcliError as error:
        return Outcome(not_checked(path, error))


def not_checked(path: str, error: GradcliError) -> FileResult:
    """The result of a file that could not even be read."""
    from gradcli.check.result import FileResult

    return FileResult(path, "error", failing=True, error=error)


def bug_error(bug: Bug | None) -> GradcliError:
    """Our fault stands in the report too, so that no reader takes the file for checked."""
    assert bug is not None
    error = GradcliError(f"bug of gradcli: {bug.type}: {bug.message}", code=BUG_CODE)
    error.type = bug.type  # type: ignore[attr-defined]
    return error
