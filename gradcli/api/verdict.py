"""What the result of a file says of each of its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gradcli.api.parts import Part
from gradcli.check.result import FileResult, TargetResult
from gradcli.report import remarks, table, text
from gradcli.report.errors import error_text
from gradcli.report.view import View

VIEW = View(width=100, unicode=True)


@dataclass(frozen=True)
class Outcome:
    """`word` is passed, failed or skipped; `text` what there is to say, `properties` the verdict and what spoke."""

    word: str
    text: str = ""
    properties: dict[str, str] = field(default_factory=dict)


def outcome(part: Part, parts: Sequence[Part], result: FileResult) -> Outcome:
    """The outcome of one part. Where a file finds what it announces, every part passes."""
    if part.kind == "expect":
        return Outcome("passed", properties={"verdict": result.status}) if result.met else Outcome("failed", whole(result))
    if part.kind == "file":
        return Outcome("failed", whole(result))
    if result.met:
        return Outcome("passed", properties={"expected": str(result.expected)})
    if part.kind == "target":
        return of_targets(part, parts, result)
    if part.kind == "assert":
        held = [item for item in result.asserts if item.line == part.line]
        wrong = [item for item in held if item.status == "fail"]
        if wrong:
            return Outcome("failed", f"{result.path}:{part.line}: the assertion does not hold: {wrong[0].message} [G006]")
        return Outcome("passed") if held else Outcome("skipped", "this assert did not run")
    alone = [item for item in result.functions if item.line == part.line]
    if not alone:
        return Outcome("skipped", "this Function was not applied to anything that requires grad")
    lines = text.render(remarks.function_lines(FileResult(result.path, "pass", False, functions=alone), VIEW), color=False)
    failing = any(item.failing for item in alone)
    said = f"{result.path}:{part.line}: {alone[0].name}.backward is wrong\n{lines}"
    return Outcome("failed" if failing else "passed", said, {"verdict": alone[0].status})


def of_targets(part: Part, parts: Sequence[Part], result: FileResult) -> Outcome:
    """The gradients that a line of the file asks for."""
    mine = targets_of(part, parts, result)
    first = part == next(p for p in parts if p.kind == "target")
    if result.error is not None and (first or any(t.status == "unchecked" for t in mine)):
        return Outcome("failed", error_text(result.error, result.path, result.source, VIEW.width))
    if not mine:
        return Outcome("skipped", "the file ended before" if result.error is not None else "no gradient was taken here")
    lines = [line for target in mine for line in table.target_lines(target, result, VIEW, full=True)]
    wrong = next(((t, item) for t in mine for item in t.inputs if item.failing.any()), None)
    head = "" if wrong is None else text.render([remarks.verdict_line(*wrong)], color=False).strip()
    said = f"{result.path}:{part.line}: {head}\n{text.render(lines, color=False)}"
    properties = {"verdict": ",".join(dict.fromkeys(t.status for t in mine))}
    properties |= {"symbolic": mine[0].symbolic, "finite_difference": mine[0].finite_difference}
    if any(target.failing for target in mine):
        return Outcome("failed", said, properties)
    if all(target.status == "unchecked" for target in mine):
        return Outcome("skipped", f"unchecked: {mine[0].symbolic}", properties)
    return Outcome("passed", said, properties)


def targets_of(part: Part, parts: Sequence[Part], result: FileResult) -> list[TargetResult]:
    """The targets in the line of a part; what has the line of none belongs to the first."""
    lines = [p.line for p in parts if p.kind == "target"]
    return [t for t in result.targets if (t.line if t.line in lines else lines[0]) == part.line]


def whole(result: FileResult) -> str:
    """All that was found in a file."""
    error = [] if result.error is None else [error_text(result.error, result.path, result.source, VIEW.width)]
    return "\n".join([*error, text.render(table.file_lines(result, VIEW, full=True), color=False).rstrip("\n")])
