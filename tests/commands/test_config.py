"""Configuration on the command line: what counts more than what, and what `gradcli config` says of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

RELU = "x = tensor([-1.0, 0.0], requires_grad=True)\nout = relu(x).sum()\n"
THREE = "x = tensor(2.0, requires_grad=True)\ny = tensor(3.0, requires_grad=True)\nz = x * y\nw = x + y\n"


@pytest.fixture
def project(tmp_path):
    def write(**files: str) -> None:
        for name, text in files.items():
            path = tmp_path / name.replace("__", "/").replace("_toml", ".toml").replace("_grad", ".grad")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


def outputs(done) -> list[str]:
    return [target["output"] for target in json.loads(done.stdout)["files"][0]["targets"]]


def test_the_command_line_counts_more_than_the_configuration(gradcli, project):
    project(x_grad=THREE, gradcli_toml='output = "z"\n')
    assert outputs(gradcli("check", "x.grad", "--format", "json")) == ["z"]
    assert outputs(gradcli("check", "x.grad", "--format", "json", "--output", "w")) == ["w"]
    assert outputs(gradcli("check", "x.grad", "--format", "json", "--no-config")) == ["w"]


def test_the_file_counts_more_than_the_configuration_and_less_than_the_command_line(gradcli, project):
    project(x_grad=THREE + "check(z)\n", gradcli_toml='output = "w"\n')
    assert outputs(gradcli("check", "x.grad", "--format", "json")) == ["z"]
    assert outputs(gradcli("check", "x.grad", "--format", "json", "--output", "w")) == ["w"]


def test_the_command_line_takes_back_a_flag(gradcli, project):
    project(x_grad=RELU, gradcli_toml="strict = true\n")
    assert gradcli("check", "x.grad").returncode == 1
    assert gradcli("check", "x.grad", "--no-strict").returncode == 0


ROUGH = "x = tensor(1.0, requires_grad=True)\nout = x * 3\nclaim(out, x, 3.003)\n"


@pytest.mark.parametrize(
    ("directive", "config", "option", "passes"),
    [
        ("", "", "", False),
        ("", "rtol = 0.1\n", "", True),
        ("# gradcli: rtol=1e-9\n", "rtol = 0.1\n", "", False),
        ("# gradcli: rtol=0.1\n", "rtol = 1e-9\n", "", True),
        ("", "rtol = 1e-9\n", "0.1", True),
        ("", "rtol = 0.1\n", "1e-9", False),
    ],
)
def test_tolerances(gradcli, project, directive, config, option, passes):
    project(x_grad=directive + ROUGH, gradcli_toml=config)
    done = gradcli("check", "x.grad", *(("--rtol", option) if option else ()))
    assert (done.returncode == 0) is passes, done.stdout


def test_settings_of_some_files(gradcli, project):
    project(a_grad=RELU, b_grad=RELU, pyproject_toml='[tool.gradcli.per-file."b.grad"]\nfail-on = ["kink"]\nmax-steps = 1000\n')
    done = gradcli("check", ".", "--format", "json")
    assert [file["failing"] for file in json.loads(done.stdout)["files"]] == [False, True]


def test_include_and_exclude(gradcli, project):
    project(a_grad=RELU, old__b_grad=RELU, gradcli_toml='exclude = ["old/"]\n')
    assert "1 file" in gradcli("check", ".").stdout
    assert "2 files" in gradcli("check", ".", "old/b.grad").stdout


def test_what_is_excluded_can_be_left_out_although_it_is_named(gradcli, project):
    project(a_grad=RELU, old__deep__b_grad=RELU, gradcli_toml='exclude = ["old/", "draft.grad"]\n', draft_grad=RELU)
    named = ("a.grad", "old/deep/b.grad", "draft.grad")
    assert "3 files" in gradcli("check", *named).stdout
    assert "1 file" in gradcli("check", *named, "--force-exclude").stdout
    done = gradcli("check", *named[1:], "--force-exclude")
    assert (done.returncode, done.stdout) == (0, "0 files: 0 passed\n")
    assert "gradcli.toml excludes every file" in done.stderr
    quiet = gradcli("check", *named[1:], "--force-exclude", "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    assert "1 file" in gradcli("check", "-", "--stdin-filename", "x.grad", "--force-exclude", input=RELU).stdout
    assert "0 files" in gradcli("check", "-", "--stdin-filename", "old/x.grad", "--force-exclude", input=RELU).stdout
    assert gradcli("check", "missing.grad", "--force-exclude").returncode == 2
    assert gradcli("check", "*.nothing", "--force-exclude").returncode == 5


def test_folders_are_those_of_the_configuration(gradcli, project, tmp_path):
    project(sub__a_grad='w = load("w.csv")\nx = tensor(1.0, requires_grad=True)\ny = (w * x).sum()\n', nums__w_csv="2\n")
    (tmp_path / "nums" / "w.csv").write_text("2\n")
    project(gradcli_toml='data = "nums"\ncache-dir = "kept"\n')
    done = gradcli("check", "a.grad", cwd=tmp_path / "sub")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "kept" / "CACHEDIR.TAG").exists()


def test_the_nearest_above_the_first_path(gradcli, project):
    project(sub__a_grad=RELU, gradcli_toml="strict = false\n", sub__gradcli_toml="strict = true\n")
    assert gradcli("check", "sub/a.grad").returncode == 1
    assert gradcli("check", "sub/a.grad", "--config", "gradcli.toml").returncode == 0


def test_what_is_wrong_stops_the_check(gradcli, project):
    project(a_grad=RELU, gradcli_toml="strikt = true\n")
    done = gradcli("check", "a.grad")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "gradcli: error: gradcli.toml:1: unknown key 'strikt' [G113]\n  hint: did you mean 'strict'?\n"


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ('format = "jsno"', 'format is "jsno", and not one of table, concise,', "did you mean 'json'?"),
        ('method = "symbloic"', 'method is "symbloic", and not one of all, symbolic, fd', "did you mean 'symbolic'?"),
        ('fail-on = ["kinks"]', 'fail-on is ["kinks"], and not an array, each item one of kink, nan,', "did you mean 'kink'?"),
        ('color = "alway"', 'color is "alway", and not one of auto, always, never', "did you mean 'always'?"),
    ],
)
def test_words_that_are_none_are_told_with_their_line(gradcli, project, line, message, hint):
    project(a_grad=RELU, gradcli_toml=f"\n{line}\n")
    done = gradcli("check", "a.grad")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"gradcli.toml:2: {message}" in done.stderr
    assert hint in done.stderr


def test_config_shows_what_holds_and_why(gradcli, project):
    project(a_grad=RELU, gradcli_toml='jobs = 2\n[per-file."*.grad"]\nrtol = 1e-3\n')
    lines = gradcli("config", "a.grad").stdout.splitlines()
    assert lines[0] == "configuration: gradcli.toml"
    assert [line.split() for line in lines if line.startswith(("jobs", "rtol", "atol"))] == [
        ["rtol", "=", "0.001", "#", "gradcli.toml:3"],
        ["atol", "=", "0.0", "#", "default"],
        ["jobs", "=", "2", "#", "gradcli.toml:1"],
    ]
    assert lines[-1] == "for *.grad: rtol = 0.001  # gradcli.toml:2"


def test_config_for_programs(gradcli, project):
    project(gradcli_toml="jobs = 2\n")
    found = json.loads(gradcli("config", "--format", "json").stdout)
    assert (found["schema"], found["config"], found["path"]) == ("gradcli.config/1", "gradcli.toml", None)
    assert found["options"]["jobs"] == {"value": 2, "origin": "gradcli.toml:1"}
    assert found["options"]["seed"] == {"value": 0, "origin": "default"}


def test_the_configuration_that_the_readme_shows_is_one(gradcli, tmp_path):
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```toml pyproject\.toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "pyproject.toml").write_text(shown)
    done = gradcli("config")
    assert done.stderr == ""
    assert "# pyproject.toml:" in done.stdout


def test_what_config_prints_is_a_configuration(gradcli, project):
    project(gradcli_toml="")
    lines = gradcli("config").stdout.splitlines()[1:]
    project(gradcli_toml="\n".join(line for line in lines if "= unset" not in line))
    assert gradcli("config").stderr == ""
