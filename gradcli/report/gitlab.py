"""`check --format gitlab`: a code quality report, which GitLab shows in the merge request and beside the lines that changed.

The rules are those of its reader, app/validators/json_schemas/codeclimate.json and codequality_reports.rb: an array, of which it stops
at the first entry that it cannot read; entries of one fingerprint are one entry; nothing wrong is the empty array.
"""

from __future__ import annotations

import json
import os
from pathlib import PurePath
from typing import Any

from gradcli.check.result import CheckResult
from gradcli.report.findings import Finding, findings, fingerprints, worst_first
from gradcli.report.text import printable
from gradcli.report.view import View

SEVERITY = {"error": "major", "warning": "minor"}


def render(result: CheckResult, view: View) -> str:
    found = worst_first(findings(result))
    entries = [_entry(item, key) for item, key in zip(found, fingerprints(found), strict=True)]
    return json.dumps(entries, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _entry(item: Finding, fingerprint: str) -> dict[str, Any]:
    return {
        "description": item.message,
        "check_name": item.code,
        "fingerprint": fingerprint,
        "severity": SEVERITY[item.level],
        "location": {"path": printable(_within(item.path)), "lines": {"begin": item.line}},
    }


def _within(path: str) -> str:
    """The path as GitLab knows it: from the root of the repository, which is where its jobs run, without `./`."""
    pure = PurePath(path)
    here = PurePath(os.getcwd())
    return (pure.relative_to(here) if pure.is_relative_to(here) else pure).as_posix()
