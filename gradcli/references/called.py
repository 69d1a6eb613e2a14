"""Finite differences of a plain Python function over numpy arrays: the same ladders as for programs, a call for each point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gradcli.references.difference import EPS, Program, scales

Call = Callable[[np.ndarray], np.ndarray]
"""The function of one of its arguments, the others held: array to array."""

KINK_STEPS = (2.0**-10, 2.0**-14)
"""Relative steps at which the slopes of the two sides are compared."""
SAMPLES = 9
"""Points, a few roundings apart, that show how noisy the function is."""
ROUNDINGS = (2.0**-46, 2.0**-21)


class Output(NamedTuple):
    value: np.ndarray


class Moved(NamedTuple):
    """One argument, as the ladders ask for it."""

    value: np.ndarray
    tensor: Any = None


class CallPath:
    """A function of one argument in the place of a traced path: what the ladders of `references.difference` need of one."""

    reached = True

    def __init__(self, call: Call, point: np.ndarray) -> None:
        self.call = call
        self.inputs = [[Moved(point)]]
        self.output = Output(call(point))
        self.steps: list[Any] = []
        self.evaluations = 0


class Called(Program):
    """A program whose values are had by calling."""

    def values(self, deltas: np.ndarray) -> np.ndarray:
        self.path.evaluations += len(deltas)
        return np.stack([self.path.call(self.point + delta) for delta in deltas])  # type: ignore[attr-defined]


def called(call: Call, point: np.ndarray, weights: np.ndarray | None) -> Called:
    """The function at a point, and how noisy it is there. `weights` as for `difference.Program`."""
    quiet = Called(CallPath(call, point), weights)  # type: ignore[arg-type]
    return quiet._replace(noise=noise(quiet))


def noise(program: Program) -> float:
    """The rounding noise of the (weighted) output, seen in its third differences over a few roundings of float64 and of float32.

    All points lie on one side, so that a kink at the first is no noise.
    """
    size = scales(program.point)
    direction = size * np.random.default_rng(0).uniform(0.5, 1.5, size.shape)
    places = np.arange(SAMPLES).reshape(-1, *(1,) * size.ndim)
    largest = 0.0
    for step in ROUNDINGS:
        bends = np.abs(np.diff(weighted(program, program.values(places * direction * step)), n=3, axis=0))
        largest = max(largest, float(np.max(bends[np.isfinite(bends)], initial=0.0)))
    return largest


def weighted(program: Program, values: np.ndarray) -> np.ndarray:
    """Outputs (rows, *output shape), summed with the weights where there are some."""
    if program.weights is None:
        return values
    total: np.ndarray = (values * program.weights).sum(axis=tuple(range(1, values.ndim)))
    return total


def sides(program: Program) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """By every element of the argument: whether there is a kink, and the slopes below and above; (*derivative shape, *argument shape).

    At a kink the two slopes stay apart as the step shrinks, elsewhere they come together.
    """
    count = program.point.size
    size = scales(program.point).reshape(-1)
    base = weighted(program, np.asarray(program.path.output.value, dtype=float)[np.newaxis])
    found = []
    for step in KINK_STEPS:
        moves = np.diag(step * size).reshape(count, *program.point.shape)
        width = (step * size).reshape(-1, *(1,) * (base.ndim - 1))
        above, below = (weighted(program, program.values(sign * moves)) for sign in (1.0, -1.0))
        found.append(((base - below) / width, (above - base) / width))
    (low_far, high_far), (low, high) = found
    gap, far = np.abs(high - low), np.abs(high_far - low_far)
    room = 1e-6 * (np.abs(low) + np.abs(high)) + 8 * (EPS * np.abs(base) + program.noise) / width
    kinked = (gap > room) & (gap > 0.5 * far) & (gap < 2 * far)
    shape = program.shape + program.point.shape
    return tuple(np.moveaxis(part, 0, -1).reshape(shape) for part in (kinked, low, high))
