"""Gradients at smooth points near a kink: what a gradient at the kink must lie among.

The whole gradient is held against them, not only element by element: (1, 1) at a tie of max lies between the (1, 0)
and (0, 1) of its neighbours in each element, but not on the line from the one to the other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradcli.check.beside import beside
from gradcli.check.target import Input
from gradcli.check.verdicts import Judgement
from gradcli.references.difference import as_float, scales
from gradcli.references.estimate import NoAnswer
from gradcli.references.pair import parts
from gradcli.references.scalar import to_float

DIRECTIONS = 12
"""Directions in which a kink is left, each to both sides."""
STEP = 1e-9
"""How far, relative to the size of an input."""
ROOM = 1e-6
"""How much a smooth gradient may change over a step, relative to the largest in sight."""
FEW = 3
"""Directions in which a kink is left to see whether it shows in the output at all."""
NOISE = 1e-25
"""What 50 digits leave of numbers that cancel, relative to the largest in sight."""
SMALL_WORK = 4_000
"""Scalar operations of a program for which that is worth the price."""


class Neighbours:
    """The gradients of some inputs at points beside the one that the program ran at; each a list of arrays, one an input."""

    def __init__(self, inputs: Sequence[Input], budget: int, seed: int = 0, count: int = DIRECTIONS, step: float = STEP) -> None:
        self.inputs = list(inputs)
        self.budget = budget
        self.step = step
        rng = np.random.default_rng(seed)
        sizes = [np.size(i.autograd) for i in self.inputs]
        whole = [rng.normal(size=sum(sizes)) for _ in range(count)]
        self.directions = [np.ones(sum(sizes)), *whole]
        self.cuts = np.cumsum(sizes)[:-1]
        self.points = np.array([self.flat(sign * d) for d in whole for sign in (1.0, -1.0)])

    def flat(self, direction: np.ndarray) -> np.ndarray:
        parts = np.split(direction, self.cuts)
        moves = [p.reshape(i.shape) * self.step * scales(point(i)) for p, i in zip(parts, self.inputs, strict=True)]
        return np.concatenate([to_floats(g) for g in beside(self.inputs, moves, self.budget)])

    def allow(self, given: Sequence[np.ndarray]) -> bool:
        """Whether a whole gradient lies in the hull of the neighbours, as far as every element and every direction can tell."""
        flat = np.concatenate([np.reshape(g, -1) for g in given]) if given else np.zeros(0)
        known = self.points[np.isfinite(self.points).all(axis=1)]
        if not len(known):
            return True
        room = ROOM * max(float(np.max(np.abs(known), initial=0.0)), float(np.finfo(np.float64).tiny))
        low, high = known.min(axis=0) - room, known.max(axis=0) + room
        if not ((flat >= low) & (flat <= high)).all():
            return False
        for direction in self.directions:
            along, wide = known @ direction, room * float(np.abs(direction).sum())
            if not along.min() - wide <= float(flat @ direction) <= along.max() + wide:
                return False
        return True


def to_floats(numbers: np.ndarray) -> np.ndarray:
    return np.array([to_float(v) for v in np.ravel(numbers)])


def point(item: Input) -> np.ndarray:
    records = next((r for r in (item.records(t) for t in item.terms) if r), [])
    return parts(as_float(records[-1].value)) if records else np.zeros(item.shape)


def allow_subgradient(judgement: Judgement, item: Input, budget: int) -> None:
    """A claimed gradient that is another subgradient than PyTorch's is no failure: the whole of it must be one."""
    wrong = judgement.verdicts == "fail"
    if not wrong.any() or item.claimed is None:
        return
    try:
        allowed = Neighbours([item], budget).allow([item.claimed])
    except NoAnswer:
        return
    if allowed:
        judgement.verdicts[wrong] = "kink"
        judgement.failing[wrong] = False


def forgive_hidden_kinks(judgement: Judgement, item: Input, given: np.ndarray) -> None:
    """A kink inside that does not show in the output is none: what two branches share (a sum of all of a tie), what cancels (the
    distances of a set to itself). The gradients at smooth points close by then come as close to the one given as the points do."""
    kinks = judgement.verdicts == "kink"
    if not kinks.any() or any(term.weights is None for term in item.terms):
        return
    try:
        near, nearer = (Neighbours([item], SMALL_WORK, count=FEW, step=step).points.reshape(-1, *item.shape) for step in (1e3 * STEP, STEP))
    except NoAnswer:
        return
    with np.errstate(all="ignore"):
        middle, noise = nearer.mean(axis=0), NOISE * np.abs(nearer).max()
        spread = np.ptp(nearer, axis=0)
        shrinks = spread <= 0.01 * np.ptp(near, axis=0) + 1e-12 * np.abs(middle) + noise
        smooth = kinks & shrinks & (np.abs(middle - given) <= spread + ROOM * np.abs(middle) + noise)
    judgement.verdicts[smooth] = "pass"
