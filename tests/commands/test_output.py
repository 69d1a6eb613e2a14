"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from gradcli.commands.output import write
from gradcli.errors import UsageError


def test_new_and_again(tmp_path: Path):
    path = tmp_path / "report.json"
    write(str(path), "1\n")
    path.chmod(0o640)
    write(str(path), "2\n")
    assert path.read_text() == "2\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["report.json"]


def test_a_failure_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "report.json"
    path.write_text("old")

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(UsageError, match=r"cannot write .*report.json: No space left"):
        write(str(path), "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["report.json"]


def test_missing_folder(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot write"):
        write(str(tmp_path / "no" / "report.json"), "")


def test_a_folder_is_no_file(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot write"):
        write(str(tmp_path), "")


def test_a_link_stays_a_link(tmp_path: Path):
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    write(str(tmp_path / "link.json"), "new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text() == "new"


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="needs /dev/null")
def test_a_device_stays_a_device():
    write("/dev/null", "text")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
