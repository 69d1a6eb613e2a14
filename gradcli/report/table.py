"""`check --format table`: for each file its targets, worst elements first, and what is to be said of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from gradcli.check.result import CheckResult, FileResult, InputResult, TargetResult
from gradcli.errors import UsageError
from gradcli.report import layout, numbertext, remarks, text
from gradcli.report.check_json import summary
from gradcli.report.errors import error_type
from gradcli.report.findings import findings
from gradcli.report.rows import count, rows
from gradcli.report.text import Line, fold, plain
from gradcli.report.view import View

MOST_ROWS, FEW_ROWS = 10, 5
"""Elements that are shown of a target in which something is wrong, and of one in which all is well."""

FEW_TARGETS = 3
"""A file that asks for more gradients than this has a line, and no table, for those that pass."""

FEW_FILES = 3
"""After more files than this those that did not pass are named once more."""

MOST_NAMES, MOST_CODES = 10, 3


def render(result: CheckResult, view: View) -> str:
    return text.render(lines(result, view), view.color)


def lines(result: CheckResult, view: View) -> Iterator[Line]:
    """All the lines of the report. `--quiet` leaves out the files that passed and the summary."""
    alone = len(result.files) == 1
    shown = [file for file in result.files if not (view.quiet and file.outcome == "passed")]
    width = max((len(file.path) for file in shown if is_brief(file, view)), default=0)
    dense = True
    for number, file in enumerate(shown):
        brief = is_brief(file, view) and not alone
        made = list(brief_lines(file, view, width) if brief else file_lines(file, view, full=alone or view.verbose))
        before, dense = dense, brief or len(made) == 1
        if number and not (before and dense):
            yield plain("")
        yield from made
    if shown and (not view.quiet or not dense):
        yield plain("")
    if not view.quiet:
        yield from closing(result, view)


def is_brief(file: FileResult, view: View) -> bool:
    """Among many files one that passed needs no more than a line."""
    return file.outcome == "passed" and not view.verbose


def brief_lines(file: FileResult, view: View, width: int) -> Iterator[Line]:
    """A line, aligned with those of other files, and below it what a reader should know though all is well."""
    if file.status == "pass" or file.expected is not None:
        told = summed(file) if file.status == "pass" else _remark(file).removeprefix(": ")
        if width <= view.width // 2:
            yield from fold([("PASS", "pass"), (f"  {file.path.ljust(width)}", "heading"), (f"  {told}", "")], view.width, width + 8)
        else:
            yield [("PASS", "pass"), (f"  {file.path}", "heading")]
            yield from fold([("      ", ""), (told, "")], view.width, 6)
    else:
        yield from fold(headline(file), view.width, 8)
        for target in file.targets:
            yield from (line for item in target.inputs if item.status != "pass" for line in _verdict(target, item, view))
            yield from remarks.note_lines(target, view)
    if file.status == "pass":
        yield from remarks.general_lines(file, view)


def summed(file: FileResult) -> str:
    """All that passed in a file."""
    number = len(file.asserts)
    asserts = [f"{number}\xa0assertion{'' if number == 1 else 's'}"] if number else []
    return "; ".join([*([gradients(file.targets)] if file.targets else []), *asserts])


def gradients(targets: Sequence[TargetResult]) -> str:
    """`loss by W1, b1: 16 elements, error 4.2e-15`: the largest relative one."""
    asked: dict[str, dict[str, None]] = {}
    for target in targets:
        asked.setdefault(target.output, {}).update(dict.fromkeys(item.name for item in target.inputs))
    named = [f"{output} by {', '.join(names)}" if names else output for output, names in list(asked.items())[:FEW_TARGETS]]
    more = [f"{len(asked) - len(named)} more"] if len(asked) > len(named) else []
    elements = sum(map(count, targets))
    errors = [item.max_rel_error for target in targets for item in target.inputs]
    largest = f", error\xa0{numbertext.bar(max(errors))}" if errors and math.isfinite(max(errors)) else ""
    return f"{'; '.join([*named, *more])}: {elements}\xa0element{'' if elements == 1 else 's'}{largest}"


def file_lines(file: FileResult, view: View, full: bool) -> Iterator[Line]:
    """One file. Without `full`, and where many gradients are asked for, those that pass have no tables."""
    yield from fold(headline(file), view.width, 8)
    few = len(file.targets) <= FEW_TARGETS or view.verbose
    said: set[tuple[str, int | None, str]] = set()
    for target in file.targets:
        notes = [note for note in target.notes if (note.kind, note.line, note.message) not in said]
        said |= {(note.kind, note.line, note.message) for note in notes}
        if target.status == "pass" and not (full and few):
            yield from _passed(target, view)
        else:
            yield from target_lines(replace(target, notes=notes), file, view, full=True)
    yield from remarks.function_lines(file, view)
    yield from remarks.assert_lines(file, view)
    if file.outcome == "unchecked" and not file.targets:
        yield from fold(plain("  nothing to check: nothing was computed from a tensor that requires grad"), view.width, 8)
        yield from fold(plain("  hint: create a leaf with requires_grad=True, e.g. x = tensor(2., requires_grad=True)"), view.width, 8)


def _passed(target: TargetResult, view: View) -> Iterator[Line]:
    """The one line of a target that passed."""
    place = "" if target.line is None else f"line {target.line}: "
    yield from fold([("  ", ""), ("pass", "pass"), (f"  {place}{gradients([target])}", "")], view.width, 8)


def headline(file: FileResult) -> Line:
    """`FAIL  net.grad: expected kink, found fail [G006]`."""
    word, style = _outcome(file)
    return [(word, style), (f"  {file.path}", "heading"), (_remark(file), "")]


def _outcome(file: FileResult) -> tuple[str, str]:
    if file.outcome == "error":
        return "ERROR", "error"
    if file.outcome == "failed":
        return "FAIL", "fail"
    if file.outcome == "unchecked":
        return "UNCHECKED", "unchecked"
    return "PASS", "pass"


def _remark(file: FileResult) -> str:
    if file.expected is not None:
        return f": {file.status}, as expected{_error_name(file)}" if file.met else f": expected {file.expected}, found {file.status} [G006]"
    if file.error is not None:
        return f": not {'all ' if file.targets else ''}checked{_error_name(file)}"
    if file.status in ("kink", "nan", "unstable") and not file.failing:
        return f": {file.status}, not counted as a failure"
    return ""


def _error_name(file: FileResult) -> str:
    if file.error is None or isinstance(file.error, UsageError):
        return ""
    span = getattr(file.error, "span", None)
    return f" ({error_type(file.error)}{f', line {span.line}' if span else ''})"


def target_lines(target: TargetResult, file: FileResult, view: View, full: bool) -> Iterator[Line]:
    yield from _title(target, view)
    if full and target.inputs:
        yield from table_lines(target, view)
    for item in target.inputs:
        yield from _verdict(target, item, view)
        yield from remarks.formula_lines(target, item, view)
    yield from remarks.blame_lines(target, file, view)
    yield from remarks.note_lines(target, view)


def _verdict(target: TargetResult, item: InputResult, view: View) -> Iterator[Line]:
    yield from fold(remarks.verdict_line(target, item), view.width, 8)


def _title(target: TargetResult, view: View) -> Iterator[Line]:
    line = "" if target.line is None else f", line {target.line}"
    kind = "scalar" if not target.shape else f"shape {tuple(target.shape)}"
    order = "" if target.order == 1 else f", order {target.order}"
    jacobian = any(len(item.autograd.shape) > len(item.shape) for item in target.inputs)
    title = [(f"  {target.output}", "heading"), (f"{line}, {kind}{order}{', Jacobian' if jacobian else ''}", "")]
    yield from fold(title, view.width, 8)
    methods = (("symbolic", target.symbolic), ("finite differences", target.finite_difference))
    text = "; ".join(_method(name, method) for name, method in methods)
    count = f", {target.evaluations} evaluation{'' if target.evaluations == 1 else 's'}" if target.evaluations else ""
    yield from remarks.wrapped("  references: ", text + count, view, "quiet")


def _method(name: str, method: str) -> str:
    """`symbolic per-node`, or `no symbolic (why)`."""
    return f"no {name} ({method.removeprefix('none: ')})" if method.startswith("none: ") else f"{name} {method}"


def table_lines(target: TargetResult, view: View) -> Iterator[Line]:
    """The table itself, and how many rows it leaves out."""
    most = FEW_ROWS if target.status == "pass" else MOST_ROWS
    shown = rows(target, view, None if view.verbose else most)
    claimed = any(item.claimed is not None for item in target.inputs)
    judged = "claimed" if claimed else "autograd"
    header = ("leaf", judged, "symbolic", f"difference {view.plus_minus} bar", "bars", "ulps", "verdict")
    fitting = layout.fitting(header, shown, view.width)
    if fitting is not None:
        yield from _block(layout.columns(header, shown, *fitting))
    else:
        yield from _block(layout.blocks((judged, "symbolic", "difference", "bars", "ulps"), shown, view.width))
    left_out = count(target) - len(shown)
    if left_out:
        yield from fold(plain(f"    and {left_out} more, none of them worse (--verbose shows all)"), view.width, 8)


def _block(lines: Iterable[Line]) -> Iterator[Line]:
    for line in lines:
        yield [("    ", ""), *line]


def closing(result: CheckResult, view: View) -> Iterator[Line]:
    """Of many files those that did not pass; where to read what the codes mean; and the counts."""
    if len(result.files) > FEW_FILES:
        for outcome, word in (("failed", "failed"), ("error", "with errors"), ("unchecked", "unchecked")):
            names = [file.path for file in result.files if file.outcome == outcome]
            more = [f"and {len(names) - MOST_NAMES} more"] if len(names) > MOST_NAMES else []
            if names:
                style = "unchecked" if outcome == "unchecked" else "fail"
                yield from fold([(f"{word}: ", style), (", ".join([*names[:MOST_NAMES], *more]), "")], view.width, 4)
    codes = list(dict.fromkeys(item.code for item in findings(result) if item.level == "error"))
    for code in codes[:MOST_CODES]:
        yield [("help: ", "hint"), (f"gradcli explain {code}", "")]
    yield from fold(summary_line(result), view.width, 4)


def summary_line(result: CheckResult) -> Line:
    """`3 files: 2 passed, 1 failed`: the counts that are not zero, and always that of the passed."""
    counts = summary(result)
    files = counts.pop("files")
    words = {"passed": "passed", "failed": "failed", "errors": "with errors", "unchecked": "unchecked"}
    parts = [f"{counts[key]} {word}" for key, word in words.items() if counts[key] or key == "passed"]
    style = "pass" if counts["passed"] == files else "fail" if counts["failed"] or counts["errors"] else "unchecked"
    return [(f"{files} file{'' if files == 1 else 's'}: {', '.join(parts)}", style)]
