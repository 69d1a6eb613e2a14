"""The GitHub Action and the pre-commit hook: what their readers ask of the files, and what their lines do."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml
from junitparser import JUnitXml

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
INSTALL, CHECK = ACTION["runs"]["steps"]
WRONG = "x = tensor([1.0, 2.0], requires_grad=True)\ny = (x * x).sum()\nclaim(y, x, x)\n"


@pytest.fixture
def runner(shell, tmp_path):
    """Run the step `Check` with some inputs; pip's part is played by this environment."""
    tools = tmp_path / "runner" / "gradcli"
    tools.mkdir(parents=True)
    (tools / "bin").symlink_to(Path(sys.executable).parent)

    def run(**inputs: str):
        given = {name: inputs.get(name, str(spec.get("default", ""))) for name, spec in ACTION["inputs"].items()}
        variables = {
            name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: given[match[1]], value) for name, value in CHECK["env"].items()
        }
        places = {"RUNNER_TEMP": str(tmp_path / "runner"), "GITHUB_OUTPUT": str(tmp_path / "output")}
        return shell(CHECK["run"], GITHUB_ACTIONS="true", **places, **variables)

    return run


def test_the_action_is_one():
    assert ACTION["runs"]["using"] == "composite"
    assert all(step["shell"] == "bash" for step in ACTION["runs"]["steps"])
    assert all(spec["description"] for spec in [*ACTION["inputs"].values(), *ACTION["outputs"].values()])
    used = set(re.findall(r"inputs\.(\w+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert used == set(ACTION["inputs"])


@pytest.mark.parametrize("step", ACTION["runs"]["steps"], ids=lambda step: step["name"])
def test_no_input_becomes_a_command(step):
    assert "${{" not in step["run"]
    for name in step["env"]:
        unquoted = re.sub(r'"[^"\n]*"', "", step["run"])
        assert f"${name}" not in unquoted, "a variable outside quotes is split into words"


def test_it_annotates_and_reports(runner, project):
    (project / "wrong.grad").write_text(WRONG)
    done = runner(paths="samples\nwrong.grad", junit="gradients.xml", sarif="gradients.sarif")
    assert done.returncode == 1, done.stderr
    assert re.search(r"^::error file=wrong.grad,.*line=3", done.stdout, re.MULTILINE)
    assert (project / "output").read_text() == "status=1\n"
    assert JUnitXml.fromfile(str(project / "gradients.xml")).failures == 1
    assert len(json.loads((project / "gradients.sarif").read_text())["runs"][0]["results"]) >= 1


@pytest.mark.slow
def test_it_passes_options_on(runner, project):
    (project / "kink.grad").write_text("x = tensor(0.0, requires_grad=True)\ny = relu(x)\n")
    assert runner(paths="kink.grad").returncode == 0
    assert runner(paths="kink.grad", options="--strict").returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize("text", ["$(touch pwned)`touch pwned`; touch pwned", "a\n&& touch pwned", "'; touch pwned; '"])
def test_what_stands_in_an_input_is_no_command(runner, project, text):
    assert runner(paths=text, options="").returncode in (2, 5)
    assert not (project / "pwned").exists()


@pytest.mark.slow
def test_the_hook_runs_on_the_files_that_it_names(shell, project):
    assert {"id", "name", "entry", "language", "files"} <= set(HOOK)
    (project / "wrong.grad").write_text(WRONG)
    files = sorted(str(p.relative_to(project)) for p in project.rglob("*") if p.is_file())
    taken = [name for name in files if re.search(HOOK["files"], name)]
    assert "wrong.grad" in taken
    right = shell(shlex.join([*shlex.split(HOOK["entry"]), *(name for name in taken if name != "wrong.grad")]))
    assert (right.returncode, right.stdout, right.stderr) == (0, "", "")
    done = shell(shlex.join([*shlex.split(HOOK["entry"]), *taken]))
    assert done.returncode == 1
    assert done.stdout.startswith("FAIL  wrong.grad")
