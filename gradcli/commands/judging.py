"""The options of `check` that decide how a gradient is judged."""

from __future__ import annotations

from typing import Annotated

import typer

from gradcli.commands import options
from gradcli.config.key import FAILURES, METHODS, REPORTED
from gradcli.errors import UsageError
from gradcli.report.formats import choice_hint

Rtol = Annotated[float, typer.Option("--rtol", metavar="X", min=0, help="Allow a relative error of X beyond rounding.")]
Atol = Annotated[float, typer.Option("--atol", metavar="X", min=0, help="Allow an absolute error of X beyond rounding.")]
MaxUlps = Annotated[
    float | None,
    typer.Option(
        "--max-ulps", metavar="N", min=0, show_default=False,
        help="Call a gradient unstable when rounding moves it by more than N units of its last place, not half of its digits.",
    ),
]  # fmt: skip
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-on", metavar="LIST", show_default=False, help=f"Count these verdicts as failures too: {','.join(REPORTED)}.",
        autocompletion=options.completer(REPORTED),
    ),
]  # fmt: skip
Points = Annotated[
    int, typer.Option("--points", metavar="K", min=1, help="Check at K points: random leaves are drawn anew, those of claims moved.")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Derive everything anew with SymPy, not from the shipped table.")]
Budget = Annotated[
    int | None,
    typer.Option(
        "--symbolic-budget", metavar="N", min=0, show_default=False, help="Scalar operations that the symbolic reference may take.",
    ),
]  # fmt: skip
MethodOption = Annotated[
    str,
    typer.Option(
        "--method", metavar="NAME", help=f"Ask one reference alone: {', '.join(METHODS)}.", autocompletion=options.completer(METHODS)
    ),
]
Formulas = Annotated[bool, typer.Option("--formulas", help="Show the derivative in closed form where it is short.")]


def verdicts(items: list[str] | None) -> frozenset[str]:
    """`kink,unstable` split, and several options joined; UsageError for a word that is no such verdict."""
    words = [word.strip().lower() for item in items or () for word in item.split(",") if word.strip()]
    for word in words:
        if word not in FAILURES:
            raise UsageError(f"--fail-on: no verdict {word!r}", hint=choice_hint(word, list(REPORTED)), code="G102")
    return frozenset(words)


def method(name: str) -> str:
    if name not in METHODS:
        raise UsageError(f"--method: no reference {name!r}", hint=choice_hint(name, list(METHODS)), code="G102")
    return name
