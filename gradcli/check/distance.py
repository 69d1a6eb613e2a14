"""How far a gradient of a user Function or of one node is from the references, and how far rounding may take it."""

from __future__ import annotations

import numpy as np

from gradcli.check.opinions import Opinion
from gradcli.check.projection import Projection
from gradcli.check.target import Input
from gradcli.references.difference import scales
from gradcli.references.estimate import NoAnswer

SCREEN = 8.0
"""Roundings, of an element and of the terms that make it up, past which a Function is run without rounding."""
CLOSE = 1e-7
CANCELLED = 1e3
"""Relative disagreement that rounding inside a Function may cause, and roundings of the terms that cancel in it, where it cannot
be run so."""
EPS, TINY = float(np.finfo(np.float64).eps), float(np.finfo(np.float64).tiny)


def expectation(opinion: Opinion) -> np.ndarray | None:
    """The derivative by the best reference; NaN where neither speaks."""
    symbolic = None if opinion.symbolic is None else opinion.symbolic.value
    slope = None
    if opinion.difference is not None:
        value, bar = opinion.difference.value, opinion.difference.error
        slope = np.where(bar < 1e-4 * np.abs(value) + 1e-9, value, np.nan)
    if symbolic is None:
        return slope
    return symbolic if slope is None else np.where(np.isfinite(symbolic), symbolic, slope)


def truth(opinion: Opinion, item: Input) -> np.ndarray | None:
    """`expectation`; for an input too large to go by element, its gradient with those elements put right that bisection finds wrong."""
    found = expectation(opinion)
    if found is not None or opinion.project is None:
        return found
    eps = float(np.finfo(item.precision).eps)
    projection = Projection(item.autograd, scales(np.asarray(item.point, dtype=float)), opinion.project, eps, opinion.doubt)
    try:
        projection.run()
    except NoAnswer:
        return None
    return projection.given


def suspicious(item: Input, given: np.ndarray, expected: np.ndarray | None, opinion: Opinion, rtol: float) -> bool:
    """Whether a gradient is off by more than a few roundings."""
    return differs(given, expected, opinion, max(rtol, SCREEN * epsilon(item)), SCREEN * epsilon(item))


def mirrored(item: Input, expected: np.ndarray | None) -> bool:
    """Whether a gradient by symmetric matrices is right but for how it is shared out among x[i, j] and x[j, i], which are one number."""
    x = np.asarray(item.point)
    if expected is None or not np.array_equal(x, np.swapaxes(x, -1, -2)):
        return False
    given, truth = (g + np.swapaxes(g, -1, -2) for g in (item.autograd, expected))
    return bool(np.allclose(given, truth, rtol=max(CLOSE, 100 * epsilon(item)), atol=CLOSE * float(np.abs(truth).max(initial=0.0))))


def far(item: Input, expected: np.ndarray | None, opinion: Opinion, rtol: float = 0.0) -> bool:
    """Whether a gradient is off by more than rounding may do to a computation that nobody can run without it."""
    eps = epsilon(item)
    return differs(item.autograd, expected, opinion, max(CLOSE, rtol, 100 * eps), CANCELLED * eps)


def epsilon(item: Input) -> float:
    """One rounding of the numbers that a gradient was made in."""
    return float(np.finfo(item.precision).eps) if item.precision.kind == "f" else EPS


def differs(given: np.ndarray, expected: np.ndarray | None, opinion: Opinion, close: float, cancelled: float) -> bool:
    """Whether some element is off by more than `close`, relative to itself, and `cancelled`, relative to the terms that make it up."""
    if expected is None:
        return False
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=0.0)  # the terms that add up to an element may be unknown
    gross = np.where(np.isfinite(opinion.gross), opinion.gross, largest)
    room = close * np.abs(expected) + cancelled * gross + TINY
    if opinion.difference is not None:
        silent = np.full(expected.shape, True) if opinion.symbolic is None else ~np.isfinite(opinion.symbolic.value)
        room = room + np.where(silent, 10 * opinion.difference.error, 0.0)
    known = np.isfinite(expected)
    return bool((known & ~(np.abs(given - expected) <= room)).any())
