"""The point at which a program is checked: its own, and with `--points K` others near it or drawn anew."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import numpy as np

from gradcli.check.collect import collect
from gradcli.check.options import CheckOptions
from gradcli.check.target import Target
from gradcli.engine.storage import Storage
from gradcli.engine.trace import Tracer
from gradcli.interpreter.program import Program, Run

SPREAD = 0.2
"""How far the leaves of a claim are moved, relative to each element."""
PASTED = 12
"""Leaves of more elements than this are not written out."""


class Point:
    """A program with its options at point number `number`: 0 is the file's own.

    At the others random leaves are drawn from another seed; where the file makes claims, which are formulas, every leaf
    that requires grad is moved besides.
    """

    def __init__(self, program: Program, options: CheckOptions, number: int = 0) -> None:
        self.program = program
        self.number = number
        self.options = replace(options, seed=options.seed + number)
        self.moves = bool(number) and any(getattr(node.func, "id", None) == "claim" for node in calls(program))

    @property
    def name(self) -> str:
        return f"point {self.number + 1}"

    def collect(self, tracer: Tracer, storage: Storage | None = None) -> tuple[Run, list[Target]]:
        """Run the program here and take its targets, with its numbers in other storage."""
        if not self.moves:
            return collect(self.program, self.options, tracer, storage)
        rng = np.random.default_rng([self.options.seed, self.number])

        def moved(value: Any) -> Any:
            return value * (1 + rng.uniform(-SPREAD, SPREAD, np.shape(value)))

        storage = storage or Storage()
        storage.move = moved
        return collect(self.program, self.options, tracer, storage)

    def paste(self, target: Target) -> str:
        """Options that bring a check back to this point."""
        words = [f"--seed {self.options.seed}"]
        if self.moves:
            short = [item for item in target.inputs if np.size(item.tensor.value) <= PASTED and item.name.isidentifier()]
            words += [f"--set '{item.name}={np.asarray(item.tensor.value).tolist()}'" for item in short]
        return " ".join(words)


def calls(program: Program) -> list[ast.Call]:
    """The call expressions of a program."""
    return [node for node in ast.walk(program.tree.module) if isinstance(node, ast.Call)]
