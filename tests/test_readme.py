"""Everything that README.md shows has been run: its files and console blocks are replayed here.

`pytest --update-golden tests/test_readme.py` writes the outputs into README.md anew.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gradcli.cli import COMMANDS
from gradcli.report.formats import FORMATS

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the reader sits: the samples and the files that README.md shows."""
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    for kind, name, body in BLOCK.findall(README.read_text(encoding="utf-8")):
        if kind in ("python", "text") and name:
            (tmp_path / name).write_text(body, encoding="utf-8")
    return tmp_path


def run(line: str, folder: Path, gradcli) -> str:
    """What a terminal shows for one command line, both streams as they come."""
    first, _, rest = line.partition(" | ")
    program, *arguments = shlex.split(first)
    if program == "gradcli":
        done = gradcli(*arguments, cwd=folder, together=not rest)
        return done.stderr + shell(rest, folder, done.stdout) if rest else done.stdout
    return shell(line, folder)


def shell(line: str, folder: Path, text: str = "") -> str:
    silent = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "CI", "BUILD_NUMBER")  # under CI pytest cuts nothing off
    environment = {name: value for name, value in os.environ.items() if name not in silent}
    environment |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "PYTHONUTF8": "1"}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8"}
    return subprocess.run(line, shell=True, cwd=folder, env=environment, input=text, timeout=120, **streams).stdout


def replay(text: str, folder: Path, gradcli) -> str:
    """README.md with every console block as it comes out now."""

    def block(match: re.Match[str]) -> str:
        if match[1] != "console":
            return match[0]
        commands = [line for line in match[3].splitlines() if line.startswith("$ ")]
        shown = "".join(f"{line}\n{run(line[2:], folder, gradcli)}" for line in commands)
        return f"```console\n{shown}```"

    return BLOCK.sub(block, text)


def test_console_blocks(folder, gradcli, request, same):
    text = README.read_text(encoding="utf-8")
    now = replay(text, folder, gradcli)
    if request.config.getoption("--update-golden"):
        README.write_text(now, encoding="utf-8", newline="\n")
    elif not same(now, text):
        assert now == text, "README.md differs; if that is meant: pytest --update-golden tests/test_readme.py"


OPTIONS = (
    "--output", "-o", "--wrt", "--grad-outputs", "--order", "--format", "--out", "--seed", "--set", "--data", "--quiet", "--verbose",
    "--color", "--stdin-filename", "--config", "--no-config", "--report", "--strict", "--fail-on", "--points", "--timeout", "--memory",
    "--fail-fast", "--cache", "--force-exclude", "--update-expectations", "--graph", "-e", "--at", "--latex", "--code", "-j",
    "--install-completion",
)  # fmt: skip
OTHERS = (
    "SVG", "HTML", "DOT", "Mermaid", "JSON", "PNG", "PDF", "FPCore", "check_gradient", "gc.Function", "gradcli.testing.check", "gradcheck",
    "claim(", "check(", "load(", "expect", "surrogate", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "action.yml", "pre-commit", ".gradcliignore",
)  # fmt: skip


def test_what_there_is_is_shown():
    text = README.read_text(encoding="utf-8")
    wanted = [f"gradcli {command.__name__}" for command in COMMANDS]
    missing = [word for word in (*wanted, *FORMATS, *OPTIONS, *OTHERS) if not re.search(rf"(?<![\w-]){re.escape(word)}", text)]
    assert missing == []


def test_two_lines_to_install():
    (block,) = (body for kind, _, body in BLOCK.findall(README.read_text(encoding="utf-8")) if "-m venv" in body)
    first, second = block.splitlines()
    assert first.endswith("gradcli check samples")
    assert second.endswith("pytest")
