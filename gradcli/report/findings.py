"""What a check found, flat: one finding for each thing that a reader should look at, with code, place and message.

The formats that list findings (concise, github, gitlab, sarif) share them. What passed, and what a file announces, gives none.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from gradcli.check.result import AssertResult, CheckResult, FileResult, FunctionResult, InputResult, TargetResult
from gradcli.errors import GradcliError, SourceErrors, Span, UsageError
from gradcli.report import rows
from gradcli.report.codes import CODES, EXPECTATION
from gradcli.report.errors import error_type
from gradcli.report.remarks import derivative, repeats
from gradcli.report.text import printable
from gradcli.report.view import View

Level = Literal["error", "warning"]
"""error: it counts as a failure. warning: reported, and passed."""

COMPACT = View(unicode=True)


@dataclass(frozen=True)
class Finding:
    """`message` is one line, `details` further ones; `about` names what was judged, whatever its line: "d out / d x"."""

    path: str
    code: str
    level: Level
    message: str
    about: str
    span: Span | None = None
    details: tuple[str, ...] = ()

    @property
    def line(self) -> int:
        return 1 if self.span is None else self.span.line

    @property
    def column(self) -> int:
        return 1 if self.span is None else self.span.column


def findings(result: CheckResult) -> list[Finding]:
    """All findings of a check, in the order of its files."""
    return [found for file in result.files for found in of_file(file)]


def of_file(file: FileResult) -> list[Finding]:
    """The findings of one file; none where it is as it announces."""
    if file.met:
        return []
    found = [*_expectation(file), *_errors(file)]
    for target in file.targets:
        found += [_of_input(file, target, item) for item in target.inputs if item.status != "pass"]
    found += [_of_function(file, item) for item in file.functions if item.status != "pass"]
    found += [_of_assert(file, item) for item in file.asserts if item.status == "fail"]
    return found or list(_nothing(file))


def worst_first(found: list[Finding]) -> list[Finding]:
    """Errors before warnings, else as they were."""
    return sorted(found, key=lambda item: item.level != "error")


def fingerprints(found: list[Finding]) -> list[str]:
    """The same for the same finding when lines move: of file, code and what was judged, numbered where that repeats."""
    seen: Counter[tuple[str, str, str]] = Counter()
    prints = []
    for item in found:
        key = (item.path, item.code, item.about)
        seen[key] += 1
        whole = "\0".join([*key, str(seen[key])])
        prints.append(hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest())
    return prints


def _expectation(file: FileResult) -> Iterator[Finding]:
    if file.expected is not None:
        line = next((k for k, text in enumerate(_lines(file), 1) if "gradcli" in text and "expect" in text), 1)
        message = f"expected {file.expected}, found {file.status}"
        yield Finding(file.path, EXPECTATION, "error", message, "expectation", _place(file, line, None))


def _errors(file: FileResult) -> Iterator[Finding]:
    if file.error is None:
        return
    every = file.error.errors if isinstance(file.error, SourceErrors) and file.error.errors else [file.error]
    for error in every:
        first, *rest = printable(error.message.removeprefix(f"{file.path}: ")).split("\n")
        hint = [f"hint: {printable(error.hint)}"] if error.hint else []
        span: Span | None = getattr(error, "span", None)
        yield Finding(file.path, error.code, "error", _named(error, first), "program", span, (*rest, *hint))


def _named(error: GradcliError, message: str) -> str:
    return message if isinstance(error, UsageError) or not hasattr(error, "type") else f"{error_type(error)}: {message}"


def _of_input(file: FileResult, target: TargetResult, item: InputResult) -> Finding:
    about = derivative(target, item)
    blame = target.blame
    if item.status != "fail":
        blame = None
    named = blame is not None and blame.line is not None
    line = blame.line if blame is not None and named else target.line or item.line
    details = [] if blame is None else [f"{'' if blame.function is None else blame.function + ': '}{blame.why}"]
    notes = [note for note in target.notes if blame is None or note.kind != "wrong-gradient" or not repeats(note.message, blame.why)]
    details += [note.message if note.line is None else f"line {note.line}: {note.message}" for note in notes]
    return Finding(
        file.path, CODES[item.status], "error" if item.failing.any() else "warning", printable(f"{about} {_said(target, item)}"), about,
        _place(file, line, blame.column if blame is not None and named else None), _clean(details),
    )  # fmt: skip


SAID = {
    "fail": "is wrong",
    "kink": "is on a kink",
    "nan": "is not finite",
    "unstable": "loses more than half of its digits",
    "unchecked": "could not be checked",
}


def _said(target: TargetResult, item: InputResult) -> str:
    """`is wrong in 3 of 6 elements (worst x[0]: 0.33, symbolic 0.66, finite difference 0.66)`."""
    count, size = int((item.verdicts == item.status).sum()), item.verdicts.size
    where = "" if size == 1 else f" in {count} of {size} elements"
    return f"{SAID[item.status]}{where}{_worst(target, item)}"


def _worst(target: TargetResult, item: InputResult) -> str:
    shown = rows.rows(_only(target, item), COMPACT, 1)
    if not shown:
        return ""
    row = shown[0]
    judged = "autograd" if item.claimed is None else "claimed"
    told = ((judged, row.judged), ("symbolic", row.symbolic), ("finite difference", row.finite_difference))
    numbers = [f"{name} {text}" for name, text in told if text != "-"]
    return f" ({row.label}: {', '.join(numbers)})"


def _only(target: TargetResult, item: InputResult) -> TargetResult:
    """The target with one of its inputs."""
    return replace(target, inputs=[item])


def _of_function(file: FileResult, item: FunctionResult) -> Finding:
    about = f"{item.name}.backward alone"
    message = f"{about} {SAID[item.status]}"
    return Finding(
        file.path, CODES[item.status], "error" if item.failing else "warning", printable(message), about,
        _place(file, item.line, None), _clean([item.why] if item.why else []),
    )  # fmt: skip


def _of_assert(file: FileResult, item: AssertResult) -> Finding:
    first, *rest = printable(item.message or "").split("\n")
    message = f"assertion failed{f': {first}' if first else ''}"
    return Finding(file.path, EXPECTATION, "error", message, "assert", _place(file, item.line, None), tuple(rest))


def _nothing(file: FileResult) -> Iterator[Finding]:
    if file.status == "unchecked":
        level: Level = "error" if file.failing else "warning"
        yield Finding(file.path, CODES["unchecked"], level, "nothing to check: no output depends on a leaf that requires grad", "file")


def _place(file: FileResult, line: int | None, column: int | None) -> Span | None:
    """From a line, and perhaps a column, to the end of what is written there."""
    if line is None:
        return None
    text = _lines(file)[line - 1].rstrip() if 1 <= line <= len(_lines(file)) else ""
    start = column if column is not None else len(text) - len(text.lstrip()) + 1
    return Span(line, start, line, max(len(text) + 1, start + 1))


def _lines(file: FileResult) -> list[str]:
    return [] if file.source is None else list(file.source.lines)


def _clean(details: list[str]) -> tuple[str, ...]:
    return tuple(line for text in details for line in printable(text).split("\n"))
