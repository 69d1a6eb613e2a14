"""What all commands that run a file have in common: options of one name and meaning, standard input, the configuration."""

from __future__ import annotations

import inspect
import json
import re

import pytest

from gradcli.cli import COMMANDS
from gradcli.commands.entry import entry

RUNNING = ("check", "grad", "backward", "run", "graph", "trace", "derive")
COMMON = {
    "output", "wrt", "grad_outputs", "format", "out", "seed", "set", "data", "quiet", "verbose", "color", "stdin_filename", "config",
    "no_config", "max_steps", "max_seconds",
}  # fmt: skip
DIFFERENTIATING = {"output", "wrt", "grad_outputs"}

TWO = "a = tensor(2.0, requires_grad=True)\nb = tensor(3.0, requires_grad=True)\ny = a * b\nz = a + b\n"
LOADING = 'w = load("w.csv")\nx = tensor(1.0, requires_grad=True)\ny = (w * x).sum()\nprint(y.item())\n'


@pytest.mark.parametrize("command", RUNNING)
def test_every_common_option_is_there(command):
    (function,) = (item for item in COMMANDS if item.__name__ == command)
    missing = COMMON - set(inspect.signature(entry(function)).parameters)
    assert missing == (DIFFERENTIATING if command == "run" else set())


@pytest.mark.parametrize("command", RUNNING)
def test_they_are_taken_together(gradcli, tmp_path, command):
    (tmp_path / "x.grad").write_text(TWO)
    chosen = () if command == "run" else ("-o", "y", "--wrt", "a", "--grad-outputs", "0.5")
    more = ("--seed", "1", "--set", "b=5.0", "--data", ".", "--color", "never", "--quiet", "--verbose", "--format", "json", "--out", "o")
    done = gradcli(command, "x.grad", *chosen, *more)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    written = (tmp_path / "o").read_text()
    if command != "run":
        assert "2.5" in written
        json.loads(written)


@pytest.mark.parametrize("command", ["grad", "backward", "graph", "trace", "derive"])
def test_with_respect_to_one_leaf(gradcli, tmp_path, command):
    (tmp_path / "x.grad").write_text("a = tensor(2.0, requires_grad=True)\nb = tensor(3.0, requires_grad=True)\ny = sin(a) + cos(b)\n")
    shown = gradcli(command, "x.grad", "--wrt", "a").stdout
    assert "a" in shown
    assert not re.search(r"\bd y / d b\b|b\.grad|BackwardCos|n\d leaf.*\bb\b|CosBackward", shown)
    unknown = gradcli(command, "x.grad", "--wrt", "c")
    assert unknown.returncode == 2
    assert "--wrt c: the file has no such variable" in unknown.stderr


@pytest.mark.parametrize("command", RUNNING)
def test_data_comes_from_where_it_is_said_to(gradcli, tmp_path, command):
    (tmp_path / "x.grad").write_text(LOADING)
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "far" / "away" / "w.csv").write_text("4\n3\n")
    assert gradcli(command, "x.grad").returncode == 2
    done = gradcli(command, "x.grad", "--data", "far/away")
    assert (done.returncode, done.stderr) == (0, "")
    assert "7" in done.stdout or command == "check"
    (tmp_path / "far" / "gradcli.toml").write_text('data = "away"\n')
    assert gradcli(command, "x.grad", "--config", "far/gradcli.toml").stdout == done.stdout


@pytest.mark.parametrize("command", ["check", "grad", "backward", "graph", "trace", "derive"])
def test_expressions_of_the_command_line_load_from_there_too(gradcli, tmp_path, command):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "w.csv").write_text("4\n3\n")
    (tmp_path / "sub" / "x.grad").write_text("x = ones(2, requires_grad=True)\ny = x * x\n")
    loaded = ("--set", 'x=load("w.csv")', "--grad-outputs", 'load("w.csv")')
    literal = ("--set", "x=tensor([4., 3.])", "--grad-outputs", "[4., 3.]")
    done = gradcli(command, "sub/x.grad", *loaded)
    assert (done.returncode, done.stdout) == (0, gradcli(command, "sub/x.grad", *literal).stdout)
    formula = gradcli(command, "-e", "(x * x).sum()", "--at", 'x=load("w.csv")', "--data", "sub")
    assert (formula.returncode, formula.stdout) == (0, gradcli(command, "-e", "(x * x).sum()", "--at", "x=tensor([4., 3.])").stdout)


