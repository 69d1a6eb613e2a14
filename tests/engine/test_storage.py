"""Other storage for a run: constants are lifted where something finer is written into them, and nowhere else."""

from __future__ import annotations

from types import SimpleNamespace

from gradcli.engine.storage import MOST, Storage


def test_a_constant_is_lifted_from_the_attempt_after_it_was_written_into() -> None:
    storage = Storage(lift=str)
    values = []
    for _ in storage.attempts():
        buffer, other = SimpleNamespace(value=1), SimpleNamespace(value=2)
        storage.constant(buffer, "line 1")
        storage.constant(other, "line 2")
        values.append((buffer.value, other.value))
        if not isinstance(buffer.value, str):
            storage.overwritten(buffer)
    assert values == [(1, 2), ("1", 2)]


def test_what_the_program_computed_itself_calls_for_no_further_attempt() -> None:
    storage = Storage(lift=str)
    for _ in storage.attempts():
        storage.overwritten(SimpleNamespace(value=1))
    assert not storage.grown


def test_attempts_end() -> None:
    storage, count = Storage(), 0
    for _ in storage.attempts():
        buffer = SimpleNamespace(value=1)
        storage.constant(buffer, f"line {count}")
        storage.overwritten(buffer)
        count += 1
    assert count == MOST


def test_a_leaf_is_moved_before_it_is_lifted() -> None:
    assert Storage(lift=str, move=lambda value: value + 1).leaf(1) == "2"
