"""Which files a command line stands for."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradcli.commands import inputs
from gradcli.errors import UsageError
from gradcli.interpreter.limits import Limits


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("b.grad", "a.grad", "note.txt", "deep/er/c.grad", ".hidden/d.grad"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")
    (tmp_path / "empty").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("paths", "files"),
    [
        (["."], ["a.grad", "b.grad", "deep/er/c.grad"]),
        (["note.txt"], ["note.txt"]),
        (["b.grad", "a.grad", "b.grad"], ["b.grad", "a.grad"]),
        (["*.grad"], ["a.grad", "b.grad"]),
        (["**/*.grad"], ["a.grad", "b.grad", "deep/er/c.grad"]),
        (["dee*"], ["deep/er/c.grad"]),
        (["missing.grad"], ["missing.grad"]),
        (["-", "a.grad"], ["-", "a.grad"]),
    ],
)
def test_find(folder, paths, files):
    assert inputs.find(paths) == (files, [])


@pytest.mark.parametrize("path", ["empty", "*.nothing"])
def test_nothing_there(folder, path):
    files, empty = inputs.find([path, "a.grad"])
    assert files == ["a.grad"]
    assert path in empty[0].message


def test_links_in_a_circle_end(folder):
    (folder / "deep" / "round").symlink_to(folder, target_is_directory=True)
    assert inputs.find(["deep"])[0] == ["deep/er/c.grad"]


@pytest.mark.parametrize(("to", "words"), [("nowhere", "No such file or directory"), ("link.grad", "Too many levels of symbolic links")])
def test_a_link_to_nothing(folder, to, words):
    (folder / "link.grad").symlink_to(to)
    with pytest.raises(UsageError, match=f"^cannot read link.grad: it is a link to {to}: {words}$"):
        inputs.read("link.grad", Limits())


def test_a_forgotten_suffix(folder):
    with pytest.raises(UsageError) as raised:
        inputs.read("deep/er/c", Limits())
    assert raised.value.hint == "did you mean 'deep/er/c.grad'?"


def test_brackets_in_a_name_are_no_pattern_when_the_file_exists(folder):
    (folder / "x[1].grad").write_text("")
    assert inputs.find(["x[1].grad"])[0] == ["x[1].grad"]