@pytest.mark.parametrize("command", RUNNING)
def test_the_configuration_holds_for_every_command(gradcli, tmp_path, command):
    (tmp_path / "x.grad").write_text("x = tensor(2.0, requires_grad=True)\nfor i in range(100):\n    y = x * i\n")
    (tmp_path / "gradcli.toml").write_text('[per-file."x.*"]\nmax-steps = 50\n')
    limited = gradcli(command, "x.grad")
    assert limited.returncode == 2
    assert "limit reached: 50 steps" in limited.stderr
    assert gradcli(command, "x.grad", "--max-steps", "1000").returncode == 0
    assert gradcli(command, "x.grad", "--no-config").returncode == 0
    (tmp_path / "gradcli.toml").write_text("max-stepps = 50\n")
    wrong = gradcli(command, "x.grad")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "did you mean 'max-steps'?" in wrong.stderr


def test_the_configuration_chooses_seed_and_output(gradcli, tmp_path):
    (tmp_path / "x.grad").write_text("x = rand(2, requires_grad=True)\ny = (x * x).sum()\nz = x.sum()\n")
    (tmp_path / "gradcli.toml").write_text('seed = 3\noutput = "y"\nformat = "junit"\nverbose = true\n')
    assert gradcli("grad", "x.grad").stdout == gradcli("grad", "x.grad", "--no-config", "--seed", "3", "--output", "y").stdout
    assert gradcli("grad", "x.grad", "--seed", "0", "-o", "z").stdout == "d z / d x = [1., 1.]\n"
    assert gradcli("check", "x.grad").stdout.startswith("<?xml")


@pytest.mark.parametrize("command", RUNNING)
def test_standard_input_can_have_the_name_of_a_file(gradcli, tmp_path, command):
    (tmp_path / "nets").mkdir()
    (tmp_path / "nets" / "w.csv").write_text("4\n3\n")
    (tmp_path / "nets" / "gradcli.toml").write_text('[per-file."x.grad"]\nmax-steps = 50\n')
    done = gradcli(command, "-", "--stdin-filename", "nets/x.grad", input=LOADING)
    assert (done.returncode, done.stderr) == (0, "")
    failed = gradcli(command, "-", "--stdin-filename", "nets/x.grad", input="x = (\n")
    assert failed.returncode == 2
    assert failed.stderr.startswith("nets/x.grad:1:5: SyntaxError")
    limited = gradcli(command, "-", "--stdin-filename", "nets/x.grad", input="for i in range(100):\n    pass\n")
    assert "limit reached: 50 steps" in limited.stderr
    useless = gradcli(command, "x.grad", "--stdin-filename", "y.grad")
    assert useless.returncode == 2
    assert "give - as well" in useless.stderr


def test_the_name_says_what_is_on_standard_input(gradcli):
    text = "(FPCore (x) :pre (< 1 x 2) (* x x))"
    assert gradcli("check", "-", "--stdin-filename", "bench.fpcore", input=text).returncode == 0
    assert gradcli("check", "-", input=text).returncode == 2


def test_standard_input_without_an_end_is_cut_off(gradcli):
    done = gradcli("grad", "-", "--max-file-size", "1000", input="#" * 5000)
    assert done.returncode == 2
    assert "limit reached: 1000 bytes of a file" in done.stderr


def test_errors_are_coloured_on_demand(gradcli, programs):
    (file,) = programs("name")
    for command in RUNNING:
        done = gradcli(command, file, "--color", "always")
        assert "\x1b[1;31m          ^^^\x1b[0m" not in done.stdout
        assert "\x1b[1;31m" in done.stderr
        assert "\x1b" not in gradcli(command, file).stderr


@pytest.mark.parametrize("command", ["grad", "backward", "graph", "trace", "derive"])
def test_results_are_coloured_on_demand(gradcli, programs, command):
    (file,) = programs("good")
    coloured = gradcli(command, file, "--color", "always").stdout
    assert "\x1b[1m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == gradcli(command, file).stdout


def test_quiet_leaves_notes_out(gradcli, tmp_path):
    (tmp_path / "x.grad").write_text("x = tensor(2.0, requires_grad=True)\ny = abs(x)\nassert y > 3\n")
    assert "this assertion failed" in gradcli("grad", "x.grad").stderr
    assert gradcli("grad", "x.grad", "--quiet").stderr == ""
    assert "valid on the branch" in gradcli("derive", "x.grad").stderr
    assert gradcli("derive", "x.grad", "-q").stderr == ""


def test_what_a_program_prints_goes_to_a_file(gradcli, tmp_path):
    (tmp_path / "x.grad").write_text("print('before')\nprint(1 / 0)\n")
    done = gradcli("run", "x.grad", "--out", "printed.txt")
    assert (done.returncode, done.stdout) == (2, "")
    assert (tmp_path / "printed.txt").read_text() == "before\n"
