"""Checking the FPCores of a file, each by itself: what is wrong with one never stops the others."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gradcli.check.options import CheckOptions
from gradcli.check.result import FileResult, Note, TargetResult
from gradcli.errors import GradcliError, SourceErrors, UsageError
from gradcli.syntax import fpcore
from gradcli.syntax.directives import expectation
from gradcli.syntax.source import Source
from gradcli.syntax.spelling import did_you_mean
from gradcli.syntax.tree import Tree

Examine = Callable[[FileResult, Tree, CheckOptions], None]


def check_cores(result: FileResult, source: Source, options: CheckOptions, examine: Examine) -> None:
    """Fill in a target for each core. The first error is the file's, and each stands in the target of its core."""
    result.expected = expectation(source)
    found = fpcore.core_trees(source, options.limits.nesting)
    chosen = [item for item in found if options.output in (None, name_of(item))]
    refuse_unknown(found, chosen, options)
    for item in chosen:
        one = examined(item, source, options, examine)
        result.targets += one.targets
        result.functions += one.functions
        result.error = joined(result.error, one.error)


def examined(item: Tree | fpcore.BadCore, source: Source, options: CheckOptions, examine: Examine) -> FileResult:
    """What is found in one core."""
    one = FileResult(source.path, "pass", False, source=source)
    name, line = name_of(item), line_of(item)
    try:
        if isinstance(item, fpcore.BadCore):
            raise item.error
        examine(one, item, options_for(item, options))
        if one.error is not None:
            raise one.error
        assert item.task is not None
        point = item.task.point(options.seed, dict(options.set))
        if point:
            one.targets[0].notes.append(Note("point", pasteable(point)))
    except fpcore.NoPoint as error:
        if not one.targets:
            one.targets.append(unchecked(name, line, f"no point to check at: {error.reason}", options))
    except GradcliError as error:
        one.error = error
        one.targets = [unchecked(name, line, message(error), options)]
    return one


def name_of(item: Tree | fpcore.BadCore) -> str:
    return item.name if isinstance(item, fpcore.BadCore) else item.task.output or "" if item.task is not None else ""


def line_of(item: Tree | fpcore.BadCore) -> int | None:
    return item.line if isinstance(item, fpcore.BadCore) else getattr(item.module.body[-1], "lineno", None)


def refuse_unknown(found: list[Tree | fpcore.BadCore], chosen: list[Tree | fpcore.BadCore], options: CheckOptions) -> None:
    """Raises UsageError for options that name what no core has."""
    if options.output is not None and not chosen:
        names = [name_of(item) for item in found]
        hint = did_you_mean(options.output, names) or f"there are: {', '.join(names)}"
        raise UsageError(f"--output {options.output}: the file has no FPCore of that name", hint=hint, code="G104")
    leaves = {leaf for item in chosen if isinstance(item, Tree) and item.task is not None for leaf in item.task.leaves}
    for option, names in (("--set", [name for name, _ in options.set]), ("--wrt", list(options.wrt))):
        for name in names:
            if leaves and name not in leaves:
                raise UsageError(f"{option} {name}: no FPCore has such an argument", hint=did_you_mean(name, leaves), code="G106")


def options_for(tree: Tree, options: CheckOptions) -> CheckOptions:
    """The options as far as they are about this core."""
    leaves = tree.task.leaves if tree.task is not None else ()
    given = tuple((name, value) for name, value in options.set if name in leaves)
    return replace(options, output=None, set=given, wrt=tuple(name for name in options.wrt if name in leaves))


def unchecked(name: str, line: int | None, why: str, options: CheckOptions) -> TargetResult:
    """The target of a core that could not be checked."""
    none = f"none: {why}"
    return TargetResult(
        name, line, (), np.float64(math.nan), None, 1, "unchecked", options.fails("unchecked"), none, none, [],  # type: ignore[arg-type]
    )  # fmt: skip


def message(error: GradcliError) -> str:
    return (error.errors[0] if isinstance(error, SourceErrors) else error).message


def joined(first: GradcliError | None, second: GradcliError | None) -> GradcliError | None:
    """The errors of two cores: those of the source all together, else the first."""
    if isinstance(first, SourceErrors) and isinstance(second, SourceErrors):
        return SourceErrors([*first.errors, *second.errors])
    return first or second


def pasteable(point: dict[str, str]) -> str:
    """The options that bring a check back to a point."""
    return "at " + " ".join(f"--set '{name}={value}'" for name, value in point.items())
