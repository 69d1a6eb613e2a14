"""Finite differences of the traced program: a ladder of steps, extrapolated, each estimate with its error bar.

Every decision of the base run (branch, mask, index, sort order) is kept, so a step never crosses a kink.
All perturbed points of a chunk are evaluated in one pass, along a leading axis.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.trace import Record
from gradcli.references.estimate import Estimate
from gradcli.references.pair import holds_complex, joined, parts
from gradcli.references.path import Path

EPS = float(np.finfo(np.float64).eps)
QUICK = (2.0**-8, 2.0**-9, 2.0**-10)
"""Relative steps of the first try: three steps, six evaluations an element."""
LADDER = tuple(2.0**-k for k in range(2, 28, 2))
"""Relative steps of the full ladder."""
CHUNK_BYTES = 32 << 20
WIDE = 1e-6
"""A relative error bar that is worth another ladder."""
CONTRACTION = 1.25
"""How much slower than their series says successive slopes may come closer."""
NOISE = 8.0
"""How many roundings of the size of the output one evaluation is taken to suffer at least."""


class Program(NamedTuple):
    """The path from one input to the output, with what judging its values needs.

    `weights` has the output's shape, or is None for a full Jacobian; `noise` is the absolute rounding noise of
    the weighted output, 0 where unknown.
    """

    path: Path
    weights: np.ndarray | None
    noise: float = 0.0

    @property
    def point(self) -> np.ndarray:
        return parts(as_float(self.path.inputs[0][-1].value))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one derivative by one element: () when weighted, else the output's."""
        return () if self.weights is not None else parts(self.path.output.value).shape

    def values(self, deltas: np.ndarray) -> np.ndarray:
        """The output at the point moved by each row of `deltas` (rows, *input shape): (rows, *output shape)."""
        self.path.evaluations += len(deltas)
        records = self.path.inputs[0]
        given = [[as_float(r.value) + (joined(deltas) if holds_complex(r.value) else deltas) for r in records]]
        found = parts(self.path.replay(given, step, as_float))
        return found.astype(float) if found.dtype.kind == "b" else found  # a comparison, written into a tensor of numbers

    def slopes(self, plus: np.ndarray, minus: np.ndarray, width: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Difference quotients of two stacks of outputs `width` apart, and the rounding noise in each."""
        difference = plus - minus
        size = np.maximum(np.abs(plus), np.abs(minus))
        if self.weights is not None:
            axes = tuple(range(1, difference.ndim))
            difference = (difference * self.weights).sum(axis=axes)
            size = (size * np.abs(self.weights)).sum(axis=axes)
        wide = width.reshape(-1, *(1,) * (difference.ndim - 1))
        return difference / wide, (NOISE * EPS * size + 2 * self.noise) / wide


def as_float(value: Any) -> Any:
    """Floating values in float64 or complex128: references of a float32 program are not rounded to float32."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc":
        return np.asarray(value, dtype=np.float64 if value.dtype.kind == "f" else np.complex128)
    return value


def step(record: Record, args: list[Any]) -> Any:
    """One operation over the leading axis of those arguments that move."""
    op = record.op
    assert op is not None
    lead = [type(a) is Record and type(v) is np.ndarray and v.ndim > a.value.ndim for a, v in zip(record.inputs, args)]
    return op.batch(args, lead, record.decision) if any(lead) else op.replay(args, record.decision)


def scales(point: np.ndarray) -> np.ndarray:
    """The size that steps are relative to: of the element itself, for zeros that of the others, or 1."""
    size = np.abs(point)
    typical = float(np.max(size, initial=0.0)) or 1.0
    return np.where(size > 0, size, min(typical, 1.0))


def full(path: Path, weights: np.ndarray | None, elements: np.ndarray | None = None) -> Estimate:
    """The derivative by every element of the path's one input (or by some, flat), by the quick ladder: value and error bar.

    Shape: (weighted) the input's; (Jacobian) output shape + input shape; for some elements these are the last axis.
    """
    program = Program(path, weights)
    chosen = np.arange(program.point.size) if elements is None else elements
    if not path.reached or not chosen.size:
        zero = np.zeros(program.shape + (program.point.shape if elements is None else chosen.shape))
        return Estimate(zero, np.zeros_like(zero), "full")
    value, error = ladder(program, chosen, QUICK)
    value, error = np.moveaxis(value, 0, -1), np.moveaxis(error, 0, -1)
    shape = program.shape + (program.point.shape if elements is None else chosen.shape)
    return Estimate(value.reshape(shape), error.reshape(shape), "full")


def refined(estimate: Estimate, path: Path, weights: np.ndarray | None, elements: np.ndarray, noise: float = 0.0) -> None:
    """Replace those (flat) elements of an estimate by what the full ladder gives, relative to the element or, where better, to 1."""
    program = Program(path, weights, noise)
    value, error = ladder(program, elements, LADDER)
    size = np.abs(program.point.reshape(-1)[elements])
    wide = np.flatnonzero((size < 1) & ~(error <= WIDE * np.abs(value)).reshape(len(elements), -1).all(axis=1))
    if wide.size:
        other, bar = ladder(program, elements[wide], LADDER, np.ones(wide.size))
        better = bar < error[wide]
        value[wide], error[wide] = np.where(better, other, value[wide]), np.where(better, bar, error[wide])
    index = (slice(None),) * len(program.shape) + (elements,)
    known = np.isfinite(np.moveaxis(error, 0, -1))
    for whole, part in ((estimate.value, value), (estimate.error, error)):
        flat = whole.reshape(*program.shape, -1)
        flat[index] = np.where(known, np.moveaxis(part, 0, -1), flat[index])


def ladder(program: Program, elements: np.ndarray, steps: Sequence[float], size: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The derivative by each of the elements: central where both sides are finite, else one-sided; (elements, *derivative shape).

    `size` is what the steps are relative to, for each element; its own size unless given.
    """
    count = len(steps)
    if size is None:
        size = scales(program.point).reshape(-1)[elements]
    stacks, moves = evaluate(program, elements, size, [sign * s for sign in (1.0, -1.0) for s in steps])
    central = [program.slopes(p, m, a - b) for p, m, a, b in zip(stacks[:count], stacks[count:], moves[:count], moves[count:])]
    best = extrapolate(central, steps, order=2)
    base = parts(as_float(program.path.output.value))
    for side in (slice(0, count), slice(count, 2 * count)):
        if np.isfinite(best[1]).all():
            break
        rows = [program.slopes(v, np.broadcast_to(base, v.shape), w) for v, w in zip(stacks[side], moves[side])]
        value, error = extrapolate([(v, np.abs(e)) for v, e in rows], steps, order=1)
        worse = ~np.isfinite(best[1]) & np.isfinite(error)
        best = np.where(worse, value, best[0]), np.where(worse, error, best[1])
    return np.where(np.isfinite(best[1]), best[0], np.nan), best[1]


def one_sided(path: Path, weights: np.ndarray | None, elements: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The slopes to the right and to the left by each of the (flat) elements, and a bar that covers both; derivative shape + elements."""
    program, count = Program(path, weights), len(LADDER)
    size = scales(program.point).reshape(-1)[elements]
    stacks, moves = evaluate(program, elements, size, [sign * s for sign in (1.0, -1.0) for s in LADDER])
    base = parts(as_float(program.path.output.value))
    found = []
    for side in (slice(0, count), slice(count, 2 * count)):
        rows = [program.slopes(v, np.broadcast_to(base, v.shape), w) for v, w in zip(stacks[side], moves[side])]
        found.append(extrapolate([(v, np.abs(e)) for v, e in rows], LADDER, order=1))
    right, left = (np.moveaxis(value, 0, -1) for value, _ in found)
    return right, left, np.moveaxis(found[0][1] + found[1][1], 0, -1)


def along(path: Path, weights: np.ndarray, direction: np.ndarray) -> tuple[float, float]:
    """The derivative of the weighted output along one direction of the input's space, and its error bar, by the full ladder.

    The direction should be of the size of the point, element by element: steps are relative to it.
    """
    program = Program(path, weights)
    rows = np.array([sign * s for sign in (1.0, -1.0) for s in LADDER])
    out = np.concatenate([program.values(rows[r].reshape(-1, *(1,) * direction.ndim) * direction) for r in chunks(program, len(rows))])
    plus, minus = out[: len(LADDER)], out[len(LADDER) :]
    quotients = [program.slopes(plus[k : k + 1], minus[k : k + 1], np.array([2 * s])) for k, s in enumerate(LADDER)]
    value, error = extrapolate(quotients, LADDER, order=2)
    return float(value[0]), float(error[0])


def evaluate(program: Program, elements: np.ndarray, size: np.ndarray, steps: Sequence[float]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The output with each element moved alone by each relative step: for each step (elements, *output shape); and how far it moved.

    A float cannot be moved by any step: what counts is the distance that was covered.
    """
    point = program.point.reshape(-1)
    chosen = np.tile(elements, len(steps))
    here = point[chosen]
    moves = (here + np.repeat(np.asarray(steps), len(elements)) * np.tile(size, len(steps))) - here
    parts = []
    for rows in chunks(program, len(chosen)):
        deltas = np.zeros((len(chosen[rows]), point.size))
        deltas[np.arange(len(deltas)), chosen[rows]] = moves[rows]
        parts.append(program.values(deltas.reshape(-1, *program.point.shape)))
    shape = len(steps), len(elements)
    return list(np.concatenate(parts).reshape(*shape, *parts[0].shape[1:])), list(moves.reshape(shape))


def chunks(program: Program, count: int) -> Iterator[slice]:
    """Rows that are evaluated at once: enough to hide Python's overhead, few enough to stay in memory."""
    largest = max([np.size(r.value) for r in program.path.steps], default=1)
    rows = max(1, min(512, CHUNK_BYTES // (8 * max(largest, program.point.size))))
    return (slice(start, min(start + rows, count)) for start in range(0, count, rows))


def extrapolate(rows: list[tuple[np.ndarray, np.ndarray]], steps: Sequence[float], order: int) -> tuple[np.ndarray, np.ndarray]:
    """The extrapolated slope of the smallest error bound, and that bound.

    A small bound can be luck (a step that spans many periods): the slopes of the two finer steps after it must not
    be farther away than the last two slopes were from each other.
    """
    best = np.full(rows[0][0].shape, np.nan), np.full(rows[0][0].shape, np.inf)
    for i, (value, bound) in enumerate(tableau(rows, steps, order)):
        gap = np.abs(rows[i + 1][0] - rows[i][0])
        for slope, noise in rows[i + 2 : i + 4]:
            bound = np.fmax(bound, np.abs(slope - value) - gap - 4 * noise)
        better = bound < best[1]
        best = np.where(better, value, best[0]), np.where(better, bound, best[1])
    return best


def tableau(rows: list[tuple[np.ndarray, np.ndarray]], steps: Sequence[float], order: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Neville's tableau over a geometric ladder (coarse to fine): from the second step on, the entry of the smallest error bound.

    The error series is taken to start at h**order and to go on in steps of `order`. Where the entries of a column come
    closer as fast as that says, the bound of what is made of them is its distance from the last of them; else it is how
    far they are apart. Rounding noise is inherited.
    """
    ratio = steps[0] / steps[1]
    found = []
    previous: list[tuple[np.ndarray, np.ndarray]] = []
    gaps: list[np.ndarray] = []
    for slope, noise in rows:
        current, apart = [(slope, noise)], []
        best = np.full(slope.shape, np.nan), np.full(slope.shape, np.inf)
        for k, (old, old_noise) in enumerate(previous):
            factor = ratio ** (order * (k + 1))
            gap = np.abs(current[k][0] - old)
            value = current[k][0] + (current[k][0] - old) / (factor - 1)
            inherited = (factor * current[k][1] + old_noise) / (factor - 1)
            room = distance(gap, gaps[k] if k < len(gaps) else None, factor, 4 * current[k][1]) + inherited
            bound = np.where(np.isfinite(value), room, np.inf)
            better = bound < best[1]
            best = np.where(better, value, best[0]), np.where(better, bound, best[1])
            current.append((value, inherited))
            apart.append(gap)
        if previous:
            found.append(best)
        previous, gaps = current, apart
    return found


def distance(gap: np.ndarray, last: np.ndarray | None, factor: float, noise: np.ndarray) -> np.ndarray:
    """How far the limit may be from entries `gap` apart, the two before `last`, which should shrink by `factor`."""
    if last is None:
        return gap
    regular = gap <= CONTRACTION / factor * last + noise
    rate = np.divide(gap, last, out=np.ones(gap.shape), where=last > 0)
    return np.where(regular, gap / (factor - 1), gap / np.maximum(1 - rate, 0.1))


def work(path: Path) -> int:
    """Elements that a full pass over this input would compute."""
    return int(np.size(path.inputs[0][0].value)) * sum(int(np.size(r.value)) for r in path.steps)
