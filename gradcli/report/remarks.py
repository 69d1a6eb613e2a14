"""What a report says beside its tables: the verdict of each leaf, blame, notes, user Functions, asserts."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from gradcli.check.result import FileResult, InputResult, TargetResult, Verdict
from gradcli.report import numbertext
from gradcli.report.codes import CODES, EXPECTATION
from gradcli.report.errors import line_excerpt
from gradcli.report.text import Line, Part, fold, plain, shortened, verdict_style
from gradcli.report.view import View


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
    reference = item.finite_difference if item.symbolic is None else item.symbolic
    if item.status == "pass" and item.verdicts.size and (reference is None or not np.isfinite(reference).any()):
        return ", along random directions"
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
    """The notes, but what the blame says already."""
    told = "" if target.blame is None else target.blame.why
    for note in target.notes:
        if not (note.kind == "wrong-gradient" and repeats(note.message, told)):
            where = "" if note.line is None else f"line {note.line}: "
            yield from wrapped("  note: ", f"{where}{note.message}", view, "hint")


def repeats(message: str, told: str) -> bool:
    """Does a sentence say of its subject what was told already? What it may mean, behind a colon, is known best where the fault is."""
    found = message.partition(" is ")[2].partition(":")[0]
    return message == told or (found != "" and found in told)


ASIDE = frozenset({"point", "switch", "near-kink", "constant"})
"""Kinds of notes that tell where a check was made, and what is near."""


def general_lines(file: FileResult, view: View) -> Iterator[Line]:
    """What a reader should know of a file in which all is well: what was held constant, and what was not asked for everywhere."""
    notes = {(n.kind, n.line, n.message): n for target in file.targets for n in target.notes if n.kind not in ASIDE}
    stops = [(n.message.partition(":")[0], n.line) for n in notes.values() if n.kind == "stop-gradient"]
    if stops:
        places = ", ".join(name if line is None else f"{name} (line {line})" for name, line in stops)
        yield from wrapped("      held constant: ", places, view, "quiet")
    methods = dict.fromkeys(m for t in file.targets for m in silent(t))
    yield from (line for method in methods for line in wrapped("      ", method, view, "quiet"))
    for note in notes.values():
        if note.kind != "stop-gradient":
            where = "" if note.line is None else f"line {note.line}: "
            yield from wrapped("      note: ", f"{where}{note.message}", view, "hint")


def silent(target: TargetResult) -> Iterator[str]:
    """The references that had nothing to say: `no symbolic (why)`."""
    for name, method in (("symbolic", target.symbolic), ("finite differences", target.finite_difference)):
        if method.startswith("none: "):
            yield f"no {name} ({method.removeprefix('none: ')})"


def function_lines(file: FileResult, view: View) -> Iterator[Line]:
    """User Functions, each checked alone."""
    told = " ".join(target.blame.why for target in file.targets if target.blame is not None)
    for function in file.functions:
        line = "" if function.line is None else f", line {function.line}"
        code = "" if function.status == "pass" else f" [{CODES[function.status]}]"
        title = f"  {function.name}.backward alone{line}{code}"
        yield from fold([("  ", ""), _word(function.status, function.failing), (title, "")], view.width, 8)
        if function.why and not repeats(function.why, told):
            yield from wrapped("        ", function.why, view, "")


def assert_lines(file: FileResult, view: View) -> Iterator[Line]:
    for item in file.asserts:
        failing = item.status == "fail"
        title = f"  assert, line {item.line}{f' [{EXPECTATION}]' if failing else ''}"
        yield from fold([("  ", ""), _word(item.status, failing), (title, "")], view.width, 8)
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
    indent = min(len(lead), 8)
    for number, line in enumerate(shortened(message, verbose=view.verbose)):
        yield from fold([(lead if number == 0 else " " * indent, style), (line, "")], max(view.width, indent + 20), indent)
