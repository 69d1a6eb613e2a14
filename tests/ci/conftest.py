"""What is run as a CI system runs it: the shell lines of the action and of README.md."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(sys.executable).parent


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a few of the samples in it."""
    (tmp_path / "samples").mkdir()
    for name in ("function_wrong", "kink", "linear_regression", "product_rule"):
        shutil.copy(ROOT / "samples" / f"{name}.grad", tmp_path / "samples")
    return tmp_path


@pytest.fixture
def shell(project: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`shell(script, NAME=value)`: a script as a CI system's bash runs it, at the first failure it stops."""

    def run(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR", "COLUMNS")}
        environment = {**kept, "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}", "CI": "true", **variables}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        return subprocess.run(command, cwd=project, env=environment, capture_output=True, encoding="utf-8", timeout=300)

    return run
