"""`check --format github`: workflow commands that GitHub Actions shows beside the source, and a summary in Markdown.

The rules are those of the runner's own source, actions/runner ActionCommand.cs and ActionCommandManager.cs: a command
is a line that starts with `::`; `%`, carriage return and line feed are escaped everywhere, `:` and `,` in properties;
a step shows ten errors and ten warnings; columns count only where line and end line are the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.check.result import CheckResult, FileResult
from gradcli.report.check_json import summary as counts
from gradcli.report.findings import Finding, Level, findings, worst_first
from gradcli.report.text import printable
from gradcli.report.view import View

MOST = 10
"""Annotations of a level that a step shows."""

LONGEST = 4000
"""Characters of a message: GitHub cuts longer ones, and not at a place of our choice."""

SUMMARY_BYTES = 128 * 1024
"""A larger summary of a step, whatever wrote it, is refused whole."""

ROWS = 200


def render(result: CheckResult, view: View) -> str:
    """The annotations, the worst first, and a notice of those for which there is no room."""
    found = worst_first(findings(result))
    shown = [item for level in ("error", "warning") for item in _of_level(found, level)[:MOST]]
    lines = [_command(item) for item in shown]
    left_out = len(found) - len(shown)
    if left_out:
        lines.append(f"::notice title=gradcli::{left_out} more not annotated ({MOST} of a kind in a step): see the job summary")
    return "".join(line + "\n" for line in [*lines, _escaped(_closing(result))])


def _of_level(found: list[Finding], level: Level) -> list[Finding]:
    return [item for item in found if item.level == level]


def _command(item: Finding) -> str:
    properties = {"file": printable(item.path), "title": f"gradcli {item.code}"}
    if item.span is not None:
        properties |= {"line": str(item.line), "endLine": str(max(item.span.end_line, item.line))}
        if item.span.end_line == item.line:
            properties |= {"col": str(item.column), "endColumn": str(max(item.span.end_column, item.column))}
    head = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    message = "\n".join([f"{printable(item.path)}:{item.line}:{item.column}: {item.code} {item.message}", *item.details])
    return f"::{item.level} {head}::{_escaped(_cut(message))}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def _closing(result: CheckResult) -> str:
    words = {"passed": "passed", "failed": "failed", "errors": "with errors", "unchecked": "unchecked"}
    found = counts(result)
    return f"{found['files']} file{'' if found['files'] == 1 else 's'}: " + ", ".join(f"{found[key]} {word}" for key, word in words.items())


def summary(result: CheckResult, written: int = 0) -> str:
    """Markdown for the job's page: the counts, a table of what is wrong, and no more than GitHub takes beside the bytes that are there."""
    lines = ["### gradcli", "", _closing(result), ""]
    found = worst_first(findings(result))
    if found:
        lines += ["| | place | code | what |", "| --- | --- | --- | --- |", *map(_row, found[:ROWS])]
    lines += ["", *_files(result)]
    if len(found) > ROWS:
        lines.append(f"and {len(found) - ROWS} more")
    return _fitting(lines, SUMMARY_BYTES - written)


def _row(item: Finding) -> str:
    mark = "❌" if item.level == "error" else "⚠️"
    word = "failure" if item.level == "error" else "warning"
    place = f"{item.path}:{item.line}"
    return f"| {mark} {word} | {_code(place)} | {item.code} | {_markdown(_cut(item.message))} |"


def _files(result: CheckResult) -> Iterator[str]:
    """Every file with its status, folded away."""
    if result.files:
        yield "<details><summary>All files</summary>"
        yield ""
        yield "| file | status | seconds |"
        yield "| --- | --- | --- |"
        yield from (f"| {_code(file.path)} | {_status(file)} | {file.seconds:.2f} |" for file in result.files)
        yield ""
        yield "</details>"
        yield ""


def _status(file: FileResult) -> str:
    return f"{file.outcome} ({file.status})" if file.outcome != file.status else file.status


def _markdown(text: str) -> str:
    """Text that means nothing to Markdown or HTML."""
    safe = printable(text).replace("\n", " ").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(f"&#{ord(c)};" if c in "\\`*_{}[]()#!|~@$:/" else c for c in safe)


def _code(text: str) -> str:
    return f"<code>{_markdown(text)}</code>"


CLOSING_BYTES = 200


def _fitting(lines: list[str], room: int) -> str:
    """As many of the lines as there is room for; an open fold is closed."""
    taken: list[str] = []
    size, room = 0, room - CLOSING_BYTES
    if room < 0:
        return ""
    for line in lines:
        size += len(line.encode("utf-8", "backslashreplace")) + 1
        if size > room:
            folded = any(line.startswith("<details>") for line in taken)
            taken += ["", *(["</details>"] if folded else []), "(cut: GitHub takes 128 KiB)"]
            break
        taken.append(line)
    return "\n".join(taken) + "\n"
