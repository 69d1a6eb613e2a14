"""Directories and globs: what is found in them, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradcli.discovery.pattern import patterns
from gradcli.discovery.walk import Wanted, entries, expand, once, search


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """`tree("a.grad", ".gitignore=*.tmp")` writes files below the working directory."""
    monkeypatch.chdir(tmp_path)

    def write(*names: str) -> Path:
        for name in names:
            path, _, text = name.partition("=")
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        return tmp_path

    return write


def test_ignore_files_of_every_folder(tree):
    tree("a.grad", "sub/b.grad", "sub/c.grad", "sub/.gitignore=c.*", "build/d.grad", ".gitignore=build/\n")
    assert search(".", Wanted()) == ["a.grad", "sub/b.grad"]


def test_the_inner_file_counts_more_and_gradclis_own_most(tree):
    tree(".gitignore=*.grad", "sub/.gitignore=!b.grad", "a.grad", "sub/b.grad", "sub/c.grad", ".gradcliignore=!a.grad")
    assert search(".", Wanted()) == ["a.grad", "sub/b.grad"]


def test_what_is_in_an_ignored_folder_cannot_come_back(tree):
    tree(".gitignore=build\n!build/a.grad", "build/a.grad")
    assert search(".", Wanted()) == []


def test_the_repository_around_counts(tree):
    tree(".git/HEAD", ".git/info/exclude=secret.grad", ".gitignore=/sub/a.grad", "sub/a.grad", "sub/b.grad", "sub/secret.grad")
    assert search("sub", Wanted()) == ["sub/b.grad"]


def test_without_a_repository_what_is_above_does_not_count(tree):
    tree(".gitignore=*.grad", "sub/a.grad")
    assert search("sub", Wanted()) == ["sub/a.grad"]


def test_a_folder_that_is_named_is_searched_even_if_ignored(tree):
    tree(".git/HEAD", ".gitignore=build/", "build/a.grad")
    assert search("build", Wanted()) == ["build/a.grad"]


def test_a_folder_that_may_not_be_read_is_not_passed_over(tree, monkeypatch):
    tree("a.grad", "sub/b.grad", "out/c.grad", ".gitignore=out/")
    monkeypatch.setattr("gradcli.discovery.walk.entries", lambda folder: refuse() if folder != "." else entries("."))
    assert search(".", Wanted()) == ["a.grad", "sub"]
    assert expand("*/b.grad") == []


def refuse() -> None:
    raise PermissionError(13, "Permission denied")


@pytest.mark.parametrize("marker", [".hidden/a.grad", "venv/pyvenv.cfg", "conda/conda-meta/history", "node_modules/x", "__pycache__/x"])
def test_skipped_folders(tree, marker):
    folder = marker.split("/")[0]
    tree("a.grad", marker, f"{folder}/deep/b.grad")
    assert search(".", Wanted()) == ["a.grad"]


def test_include_and_exclude(tree):
    root = tree("a.grad", "b.fpcore", "slow/c.grad", "slow/keep.grad", "d.txt")
    wanted = Wanted(root.as_posix(), patterns(["*.grad", "*.fpcore"]), patterns(["slow/*", "!slow/keep.grad"]))
    assert search(".", wanted) == ["a.grad", "b.fpcore", "slow/keep.grad"]


def test_links(tree):
    root = tree("a.grad", "sub/b.grad")
    (root / "link.grad").symlink_to("a.grad")
    (root / "broken.grad").symlink_to("nowhere")
    (root / "sub" / "round").symlink_to(root, target_is_directory=True)
    assert search(".", Wanted()) == ["a.grad", "link.grad", "sub/b.grad"]


def test_a_folder_reached_twice_is_checked_once(tree):
    root = tree("sub/b.grad")
    (root / "same").symlink_to("sub", target_is_directory=True)
    assert once([*search("sub", Wanted()), *search("same", Wanted()), "./sub/../sub/b.grad"]) == ["sub/b.grad"]


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.grad", ["a.grad", "b.grad"]),
        ("**/*.grad", ["a.grad", "b.grad", "sub/c.grad", "sub/deep/d.grad"]),
        ("sub/**/*.grad", ["sub/c.grad", "sub/deep/d.grad"]),
        ("su?/*", ["sub/c.grad", "sub/deep"]),
        ("[!a].grad", ["b.grad"]),
        (".h*/*.grad", [".h/e.grad"]),
        ("nothing/*.grad", []),
    ],
)
def test_globs(tree, glob, found):
    root = tree("a.grad", "b.grad", "sub/c.grad", "sub/deep/d.grad", ".h/e.grad")
    (root / "sub" / "round").symlink_to(root, target_is_directory=True)
    assert [path for path in expand(glob) if not path.endswith("round")] == found


def test_a_folder_that_may_not_be_read_has_nothing(tree):
    root = tree("a.grad", "closed/b.grad")
    (root / "closed").chmod(0)
    try:
        assert search(".", Wanted())[0] == "a.grad"
    finally:
        (root / "closed").chmod(0o700)
