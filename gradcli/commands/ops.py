"""`gradcli ops [NAME]`: every operation there is, one of them in full, or what there is not."""

from __future__ import annotations

from typing import Annotated

import typer

from gradcli.commands import options, terminal
from gradcli.commands.output import emit
from gradcli.errors import ExitStatus, UsageError
from gradcli.report.formats import choice_hint
from gradcli.report.view import View

FORMATS = ("text", "json")

Name = Annotated[str | None, typer.Argument(metavar="[NAME]", help="An operation to tell all about.", show_default=False)]
Match = Annotated[
    str | None, typer.Option("--match", "-m", metavar="TEXT", help="Those that have TEXT in name, summary or node.", show_default=False)
]
Missing = Annotated[bool, typer.Option("--missing", help="List what PyTorch has and gradcli has not, with the reasons.")]
FormatOption = Annotated[str, options.format_option(FORMATS, "text (the default) or json.")]


def ops(
    name: Name = None,
    match: Match = None,
    missing: Missing = False,
    format: FormatOption = "text",
    out: options.Out = None,
    verbose: options.Verbose = False,
) -> ExitStatus:
    """List every operation: signature, what it does, PyTorch's node.

    With a NAME: its docstring, its derivative rule as it stands in the source, and the derivative as SymPy derives it.
    """
    if format not in FORMATS:
        raise UsageError(f"no format {format!r}", hint=choice_hint(format, list(FORMATS)), code="G102")
    if sum(map(bool, (name, match, missing))) > 1:
        raise UsageError("a name, --match and --missing exclude each other", hint="choose one", code="G102")
    view = terminal.view(options.Color.NEVER, verbose=verbose, to_file=out is not None)
    text = page(name, format) if name is not None else table(match or "", missing, format, view)
    emit(text, out, machine=format == "json")
    return ExitStatus.PASSED


def page(name: str, format: str) -> str:
    from gradcli.report import operation_page, operations

    row = operations.find(name)
    return operation_page.json_text(row) if format == "json" else operation_page.text(row)


def table(match: str, missing: bool, format: str, view: View) -> str:
    from gradcli.report import operations

    if missing:
        return operations.missing_json() if format == "json" else operations.missing(view)
    rows = operations.matching(match)
    if not rows:
        raise UsageError(f"no operation has {match!r} in its name, summary or node", hint="`gradcli ops` lists them all", code="G102")
    return operations.listed_json(rows) if format == "json" else operations.listed(rows, view)
