"""`check --format junit`: a suite for each file, a case for each (output, leaf) pair, user Function and assert.

What GitLab, Jenkins and GitHub's readers have in common: `classname` with the package before the last dot, `file` and
`line` on the case, the whole text in the body of `failure`, beginning with ` path:line`. A gradient that was not
checked is `skipped`; a kink and its like pass, and say so in a property.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from gradcli.check.result import CheckResult, FileResult, TargetResult
from gradcli.report import remarks, table, text
from gradcli.report.codes import CODES, EXPECTATION
from gradcli.report.errors import error_text, error_type
from gradcli.report.remarks import derivative
from gradcli.report.view import View
from gradcli.report.xml import tag
from gradcli.report.xml import text as xml

WIDE = View(width=100, unicode=True)


@dataclass
class Case:
    """`outcome` is passed, failure, error or skipped; `message` its first line, `body` all that there is to say."""

    name: str
    line: int | None
    outcome: str = "passed"
    kind: str = ""
    message: str = ""
    body: str = ""
    properties: dict[str, str] = field(default_factory=dict)


def render(result: CheckResult, view: View) -> str:
    suites = [(file, _unique(list(_cases(file)))) for file in result.files]
    root = _totals([case for _, cases in suites for case in cases], sum(file.seconds for file in result.files))
    body = "\n".join(_suite(file, cases) for file, cases in suites) if suites else tag("testsuite", {"name": "gradcli", **_totals([], 0.0)})
    properties = {"name": "gradcli", **root}
    head = tag("testsuites", properties, "\n" + body + "\n")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}\n'


def _totals(cases: list[Case], seconds: float) -> dict[str, str]:
    found = Counter(case.outcome for case in cases)
    return {
        "tests": str(len(cases)),
        "failures": str(found["failure"]),
        "errors": str(found["error"]),
        "skipped": str(found["skipped"]),
        "time": f"{seconds:.3f}",
    }


def _suite(file: FileResult, cases: list[Case]) -> str:
    share = file.seconds / len(cases)
    return tag("testsuite", {"name": file.path, "file": file.path, **_totals(cases, file.seconds)}, *(_case(file, c, share) for c in cases))


def _case(file: FileResult, case: Case, seconds: float) -> str:
    attributes = {"name": case.name, "classname": classname(file.path), "file": file.path, "time": f"{seconds:.3f}"}
    if case.line is not None:
        attributes["line"] = str(case.line)
    inside = []
    if case.properties:
        inside.append(tag("properties", {}, *(tag("property", {"name": k, "value": v}) for k, v in case.properties.items())))
    if case.outcome == "skipped":
        inside.append(tag("skipped", {"message": case.message}))
    elif case.outcome != "passed":
        place = f" {file.path}:{case.line or 1}\n"
        inside.append(tag(case.outcome, {"message": case.message, "type": case.kind}, _body(place + case.body)))
    elif case.body:
        inside.append(tag("system-out", {}, _body(case.body)))
    return "\n" + tag("testcase", attributes, *inside)


def _body(words: str) -> str:
    """GitLab looks for `[[ATTACHMENT|path]]` in what a test says, and takes the file: what a checked file says is no such thing."""
    return xml(words.replace("[[ATTACHMENT", "[ [ATTACHMENT"))


def classname(path: str) -> str:
    """`gradcli.samples.kink` for samples/kink.grad: a reader takes the last dot for the end of the package."""
    pure = PurePosixPath(path)
    parts = [*pure.parent.parts, pure.stem if pure.suffix == ".grad" else pure.name]
    return ".".join(["gradcli", *(part.strip("/").replace(".", "_") for part in parts if part.strip("/."))])


def _unique(cases: list[Case]) -> list[Case]:
    """No two cases of a suite have one name: a reader would take the second for a repetition of the first."""
    seen: Counter[str] = Counter()
    for case in cases:
        seen[case.name] += 1
        if seen[case.name] > 1:
            case.name = f"{case.name} ({seen[case.name]})"
    return cases


def _cases(file: FileResult) -> Iterator[Case]:
    """The cases of a file; what it announces passes, whatever it is."""
    made = [*_program(file), *_targets(file), *_functions(file), *_asserts(file)]
    if file.expected is not None:
        made = [_announced(case) for case in made] if file.met else made
        made.append(_expectation(file))
    yield from made or [Case("check", None, "skipped", message="nothing to check")]


def _announced(case: Case) -> Case:
    if case.outcome in ("failure", "error"):
        case.outcome = "passed"
        case.properties["expected"] = "yes"
    return case


def _expectation(file: FileResult) -> Case:
    case = Case(f"expect {file.expected}", 1, properties={"found": file.status})
    if not file.met:
        message = f"expected {file.expected}, found {file.status}"
        case.outcome, case.kind, case.message, case.body = "failure", EXPECTATION, message, message
    return case


def _program(file: FileResult) -> Iterator[Case]:
    if file.error is not None:
        span = getattr(file.error, "span", None)
        body = error_text(file.error, file.path, file.source, 100)
        yield Case("program", span.line if span else None, "error", error_type(file.error), body.split("\n")[0], body)


def _targets(file: FileResult) -> Iterator[Case]:
    for target in file.targets:
        body = text.render(table.target_lines(target, file, WIDE, full=True), color=False)
        for item in target.inputs:
            case = Case(derivative(target, item), target.line or item.line, properties=_properties(target, item.status))
            case.message = text.render([remarks.verdict_line(target, item)], color=False).strip()
            if item.failing.any():
                case.outcome, case.kind, case.body = "failure", f"{CODES.get(item.status, EXPECTATION)} {item.status}", body
            elif item.status == "unchecked":
                case.outcome = "skipped"
            elif item.status != "pass":
                case.body = body
            yield case


def _properties(target: TargetResult, status: str) -> dict[str, str]:
    return {"verdict": status, "symbolic": target.symbolic, "finite_difference": target.finite_difference}


def _functions(file: FileResult) -> Iterator[Case]:
    for item in file.functions:
        case = Case(f"{item.name}.backward alone", item.line, message=item.why or item.status, properties={"verdict": item.status})
        if item.failing:
            case.outcome, case.kind, case.body = "failure", f"{CODES.get(item.status, EXPECTATION)} {item.status}", item.why or item.status
        elif item.status == "unchecked":
            case.outcome = "skipped"
        yield case


def _asserts(file: FileResult) -> Iterator[Case]:
    for item in file.asserts:
        case = Case(f"assert in line {item.line}", item.line)
        if item.status == "fail":
            message = item.message or "the assertion does not hold"
            case.outcome, case.kind, case.message, case.body = "failure", EXPECTATION, message.split("\n")[0], message
        yield case
