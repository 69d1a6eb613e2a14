"""The symbolic reference, per node: SymPy's derivative of each primitive, chained at 50 digits over a scalar tape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np

from gradcli.engine.trace import Record
from gradcli.references.derived import apply
from gradcli.references.estimate import Estimate, NoAnswer
from gradcli.references.path import Path
from gradcli.references.scalar import DIGITS, BudgetExceeded, Scalar, Tape, lift, number

BUDGET = 200_000
"""Scalar operations that the tape may hold unless told otherwise."""


class Exact:
    """The output at 50 digits, and how to differentiate it: made once for a target, asked for each input."""

    def __init__(self, path: Path, budget: int = BUDGET, digits: int = DIGITS) -> None:
        self.path = path
        self.digits = digits
        self.tape = Tape(budget)
        self.missing: str | None = None
        with mpmath.workdps(digits):
            self.variables = [[lift(r.value, self.tape) for r in records] for records in path.inputs]
            try:
                self.output = np.asarray(path.replay(self.variables, self.step), dtype=object)
            except BudgetExceeded:
                raise NoAnswer(f"more than {budget} scalar operations") from None

    def step(self, record: Record, args: list[Any]) -> Any:
        assert record.op is not None
        reason = getattr(record.op, "no_exact", None)
        if reason:
            raise NoAnswer(f"{record.op.name}: {reason}")
        return apply(record.op, tuple(args), record.decision)

    def value(self) -> np.ndarray:
        """The output, rounded to float64."""
        return np.array([float(v) for v in self.output.flat]).reshape(self.output.shape)

    def gradients(self, weights: np.ndarray) -> list[list[Any]]:
        """d(sum(weights * output))/d(input) for each input: flat lists of mpf numbers."""
        with mpmath.workdps(self.digits):
            seeds = [(s.place, number(w)) for s, w in zip(self.output.flat, np.asarray(weights).flat) if type(s) is Scalar and s.place >= 0 and w != 0]
            adjoint = self.tape.sweep(seeds)
            return [self.total(variables, adjoint) for variables in self.variables]

    @staticmethod
    def total(variables: Sequence[np.ndarray], adjoint: list[Any]) -> list[Any]:
        """The adjoints of one input, summed over its records."""
        columns = [[adjoint[s.place] for s in variable.flat] for variable in variables]
        return [sum(parts[1:], parts[0]) for parts in zip(*columns)]


def symbolic(path: Path, weights: np.ndarray | None, budget: int = BUDGET) -> list[Estimate]:
    """The derivative of the output by each input: weighted with `weights` (output's shape), or as a full Jacobian when None.

    Raises NoAnswer where the program is too large, or holds an operation without an exact form.
    """
    exact = Exact(path, budget)
    shapes = [np.shape(records[0].value) for records in path.inputs]
    if weights is not None:
        return [estimate(flat, shape) for flat, shape in zip(exact.gradients(weights), shapes)]
    out_shape = np.shape(path.output.value)
    rows = []
    for k in range(math.prod(out_shape)):
        unit = np.zeros(math.prod(out_shape))
        unit[k] = 1.0
        rows.append(exact.gradients(unit.reshape(out_shape)))
    return [estimate([v for row in rows for v in row[i]], out_shape + shape) for i, shape in enumerate(shapes)]


def estimate(flat: list[Any], shape: tuple[int, ...]) -> Estimate:
    """Numbers of 50 digits rounded to float64, with half a unit in the last place as error."""
    value = np.array([float(Scalar(v)) for v in flat], dtype=np.float64).reshape(shape)
    return Estimate(value, np.spacing(np.abs(value)) / 2, "per-node")
