"""The cache: an answer comes back only while everything that it depends on is the same."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import gradcli
from gradcli.batch import cache as caching
from gradcli.batch.cache import Cache
from gradcli.batch.codec import encode
from gradcli.batch.here import check_one
from gradcli.batch.run import outcomes
from gradcli.batch.task import Task
from gradcli.check.options import CheckOptions
from gradcli.interpreter.limits import Limits
from gradcli.syntax.source import Source

SQUARE = "x = tensor([1.0, 2.0], requires_grad=True)\nout = (x**2).sum()\n"
LOADING = "x = tensor(load('data.csv'), requires_grad=True)\nout = (x**2).sum()\n"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Cache("cache")


def task(text: str = SQUARE, path: str = "x.grad", **options) -> Task:
    return Task(path, Source(path, text), CheckOptions(**options))


def store(cache: Cache, item: Task) -> None:
    found = check_one(item)
    cache.put(item, found.result, found.reads)


def test_an_answer_comes_back_to_the_last_bit(cache):
    found = check_one(task())
    cache.put(task(), found.result, found.reads)
    assert encode(cache.get(task())) == encode(found.result)


@pytest.mark.parametrize(
    "other",
    [
        task(SQUARE + "\n"), task(path="y.grad"), task(seed=1), task(output="out"), task(wrt=("x",)), task(grad_outputs="1.0"),
        task(order=2), task(set=(("x", "[1.0, 3.0]"),)), task(strict=True), task(rtol=1e-3), task(atol=1e-3), task(max_ulps=3.0),
        task(fail_on=frozenset({"kink"})), task(method="fd"), task(points=2), task(symbolic_budget=3), task(limits=Limits(steps=10**6)),
    ],
)  # fmt: skip
def test_other_content_or_options(cache, other):
    store(cache, task())
    assert cache.get(other) is None
    assert cache.get(task()) is not None


@pytest.mark.parametrize("what", ["gradcli", "python", "library", "file"])
def test_another_version(cache, monkeypatch, tmp_path, what):
    store(cache, task())
    if what == "gradcli":
        monkeypatch.setattr(gradcli, "__version__", "99")
    elif what == "python":
        monkeypatch.setattr(sys, "version", "9.9")
    elif what == "library":
        monkeypatch.setattr(caching.importlib.metadata, "version", lambda name: "99" if name == "numpy" else "1")
    else:
        (tmp_path / "package").mkdir()
        monkeypatch.setattr(gradcli, "__file__", str(tmp_path / "package" / "__init__.py"))
    caching.tool.cache_clear()
    try:
        assert Cache("cache").get(task()) is None
    finally:
        caching.tool.cache_clear()


def test_data_that_changes(cache):
    Path("data.csv").write_text("1\n2\n")
    store(cache, task(LOADING))
    assert cache.get(task(LOADING)) is not None
    Path("data.csv").write_text("1\n3\n")
    assert cache.get(task(LOADING)) is None


def test_data_that_comes_and_goes(cache):
    store(cache, task(LOADING))
    assert cache.get(task(LOADING)).error.type == "ValueError"
    Path("data.csv").write_text("1\n2\n")
    assert cache.get(task(LOADING)) is None
    store(cache, task(LOADING))
    Path("data.csv").unlink()
    assert cache.get(task(LOADING)) is None


def test_links_that_are_set_anew(cache):
    Path("one.csv").write_text("1\n")
    Path("two.csv").write_text("2\n")
    Path("data.csv").symlink_to("one.csv")
    store(cache, task(LOADING))
    Path("data.csv").unlink()
    Path("data.csv").symlink_to("two.csv")
    assert cache.get(task(LOADING)) is None


def test_another_data_folder(cache):
    for name in ("one", "two"):
        Path(name).mkdir()
        np.save(f"{name}/data.npy", np.ones(2) * len(name))
    text = LOADING.replace("csv", "npy")
    store(cache, task(text, data="one"))
    assert cache.get(task(text, data="two")) is None
    np.save("one/data.npy", np.zeros(2))
    assert cache.get(task(text, data="one")) is None


def test_data_that_changed_while_it_was_checked_is_not_kept(cache):
    Path("data.csv").write_text("1\n2\n")
    found = check_one(task(LOADING))
    Path("data.csv").write_text("1\n3\n")
    cache.put(task(LOADING), found.result, found.reads)
    assert cache.get(task(LOADING)) is None


def test_what_depends_on_the_machine_is_not_kept(cache):
    item = task("while True:\n    pass\n", limits=Limits(steps=10))
    store(cache, item)
    assert cache.get(item) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"sum": 1}', "\x00", '{"reads": [], "result": {"os": 1}, "sum": ""}'])
def test_a_damaged_entry_is_none(cache, text):
    store(cache, task())
    (entry,) = cache.entries.glob("*.json")
    entry.write_text(text)
    assert cache.get(task()) is None


def test_a_changed_number_is_noticed(cache):
    store(cache, task())
    (entry,) = cache.entries.glob("*.json")
    changed = json.loads(entry.read_text())
    changed["result"]["FileResult"]["status"] = "fail"
    entry.write_text(json.dumps(changed))
    assert cache.get(task()) is None


def test_the_folder_says_what_it_is(cache):
    store(cache, task())
    assert Path("cache/CACHEDIR.TAG").read_text().startswith("Signature: 8a477f597d28d172789f06886806bc55")
    assert Path("cache/.gitignore").read_text() == "*\n"
    assert not [path for path in cache.entries.iterdir() if path.suffix != ".json"]


def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cache").write_text("a file")
    cache = Cache("cache")
    store(cache, task())
    assert cache.trouble is not None
    assert cache.get(task()) is None


def test_a_run_with_a_cache_checks_only_what_is_new(cache, monkeypatch):
    tasks = [task(SQUARE, f"{name}.grad") for name in "abc"]
    first = [encode(outcome.result) for _, outcome in outcomes(tasks[:2], 1, cache)]
    checked = []
    monkeypatch.setattr("gradcli.batch.here.check_one", lambda item, recording: checked.append(item.path) or check_one(item))
    again = [encode(outcome.result) for _, outcome in outcomes(tasks, 1, cache)]
    assert checked == ["c.grad"]
    assert again[:2] == first
