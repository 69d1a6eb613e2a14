"""What a report says beside its tables: the verdict of each leaf, blame, notes, user Functions, asserts."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator

import numpy as np

from gradcli.check.result import FileResult, InputResult, TargetResult, Verdict
from gradcli.report import numbertext
from gradcli.report.errors import line_excerpt
from gradcli.report.text import Line, Part, plain, printable, verdict_style
from gradcli.report.view import View

CODES: dict[Verdict, str] = {"fail": "G001", "kink": "G002", "nan": "G003", "unstable": "G004", "unchecked": "G005"}
EXPECTATION = "G006"


def verdict_line(target: TargetResult, item: InputResult) -> Line:
    """`FAIL  d out / d x: 6 of 6 elements fail, largest error 0.5 [G001]`."""
    failing = bool(np.any(item.failing))
    return [("  ", ""), _word(item.status, failing), (f"  {derivative(target, item)}: {_elements(item)}{_error(item)}{_code(item)}", "")]


def _word(verdict: Verdict, failing: bool) -> Part:
    return (verdict.upper() if failing else verdict).ljust(4), verdict_style(verdict, failing)


def derivative(target: TargetResult, item: InputResult) -> str:
    """`d out / d x`, `d^2 out / d x^2`."""
    power = "" if target.order == 1 else f"^{target.order}"
    return f"d{power} {target.output} / d {item.name}{power}"


def _elements(item: InputResult) -> str:
    size = item.verdicts.size
    elements = "1 element" if size == 1 else f"{size} elements"
    if item.status == "pass":
        return elements
    return f"{int(np.count_nonzero(item.verdicts == item.status))} of {elements}"


def _error(item: InputResult) -> str:
    ulps = "" if item.max_ulps is None or item.status not in ("pass", "unstable") else f" ({numbertext.number(item.max_ulps, 2)} ulp)"
    if math.isinf(item.max_rel_error):
        return f", largest error {numbertext.bar(item.max_abs_error)}{ulps}"
    return f", largest relative error {numbertext.bar(item.max_rel_error)}{ulps}"


def _code(item: InputResult) -> str:
    return "" if item.status == "pass" else f" [{CODES[item.status]}]"


def formula_lines(target: TargetResult, item: InputResult, view: View) -> Iterator[Line]:
    if item.formula is not None:
        yield from wrapped("  formula: ", f"{derivative(target, item)} = {item.formula}", view, "quiet")


def blame_lines(target: TargetResult, file: FileResult, view: View) -> Iterator[Line]:
    blame = target.blame
    if blame is None:
        return
    who = "" if blame.function is None else f"{blame.function}, "
    where = "" if blame.line is None else f"line {blame.line}: "
    yield from wrapped("  blame: ", f"{who}{where}{blame.why}", view, "heading")
    if blame.line is not None:
        yield from _excerpt(file, blame.line, blame.column, view)


def note_lines(target: TargetResult, view: View) -> Iterator[Line]:
    for note in target.notes:
        where = "" if note.line is None else f"line {note.line}: "
        yield from wrapped("  note: ", f"{where}{note.message}", view, "hint")


def function_lines(file: FileResult, view: View) -> Iterator[Line]:
    """User Functions, each checked alone."""
    for function in file.functions:
        line = "" if function.line is None else f", line {function.line}"
        code = "" if function.status == "pass" else f" [{CODES[function.status]}]"
        yield [("  ", ""), _word(function.status, function.failing), (f"  {function.name}.backward alone{line}{code}", "")]
        if function.why:
            yield from wrapped("        ", function.why, view, "")


def assert_lines(file: FileResult, view: View) -> Iterator[Line]:
    for item in file.asserts:
        failing = item.status == "fail"
        yield [("  ", ""), _word(item.status, failing), (f"  assert, line {item.line}{f' [{EXPECTATION}]' if failing else ''}", "")]
        if failing:
            yield from _excerpt(file, item.line, None, view)
            if item.message:
                yield from wrapped("        ", item.message, view, "")


def _excerpt(file: FileResult, line: int, column: int | None, view: View) -> Iterator[Line]:
    shown = None if file.source is None else line_excerpt(file.source, line, column, view.width)
    for part in (shown or "").splitlines():
        yield plain(part)


def wrapped(lead: str, message: str, view: View, style: str) -> Iterator[Line]:
    """The message in lines of the view's width, later ones indented below the first."""
    indent = " " * min(len(lead), 8)
    room = max(view.width - len(lead), 20)
    parts = [part for line in printable(message).splitlines() for part in textwrap.wrap(line, room, break_long_words=False) or [""]]
    for number, part in enumerate(parts or [""]):
        yield [(lead if number == 0 else indent, style), (part, "")]
