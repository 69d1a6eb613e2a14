"""The options that commands share: one name and one help text each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Annotated, Any

import typer

from gradcli.errors import UsageError
from gradcli.interpreter.limits import HIGHEST_ORDER
from gradcli.report.formats import FORMATS


def completer(words: Iterable[str]) -> Callable[[str], list[str]]:
    """What a shell offers behind an option that takes one of these words."""
    known = list(words)

    def complete(incomplete: str) -> list[str]:
        return [word for word in known if word.startswith(incomplete)]

    return complete


def format_option(names: Iterable[str], help: str) -> Any:
    """The option `--format`, which is another one for each command."""
    return typer.Option("--format", metavar="FORMAT", help=help, show_default=False, autocompletion=completer(names))


class Color(StrEnum):
    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


File = Annotated[str, typer.Argument(metavar="FILE", help="An expression file, or - for standard input.", show_default=False)]
Paths = Annotated[
    list[str],
    typer.Argument(metavar="PATH...", help="Files, directories (searched for *.grad), globs, or - for standard input.", show_default=False),
]
Formula = Annotated[
    str | None,
    typer.Option("--expression", "-e", metavar="FORMULA", help='In place of a file, e.g. "x**2 * sin(y)".', show_default=False),
]
StdinFilename = Annotated[
    str | None,
    typer.Option(
        "--stdin-filename", metavar="NAME", show_default=False,
        help="What stands on standard input is this file: its name in reports, its folder, its configuration.",
    ),
]  # fmt: skip
At = Annotated[
    list[str] | None,
    typer.Option("--at", metavar="NAME=EXPR", help="The value of a variable of the formula (repeatable).", show_default=False),
]
Output = Annotated[str | None, typer.Option("--output", "-o", metavar="NAME", help="Differentiate this variable.", show_default=False)]
Wrt = Annotated[list[str] | None, typer.Option("--wrt", metavar="NAME", help="With respect to this leaf (repeatable).", show_default=False)]
GradOutputs = Annotated[
    str | None,
    typer.Option("--grad-outputs", metavar="EXPR", help='Weights of the output, e.g. "[[0.5, 0.5]]".', show_default=False),
]
Order = Annotated[
    int | None, typer.Option("--order", metavar="N", min=1, max=HIGHEST_ORDER, help="Order of the derivative.", show_default=False)
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of random leaves.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=EXPR", help="Replace the value of a leaf (repeatable).", show_default=False),
]
Data = Annotated[
    str | None, typer.Option("--data", metavar="DIR", help="load() reads from here, not from the file's folder.", show_default=False)
]
Out = Annotated[
    str | None, typer.Option("--out", metavar="FILE", help="Write to this file instead of standard output.", show_default=False)
]
Report = Annotated[
    list[str] | None,
    typer.Option(
        "--report", metavar="FORMAT=PATH", help="Write a further report in this run (repeatable).", show_default=False,
        autocompletion=completer(f"{name}=" for name in FORMATS),
    ),
]  # fmt: skip
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say only what went wrong.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show all: every element, every step, every call on the way to an error.")]
Colors = Annotated[Color, typer.Option("--color", help="Colour the text. NO_COLOR and FORCE_COLOR are honoured.")]
Strict = Annotated[bool, typer.Option("--strict", help="Count kinks, unstable, reported nan and unchecked as failures.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of a bug of gradcli.")]


def assignments(items: list[str] | None, option: str = "--set") -> tuple[tuple[str, str], ...]:
    """`NAME=EXPR` split, the last of each name; UsageError for anything else."""
    return tuple(dict(_assignment(item, option) for item in items or ()).items())


def _assignment(item: str, option: str) -> tuple[str, str]:
    name, equals, expression = item.partition("=")
    name, expression = name.strip(), expression.strip()
    if not equals or not name.isidentifier() or not expression:
        raise UsageError(f"{option} takes NAME=EXPR, not {item!r}", hint=f"for example {option} x=0.5", code="G102")
    return name, expression
