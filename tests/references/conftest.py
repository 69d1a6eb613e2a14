"""Traces of small programs for the tests of the references."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from gradcli.check.collect import judging
from gradcli.engine.trace import Record
from gradcli.interpreter.program import Program, Run
from gradcli.references.path import Path, reachable
from gradcli.syntax.parser import parse
from gradcli.syntax.source import Source


@dataclass
class Traced:
    """A program that has run: its variables and their records."""

    run: Run

    def record(self, name: str) -> Record:
        found = self.run.scope[name].record()
        assert isinstance(found, Record)
        return found

    def path(self, output: str, *inputs: str) -> Path:
        """The path from leaves to an output; a leaf stands for every value that it had."""
        top = self.record(output)
        every = reachable(top, set())
        return Path(top, [[r for r in every if r.tensor is self.run.scope[name]] or [self.record(name)] for name in inputs])

    def value(self, name: str) -> np.ndarray:
        return np.asarray(self.run.scope[name].value)


@pytest.fixture
def trace() -> Iterator[Callable[[str], Traced]]:
    """`trace(text)` runs a program of the language and keeps its trace."""
    opened: list[Any] = []

    def run(text: str) -> Traced:
        found = Program(parse(Source("t.grad", text))).run(trace=True)
        assert found.error is None, found.error
        context = judging(found)
        context.__enter__()
        opened.append(context)
        return Traced(found)

    yield run
    for context in reversed(opened):
        context.__exit__(None, None, None)
