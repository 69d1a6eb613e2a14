"""Every sample says in its first line what a check must find, and is held to that."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.resources import files as resources
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted((ROOT / "samples").glob("*.grad"))


@pytest.fixture(scope="module")
def checked() -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gradcli", "check", "samples", "--format", "json"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_all_give_what_they_announce(checked):
    assert checked.returncode == 0, checked.stderr
    summary = json.loads(checked.stdout)["summary"]
    assert summary == {"files": len(SAMPLES), "passed": len(SAMPLES), "failed": 0, "errors": 0, "unchecked": 0}


def test_they_are_as_the_schema_says(checked):
    jsonschema.validate(
        json.loads(checked.stdout), json.loads(resources("gradcli.report").joinpath("schema", "check.json").read_text("utf-8"))
    )


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_sample(checked, path):
    announced = re.match(r"# gradcli: expect (\w+)\n# \S", path.read_text(encoding="utf-8"))
    assert announced, "the first line says what to expect, the second what it is about"
    (found,) = (file for file in json.loads(checked.stdout)["files"] if file["path"] == f"samples/{path.name}")
    assert found["status"] == announced[1] == found["expected"]
    assert found["targets"]
