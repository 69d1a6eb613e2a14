"""`gradcli explain CODE|TOPIC`: what a code means and what to do about it; what the language is, and the verdicts."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from gradcli.commands import options, terminal
from gradcli.commands.output import emit
from gradcli.errors import ExitStatus, UsageError
from gradcli.report import explain as explanations
from gradcli.report.formats import choice_hint

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[CODE|TOPIC]", help="A code such as G001, a verdict, or a topic; without it, the list.", show_default=False,
        autocompletion=lambda incomplete: options.completer(explanations.names())(incomplete),
    ),
]  # fmt: skip
FormatOption = Annotated[str, options.format_option(explanations.FORMATS, "text (the default), json or markdown.")]


def explain(name: Name = None, format: FormatOption = "text", out: options.Out = None) -> ExitStatus:
    """Explain a code of a report, or a topic.

    What it means, an example that shows it, and what to do about it. Topics: language, verdicts, references.
    """
    if format not in explanations.FORMATS:
        hint = choice_hint(format, list(explanations.FORMATS))
        raise UsageError(f"no format {format!r}", hint=hint, code="G102")
    width = explanations.WIDTH if out is not None else terminal.width(sys.stdout)
    text = explanations.contents(width) if name is None else explanations.FORMATS[format](explanations.explanation(name), width)
    emit(text, out, machine=format != "text")
    return ExitStatus.PASSED
