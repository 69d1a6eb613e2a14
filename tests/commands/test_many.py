"""`gradcli check` over many files: workers, limits, order, interrupts, progress, cache."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradcli.commands.progress import Progress

ENDLESS = "x = 0\nwhile True:\n    x = x + 1\n"
HUGE = "x = ones(5000, 5000)\ny = x + 1\nz = y + 1\n"
FOREVER = ("--max-steps", "1000000000000", "--max-seconds", "1000")


def document(done: subprocess.CompletedProcess[str]) -> dict:
    """The JSON, without the durations."""
    found = json.loads(done.stdout)
    for file in found["files"]:
        del file["seconds"]
    return found


def test_workers_give_what_one_process_gives(gradcli, programs, tmp_path):
    files = programs("good", "wrong", "kink", "syntax", "shape", "name", "nothing", "false", "bytes")
    one, two = (gradcli("check", *files, "missing.grad", "--format", "json", *more) for more in ((), ("-j", "2")))
    assert document(one) == document(two)
    assert (one.stderr, one.returncode) == (two.stderr, two.returncode)
    one, two = (gradcli("check", *files, "--verbose", *more) for more in ((), ("-j", "0")))
    assert one.stdout == two.stdout
    one, two = (gradcli("check", *files, "--quiet", *more) for more in ((), ("-j", "2")))
    assert one.stdout == two.stdout


def test_who_only_hears_of_workers_loads_nothing_heavy(programs, tmp_path):
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print(*sorted({name.partition('.')[0] for name in sys.modules}), file=sys.stderr))\n"
        "from gradcli.cli import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code, "check", *programs("good", "printing"), "-j", "2", "--quiet"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert not {"numpy", "sympy", "mpmath"} & set(done.stderr.split())


@pytest.mark.parametrize("more", [("--report", "json=out.json"), ("--cache",), ("--graph", "out.svg")])
def test_what_quiet_leaves_out_is_there_for_those_who_ask(gradcli, programs, tmp_path, more):
    """With --quiet alone the inside of a result where all is well is not kept."""
    files = programs("good") if "--graph" in more else programs("good", "wrong", "kink")
    plain, whole = gradcli("check", *files, "--quiet"), gradcli("check", *files, "--quiet", *more)
    assert (whole.stdout, whole.stderr, whole.returncode) == (plain.stdout, plain.stderr, plain.returncode)
    if "--graph" in more:
        gradcli("check", *files, "--graph", "loud.svg")
        assert (tmp_path / "out.svg").read_text() == (tmp_path / "loud.svg").read_text()
        return
    full = document(gradcli("check", *files, "--format", "json"))
    kept = gradcli("check", *files, "--format", "json", "--cache").stdout if "--cache" in more else (tmp_path / "out.json").read_text()
    assert [file["targets"] for file in json.loads(kept)["files"]] == [file["targets"] for file in full["files"]]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_file_that_hangs_is_killed_and_the_others_are_checked(gradcli, programs, tmp_path, jobs):
    (tmp_path / "hangs.grad").write_text(ENDLESS)
    """The limit is that file's alone, so that no other meets it on a slow machine."""
    (tmp_path / "gradcli.toml").write_text("timeout = 60\n[per-file.'hangs.grad']\ntimeout = 0.3\n")
    files = ["hangs.grad", *programs("good", "kink")]
    began = time.monotonic()
    done = gradcli("check", *files, "-j", jobs, "--format", "json", *FOREVER)
    assert time.monotonic() - began < 60
    assert [file["status"] for file in document(done)["files"]] == ["error", "pass", "kink"]
    assert document(done)["files"][0]["error"]["type"] == "LimitError"
    assert "hangs.grad: LimitError: limit reached: 0.3 seconds (--timeout 0.3) [G320]" in done.stderr
    assert done.returncode == 2


def test_a_file_that_takes_all_memory_is_stopped(gradcli, programs, tmp_path):
    (tmp_path / "huge.grad").write_text(HUGE)
    done = gradcli("check", "huge.grad", *programs("good"), "--memory", "300", "--format", "json")
    assert [file["status"] for file in document(done)["files"]] == ["error", "pass"]
    assert "limit reached: 300 MB of memory (--memory 300)" in done.stderr


def test_limits_beyond_all_bounds_are_none(gradcli, programs):
    assert gradcli("check", *programs("good"), "--memory", "1" + 30 * "0", "--timeout", "1e300").returncode == 0


def test_no_memory_at_all_is_a_limit_too(gradcli, programs):
    done = gradcli("check", *programs("good", "kink"), "--memory", "1")
    assert done.returncode in (0, 2)
    assert done.stderr == "" or "limit reached: 1 MB of memory (--memory 1)" in done.stderr


def test_an_expected_error_is_met_by_a_kill(gradcli, tmp_path):
    (tmp_path / "hangs.grad").write_text("# gradcli: expect error\n" + ENDLESS)
    assert gradcli("check", "hangs.grad", "--timeout", "0.3", *FOREVER).returncode == 0


