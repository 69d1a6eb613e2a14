"""`check --format table`: for each file its targets, worst elements first, and what is to be said of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gradcli.check.result import CheckResult, FileResult, TargetResult
from gradcli.errors import UsageError
from gradcli.report import layout, remarks, text
from gradcli.report.check_json import summary
from gradcli.report.errors import error_type
from gradcli.report.rows import count, rows
from gradcli.report.text import Line, plain
from gradcli.report.view import View

MOST_ROWS = 20


def render(result: CheckResult, view: View) -> str:
    return text.render(lines(result, view), view.color)


def lines(result: CheckResult, view: View) -> Iterator[Line]:
    """All the lines of the report. `--quiet` leaves out the files that passed and the summary."""
    alone = len(result.files) == 1
    for file in result.files:
        if not (view.quiet and file.outcome == "passed"):
            yield from file_lines(file, view, full=alone or view.verbose)
            yield plain("")
    if not view.quiet:
        yield summary_line(result)


def file_lines(file: FileResult, view: View, full: bool) -> Iterator[Line]:
    """One file. Among many files, those where all is well need no tables (`full` false)."""
    yield headline(file)
    for target in file.targets:
        yield from target_lines(target, file, view, full=full or target.status != "pass")
    yield from remarks.function_lines(file, view)
    yield from remarks.assert_lines(file, view)
    if file.outcome == "unchecked" and not file.targets:
        yield plain("  nothing to check: nothing was computed from a tensor that requires grad")
        yield plain("  hint: create a leaf with requires_grad=True, e.g. x = tensor(2., requires_grad=True)")


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
        yield remarks.verdict_line(target, item)
        yield from remarks.formula_lines(target, item, view)
    yield from remarks.blame_lines(target, file, view)
    yield from remarks.note_lines(target, view)


def _title(target: TargetResult, view: View) -> Iterator[Line]:
    line = "" if target.line is None else f", line {target.line}"
    kind = "scalar" if not target.shape else f"shape {tuple(target.shape)}"
    order = "" if target.order == 1 else f", order {target.order}"
    jacobian = any(len(item.autograd.shape) > len(item.shape) for item in target.inputs)
    yield [(f"  {target.output}", "heading"), (f"{line}, {kind}{order}{', Jacobian' if jacobian else ''}", "")]
    methods = (("symbolic", target.symbolic), ("finite differences", target.finite_difference))
    text = "; ".join(_method(name, method) for name, method in methods)
    count = f", {target.evaluations} evaluation{'' if target.evaluations == 1 else 's'}" if target.evaluations else ""
    yield from remarks.wrapped("  references: ", text + count, view, "quiet")


def _method(name: str, method: str) -> str:
    """`symbolic per-node`, or `no symbolic (why)`."""
    return f"no {name} ({method.removeprefix('none: ')})" if method.startswith("none: ") else f"{name} {method}"


def table_lines(target: TargetResult, view: View) -> Iterator[Line]:
    """The table itself, and how many rows it leaves out."""
    shown = rows(target, view, None if view.verbose else MOST_ROWS)
    claimed = any(item.claimed is not None for item in target.inputs)
    judged = "claimed" if claimed else "autograd"
    header = ("leaf", judged, "symbolic", f"difference {view.plus_minus} bar", "bars", "ulps", "verdict")
    space = layout.gap(header, shown, view.width)
    if space is not None:
        yield from _block(layout.columns(header, shown, space))
    else:
        yield from _block(layout.blocks((judged, "symbolic", "difference", "bars", "ulps"), shown))
    left_out = count(target) - len(shown)
    if left_out:
        yield plain(f"    and {left_out} more, none of them worse (--verbose shows all)")


def _block(lines: Iterable[Line]) -> Iterator[Line]:
    for line in lines:
        yield [("    ", ""), *line]


def summary_line(result: CheckResult) -> Line:
    """`3 files: 2 passed, 1 failed`: the counts that are not zero, and always that of the passed."""
    counts = summary(result)
    files = counts.pop("files")
    words = {"passed": "passed", "failed": "failed", "errors": "with errors", "unchecked": "unchecked"}
    parts = [f"{counts[key]} {word}" for key, word in words.items() if counts[key] or key == "passed"]
    style = "pass" if counts["passed"] == files else "fail" if counts["failed"] or counts["errors"] else "unchecked"
    return [(f"{files} file{'' if files == 1 else 's'}: {', '.join(parts)}", style)]
