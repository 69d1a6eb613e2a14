"""`check --format jsonl`: a line for each file, written as soon as the file is done: its object in the JSON document."""

from __future__ import annotations

from gradcli.check.result import CheckResult, FileResult
from gradcli.report import encode
from gradcli.report.check_json import file_object
from gradcli.report.view import View

SCHEMA = "gradcli.file/1"
LINE_ENDS = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})
"""JSON allows them in a string, and some readers of lines take them for the end of one."""


def render(result: CheckResult, view: View) -> str:
    return "".join(item(file, view) for file in result.files)


def item(file: FileResult, view: View) -> str:
    """The line of one file."""
    return encode.document({"schema": SCHEMA, **file_object(file)}).translate(LINE_ENDS) + "\n"
