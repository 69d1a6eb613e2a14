"""The symbolic reference, per node: SymPy's derivative of each primitive, chained at 50 digits over a scalar tape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np

from gradcli.engine.trace import Record
from gradcli.ops.elementwise import Elementwise
from gradcli.references import BUDGET
from gradcli.references.derived import apply
from gradcli.references.difference import as_float
from gradcli.references.estimate import NoAnswer
from gradcli.references.pair import Pair, constant, holds_complex, lifted, parts, scalars
from gradcli.references.path import Path
from gradcli.references.scalar import DIGITS, BudgetExceeded, Scalar, Tape, number, to_float


class Exact:
    """The output at 50 digits, and how to differentiate it: made once for a target, asked for each input.

    `suspects` are the records whose operation has a switch exactly at its argument, with their results. With
    `side` set, those records take the branch on one side of it (+1 or -1) instead of the convention.
    """

    def __init__(self, path: Path, budget: int = BUDGET, digits: int = DIGITS, side: int = 0) -> None:
        self.path = path
        self.budget = budget
        self.digits = digits
        self.side = side
        self.tape = Tape(budget)
        self.suspects: list[tuple[Record, Any]] = []
        self.live: set[int] = set()
        self.found: dict[bytes | None, list[tuple[np.ndarray, np.ndarray]]] = {}
        self.beyond: dict[bytes | None, list[list[np.ndarray]]] = {}
        if path.scalars > budget:
            raise NoAnswer(f"more than {budget} scalar operations")
        with mpmath.workdps(digits):
            try:
                given = [[lifted(as_float(r.value), self.tape) for r in records] for records in path.inputs]
                pairs = zip(given, path.inputs, strict=True)
                self.variables = [[real_numbers(v, r.value) for v, r in zip(*both, strict=True)] for both in pairs]
                output = path.replay(given, self.step, lambda value: constant(as_float(value)))
                self.output = real_numbers(output, path.output.value)
            except BudgetExceeded:
                raise NoAnswer(f"more than {budget} scalar operations") from None
            except (TypeError, ValueError, AttributeError, NotImplementedError):
                if not any(holds_complex(r.value) for r in path.steps):
                    raise
                raise NoAnswer("an operation has no exact form for complex numbers") from None

    def step(self, record: Record, args: list[Any]) -> Any:
        op = record.op
        assert op is not None
        reason = getattr(op, "no_exact", None)
        if reason:
            raise NoAnswer(f"{op.name}: {reason}")
        decision = record.decision
        at_kink = None
        if op.decides:
            values = [a.value if isinstance(a, Record) else a for a in record.inputs]
            at_kink = kink_mask(record, values)
            if at_kink is not None and self.side:
                decision = beyond(record, values, at_kink, self.side)
        out = apply(op, tuple(args), decision)
        if at_kink is not None:
            self.suspects.append((record, out))
        return out

    @property
    def kinked(self) -> list[Record]:
        """The suspects that some derivative taken so far went through."""
        return [record for k, (record, _) in enumerate(self.suspects) if k in self.live]

    def derivative(self, weights: np.ndarray | None) -> list[tuple[np.ndarray, np.ndarray]]:
        """(value, gross size of the terms) for each input: weighted, or a Jacobian of output shape + input shape."""
        key = None if weights is None else np.asarray(weights).tobytes()
        if key not in self.found:
            self.found[key] = self._derivative(weights)
        return self.found[key]

    def _derivative(self, weights: np.ndarray | None) -> list[tuple[np.ndarray, np.ndarray]]:
        shapes = [parts(records[0].value).shape for records in self.path.inputs]
        if weights is not None:
            return [(rounded(v, s), rounded(g, s)) for (v, g), s in zip(self.sweep(weights), shapes)]
        out_shape = self.output.shape
        rows = [self.sweep(unit.reshape(out_shape)) for unit in np.eye(math.prod(out_shape))]
        return [
            (rounded([v for r in rows for v in r[i][0]], out_shape + s), rounded([v for r in rows for v in r[i][1]], out_shape + s))
            for i, s in enumerate(shapes)
        ]

    def sweep(self, weights: np.ndarray) -> list[tuple[list[Any], list[Any]]]:
        """d(sum(weights * output)) by each input, and the same sum with every term made positive."""
        with mpmath.workdps(self.digits):
            pairs = zip(self.output.flat, np.asarray(weights).flat)
            seeds = [(s.place, number(w)) for s, w in pairs if type(s) is Scalar and s.place >= 0 and w != 0]
            adjoint, gross = self.tape.sweep(seeds)
            self.live |= {k for k, (_, out) in enumerate(self.suspects) if any(selected(part, adjoint) for part in results(out))}
            return [(total(variables, adjoint), total(variables, gross)) for variables in self.variables]

    def noise(self, weights: np.ndarray) -> float:
        """The rounding noise of one float64 evaluation of sum(weights * output): eps * sum(abs(adjoint * value))."""
        with mpmath.workdps(15):
            seeds = [(s.place, number(w)) for s, w in zip(self.output.flat, np.asarray(weights).flat) if type(s) is Scalar and s.place >= 0]
            adjoint, _ = self.tape.sweep(seeds)
            size = sum((abs(float(a)) * abs(v) for a, v in zip(adjoint, self.tape.values) if a), 0.0)
            return float(np.finfo(np.float64).eps) * size

    def beyond_kinks(self, weights: np.ndarray | None) -> list[list[np.ndarray]]:
        """The derivative by each input on either side of the kinks at the point; empty where there is none."""
        self.derivative(weights)
        if not self.kinked:
            return []
        key = None if weights is None else np.asarray(weights).tobytes()
        if key not in self.beyond:
            sides = [Exact(self.path, self.budget, self.digits, side) for side in (1, -1)]
            self.beyond[key] = [[value for value, _ in side.derivative(weights)] for side in sides]
        return self.beyond[key]


def results(out: Any) -> tuple[Any, ...]:
    return out if isinstance(out, tuple) else (out,)


def selected(out: Any, adjoint: list[Any]) -> bool:
    """Whether the derivative goes through some number of a result."""
    numbers = scalars(out, any(isinstance(v, Pair) for v in np.asarray(out, dtype=object).flat))
    return any(type(s) is Scalar and s.place >= 0 and adjoint[s.place] != 0 for s in numbers)


def real_numbers(value: Any, base: Any) -> np.ndarray:
    """A result as an array of real numbers, shaped like the parts of its value at the base run."""
    shape = parts(base).shape
    out = np.empty(math.prod(shape), dtype=object)
    out[:] = list(scalars(value, holds_complex(base)))
    return out.reshape(shape)


def kink_mask(record: Record, values: list[Any]) -> np.ndarray | None:
    """Where a switch of the record's operation lies exactly at its argument; None where nowhere."""
    distance = record.op.kinks(*values) if record.op is not None else None
    if distance is None:
        return None
    mask = np.asarray(distance) == 0
    return mask if mask.any() else None


