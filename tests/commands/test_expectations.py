"""`check --update-expectations`: what is found is written into the files, and held against them from then on."""

from __future__ import annotations

import os

import pytest


def test_what_is_found_is_written(gradcli, programs, tmp_path):
    files = programs("good", "wrong", "kink", "syntax", "name", "nothing", "bytes")
    (tmp_path / "stated.grad").write_bytes(b"x = tensor(0.0, requires_grad=True)\r\ny = x.abs()  # gradcli: expect nan\r\n")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    done = gradcli("check", *files, "stated.grad", "-", "--update-expectations", "--quiet", input="x = tensor(1.0, requires_grad=True)")
    assert done.stderr.splitlines()[:8] == [
        "good.grad: expect pass",
        "wrong.grad: expect fail",
        "kink.grad: expect kink",
        "syntax.grad: expect error",
        "name.grad: expect error",
        "nothing.grad: no expectation written: unchecked is none",
        "bytes.grad: no expectation written: it was not checked to its end",
        "stated.grad: expect kink, no longer nan",
    ]
    assert (tmp_path / "wrong.grad").read_bytes() == b"# gradcli: expect fail\n" + before["wrong.grad"]
    assert (tmp_path / "stated.grad").read_bytes() == before["stated.grad"].replace(b"nan", b"kink")
    assert (tmp_path / "nothing.grad").read_bytes() == before["nothing.grad"]
    assert gradcli("check", *files[:5], "stated.grad").returncode == 0


def test_a_second_time_nothing_changes(gradcli, programs, tmp_path):
    (file,) = programs("wrong")
    gradcli("check", file, "--update-expectations")
    written = (tmp_path / file).read_bytes()
    done = gradcli("check", file, "--update-expectations", "-j", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / file).read_bytes() == written


def test_cores_have_expectations_too(gradcli, tmp_path):
    (tmp_path / "x.fpcore").write_text("; a benchmark\n(FPCore (x) :pre (< 1 x 2) (sqrt x))\n")
    (tmp_path / "two.fpcore").write_text("(FPCore (x) (ref x 1))\n")
    done = gradcli("check", "x.fpcore", "two.fpcore", "--update-expectations", "-q")
    assert "x.fpcore: expect pass\ntwo.fpcore: expect error\n" in done.stderr
    assert (tmp_path / "x.fpcore").read_text().startswith("; gradcli: expect pass\n; a benchmark\n")
    assert gradcli("check", "x.fpcore", "two.fpcore").returncode == 0
    (tmp_path / "gradcli.toml").write_text('include = ["*.fpcore"]\n')
    assert gradcli("check", ".").stdout.endswith("2 files: 2 passed\n")


def test_one_that_no_longer_holds_is_a_failure(gradcli, programs, tmp_path):
    (file,) = programs("good")
    gradcli("check", file, "--update-expectations")
    path = tmp_path / file
    path.write_text(path.read_text().replace("(x**2)", "relu(x - 1)"))
    done = gradcli("check", file)
    assert done.returncode == 1
    assert "expected pass, found kink [G006]" in done.stdout


@pytest.mark.parametrize("comment", ["expect kinky", "rtol=x", "expekt pass"])
def test_a_wrong_comment_is_not_made_an_expectation(gradcli, tmp_path, comment):
    text = f"# gradcli: {comment}\nx = tensor(1.0, requires_grad=True)\ny = x * x\n"
    (tmp_path / "x.grad").write_text(text)
    done = gradcli("check", "x.grad", "--update-expectations")
    assert done.returncode == 2
    assert "x.grad: no expectation written: a comment for gradcli in it is wrong" in done.stderr
    assert (tmp_path / "x.grad").read_text() == text


def test_the_mode_of_the_file_stays(gradcli, programs, tmp_path):
    (file,) = programs("good")
    os.chmod(tmp_path / file, 0o600)
    gradcli("check", file, "--update-expectations")
    assert (tmp_path / file).stat().st_mode & 0o777 == 0o600


def test_a_file_that_cannot_be_run_may_expect_that(gradcli, tmp_path):
    (tmp_path / "x.grad").write_text("# gradcli: expect error\nx = (\n")
    assert gradcli("check", "x.grad").returncode == 0
