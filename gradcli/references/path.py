"""The part of a trace that leads from chosen inputs to an output, and its replay on any kind of storage."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.engine.trace import Record
from gradcli.ops.elementwise import Elementwise

Apply = Callable[[Record, list[Any]], Any]
"""Computes the result (or results) of a record's operation from its arguments."""


class Path:
    """The records between inputs and an output, in order of creation.

    `inputs` holds for each differentiated input its records (a leaf that was updated between two uses has one
    for each of its values; all move together). Records that do not depend on an input are constants, at the
    value of the base run; so are the records in `held`, whatever they depend on.
    """

    def __init__(self, output: Record, inputs: Sequence[Sequence[Record]], held: Iterable[Record] = ()) -> None:
        self.output = output
        self.inputs = [list(records) for records in inputs]
        free = {id(r) for records in self.inputs for r in records}
        self.steps = downstream(reachable(output, free | {id(r) for r in held}), free)
        self.moves = {id(r) for r in self.steps} | free
        self.evaluations = 0
        """How often the program was evaluated for differences."""
        self.last = {id(arg): step.index for step in self.steps for arg in step.inputs if isinstance(arg, Record)}

    @property
    def scalars(self) -> int:
        """About how many scalar operations one replay takes: the elements of all results, for products with those summed over."""
        return sum(scalar_operations(step) for step in self.steps)

    @property
    def reached(self) -> bool:
        """Whether the output depends on any of the inputs."""
        return id(self.output) in self.moves

    def replay(self, values: Sequence[Sequence[Any]], apply: Apply, constant: Callable[[Any], Any] = lambda value: value) -> Any:
        """The output from new values of the inputs (one for each record of each input).

        `apply` gets, for each step, the replayed arguments where they depend on an input and
        `constant(value at the base run)` elsewhere.
        """
        if not self.reached:
            return constant(self.output.value)
        state: dict[int, Any] = {}
        for records, given in zip(self.inputs, values):
            for record, value in zip(records, given):
                state[id(record)] = value
        results: dict[int, tuple[Any, ...]] = {}
        moves, last, output = self.moves, self.last, id(self.output)
        for step in self.steps:
            call = id(step.inputs)
            if call in results:
                state[id(step)] = results[call][step.output_nr]
                continue
            args = []
            for a in step.inputs:
                if type(a) is Record:
                    args.append(state[id(a)] if id(a) in moves else constant(a.value))
                else:
                    args.append(constant(a))
            out = apply(step, args)
            if isinstance(out, tuple):
                results[call] = out
                out = out[step.output_nr]
            state[id(step)] = out
            for a in step.inputs:
                if type(a) is Record and last[id(a)] == step.index and id(a) != output:
                    state.pop(id(a), None)
        return state[output]


def scalar_operations(step: Record) -> int:
    """The elements of a result, times those that each is summed from; for a product n x k by k x m the root of (n k)(k m)(n m)."""
    size = int(np.size(step.value))
    if step.op is not None and step.op.mixed:
        (x,) = (a.value if isinstance(a, Record) else a for a in step.inputs)
        return size * sum(int(np.shape(x)[d]) for d in step.op.mixed)
    sizes = [int(np.size(a.value if isinstance(a, Record) else a)) for a in step.inputs if not np.isscalar(a)]
    if isinstance(step.op, Elementwise) or len(sizes) < 2:
        return size
    return max(size, math.isqrt(sizes[0] * sizes[1] * size))


def reachable(output: Record, stop: set[int]) -> list[Record]:
    """Every record that the output was computed from, down to the records of `stop`, oldest first."""
    seen = {id(output): output}
    stack = [output]
    while stack:
        record = stack.pop()
        if id(record) in stop:
            continue
        for arg in record.inputs:
            if isinstance(arg, Record) and id(arg) not in seen:
                seen[id(arg)] = arg
                stack.append(arg)
    return sorted(seen.values(), key=lambda r: r.index)


def downstream(records: list[Record], free: set[int]) -> list[Record]:
    """Those of the records (oldest first) that depend on a record of `free`."""
    moves = set(free)
    steps = []
    for record in records:
        if id(record) not in free and any(id(arg) in moves for arg in record.inputs if isinstance(arg, Record)):
            moves.add(id(record))
            steps.append(record)
    return steps
