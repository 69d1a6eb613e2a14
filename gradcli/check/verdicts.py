"""Verdict words, and what a judgement says of one gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ORDER = ("pass", "kink", "unstable", "nan", "unchecked", "fail")
"""From best to worst (a failing nan stands between unchecked and fail)."""


@dataclass(frozen=True)
class Tolerance:
    """What a user allows beyond rounding: abs(error) <= rtol * abs(truth) + atol; and how many ulps an element may lose
    before it is called unstable (None: half of its digits)."""

    rtol: float = 0.0
    atol: float = 0.0
    max_ulps: float | None = None

    def allows(self, truth: np.ndarray) -> np.ndarray:
        allowed: np.ndarray = self.rtol * np.abs(truth) + self.atol
        return allowed

    def digits(self, truth: np.ndarray, unit: np.ndarray, eps: float) -> np.ndarray:
        limit: np.ndarray = np.sqrt(eps) * np.abs(truth) if self.max_ulps is None else self.max_ulps * unit
        return limit


@dataclass
class Judgement:
    """Verdict words, which of them fail, the error in units of the deciding bar, ulps, and what is worth a note.

    `found` is the gradient as directions put it right, where it was too large to go by element.
    """

    verdicts: np.ndarray
    failing: np.ndarray
    error: np.ndarray
    ulps: np.ndarray | None
    notes: list[tuple[str, str]]
    found: np.ndarray | None = None

    @property
    def status(self) -> str:
        return worst(self.verdicts, self.failing)


def worst(verdicts: np.ndarray, failing: np.ndarray) -> str:
    """The worst verdict; no elements pass."""
    words = {(str(v), bool(f)) for v, f in zip(verdicts.flat, failing.flat)}
    return max((rank(v, f), v) for v, f in words)[1] if words else "pass"


def rank(verdict: str, failing: bool) -> float:
    return 4.5 if verdict == "nan" and failing else float(ORDER.index(verdict))
