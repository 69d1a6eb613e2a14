"""`gradcli check PATH...`: the gradients of files, held against symbolic derivatives and finite differences."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from gradcli import __version__
from gradcli.commands import expectations, inputs, judging, options, reports, running
from gradcli.commands.configuration import Configured
from gradcli.commands.entry import bug, tell_bug
from gradcli.commands.look import Look
from gradcli.commands.output import in_turn, refuse_to_replace, say
from gradcli.commands.progress import Progress
from gradcli.commands.start import Start
from gradcli.commands.tasks import BUG_CODE, Plan, results
from gradcli.errors import ExitStatus, LimitError, ProgramError, UsageError
from gradcli.report import formats, text
from gradcli.report.view import View

if TYPE_CHECKING:
    from gradcli.check.options import CheckOptions
    from gradcli.check.result import CheckResult, FileResult
    from gradcli.graph.formats import Format as GraphFormat

FormatOption = Annotated[str, options.format_option(formats.FORMATS, f"What goes to standard output: {', '.join(formats.FORMATS)}.")]

GraphOption = Annotated[
    str | None,
    typer.Option("--graph", metavar="FILE", help="Draw the graph of the file, the result on its nodes.", show_default=False),
]

PICTURES = 20
"""In a check of more files than this, only those with something to look at are drawn."""


def check(
    paths: options.Paths,
    output: options.Output = None,
    wrt: options.Wrt = None,
    grad_outputs: options.GradOutputs = None,
    order: options.Order = None,
    start: Start = Start(),
    points: judging.Points = 1,
    method: judging.MethodOption = "all",
    symbolic_budget: judging.Budget = None,
    fresh: judging.Fresh = False,
    rtol: judging.Rtol = 0.0,
    atol: judging.Atol = 0.0,
    max_ulps: judging.MaxUlps = None,
    fail_on: judging.FailOn = None,
    strict: options.Strict = False,
    format: FormatOption = "table",
    report: options.Report = None,
    graph: GraphOption = None,
    formulas: judging.Formulas = False,
    jobs: running.Jobs = 1,
    timeout: running.Timeout = None,
    memory: running.Memory = None,
    fail_fast: running.FailFast = False,
    force_exclude: running.ForceExclude = False,
    cache: running.UseCache = False,
    cache_dir: running.CacheDir = None,
    update_expectations: running.UpdateExpectations = False,
    look: Look = Look(),
    debug: options.Debug = False,
    config: Configured = Configured(),
) -> ExitStatus:
    """Check gradients against two references.

    Each file is run, its gradients taken by autograd and held against symbolic derivatives and finite differences.
    Exit status: 0 all passed, 1 a gradient or an assertion failed, 2 a file could not be checked, 5 nothing to check.
    """
    writer = reports.Reports(formats.find(format), look.out, look.view, reports.parse(report, look.out, graph))
    overrides, failures, reference = start.overrides, judging.verdicts(fail_on), judging.method(method)
    wanted = config.config.wanted
    files, empty = inputs.find(paths, wanted)
    for nothing in empty:
        look.tell(nothing)
    if force_exclude and files:
        files = [path for path in files if isinstance(path, inputs.Formula) or not wanted.leaves_out_if_named(path)]
        if not files:
            look.note(f"gradcli: nothing is checked: {config.config.path} excludes every file that is named")
    refuse_to_replace(files, [look.out, graph, *(path for _, path in writer.further)])
    drawn_as = None if graph is None else _graph_format(graph, files)

    running.one_thread()
    from gradcli.batch.task import Bounds
    from gradcli.check.options import CheckOptions

    settings = CheckOptions(
        output, tuple(wrt or ()), grad_outputs, order, start.seed, overrides, strict, start.limits, rtol=rtol, atol=atol,
        max_ulps=max_ulps, fail_on=failures, method=reference, fresh=fresh, points=points, formulas=formulas, sweep=writer.pictures,
        data=start.data,
    )  # fmt: skip
    if symbolic_budget is not None:
        settings = replace(settings, symbolic_budget=symbolic_budget)
    brief = writer.brief and graph is None
    plan = Plan(settings, Bounds(timeout, memory), config, running.jobs(jobs), running.cache(cache, cache_dir, config), brief)
    known = _update(files, plan) if update_expectations else {}
    result, special = _check_all(files, plan, writer, known, look, fail_fast=fail_fast, debug=debug)
    writings = list(writer.writings(result))
    if graph is not None and drawn_as is not None and result.files:
        writings.append(lambda: _draw(result.files[0], plan.settings_of(files[0]), drawn_as, replace(look, out=graph)))
    if plan.cache is not None and plan.cache.trouble:
        say(f"gradcli: warning: no results are kept: {plan.cache.trouble}")
    in_turn(writings)
    if special is None and not files and not empty:
        return ExitStatus.PASSED
    return special or exit_status(result, strict=strict)


def _check_all(
    files: list[str], plan: Plan, writer: reports.Reports, known: dict[str, FileResult], look: Look, *, fail_fast: bool, debug: bool
) -> tuple[CheckResult, ExitStatus | None]:
    """Every file, whatever becomes of the others; and the exit status where the result does not tell it."""
    from gradcli.check.result import CheckResult

    result = CheckResult([], seed=plan.settings.seed, version=__version__)
    special, progress = None, Progress(len(files))
    try:
        with closing(results(files, plan, known, progress)) as each:
            for path, found, fault in each:
                progress.clear()
                result.files.append(found)
                if fault is not None:
                    special = tell_bug(fault.type, fault.message, fault.traceback, debug=debug, path=path)
                _tell_error(found, look)
                if writer.pictures and (found.outcome != "passed" or len(files) <= PICTURES):
                    special = special if _add_picture(found, plan.settings_of(path), debug=debug) else ExitStatus.BUG
                if not writer.done(found) or (fail_fast and found.outcome in ("failed", "error")):
                    break
    except KeyboardInterrupt:
        special = ExitStatus.INTERRUPTED
    progress.clear()
    left = len(files) - len(result.files)
    if fail_fast and left and special is not ExitStatus.INTERRUPTED and writer.fault is None:
        look.note(f"gradcli: stopped at the first failure: {left} of {len(files)} files {'is' if left == 1 else 'are'} not checked")
    if special is ExitStatus.INTERRUPTED:
        say(f"gradcli: interrupted: {len(result.files)} of {len(files)} files were checked")
    return result, special


def _update(files: list[str], plan: Plan) -> dict[str, FileResult]:
    """Write the expectations of the files; the results of those that stay as they are."""
    progress = Progress(len(files))
    known = {}
    for path, found, fault in results(files, plan, {}, progress):
        progress.clear()
        if fault is None and not expectations.update(path, found):
            known[path] = found
    return known


def _add_picture(file: FileResult, settings: CheckOptions, *, debug: bool) -> bool:
    """The graph of a file for a report that shows it; False where that met a bug of ours, which the check survives."""
    from gradcli.commands.graph import picture

    try:
        file.picture = picture(file, settings) if _drawable(file) else None
    except Exception as error:
        bug(error, debug=debug, path=file.path)
        return False
    return True


def _drawable(file: FileResult) -> bool:
    """There is no picture of a file that could not be run at all, nor of one that must not be run again."""
    return file.error is None or (isinstance(file.error, ProgramError) and not isinstance(file.error, LimitError))


def _graph_format(out: str, files: list[str]) -> GraphFormat:
    """The format in which `--graph` draws. Raises UsageError where it cannot, before anything is checked."""
    from gradcli.graph.formats import choose

    if len(files) != 1:
        raise UsageError(f"--graph draws one file, and here are {len(files)}", hint="name one file", code="G102")
    return choose(None, out, "--graph")


def _draw(file: FileResult, settings: CheckOptions, row: GraphFormat, look: Look) -> None:
    """The picture of a checked file."""
    from gradcli.commands.graph import put_checked
    from gradcli.report import table

    if _drawable(file):
        lines = table.file_lines(file, View(width=130, unicode=True), full=True)
        put_checked(file, settings, row, look, text.render(lines, color=False))


def _tell_error(file: FileResult, look: Look) -> None:
    """An error goes to standard error in full; one that the file announces is no news."""
    if file.error is not None and not file.met and file.error.code != BUG_CODE:
        look.tell(file.error, file.path, file.source)


def exit_status(result: CheckResult, *, strict: bool) -> ExitStatus:
    """An error wins over a failure, and a check of nothing is no success."""
    outcomes = [file.outcome for file in result.files]
    if "error" in outcomes:
        return ExitStatus.ERROR
    if "failed" in outcomes:
        return ExitStatus.FAILED
    if "passed" not in outcomes:
        return ExitStatus.NOTHING
    return ExitStatus.FAILED if strict and "unchecked" in outcomes else ExitStatus.PASSED
