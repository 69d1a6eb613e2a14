"""`gradcli explain`: every code that can be met has a page, every page an example that comes out as it is shown.

`pytest --update-golden tests/report/test_explain.py` writes the outputs into the pages anew.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from pathlib import Path

import pytest

import gradcli
from gradcli.cli import status_of
from gradcli.errors import UsageError
from gradcli.report import explain

PACKAGE = Path(gradcli.__file__).parent
PAGES = sorted((PACKAGE / "report" / "explanations").glob("*.md"))
BLOCK = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"G\d{3}")
NO_EXAMPLE = {"G100", "G108", "G310", "G900"}
"""Met only where something is missing or broken."""


def codes_in_use() -> set[str]:
    """Every string of the package's source that is a code."""
    found: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text("utf-8")
        nodes = ast.walk(ast.parse(text)) if CODE.search(text) else ()
        found |= {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str) and CODE.fullmatch(n.value)}
    return found


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert {name for name in explain.names() if CODE.fullmatch(name)} == codes_in_use()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page(path: Path) -> None:
    page = explain.explanation(path.stem)
    assert page.name == path.stem
    assert page.title
    assert page.meaning
    assert page.example or page.name in NO_EXAMPLE
    assert page.remedy or page.name == "verdicts"
    assert page.markdown == path.read_text("utf-8")
    prose = [line for line in explain.text(page).split("\n") if not line.startswith("    ")]
    assert max(map(len, prose)) <= 80
    assert json.loads(explain.json_text(page))["title"] == page.title


@pytest.mark.parametrize("path", [path for path in PAGES if path.stem not in NO_EXAMPLE], ids=lambda path: path.stem)
def test_example(path: Path, tmp_path, monkeypatch, capfd, request, same) -> None:
    text = path.read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "76")
    for _, name, body in BLOCK.findall(text):
        if name:
            (tmp_path / name).write_text(body, encoding="utf-8")

    def block(match: re.Match[str]) -> str:
        if match[1] != "console":
            return match[0]
        commands = [line for line in match[3].splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"{line}\n{output(line, capfd)}" for line in commands) + "```"

    now = BLOCK.sub(block, text)
    if request.config.getoption("--update-golden"):
        path.write_text(now, encoding="utf-8", newline="\n")
    elif not same(now, text):
        assert now == text, f"{path} differs; if that is meant: pytest --update-golden {Path(__file__).name}"
    if CODE.fullmatch(path.stem):
        assert path.stem in "".join(body for kind, _, body in BLOCK.findall(now) if kind == "console"), "the example does not show its code"


def output(line: str, capfd) -> str:
    """What a terminal shows: standard error above, where both are used."""
    program, *arguments = shlex.split(line.removeprefix("$ "))
    assert program == "gradcli"
    status_of(arguments)
    out, err = capfd.readouterr()
    return err + out


def test_names_are_found_however_they_are_written() -> None:
    assert explain.explanation("[g001]") == explain.explanation("G001")


def test_a_verdict_has_the_page_of_its_code() -> None:
    found = [explain.explanation(word).name for word in ("fail", "KINK", "nan", "unstable", "unchecked")]
    assert found == ["G001", "G002", "G003", "G004", "G005"]


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UsageError) as raised:
        explain.explanation("languages")
    assert raised.value.hint == "did you mean 'language'?"


def test_command(gradcli) -> None:
    listed = gradcli("explain").stdout
    assert [line.split()[0] for line in listed.splitlines()] == explain.names()
    assert gradcli("explain", "G001", "--format", "markdown").stdout == explain.explanation("G001").markdown
    assert json.loads(gradcli("explain", "verdicts", "--format", "json").stdout)["schema"] == "gradcli.explanation/1"
    wrong = gradcli("explain", "G001", "--format", "yaml")
    assert (wrong.returncode, wrong.stdout) == (2, "")