NUDGE = 1e-7


def beyond(record: Record, values: list[Any], mask: np.ndarray, side: int) -> Any:
    """The decision just beside the point: all arguments moved up or down, each number by another amount, so that ties part."""
    assert record.op is not None
    if any(map(holds_complex, values)):
        return record.decision
    decision = record.op.decide(*(nudged(v, side * (1 + k)) for k, v in enumerate(values)))
    return np.where(mask, decision, record.decision) if isinstance(record.op, Elementwise) else decision


def nudged(value: Any, steps: int) -> Any:
    """Floating numbers moved by so many steps, the later ones a little farther; anything else as it is."""
    array = np.asarray(value)
    if array.dtype.kind != "f":
        return value
    farther = 1 + np.arange(array.size).reshape(array.shape) / max(array.size, 1)
    return array + steps * NUDGE * np.maximum(1.0, np.abs(array)) * farther


def total(variables: Sequence[np.ndarray], adjoint: list[Any]) -> list[Any]:
    """The adjoints of one input, summed over its records."""
    columns = [[adjoint[s.place] for s in variable.flat] for variable in variables]
    return [sum(parts[1:], parts[0]) for parts in zip(*columns)]


def rounded(flat: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    return np.array([to_float(v) for v in flat], dtype=np.float64).reshape(shape)
