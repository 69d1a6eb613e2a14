"""`gradcli check`: exit statuses, streams, bad input."""

from __future__ import annotations

import json

import pytest

BAD = ("syntax", "foreign", "shape", "name", "bytes")


@pytest.mark.parametrize(
    ("names", "options", "status"),
    [
        (["good"], [], 0),
        (["wrong"], [], 1),
        (["false"], [], 1),
        (["kink"], [], 0),
        (["kink"], ["--strict"], 1),
        (["syntax"], [], 2),
        (["good", "wrong", "name"], [], 2),
        (["nothing"], [], 5),
        (["empty"], [], 2),
        (["good", "nothing"], [], 0),
        (["good", "nothing"], ["--strict"], 1),
    ],
)
def test_exit_status(gradcli, programs, names, options, status):
    done = gradcli("check", *programs(*names), *options)
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_table(gradcli, programs, golden):
    done = gradcli("check", *programs("wrong"))
    golden("wrong.txt", done.stdout)
    assert done.stderr == ""


@pytest.mark.parametrize("name", [*BAD, "missing", "nothing", "empty", "endless"])
def test_bad_input_is_told_once_and_the_others_are_checked(gradcli, programs, golden, name):
    files = [*programs("good"), "missing.grad" if name == "missing" else programs(name)[0]]
    done = gradcli("check", *files, "--format", "json", "--max-steps", "1000")
    golden(f"bad_{name}.txt", done.stderr)
    good, bad = json.loads(done.stdout)["files"]
    assert good["status"] == "pass"
    if name == "nothing":
        assert (bad["status"], done.returncode) == ("unchecked", 0)
    else:
        assert (bad["status"], done.returncode) == ("error", 2)
        assert bad["error"]["message"]


def test_folder_without_files(gradcli, tmp_path):
    (tmp_path / "here").mkdir()
    done = gradcli("check", "here")
    assert done.returncode == 5
    assert "no *.grad file in directory here" in done.stderr


def test_standard_input(gradcli):
    done = gradcli("check", "-", "--format", "json", input="x = tensor(3.0, requires_grad=True)\nout = x * x\n")
    (file,) = json.loads(done.stdout)["files"]
    assert (file["path"], file["targets"][0]["inputs"][0]["autograd"]) == ("<stdin>", 6.0)


def test_the_same_twice(gradcli_process, programs, tmp_path):
    """In two processes that hash otherwise."""
    found = []
    for seed in ("1", "2"):
        done = gradcli_process(
            "check", *programs("good", "wrong", "kink"), "--format", "json", "--report", "table=table.txt", env={"PYTHONHASHSEED": seed}
        )
        document = json.loads(done.stdout)
        for file in document["files"]:
            del file["seconds"]
        found.append((document, (tmp_path / "table.txt").read_text(), done.stderr, done.returncode))
    assert found[0] == found[1]


def test_what_to_check(gradcli, programs):
    file = programs("three")[0]
    options = ("--output", "z", "--wrt", "x", "--grad-outputs", "[1.0, 10.0]", "--set", "x=1.0", "--format", "json")
    (target,) = json.loads(gradcli("check", file, *options).stdout)["files"][0]["targets"]
    assert target["grad_outputs"] == [1.0, 10.0]
    assert [(item["name"], item["autograd"], item["status"]) for item in target["inputs"]] == [("x", 93.0, "pass")]


def test_reports_beside_the_table(gradcli, programs, tmp_path):
    done = gradcli("check", *programs("good"), "--report", "json=one.json", "--report", "table=two.txt", "--out", "three.txt")
    assert (done.returncode, done.stdout) == (0, "")
    assert json.loads((tmp_path / "one.json").read_text())["schema"] == "gradcli.check/1"
    assert "PASS  good.grad" in (tmp_path / "two.txt").read_text() == (tmp_path / "three.txt").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "jsno"], "did you mean 'json'?"),
        (["--report", "json"], "--report takes FORMAT=PATH"),
        (["--set", "x"], "--set takes NAME=EXPR"),
        (["--out", "no/folder/x.txt"], "cannot write no/folder/x.txt"),
        (["--frmat", "json"], "--format"),
        (["--output", "oot"], "oot"),
        (["--wrt", "y"], "y"),
        (["--grad-outputs", "[[1.0"], "[[1.0"),
        (["--order", "0"], "--order"),
        (["--set", "nope=1.0"], "nope"),
        (["--set", "x=1/0"], "good.grad: error: --set x: ZeroDivisionError: division by zero [G102]"),
        (["--set", "x=(1"], "good.grad: error: --set x=(1: '(' was never closed [G102]"),
        (["--set", "x=1+2j"], "--set x: TypeError: a complex value for a real one"),
        (["--set", "x='a'"], "good.grad: error: --set x: TypeError: "),
        ([""], "a path is empty [G102]"),
        (["-j", "x"], "'x' is not a whole number [G102]"),
        (["--rtol", "x"], "'x' is not a number [G102]"),
    ],
)
def test_wrong_options(gradcli, programs, options, message):
    done = gradcli("check", *programs("good"), *options)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_program_output_is_dropped(gradcli, programs):
    done = gradcli("check", *programs("printing"))
    assert done.returncode == 0
    assert "sum 3" not in done.stdout + done.stderr
