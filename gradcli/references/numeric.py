"""The numerical reference of one input: a complex step where that is possible and agrees, else differences."""

from __future__ import annotations

import numpy as np

from gradcli.references import difference
from gradcli.references.complex_step import STEP, along, analytic, complex_step
from gradcli.references.difference import Program
from gradcli.references.estimate import Estimate
from gradcli.references.path import Path

AGREES = 1e-11
"""A complex step this close to the gradient under test is taken; any other element goes through the ladder of real steps."""


def numeric(path: Path, weights: np.ndarray | None, given: np.ndarray) -> Estimate:
    """The derivative by every element of the path's one input, with error bars; `given` is the gradient under test."""
    program = Program(path, weights)
    elements = np.arange(program.point.size)
    first = complex_step(program, elements) if path.reached and elements.size and analytic(program) else None
    if first is None:
        return difference.full(path, weights)
    shape = program.shape + program.point.shape
    value, error = (np.moveaxis(part, 0, -1).reshape(*program.shape, elements.size) for part in first)
    flat = np.asarray(given, dtype=float).reshape(value.shape)
    agree = np.abs(value - flat) <= AGREES * np.abs(flat) + error
    open_ = np.flatnonzero(~agree.reshape(-1, value.shape[-1]).all(axis=0))
    if open_.size:
        rest = difference.full(path, weights, open_)
        value[..., open_], error[..., open_] = rest.value, rest.error
    return Estimate(value.reshape(shape), error.reshape(shape), "full")


def projected(path: Path, weights: np.ndarray, direction: np.ndarray) -> tuple[float, float]:
    """The derivative along one direction and its error bar: a complex step where possible, else real ones."""
    program = Program(path, weights)
    if analytic(program):
        size = np.array([STEP])
        found = along(program, (1j * STEP * direction).reshape(1, -1), size)
        if found is not None:
            return float(found[0][0]), float(found[1][0])
    return difference.along(path, weights, direction)
