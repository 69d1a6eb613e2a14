"""What all tests share: golden files, and `gradcli` here or as a process of its own."""

from __future__ import annotations

import contextlib
import gc
import io
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings

from gradcli.cli import main

ROOT = Path(__file__).resolve().parent.parent
QUIET_ENVIRONMENT = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "GITHUB_ACTIONS", "PYTHONIOENCODING", "LC_ALL")

settings.register_profile("quick", max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("GRADCLI_HYPOTHESIS", "quick"))
"""The same examples every time; GRADCLI_HYPOTHESIS=thorough looks for new ones, and for longer."""

Gradcli = Callable[..., subprocess.CompletedProcess[str]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew from what the code gives now")


# Dozens of tests start gradcli as a process: with this it would be compiled anew in each, which takes longer than all else.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# The garbage collector took a sixth of the time of the tests.
gc.set_threshold(50_000, 20, 50)


def pytest_collection_finish() -> None:
    """Thousands of collected tests stay to the end: no pass of the garbage collector need look through them."""
    gc.collect()
    gc.freeze()


NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?")
ROUNDING = 1e-9


def alike(text: str, other: str) -> bool:
    """The same text up to rounding in its numbers, which differs between machines, and the column widths that follow from it."""
    if [NUMBER.sub("0", line).split() for line in text.splitlines()] != [NUMBER.sub("0", line).split() for line in other.splitlines()]:
        return False
    pairs = zip(NUMBER.findall(text), NUMBER.findall(other), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=ROUNDING, abs_tol=ROUNDING) for a, b in pairs)


@pytest.fixture
def same() -> Callable[[str, str], bool]:
    return alike


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)` holds text against the file `golden/<name>` beside the test, up to rounding."""

    def compare(name: str, text: str) -> None:
        path = Path(request.path).parent / "golden" / name
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        before = path.read_text(encoding="utf-8")
        if not alike(text, before):
            assert text == before, f"{path} differs; if that is meant: pytest --update-golden"

    return compare


@pytest.fixture
def gradcli(tmp_path: Path) -> Gradcli:
    """`gradcli("check", "x.grad", input=..., env={...})` in a folder of its own, in an environment that says nothing.

    It runs in this process, which has SymPy loaded once for all tests; what a process alone shows is for `gradcli_process`.
    """

    def run(*arguments: str | Path, input: str = "", env: Mapping[str, str] | None = None, cwd: Path = tmp_path, together: bool = False):
        words = [*map(str, arguments)]
        stdin = io.TextIOWrapper(io.BytesIO(input.encode()), encoding="utf-8")
        changed = mock.patch.dict(os.environ, environment(env or {}), clear=True)
        patched = mock.patch.multiple(sys, argv=["gradcli", *words], stdin=stdin)
        streams = (["stdout", "stderr"], []) if together else (["stdout"], ["stderr"])
        with (
            captured(*streams[0]) as out,
            captured(*streams[1]) as err,
            contextlib.chdir(cwd),
            changed,
            patched,
            pytest.raises(SystemExit) as stop,
        ):
            main()
        return subprocess.CompletedProcess(words, stop.value.code, out(), err())

    return run


@contextlib.contextmanager
def captured(*names: str) -> Iterator[Callable[[], str]]:
    """Put a file, as a shell would, in the place of standard streams; gives a function to read it with."""
    with tempfile.TemporaryFile() as kept:
        with contextlib.ExitStack() as stack:
            for name in names:
                # gradcli may turn its descriptor elsewhere: so it gets another one than the one that is read.
                stream = stack.enter_context(open(os.dup(kept.fileno()), "w", encoding="utf-8"))
                stack.enter_context(mock.patch.object(sys, name, stream))
            yield lambda: read.decode("utf-8", "replace")
        kept.seek(0)
        read = kept.read()


@pytest.fixture
def gradcli_process(tmp_path: Path) -> Gradcli:
    """The same as a process of its own."""

    def run(*arguments: str | Path, input: str = "", env: Mapping[str, str] | None = None, cwd: Path = tmp_path):
        text = {"input": input, "encoding": "utf-8", "errors": "replace"}
        return subprocess.run(command(*arguments), capture_output=True, cwd=cwd, env=environment(env or {}), timeout=120, **text)

    return run


def command(*arguments: str | Path) -> Sequence[str]:
    return [sys.executable, "-m", "gradcli", *map(str, arguments)]


def environment(changes: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in QUIET_ENVIRONMENT}
    return {**kept, "PYTHONUTF8": "1", **changes}
