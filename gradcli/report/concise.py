"""`check --format concise`: a line for each finding, as editors and `grep` read them: `file:line:col: CODE message`."""

from __future__ import annotations

from gradcli.check.result import CheckResult
from gradcli.report import text
from gradcli.report.findings import Finding, findings
from gradcli.report.table import summary_line
from gradcli.report.text import Line, printable
from gradcli.report.view import View


def render(result: CheckResult, view: View) -> str:
    lines: list[Line] = [_line(item) for item in findings(result) if not (view.quiet and item.level == "warning")]
    if not view.quiet:
        lines.append(summary_line(result))
    return text.render(lines, view.color)


def _line(item: Finding) -> Line:
    style = "fail" if item.level == "error" else "unstable"
    return [(f"{printable(item.path)}:{item.line}:{item.column}: ", "heading"), (item.code, style), (f" {item.message}", "")]
