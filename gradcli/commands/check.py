"""`gradcli check PATH...`: the gradients of files, held against symbolic derivatives and finite differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gradcli import __version__
from gradcli.commands import inputs, options, terminal
from gradcli.commands.entry import bug
from gradcli.commands.output import emit, say
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
    str, typer.Option("--format", metavar="FORMAT", help=f"What goes to standard output: {', '.join(formats.FORMATS)}.")
]

GraphOption = Annotated[
    str | None,
    typer.Option("--graph", metavar="FILE", help="Draw the graph of the file, the result on its nodes.", show_default=False),
]


def check(
    paths: options.Paths,
    output: options.Output = None,
    wrt: options.Wrt = None,
    grad_outputs: options.GradOutputs = None,
    order: options.Order = None,
    seed: options.Seed = 0,
    set: options.Set = None,
    format: FormatOption = "table",
    report: options.Report = None,
    graph: GraphOption = None,
    out: options.Out = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Colors = options.Color.AUTO,
    strict: options.Strict = False,
    debug: options.Debug = False,
    limits: Limits = Limits(),
) -> ExitStatus:
    """Check gradients against two references.

    Each file is run, its gradients taken by autograd and held against symbolic derivatives and finite differences.
    Exit status: 0 all passed, 1 a gradient or an assertion failed, 2 a file could not be checked, 5 nothing to check.
    """
    chosen = formats.find(format)
    further = [_report(item) for item in report or ()]
    overrides = options.assignments(set)
    files, empty = inputs.find(paths)
    for nothing in empty:
        say(error_text(nothing))
    if graph is not None and len(files) != 1:
        raise UsageError(f"--graph draws one file, and here are {len(files)}", hint="name one file", code="G102")

    from gradcli.check.options import CheckOptions

    settings = CheckOptions(output, tuple(wrt or ()), grad_outputs, order, seed, overrides, strict, limits)
    result, bugs = _check_all(files, settings, debug=debug)
    _tell_errors(result)
    view = terminal.view(color, quiet=quiet, verbose=verbose, to_file=out is not None)
    emit(chosen.render(result, view), out, machine=chosen.machine)
    for row, path in further:
        emit(row.render(result, terminal.view(options.Color.NEVER, verbose=verbose, to_file=True)), path)
    if graph is not None:
        _draw(result.files[0], settings, graph)
    return ExitStatus.BUG if bugs else exit_status(result, strict=strict)


def _report(item: str) -> tuple[formats.Format, str]:
    """`FORMAT=PATH` as the row of the format, and the path."""
    name, equals, path = item.partition("=")
    if not equals or not path:
        raise UsageError(f"--report takes FORMAT=PATH, not {item!r}", hint="for example --report json=gradients.json", code="G102")
    return formats.find(name.strip()), path.strip()


def _check_all(files: list[str], settings: CheckOptions, *, debug: bool) -> tuple[CheckResult, bool]:
    """Every file, whatever becomes of the others; and whether a bug of ours came up."""
    from gradcli.check.result import CheckResult

    result = CheckResult([], seed=settings.seed, version=__version__)
    bugs = False
    for path in files:
        try:
            found = _check_one(path, settings)
        except GradcliError as error:
            found = _not_checked(path, error)
        except BrokenPipeError:
            raise
        except Exception as error:
            bug(error, debug=debug, path=path)
            bugs, found = True, _bug(path, error)
        result.files.append(found)
    return result, bugs


def _check_one(path: str, settings: CheckOptions) -> FileResult:
    from gradcli.check import check_file

    source = inputs.read(path, settings.limits)
    return check_file(source.path, source.text, settings)


def _draw(file: FileResult, settings: CheckOptions, out: str) -> None:
    """The picture of a checked file; there is none of a file that could not be run at all."""
    from gradcli.commands.graph import put_checked
    from gradcli.report import table

    if file.error is None or isinstance(file.error, ProgramError):
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


def _tell_errors(result: CheckResult) -> None:
    """Errors go to standard error in full; an error that the file announces is no news."""
    for file in result.files:
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
