"""`gradcli check PATH...`: the gradients of files, held against symbolic derivatives and finite differences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from gradcli import __version__
from gradcli.commands import inputs, judging, options, reports, terminal
from gradcli.commands.entry import bug
from gradcli.commands.output import say
from gradcli.errors import ExitStatus, GradcliError, ProgramError, UsageError
from gradcli.interpreter.limits import Limits
from gradcli.report import formats, text
from gradcli.report.errors import error_text
from gradcli.report.view import View

if TYPE_CHECKING:
    from gradcli.check.options import CheckOptions
    from gradcli.check.result import CheckResult, FileResult

BUG_CODE = "G900"

FormatOption = Annotated[
    str,
    typer.Option(
        "--format", metavar="FORMAT", help=f"What goes to standard output: {', '.join(formats.FORMATS)}.",
        autocompletion=options.completer(formats.FORMATS),
    ),
]  # fmt: skip

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
    seed: options.Seed = 0,
    set: options.Set = None,
    points: judging.Points = 1,
    data: judging.Data = None,
    method: judging.MethodOption = "all",
    symbolic_budget: judging.Budget = None,
    rtol: judging.Rtol = 0.0,
    atol: judging.Atol = 0.0,
    max_ulps: judging.MaxUlps = None,
    fail_on: judging.FailOn = None,
    strict: options.Strict = False,
    format: FormatOption = "table",
    report: options.Report = None,
    graph: GraphOption = None,
    formulas: judging.Formulas = False,
    out: options.Out = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Colors = options.Color.AUTO,
    debug: options.Debug = False,
    limits: Limits = Limits(),
) -> ExitStatus:
    """Check gradients against two references.

    Each file is run, its gradients taken by autograd and held against symbolic derivatives and finite differences.
    Exit status: 0 all passed, 1 a gradient or an assertion failed, 2 a file could not be checked, 5 nothing to check.
    """
    view = terminal.view(color, quiet=quiet, verbose=verbose, to_file=out is not None)
    writer = reports.Reports(formats.find(format), out, view, reports.parse(report, out))
    overrides, failures, reference = options.assignments(set), judging.verdicts(fail_on), judging.method(method)
    files, empty = inputs.find(paths)
    for nothing in empty:
        say(error_text(nothing))
    if graph is not None and len(files) != 1:
        raise UsageError(f"--graph draws one file, and here are {len(files)}", hint="name one file", code="G102")

    from gradcli.check.options import CheckOptions

    settings = CheckOptions(
        output, tuple(wrt or ()), grad_outputs, order, seed, overrides, strict, limits, rtol=rtol, atol=atol, max_ulps=max_ulps,
        fail_on=failures, method=reference, points=points, formulas=formulas, sweep=writer.pictures, data=data,
    )  # fmt: skip
    if symbolic_budget is not None:
        settings = replace(settings, symbolic_budget=symbolic_budget)
    result, bugs = _check_all(files, settings, writer, debug=debug)
    writer.write(result)
    if graph is not None:
        _draw(result.files[0], settings, graph)
    return ExitStatus.BUG if bugs else exit_status(result, strict=strict)


def _check_all(files: list[str], settings: CheckOptions, writer: reports.Reports, *, debug: bool) -> tuple[CheckResult, bool]:
    """Every file, whatever becomes of the others; and whether a bug of ours came up."""
    from gradcli.check.result import CheckResult

    result = CheckResult([], seed=settings.seed, version=__version__)
    bugs = False
    for found, is_bug in _each(files, settings, debug=debug):
        bugs = bugs or is_bug
        result.files.append(found)
        _tell_error(found)
        if writer.pictures and (found.outcome != "passed" or len(files) <= PICTURES):
            bugs = not _add_picture(found, settings, debug=debug) or bugs
        writer.done(found)
    return result, bugs


def _each(files: list[str], settings: CheckOptions, *, debug: bool) -> Iterator[tuple[FileResult, bool]]:
    """The files one after the other, each as soon as it is done, and whether it met a bug of ours."""
    for path in files:
        try:
            yield _check_one(path, settings), False
        except GradcliError as error:
            yield _not_checked(path, error), False
        except BrokenPipeError:
            raise
        except Exception as error:
            bug(error, debug=debug, path=path)
            yield _bug(path, error), True


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
    """There is no picture of a file that could not be run at all."""
    return file.error is None or isinstance(file.error, ProgramError)


def _check_one(path: str, settings: CheckOptions) -> FileResult:
    from gradcli.check import check_file

    source = inputs.read(path, settings.limits)
    return check_file(source.path, source, settings)


def _draw(file: FileResult, settings: CheckOptions, out: str) -> None:
    """The picture of a checked file."""
    from gradcli.commands.graph import put_checked
    from gradcli.report import table

    if _drawable(file):
        lines = table.file_lines(file, View(width=130, unicode=True), full=True)
        put_checked(file, settings, out, text.render(lines, color=False))


def _not_checked(path: str, error: GradcliError) -> FileResult:
    from gradcli.check.result import FileResult

    shown = inputs.STANDARD_INPUT_NAME if path == inputs.STANDARD_INPUT else path
    return FileResult(shown, "error", failing=True, error=error)


def _bug(path: str, error: Exception) -> FileResult:
    """Our fault stands in the report too, so that no reader takes the file for checked."""
    found = _not_checked(path, GradcliError(f"bug of gradcli: {type(error).__name__}: {error}", code=BUG_CODE))
    assert found.error is not None
    found.error.__cause__ = error
    return found


def _tell_error(file: FileResult) -> None:
    """An error goes to standard error in full; one that the file announces is no news."""
    if file.error is not None and not file.met and file.error.code != BUG_CODE:
        say(error_text(file.error, file.path, file.source))


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
