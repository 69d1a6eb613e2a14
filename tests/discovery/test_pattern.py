"""Patterns of ignore files: held against git itself."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.discovery.pattern import parse


def ignores(text: str, path: str, *, is_directory: bool = False) -> bool:
    verdict = False
    for pattern in parse(text):
        if pattern.matches(path, is_directory=is_directory):
            verdict = not pattern.negated
    return verdict


CASES = [
    ("*.grad", "a.grad", True),
    ("*.grad", "deep/a.grad", True),
    ("/*.grad", "deep/a.grad", False),
    ("deep/*.grad", "deep/a.grad", True),
    ("deep/*.grad", "x/deep/a.grad", False),
    ("**/deep/*.grad", "x/y/deep/a.grad", True),
    ("**/a.grad", "a.grad", True),
    ("x/**/a.grad", "x/a.grad", True),
    ("x/**/a.grad", "x/y/z/a.grad", True),
    ("x/**", "x/y/z", True),
    ("x/**", "x", False),
    ("a**d", "agrad", True),
    ("x/a**d", "x/a/d", False),
    ("?.grad", "a.grad", True),
    ("[ab].grad", "b.grad", True),
    ("[!ab].grad", "b.grad", False),
    ("[^ab].grad", "c.grad", True),
    ("[]x].grad", "].grad", True),
    ("[a-c]x", "bx", True),
    ("[c-a]x", "bx", False),
    ("[[:digit:]]x", "7x", True),
    ("[ab", "[ab", False),
    ("a[!x]b", "a/b", False),
    (r"\#a", "#a", True),
    ("#a", "#a", False),
    (r"\!a", "!a", True),
    ("a \n", "a", True),
    ("a\\ \n", "a ", True),
    ("a\r\n", "a", True),
    ("\ufeffa", "a", True),
    ("a\\", "a\\", False),
    ("build/", "build", False),
    ("/", "a", False),
    ("*\n!a", "a", False),
    ("!a\n*", "a", True),
    (r"\*", "*", True),
    (r"\*", "a", False),
    ("ä?", "äö", True),
]


@pytest.mark.parametrize(("text", "path", "ignored"), CASES)
def test_cases(text, path, ignored):
    assert ignores(text, path) is ignored


def test_of_directories_alone():
    assert ignores("build/", "x/build", is_directory=True)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    if shutil.which("git") is None:
        pytest.skip("git is not there")
    folder = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def git_ignores(folder, text: str, paths: list[str]) -> list[bool]:
    (folder / ".gitignore").write_bytes(text.encode())
    asked = "".join(f"{path}\0" for path in paths).encode()
    command = ["git", "-c", "core.excludesFile=/dev/null", "check-ignore", "--no-index", "-z", "--stdin"]
    done = subprocess.run(command, cwd=folder, input=asked, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    answers = set(done.stdout.decode().split("\0"))
    return [path in answers for path in paths]


PATHS = ["a", "b", "ab", "a.b", "abc", "b.a", "[a", "a]", "!a", "#a", "-", "a-b", "*", "a b"]
PIECES = ["a", "b", "*", "**", "?", "/", "[ab]", "[!a]", "[^b]", "[a-c]", "[]a]", "!", "#", ".", "\\*", "\\a", "-", "[[:alpha:]]"]
PIECES += ["[", "]", " "]


@given(st.lists(st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join), min_size=1, max_size=3))
def test_against_git(repository, lines):
    """Names that are not there count as files, and each is in the top folder or one that no pattern can exclude alone."""
    text = "\n".join(lines) + "\n"
    assert git_ignores(repository, text, PATHS) == [ignores(text, path) for path in PATHS]


@given(st.lists(st.sampled_from(["a", "b", "*", "**", "?", "/", "/**/", "**/", "/**", "[ab]", "."]), min_size=2, max_size=6).map("".join))
def test_deep_paths_against_git(repository, line):
    paths = ["a/b", "b/a", "a/b/a", "a/a/b", "b/b/b/a", "ab/a.b"]
    parents = {path: ["/".join(path.split("/")[:k]) for k in range(1, path.count("/") + 1)] for path in paths}
    expected = [ignores(line, p) or any(ignores(line, up, is_directory=True) for up in parents[p]) for p in paths]
    assert git_ignores(repository, line + "\n", paths) == expected
