"""The command line as a whole: help, version, usage, bugs of our own."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gradcli as package
from gradcli import __main__, cli
from gradcli.errors import ExitStatus

HEAVY = {"numpy", "sympy", "mpmath", "rich", "pydantic"}


def test_version(gradcli):
    assert gradcli("--version").stdout == f"gradcli {package.__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(*sorted(name.partition('.')[0] for name in sys.modules), file=sys.stderr))\n"
        f"sys.argv = ['gradcli', *{arguments!r}]\n"
        "from gradcli.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0
    assert not HEAVY & set(done.stderr.split())


def test_help_lists_commands_and_limits(gradcli):
    assert all(name in gradcli("--help").stdout for name in ("check", "grad", "backward", "run", "graph"))
    assert "--max-steps" in gradcli("check", "--help").stdout
    assert "..." not in gradcli("--help").stdout.partition("Commands:")[2].partition("\n\n")[0]  # nothing is cut off


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Usage"),
        (["chekc", "x.grad"], "no command 'chekc' [G102]\n  hint: did you mean 'check'?"),
        (["grad", ""], "a path is empty"),
        (["check", "x.grad", "--no-config", "--config", "x.toml"], "--config and --no-config exclude each other"),
        (["check"], "PATH"),
        (["check", "x.grad", "--verbos"], "--verbose"),
        (["check", "x.grad", "--seed", "many"], "--seed"),
        (["check", "x.grad", "--color", "pink"], "pink"),
        (["grad"], "FILE"),
    ],
)
def test_usage(gradcli, arguments, message):
    done = gradcli(*arguments)
    assert done.returncode == ExitStatus.ERROR
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_bug_of_ours(monkeypatch, programs, tmp_path, capsys):
    import gradcli.batch.here

    def broken(*arguments):
        raise AttributeError("ours")

    monkeypatch.setattr(gradcli.batch.here, "check_file", broken)
    monkeypatch.chdir(tmp_path)
    files = programs("good")
    assert cli.status_of(["check", *files]) is ExitStatus.BUG
    told = capsys.readouterr().err
    assert "bug of gradcli" in told
    assert "Traceback" not in told
    assert cli.status_of(["check", *files, "--debug"]) is ExitStatus.BUG
    assert "Traceback" in capsys.readouterr().err


def test_an_interrupt_before_anything_is_there(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "main", interrupted)
    with pytest.raises(SystemExit) as stop:
        __main__.main()
    assert stop.value.code == ExitStatus.INTERRUPTED


def test_interrupt(monkeypatch, programs, tmp_path):
    import gradcli.batch.here

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(gradcli.batch.here, "check_file", interrupted)
    monkeypatch.chdir(tmp_path)
    assert cli.status_of(["check", *programs("good")]) is ExitStatus.INTERRUPTED
