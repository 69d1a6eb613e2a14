"""Gradients at smooth points near a kink: what a gradient at the kink must lie among.

The whole gradient is held against them, not only element by element: (1, 1) at a tie of max lies between the (1, 0)
and (0, 1) of its neighbours in each element, but not on the line from the one to the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mpmath
import numpy as np

from gradcli.check.judge import Judgement
from gradcli.check.target import Input
from gradcli.engine.trace import Record
from gradcli.references.derived import apply
from gradcli.references.difference import as_float, scales
from gradcli.references.estimate import NoAnswer
from gradcli.references.path import Path
from gradcli.references.scalar import DIGITS, BudgetExceeded, Scalar, Tape, lift, lowered, number
from gradcli.references.symbolic import rounded, total

DIRECTIONS = 12
"""Directions in which a kink is left, each to both sides."""
STEP = 1e-9
"""How far, relative to the size of an input."""
ROOM = 1e-6
"""How much a smooth gradient may change over a step, relative to the largest in sight."""


class Neighbours:
    """The gradients of some inputs at points beside the one that the program ran at; each a list of arrays, one an input."""

    def __init__(self, inputs: Sequence[Input], budget: int, seed: int = 0) -> None:
        self.inputs = list(inputs)
        self.budget = budget
        rng = np.random.default_rng(seed)
        sizes = [np.size(i.autograd) for i in self.inputs]
        whole = [rng.normal(size=sum(sizes)) for _ in range(DIRECTIONS)]
        self.directions = [np.ones(sum(sizes)), *whole]
        self.cuts = np.cumsum(sizes)[:-1]
        self.points = np.array([self.flat(sign * d) for d in whole for sign in (1.0, -1.0)])

    def flat(self, direction: np.ndarray) -> np.ndarray:
        parts = np.split(direction, self.cuts)
        moves = [p.reshape(i.shape) * STEP * scales(point(i)) for p, i in zip(parts, self.inputs, strict=True)]
        return np.concatenate([g.reshape(-1) for g in self.gradient(moves)])

    def gradient(self, moves: list[np.ndarray]) -> list[np.ndarray]:
        """The gradient by each input after moving all of them. Raises NoAnswer."""
        found = [np.zeros(i.shape) for i in self.inputs]
        terms = {id(t): t for i in self.inputs for t in i.terms}
        for term in terms.values():
            records = [i.records(term) for i in self.inputs]
            used = [k for k, r in enumerate(records) if r]
            if term.record is None or not used:
                continue
            parts = beside(Path(term.record, [records[k] for k in used]), [moves[k] for k in used], term.weights, self.budget)
            for k, part in zip(used, parts, strict=True):
                found[k] = found[k] + part
        return found

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


def point(item: Input) -> np.ndarray:
    records = next((r for r in (item.records(t) for t in item.terms) if r), [])
    return np.asarray(as_float(records[-1].value)) if records else np.zeros(item.shape)


def beside(path: Path, moves: Sequence[np.ndarray], weights: np.ndarray | None, budget: int) -> list[np.ndarray]:
    """The weighted gradient by each input of the path at a moved point, every switch decided anew. Raises NoAnswer."""
    if weights is None:
        raise NoAnswer("a Jacobian has no one gradient")
    tape = Tape(budget)
    with mpmath.workdps(DIGITS):
        variables = [[lift(as_float(r.value) + move, tape) for r in records] for records, move in zip(path.inputs, moves, strict=True)]
        try:
            output = np.asarray(path.replay(variables, anew, as_float), dtype=object)
        except BudgetExceeded:
            raise NoAnswer(f"more than {budget} scalar operations") from None
        pairs = zip(output.flat, np.asarray(weights).flat, strict=True)
        seeds = [(s.place, number(w)) for s, w in pairs if type(s) is Scalar and s.place >= 0]
        adjoint, _ = tape.sweep(seeds)
        return [rounded(total(v, adjoint), np.shape(records[0].value)) for v, records in zip(variables, path.inputs, strict=True)]


def anew(record: Record, args: list[Any]) -> Any:
    """One operation with the decision that its arguments call for."""
    op = record.op
    assert op is not None
    if getattr(op, "no_exact", None):
        raise NoAnswer(f"{op.name} cannot be moved")
    return apply(op, tuple(args), op.decide(*map(lowered, args)) if op.decides else None)


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
