"""`check --format sarif`: SARIF 2.1.0, as GitHub's code scanning and other viewers take it.

Their limits are kept: 25 000 results, 1024 characters of a rule's description, file names as relative URIs.
"""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from gradcli.check.result import CheckResult
from gradcli.report.explain import Explanation, explanation
from gradcli.report.findings import Finding, findings, fingerprints, worst_first
from gradcli.report.text import printable
from gradcli.report.view import View

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MOST = 25_000
DESCRIPTION = 1024


def render(result: CheckResult, view: View) -> str:
    return json.dumps(document(result), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def document(result: CheckResult) -> dict[str, Any]:
    found = worst_first(findings(result))[:MOST]
    codes = sorted({item.code for item in found})
    prints = fingerprints(found)
    driver = {"name": "gradcli", "version": result.version, "semanticVersion": result.version, "rules": [_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The folder in which gradcli was started."}}},
        "artifacts": [{"location": _uri(path)} for path in dict.fromkeys(file.path for file in result.files)],
        "results": [_result(item, codes.index(item.code), key) for item, key in zip(found, prints, strict=True)],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str) -> dict[str, Any]:
    told: Explanation = explanation(code)
    return {
        "id": code,
        "name": _pascal(told.title),
        "shortDescription": {"text": told.title},
        "fullDescription": {"text": told.meaning[:DESCRIPTION]},
        "help": {"text": told.remedy or told.meaning, "markdown": told.remedy or told.meaning},
        "defaultConfiguration": {"level": "warning" if code in ("G002", "G004", "G005") else "error"},
    }


def _pascal(title: str) -> str:
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in title).split()
    return "".join(word.capitalize() for word in words)


def _result(item: Finding, rule: int, key: str) -> dict[str, Any]:
    return {
        "ruleId": item.code,
        "ruleIndex": rule,
        "level": item.level,
        "message": {"text": "\n".join([item.message, *item.details])},
        "locations": [{"physicalLocation": {"artifactLocation": _uri(item.path), "region": _region(item)}}],
        "partialFingerprints": {"gradcli/v1": key},
    }


def _region(item: Finding) -> dict[str, int]:
    span = item.span
    if span is None:
        return {"startLine": 1}
    start = {"startLine": span.line, "startColumn": span.column}
    if (span.end_line, span.end_column) <= (span.line, span.column):
        return start
    return {**start, "endLine": span.end_line, "endColumn": span.end_column}


def _uri(path: str) -> dict[str, str]:
    """Relative to where gradcli runs; a path that is not is an absolute URI."""
    pure = PurePath(path)
    if pure.is_absolute():
        return {"uri": "file://" + quote(pure.as_posix(), errors="backslashreplace")}
    return {"uri": quote(printable(pure.as_posix()), errors="backslashreplace"), "uriBaseId": "%SRCROOT%"}
