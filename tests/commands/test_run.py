"""`gradcli run`: what the program prints, and where it goes wrong."""

from __future__ import annotations

import json

FAILING = "print('before')\na = ones(2, 3)\nb = a @ a\nprint('after')\n"


def test_prints_what_the_program_prints(gradcli, tmp_path):
    (tmp_path / "f.grad").write_text("x = tensor([1.0, 2.0])\nprint('x is', x)\nprint(f'{x.sum().item():.2f}')\n")
    done = gradcli("run", "f.grad")
    assert (done.returncode, done.stdout, done.stderr) == (0, "x is tensor([1., 2.])\n3.00\n", "")


def test_standard_input(gradcli):
    assert gradcli("run", "-", input="print(1 + 1)\n").stdout == "2\n"


def test_what_was_printed_stays(gradcli, tmp_path):
    (tmp_path / "f.grad").write_text(FAILING)
    done = gradcli("run", "f.grad")
    assert (done.returncode, done.stdout) == (2, "before\n")
    lines = done.stderr.splitlines()
    assert lines[0].startswith("f.grad:3:5: RuntimeError: ")
    assert lines[1:3] == ["    b = a @ a", "        ^^^^^"]


def test_error_object_is_the_last_line(gradcli, tmp_path):
    (tmp_path / "f.grad").write_text(FAILING)
    error = json.loads(gradcli("run", "f.grad", "--format", "json").stderr.splitlines()[-1])
    assert (error["type"], error["kind"], error["line"], error["column"]) == ("RuntimeError", "shape", 3, 5)


def test_syntax_error(gradcli, tmp_path):
    (tmp_path / "f.grad").write_text("print(1\n")
    done = gradcli("run", "f.grad", "--format", "json")
    assert done.returncode == 2
    assert json.loads(done.stderr.splitlines()[-1])["type"] == "SyntaxError"


def test_a_failed_assertion_ends_it(gradcli, tmp_path):
    (tmp_path / "f.grad").write_text("assert 1 > 2, 'no'\nprint('after')\n")
    done = gradcli("run", "f.grad")
    assert (done.returncode, done.stdout) == (2, "")
    assert "AssertionError: no" in done.stderr


def test_limits(gradcli, tmp_path):
    (tmp_path / "f.grad").write_text("while True:\n    pass\n")
    done = gradcli("run", "f.grad", "--max-steps", "100")
    assert done.returncode == 2
    assert "--max-steps" in done.stderr


def test_set(gradcli, tmp_path):
    (tmp_path / "f.grad").write_text("x = tensor(1.0)\nprint(x * 2)\n")
    assert gradcli("run", "f.grad", "--set", "x=5.0").stdout == "tensor(10.)\n"
