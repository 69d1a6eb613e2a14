"""Pipes, encodings, colours, narrow terminals."""

from __future__ import annotations

import subprocess
import sys

import pytest

GRADCLI = f"{sys.executable} -m gradcli"
UNIX = pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")


def shell(script: str, folder, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=120, env={"PATH": "/usr/bin:/bin", **environment}
    )


@UNIX
@pytest.mark.parametrize("command", ["check good.grad", "check --help", "run loud.grad"])
def test_closed_pipe(programs, tmp_path, command):
    programs("good")
    (tmp_path / "loud.grad").write_text("for i in range(20000):\n    print(i)\n")
    done = shell(f"{GRADCLI} {command} | true; echo ${{PIPESTATUS[0]}}", tmp_path)
    assert done.stderr == ""
    # Where everything fits into the pipe before the reader goes, there is nothing to notice.
    assert done.stdout in ("141\n", "0\n") if command != "run loud.grad" else done.stdout == "141\n"


@UNIX
def test_closed_pipe_surely(programs, tmp_path):
    programs("good")
    done = shell(f"({GRADCLI} check good.grad; echo $? >&2) | exec true <&-", tmp_path)
    assert done.stderr == "141\n"


@pytest.mark.slow
@UNIX
@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- <&-"])
def test_closed_streams(programs, tmp_path, redirection):
    programs("good")
    done = shell(f"{GRADCLI} check good.grad {redirection}; echo status $?", tmp_path)
    assert (done.stdout.splitlines()[-1], done.stderr) == ("status 0", "")


@pytest.mark.slow
@UNIX
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_a_report_to_a_stream_that_is_a_file(programs, tmp_path, name):
    programs("good")
    done = shell(f"echo before > out; {GRADCLI} check good.grad --report gitlab={name} >> out; echo $?; echo after >> out", tmp_path)
    assert (done.stdout, done.stderr) == ("0\n", "")
    lines = (tmp_path / "out").read_text("utf-8").splitlines()
    assert (lines[0], lines[1], lines[-2], lines[-1]) == ("before", "PASS  good.grad", "[]", "after")


@UNIX
def test_nothing_to_read(tmp_path):
    done = shell(f"{GRADCLI} run - <&-; echo $?", tmp_path)
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.slow
@UNIX
def test_a_script_under_set_e(programs, tmp_path):
    programs("good", "wrong", "syntax", "nothing")
    script = f"""
set -euo pipefail
check() {{ {GRADCLI} check "$@" >/dev/null 2>&1; }}
check good.grad
status=0; check nothing.grad || status=$?; test $status = 5
status=0; check good.grad wrong.grad syntax.grad || status=$?; test $status = 2
echo reached
check wrong.grad
echo never
"""
    done = shell(script, tmp_path)
    assert (done.returncode, done.stdout) == (1, "reached\n")


@UNIX
def test_full_disk(programs, tmp_path):
    programs("good")
    done = shell(f"{GRADCLI} check good.grad > /dev/full", tmp_path)
    assert done.returncode == 2
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr


@UNIX
def test_nobody_hears_of_an_error(programs, tmp_path):
    programs("syntax")
    done = shell(f"{GRADCLI} check syntax.grad --report gitlab=out.json 2>/dev/full >/dev/null; echo $?", tmp_path)
    assert done.stdout == "2\n"
    assert (tmp_path / "out.json").exists()


@pytest.mark.slow
@UNIX
@pytest.mark.parametrize("format", ["table", "jsonl"])
@pytest.mark.parametrize(("stream", "status"), [("1>/dev/full", 2), ("| exec true <&-", 141)])
def test_what_goes_elsewhere_is_written_where_standard_output_is_not(programs, tmp_path, format, stream, status):
    programs("good")
    done = shell(f"({GRADCLI} check good.grad --format {format} --report gitlab=out.json; echo $? >&2) {stream}", tmp_path)
    assert done.stderr.splitlines()[-1] == str(status)
    assert (tmp_path / "out.json").read_text() == "[]\n"


@UNIX
def test_a_working_directory_that_is_gone(tmp_path):
    (tmp_path / "gone").mkdir()
    done = shell(f"cd gone; rmdir ../gone; {GRADCLI} check .; echo $?", tmp_path)
    assert (done.stdout, done.stderr) == ("2\n", "gradcli: error: the working directory is gone, or may not be looked into\n")


@pytest.mark.slow
@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "cp1252"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_encodings(gradcli_process, tmp_path, environment):
    (tmp_path / "grad.grad").write_text("# µ ± 梯度\nλ = tensor(1.0, requires_grad=True)\nout = λ * 2\n", encoding="utf-8")
    done = gradcli_process("check", "grad.grad", env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "finite difference" in done.stdout


def test_json_is_utf8_everywhere(programs, tmp_path):
    (tmp_path / "g.grad").write_text("λ = tensor(1.0, requires_grad=True)\nout = λ * 2\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "gradcli", "check", "g.grad", "--format", "json"],
        cwd=tmp_path,
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii"},
        timeout=60,
        check=False,
    )
    assert "λ" in done.stdout.decode("utf-8")


@pytest.mark.parametrize(
    ("environment", "options", "colored"),
    [
        ({}, [], False),
        ({"FORCE_COLOR": "1"}, [], True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, [], False),
        ({"NO_COLOR": "1"}, ["--color", "always"], True),
        ({"FORCE_COLOR": "1"}, ["--color", "never"], False),
    ],
)
def test_colour(gradcli, programs, environment, options, colored):
    done = gradcli("check", *programs("good"), *options, env=environment)
    assert ("\x1b[" in done.stdout) is colored


@pytest.mark.parametrize("options", [[], ["--help"]])
def test_no_colour_for_a_ci_system(gradcli_process, programs, options):
    """Typer looks for one while it is imported."""
    done = gradcli_process("check", *programs("good"), *options, env={"GITHUB_ACTIONS": "true"})
    assert done.returncode == 0
    assert "\x1b[" not in done.stdout


NARROW = (
    "check wrong.grad", "check wrong.grad good.grad kink.grad nothing.grad", "check good.grad", "graph wrong.grad", "trace good.grad",
    "derive good.grad", "grad good.grad", "config", "explain", "ops --match softplus",
)  # fmt: skip


@pytest.mark.parametrize("width", [40, 60])
@pytest.mark.parametrize("line", NARROW)
def test_narrow(gradcli, programs, line, width):
    programs("good", "wrong", "kink", "nothing")
    done = gradcli(*line.split(), env={"COLUMNS": str(width)})
    assert [shown for shown in done.stdout.splitlines() if len(shown) > width] == []
    assert done.stdout
