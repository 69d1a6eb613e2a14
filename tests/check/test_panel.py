"""The panel: no right gradient fails, no wrong one passes, and the culprit is named.

`pytest -k panel -s` prints the table.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from gradcli.check import CheckOptions, check_file


def load(name: str, path: Path) -> Any:
    """A module of the tests by its path."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    found = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


CASES = load("panel_cases", Path(__file__).parent / "panel" / "cases.py").cases()


def names(result: Any, guilty: str | int) -> bool:
    """Whether the report names a user Function or a line."""
    blamed = [t.blame for t in result.targets if t.blame]
    if isinstance(guilty, int):
        return any(b.line == guilty for b in blamed)
    return any(b.function == guilty for b in blamed) or any(f.name == guilty and f.failing for f in result.functions)


def complaint(case: Any, result: Any) -> str:
    """What is wrong with a result; empty when nothing is."""
    if result.error is not None:
        return f"error: {result.error}"
    if case.right:
        if result.failing:
            return f"FALSE ALARM: {[(i.name, i.verdicts.tolist()) for t in result.targets for i in t.inputs]} {result.functions}"
        return "" if result.status in case.allowed else f"status {result.status}, not one of {case.allowed}"
    if not result.failing:
        return f"MISS: {result.status}"
    if case.guilty is not None and not names(result, case.guilty):
        return f"{case.guilty} not named: {[t.blame for t in result.targets]}"
    return ""


@pytest.fixture(scope="module")
def results() -> list[tuple[Any, Any]]:
    return [(case, check_file(f"{case.name}.grad", case.program, CheckOptions())) for case in CASES]


def test_panel_is_large_enough() -> None:
    assert sum(c.right for c in CASES) >= 60
    assert sum(not c.right for c in CASES) >= 60


def test_panel_has_no_false_alarm_and_no_miss(results: list[tuple[Any, Any]]) -> None:
    complaints = [(c.name, text) for c, r in results if (text := complaint(c, r))]
    right = sum(c.right for c, _ in results)
    print(f"\npanel: {right} right gradients, {len(results) - right} wrong ones; {len(complaints)} not as they must be")
    for c, r in results:
        why = next((t.blame.why for t in r.targets if t.blame), next((f.why for f in r.functions if f.why), ""))
        print(f"  {'right' if c.right else 'wrong'}  {r.status:9} {c.name:45} {why}")
    assert not complaints, "\n".join(map(str, complaints))
