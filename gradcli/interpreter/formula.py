"""The source of a formula of the command line: every variable of it must have a value."""

from __future__ import annotations

import ast

import numpy as np

from gradcli.engine.tensor import Tensor
from gradcli.errors import GradcliError, SourceErrors, UsageError
from gradcli.interpreter.limits import Limits
from gradcli.interpreter.meter import Meter
from gradcli.interpreter.program import evaluate
from gradcli.interpreter.vocabulary import build_vocabulary
from gradcli.syntax.formula import MODULES, PATH, FormulaSource, free_names
from gradcli.syntax.parser import parse_expression
from gradcli.syntax.spelling import did_you_mean


class FormulaError(UsageError):
    """A formula and its point do not fit together."""

    code = "G112"
    type = "NameError"


def formula_source(text: str, at: tuple[tuple[str, str], ...], limits: Limits, data: str | None = None) -> FormulaSource:
    """A formula with its point. Raises UsageError that names each variable without a value, and each value without a variable.

    What is wrong with the formula itself is left to whoever parses it, who can show the place.
    """
    text = text.strip()
    try:
        node, _ = parse_expression(text, nesting=limits.nesting)
    except GradcliError:
        return FormulaSource(PATH, text)
    known = build_vocabulary(Meter(limits), lambda *values, **options: None, data).names
    words = {*known, *MODULES}
    read = free_names(ast.Module([ast.Expr(node)], []))
    refuse_unknown_functions(node, words | {name for name, _ in at})
    refuse(read, [name for name, _ in at], words)
    complexes = frozenset(name for name, value in at if is_complex(name, value, limits, data))
    return FormulaSource(PATH, text, at, complexes)


def refuse_unknown_functions(node: ast.expr, known: set[str]) -> None:
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id not in known:
            name = call.func.id
            raise FormulaError(f"no function {name!r}", hint=did_you_mean(name, known) or "`gradcli ops` lists what there is")


def refuse(read: list[str], given: list[str], known: set[str]) -> None:
    missing = [name for name in read if name not in known and name not in given]
    if missing:
        near = [hint for name in missing if (hint := did_you_mean(name, [*given, *known]))]
        add = " ".join(f"--at {name}=0.5" for name in missing)
        raise FormulaError(f"no value for {', '.join(missing)}", hint="; ".join([*near, f"give each one, e.g. {add}"]))
    for name in given:
        if name not in read:
            hint = did_you_mean(name, read) or f"the formula has {', '.join(n for n in read if n not in known) or 'no variables'}"
            raise FormulaError(f"--at {name}: the formula has no such variable", hint=hint)


def is_complex(name: str, text: str, limits: Limits, data: str | None) -> bool:
    """Whether the value is a complex number. Raises UsageError for what is no number and no array of numbers."""
    try:
        value = evaluate(text, {}, limits=limits, data=data)
    except GradcliError as error:
        first = error.errors[0] if isinstance(error, SourceErrors) else error
        raise FormulaError(f"--at {name}={text}: {first.message}", hint=first.hint) from error
    try:
        kind = np.asarray(value.value if isinstance(value, Tensor) else value).dtype.kind
    except ValueError:
        raise FormulaError(f"--at {name}={text}: the rows are of unequal length") from None
    if kind not in "biufc":
        raise FormulaError(f"--at {name}={text}: this is no number and no array of numbers")
    return kind == "c"
