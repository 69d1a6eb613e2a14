"""Formats, reports and the options of judging: what a CI system would see."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from importlib.resources import files as resources
from pathlib import Path

import jsonschema
import pytest
from junitparser import JUnitXml

from gradcli.commands.examples import EXAMPLES
from gradcli.report.formats import FORMATS

ROOT = Path(__file__).resolve().parents[2]
NET = """\
x = tensor([1.0, 2.0])
w = tensor([0.3, -0.2], requires_grad=True)
loss = ((w * x).sum() - 1) ** 2
"""


def test_several_reports_in_one_run(gradcli, programs, tmp_path):
    names = [name for name in FORMATS if name != "table"]
    reports = [word for name in names for word in ("--report", f"{name}={name}.out")]
    done = gradcli("check", *programs("good", "wrong", "kink", "syntax"), "--format", "table", *reports)
    assert done.returncode == 2
    assert "4 files: 2 passed, 1 failed, 1 with errors" in done.stdout
    for name in names:
        alone = gradcli("check", *programs("good", "wrong", "kink", "syntax"), "--format", name)
        assert alone.returncode == 2
        assert (tmp_path / f"{name}.out").stat().st_size > 100, name
    counts = JUnitXml.fromfile(str(tmp_path / "junit.out"))
    assert (counts.tests, counts.failures, counts.errors) == (5, 2, 1)
    document = json.loads((tmp_path / "json.out").read_text("utf-8"))
    jsonschema.validate(document, json.loads(gradcli("schema").stdout))


def test_a_report_that_cannot_be_written_takes_no_other_with_it(gradcli, programs, tmp_path):
    options = ["--report", "json=no/x.json", "--report", "gitlab=x.json", "--report", "junit=none/x.xml", "--graph", "x.svg"]
    done = gradcli("check", *programs("good"), *options)
    assert done.returncode == 2
    assert done.stdout.startswith("PASS")
    assert (tmp_path / "x.json").exists()
    assert (tmp_path / "x.svg").exists()
    assert "cannot write no/x.json" in done.stderr
    assert "cannot write none/x.xml" in done.stderr


def test_a_dash_is_standard_output(gradcli, programs, tmp_path):
    plain = gradcli("check", *programs("good"), "--format", "concise").stdout
    assert gradcli("check", "good.grad", "--format", "concise", "--out", "-").stdout == plain
    assert gradcli("check", "good.grad", "--out", "table.txt", "--report", "concise=-").stdout == plain
    assert not (tmp_path / "-").exists()


def test_a_command_does_not_replace_its_file(gradcli, programs):
    done = gradcli("grad", *programs("good"), "--out", "good.grad")
    assert (done.returncode, "would be replaced" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--report", "junit"], "FORMAT=PATH"),
        (["--report", "jnit=x"], "did you mean 'junit'?"),
        (["--report", "json=x", "--report", "junit=x"], "x is written already"),
        (["--report", "json=x", "--out", "x"], "x is written already"),
        (["--report", "json=-"], "standard output is written already"),
        (["--report", "json=x.svg", "--graph", "x.svg"], "x.svg is written already"),
        (["--out", "./good.grad"], "./good.grad is read, and would be replaced"),
        (["--report", "json=good.grad"], "good.grad is read, and would be replaced"),
        (["--graph", "good.grad"], "good.grad is read, and would be replaced"),
        (["--format", "jsno"], "did you mean 'json'?"),
        (["--fail-on", "kinks"], "did you mean 'kink'?"),
        (["--method", "symbloic"], "did you mean 'symbolic'?"),
        (["--color", "alway"], "did you mean 'always'?"),
        (["--rtol", "-1"], "--rtol"),
        (["--rtol", "inf"], "--rtol takes a finite number, not inf"),
        (["--timeout", "nan"], "--timeout takes a finite number, not nan"),
        (["--points", "0"], "--points"),
    ],
)
def test_wrong_options(gradcli, programs, options, message):
    done = gradcli("check", *programs("good"), *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_jsonl_comes_file_by_file(programs, tmp_path):
    (tmp_path / "slow.grad").write_text("n = 0\nfor i in range(150_000):\n    n += 1\nx = tensor(1.0, requires_grad=True)\nout = x * n\n")
    command = [sys.executable, "-m", "gradcli", "check", *programs("good"), "slow.grad", "--format", "jsonl"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert json.loads(process.stdout.readline())["path"] == "good.grad"
        assert process.poll() is None
        assert json.loads(process.stdout.read())["path"] == "slow.grad"
    assert process.returncode == 0


def test_the_summary_of_a_step_is_appended(gradcli, programs, tmp_path):
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    done = gradcli("check", *programs("wrong"), "--format", "github", env={"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_ACTIONS": "true"})
    assert done.stdout.startswith("::error file=wrong.grad,title=gradcli G001,line=10,")
    assert "\x1b" not in done.stdout
    assert summary.read_text("utf-8").startswith("before\n### gradcli\n")
    gradcli("check", *programs("good"), env={"GITHUB_STEP_SUMMARY": str(summary)})
    assert summary.read_text("utf-8").count("### gradcli") == 1
    refused = gradcli("check", *programs("good"), "--format", "github", env={"GITHUB_STEP_SUMMARY": str(tmp_path)})
    assert refused.returncode == 0
    assert "no summary in" in refused.stderr


def test_a_summary_without_room_is_told_of(gradcli, programs, tmp_path):
    page = tmp_path / "summary.md"
    page.write_text("x" * 131_000)
    done = gradcli("check", *programs("good"), "--format", "github", env={"GITHUB_STEP_SUMMARY": str(page)})
    assert (done.returncode, page.stat().st_size) == (0, 131_000)
    assert "leaves no room below 131072 bytes" in done.stderr


def test_a_file_speaks_to_no_ci_system(gradcli, tmp_path):
    text = "x = tensor(1.0, requires_grad=True)\nout = x * 2\nassert out > 3, '::error::pwned\\n##[group]\\n##vso[task.complete]'\n"
    (tmp_path / "evil.grad").write_text(text)
    for name in ("table", "concise"):
        done = gradcli("check", "evil.grad", "--format", name)
        assert not [line for line in (done.stdout + done.stderr).splitlines() if line.lstrip().startswith("::")]
        assert "##[" not in done.stdout
        assert "##vso[" not in done.stdout


@pytest.mark.parametrize(("words", "status"), [("kink", 1), ("nan,unstable", 0), ("nan, kink", 1), ("", 0)])
def test_fail_on(gradcli, programs, words, status):
    assert gradcli("check", *programs("kink"), "--fail-on", words).returncode == status


def test_tolerances(gradcli, tmp_path):
    (tmp_path / "c.grad").write_text("x = tensor(3.0, requires_grad=True)\ny = x**2\nclaim(y, x, 6.0001)\n")
    assert gradcli("check", "c.grad").returncode == 1
    assert gradcli("check", "c.grad", "--rtol", "1e-3").returncode == 0
    assert gradcli("check", "c.grad", "--atol", "1e-3").returncode == 0
    assert gradcli("check", "c.grad", "--rtol", "1e-6").returncode == 1


@pytest.mark.parametrize(("method", "silent"), [("fd", "symbolic"), ("symbolic", "finite_difference")])
def test_one_reference_alone(gradcli, programs, method, silent):
    for name, status in (("good", 0), ("wrong", 1)):
        done = gradcli("check", *programs(name), "--method", method, "--format", "json")
        target = json.loads(done.stdout)["files"][0]["targets"][0]
        assert done.returncode == status
        assert target["method"][silent] == f"none: not asked for (--method {method})"
        assert target["inputs"][0][silent] is None


def test_a_small_budget_leaves_the_symbolic_reference_directions(gradcli, programs):
    done = gradcli("check", *programs("good"), "--symbolic-budget", "1", "--format", "json")
    target = json.loads(done.stdout)["files"][0]["targets"][0]
    assert target["method"]["symbolic"] == "directional"
    assert target["status"] == "pass"


def test_formulas(gradcli, programs):
    (target,) = json.loads(gradcli("check", *programs("three"), "--formulas", "--format", "json").stdout)["files"][0]["targets"]
    assert [item["formula"] for item in target["inputs"]] == ["[3*x**2*y[0], 3*x**2*y[1]]", "[[x**3, 0], [0, x**3]]"]
    assert "formula: d z / d x = [3*x**2*y[0], 3*x**2*y[1]]" in gradcli("check", *programs("three"), "--formulas").stdout


def test_points_and_data(gradcli, tmp_path):
    (tmp_path / "numbers").mkdir()
    (tmp_path / "numbers" / "a.csv").write_text("1,2\n3,4\n")
    (tmp_path / "d.grad").write_text('A = load("a.csv")\nx = randn(2, requires_grad=True)\nout = (A @ x).sum()\n')
    assert gradcli("check", "d.grad").returncode == 2
    done = gradcli("check", "d.grad", "--data", "numbers", "--points", "3", "--report", "html=d.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "d.html").read_text("utf-8").count("data:image/svg+xml") == 1


def test_html_has_a_plot_and_a_picture_for_each_file(gradcli, programs, tmp_path):
    gradcli("check", *programs("wrong", "three", "shape", "syntax"), "--formulas", "--report", "html=out.html")
    page = (tmp_path / "out.html").read_text("utf-8")
    assert page.count('class="plot"') == 3
    assert page.count("<img ") == 3
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_schema(gradcli, tmp_path):
    shipped = resources("gradcli.report").joinpath("schema", "check.json").read_text("utf-8")
    assert gradcli("schema").stdout == shipped
    assert gradcli("schema", "--out", "s.json").stdout == ""
    assert (tmp_path / "s.json").read_text("utf-8") == shipped
    jsonschema.Draft202012Validator.check_schema(json.loads(shipped))


def test_samples_with_formulas_are_as_the_schema_says(gradcli):
    """Without formulas they all are: tests/samples. SymPy takes its time for those of a network."""
    names = [f"samples/{name}.grad" for name in ("function_wrong", "jacobian", "kink", "linear_regression", "nan_behind_where")]
    done = gradcli("check", *names, "--format", "json", "--formulas", cwd=ROOT)
    document = json.loads(done.stdout)
    jsonschema.validate(document, json.loads(gradcli("schema").stdout))
    formulas = [item["formula"] for file in document["files"] for target in file["targets"] for item in target["inputs"]]
    assert len(list(filter(None, formulas))) >= 3


@pytest.mark.parametrize("command", list(EXAMPLES))
def test_the_examples_of_the_help_run(gradcli, tmp_path, command):
    (tmp_path / "nets").mkdir()
    for name in ("net.grad", "nets/other.grad"):
        (tmp_path / name).write_text(NET)
    shown = " ".join(gradcli(command, "--help").stdout.split())
    for line, meaning in EXAMPLES[command]:
        assert f"{line} {meaning}" in shown
        done = gradcli(*shlex.split(line)[1:])
        assert done.returncode == 0, f"{line}: {done.stderr}"


def test_every_command_has_examples(gradcli):
    listed = gradcli("--help").stdout.partition("Commands:\n")[2].partition("\n\n")[0]
    commands = {line.split()[0] for line in listed.splitlines() if line.startswith("  ") and not line.startswith("   ")}
    assert commands <= set(EXAMPLES)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("gradcli che", "check\n"),
        ("gradcli check --format j", "json\njsonl\njunit\n"),
        ("gradcli check --method s", "symbolic\n"),
        ("gradcli explain ver", "verdicts\n"),
        ("gradcli graph --view b", "backward\nboth\n"),
        ("gradcli check net", "\n"),
    ],
)
def test_completion(gradcli, words, offered):
    """An empty answer leaves it to the shell to complete names of files."""
    environment = {"_GRADCLI_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    done = gradcli(env=environment)
    assert (done.returncode, done.stdout.strip()) == (0, offered.strip())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(gradcli, shell):
    done = gradcli("--show-completion", shell)
    assert done.returncode == 0
    assert "_GRADCLI_COMPLETE" in done.stdout


def test_version(gradcli):
    from gradcli import __version__

    assert gradcli("--version").stdout == f"gradcli {__version__}\n"
