"""The recipes of README.md for CI systems: their shell lines are run, here and in an environment of their own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from junitparser import JUnitXml

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RECIPES = {name: yaml.safe_load(body) for name, body in re.findall(r"^```yaml (\S+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)}
INSTALL = "pip install gradcli"


def lines_of(name: str) -> list[str]:
    """The shell lines of a recipe, in order."""
    if name == ".gitlab-ci.yml":
        return [line for job in RECIPES[name].values() for line in job["script"]]
    return [step["run"] for job in RECIPES[name]["jobs"].values() for step in job["steps"] if "run" in step]


SHELL = [".github/workflows/gradients.yml", ".gitlab-ci.yml"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SHELL)
@pytest.mark.parametrize("wrong", [False, True])
def test_the_lines_do_what_a_ci_system_needs(name, wrong, shell, project):
    lines = lines_of(name)
    assert lines[0] == INSTALL
    if wrong:
        (project / "samples" / "wrong.grad").write_text("x = tensor(2.0, requires_grad=True)\ny = x * x\nclaim(y, x, x)\n")
    done = [shell(line, GITHUB_ACTIONS="true") for line in lines[1:]]
    assert [d.returncode for d in done] == [int(wrong)], done[-1].stderr
    written = [project / path for path in re.findall(r"--report \w+=(\S+)", " ".join(lines))]
    assert written
    assert all(path.stat().st_size for path in written)


def test_what_the_recipes_write_is_what_they_hand_on():
    job = RECIPES[".gitlab-ci.yml"]["gradients"]
    reports = job["artifacts"]["reports"]
    assert f"--report junit={reports['junit']} --report gitlab={reports['codequality']}" in " ".join(job["script"])
    (upload,) = [s for s in RECIPES[SHELL[0]]["jobs"]["gradients"]["steps"] if "upload-sarif" in s.get("uses", "")]
    assert upload["with"]["sarif_file"] in " ".join(lines_of(SHELL[0]))


def test_the_hook_of_the_recipe_is_the_one_that_there_is():
    ((hook,),) = [repo["hooks"] for repo in RECIPES[".pre-commit-config.yaml"]["repos"]]
    (known,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["id"] == known["id"]


@pytest.mark.slow
def test_a_pipeline_from_nothing(project, tmp_path):
    """Install into a fresh environment, check the samples, then a wrong file among them: exit status, annotations, JUnit counts."""
    home = tmp_path / "fresh"
    tools = home / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    installed = subprocess.run([tools / "python", "-m", "pip", "install", "--quiet", ROOT, "pytest"], capture_output=True, encoding="utf-8")
    assert installed.returncode == 0, installed.stderr
    command = [tools / "gradcli", "check", "samples", "--format", "github", "--report", "junit=gradients.xml"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GITHUB_", "PYTHON", "PYTEST_"))}
    variables = {**kept, "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}

    def run(*line) -> subprocess.CompletedProcess[str]:
        return subprocess.run(list(map(str, line)), cwd=project, env=variables, capture_output=True, encoding="utf-8", timeout=300)

    done = run(*command)
    assert (done.returncode, done.stderr) == (0, "")
    assert "::error" not in done.stdout
    samples = len(list((project / "samples").glob("*.grad")))
    report = JUnitXml.fromfile(str(project / "gradients.xml"))
    assert (len(list(report)), report.failures, report.errors) == (samples, 0, 0)

    (project / "samples" / "wrong.grad").write_text("x = tensor(2.0, requires_grad=True)\ny = x * x\nclaim(y, x, x)\n")
    (project / "samples" / "broken.grad").write_text("x = tensor(2.0\n")
    done = run(*command)
    assert done.returncode == 2
    errors = [line for line in done.stdout.splitlines() if line.startswith("::error ")]
    assert sorted(re.findall(r"file=samples/(\w+).grad,[^:]*line=(\d+)", "\n".join(errors))) == [("broken", "1"), ("wrong", "3")]
    report = JUnitXml.fromfile(str(project / "gradients.xml"))
    assert (len(list(report)), report.failures, report.errors) == (samples + 2, 1, 1)
    assert "wrong.grad" in (tmp_path / "summary.md").read_text(encoding="utf-8")

    done = run(tools / "python", "-m", "pytest", "--grad", "samples", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 1, done.stdout
    assert "2 failed" in done.stdout