@pytest.mark.parametrize("more", [(), ("-j", "2")])
def test_fail_fast_stops_at_the_first_in_order(gradcli, programs, more):
    done = gradcli("check", *programs("good", "wrong", "kink", "false"), "--fail-fast", "--format", "json", *more)
    assert [file["path"] for file in document(done)["files"]] == ["good.grad", "wrong.grad"]
    assert "gradcli: stopped at the first failure: 2 of 4 files are not checked\n" in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize("more", [(), ("-j", "2")])
def test_an_interrupt_leaves_a_partial_summary_and_no_process(programs, tmp_path, more):
    (tmp_path / "hangs.grad").write_text(ENDLESS)
    files = [*programs("good", "kink"), "hangs.grad"]
    with interruptible(tmp_path, *files, "--format", "jsonl", *more) as process:
        lines = [process.stdout.readline(), process.stdout.readline()]
        children = workers(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        rest, errors = process.communicate(timeout=30)
    assert [json.loads(line)["path"] for line in lines] == files[:2]
    assert rest == ""
    assert process.returncode == 130
    assert errors == "gradcli: interrupted: 2 of 3 files were checked\n"
    assert (len(children) > 0) is bool(more)
    assert not any(Path(f"/proc/{child}").exists() for child in children)


def test_an_interrupt_loses_nothing_that_is_done_behind_what_hangs(programs, tmp_path):
    (tmp_path / "hangs.grad").write_text(ENDLESS)
    done = programs("wrong", "good")
    with interruptible(tmp_path, "hangs.grad", *done, "missing.grad", "--format", "json", "-j", "2", "--cache") as process:
        while len(list(tmp_path.glob(".gradcli_cache/*/*.json"))) < len(done):
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        printed, errors = process.communicate(timeout=30)
    assert [(file["path"], file["status"]) for file in json.loads(printed)["files"]] == [
        ("wrong.grad", "fail"), ("good.grad", "pass"), ("missing.grad", "error"),
    ]  # fmt: skip
    assert process.returncode == 130
    assert "gradcli: interrupted: 3 of 4 files were checked\n" in errors


def interruptible(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "gradcli", "check", *arguments, *FOREVER]
    return subprocess.Popen(command, cwd=folder, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def workers(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def test_the_cache_changes_nothing_but_the_time(gradcli, programs, tmp_path):
    files = programs("good", "wrong", "kink", "syntax", "shape", "nothing", "false", "printing")
    plain = document(gradcli("check", *files, "--format", "json"))
    for more in (("--cache",), ("--cache",), ("--cache", "-j", "2"), ("--cache-dir", "other"), ("--cache-dir", "other", "-j", "2")):
        assert document(gradcli("check", *files, "--format", "json", *more)) == plain
    assert (tmp_path / ".gradcli_cache" / "CACHEDIR.TAG").exists()
    assert (tmp_path / "other" / "CACHEDIR.TAG").exists()


def test_no_cache_wins_over_the_configuration(gradcli, programs, tmp_path):
    (tmp_path / "gradcli.toml").write_text("cache = true\n")
    files = programs("good")
    gradcli("check", *files, "--no-cache")
    gradcli("check", *files, "--cache-dir", "kept", "--no-cache")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.grad", "gradcli.toml"]
    gradcli("check", *files)
    assert (tmp_path / ".gradcli_cache").exists()


def test_the_cache_sees_a_change_of_the_file(gradcli, tmp_path):
    file = tmp_path / "x.grad"
    for factor in (2.0, 3.0):
        file.write_text(f"x = tensor(1.0, requires_grad=True)\ny = x * {factor}\n")
        (found,) = document(gradcli("check", "x.grad", "--cache", "--format", "json"))["files"]
        assert found["targets"][0]["inputs"][0]["autograd"] == factor


def test_a_cache_that_cannot_be_written_is_only_a_warning(gradcli, programs, tmp_path):
    (tmp_path / ".gradcli_cache").write_text("")
    done = gradcli("check", *programs("good"), "--cache")
    assert done.returncode == 0
    assert "gradcli: warning: no results are kept: .gradcli_cache:" in done.stderr


class Terminal:
    encoding = "utf-8"

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        pass


def test_progress(monkeypatch):
    now = 100.0
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(time, "monotonic", lambda: now)
    terminal = Terminal()
    progress = Progress(10, terminal)
    progress.tick()
    assert terminal.text == ""
    now += 2.0
    progress.tick()
    assert terminal.text == "\r2 of 10 files, 0:08 left"
    now += 0.05
    progress.tick()
    assert terminal.text.count("\r") == 1
    progress.clear()
    assert terminal.text.endswith(f"\r{' ' * 24}\r")


def test_no_progress_where_nobody_looks(gradcli, programs):
    done = gradcli("check", *programs("good", "kink"), "-j", "2")
    assert done.stderr == ""
    assert not re.search("[\r\x1b]", done.stdout)
