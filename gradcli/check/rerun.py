"""The program run once more without rounding: what the engine's own rules give there tells a wrong rule from lost digits."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import mpmath
import numpy as np

from gradcli.check import direction
from gradcli.check.point import Point
from gradcli.check.target import Target
from gradcli.engine.storage import Storage
from gradcli.engine.trace import Tracer
from gradcli.errors import GradcliError
from gradcli.references.derived import TAIL_DIGITS
from gradcli.references.pair import lifted, lowered
from gradcli.references.scalar import DIGITS
from gradcli.references.tangent import widened

AGREEMENT = 1e-12
"""Relative distance at which two derivations without rounding are the same: some constants of rules are float64."""


class PassesOnly(Tracer):
    """Notes backward passes, follows nothing."""

    @property
    def following(self) -> bool:
        return False


class NoRerun:
    """There is no program that could be run again."""

    @property
    def extended(self) -> NoRerun:
        return self

    def gradient(self, number: int, target: Target, position: int) -> np.ndarray | None:
        return None

    def agreeing(self, number: int, target: Target, position: int, truth: np.ndarray) -> np.ndarray | None:
        return None


class Rerun(NoRerun):
    """The whole program run once more on other storage, on demand: the engine's own rules without rounding.

    `lift` puts the leaves into that storage: numbers of so many `digits`.
    """

    def __init__(self, point: Point, digits: int = DIGITS, lift: Callable[[Any], Any] = lifted) -> None:
        self.point = point
        self.digits = digits
        self.lift = lift
        self.targets: list[Target] | None = None
        self.failed = False

    @cached_property
    def deeper(self) -> Rerun:
        """A run at so many digits that 1 - tanh(x)**2 is not 0 in the tails, as far as float64 goes."""
        return Rerun(self.point, TAIL_DIGITS)

    @cached_property
    def extended(self) -> Rerun:
        """A run on whole arrays of extended precision, for programs too large for 50 digits."""
        return Rerun(self.point, lift=widened)

    def gradient(self, number: int, target: Target, position: int) -> np.ndarray | None:
        """The gradient of one input as the engine, or the file's claim, derives it here; None where the program does not run so,
        or takes another path.

        `target` is what the number stood for in the first run.
        """
        if self.targets is None and not self.failed:
            self.run()
        if self.failed or self.targets is None or number >= len(self.targets):
            return None
        again, wanted = self.targets[number], target.inputs[position]
        if (again.output, again.line, [i.name for i in again.inputs]) != (target.output, target.line, [i.name for i in target.inputs]):
            return None
        derived = again.inputs[position]
        found = lowered(np.asarray(derived.autograd if derived.claimed is None else derived.claimed))
        found = direction.paired(np.asarray(found), again.inputs[position].dtype.kind == "c")
        return found if found is not None and found.shape == np.shape(wanted.autograd) else None

    def run(self) -> None:
        """Run the program, once more for constants that turn out to be written into."""
        storage = Storage(self.lift)
        for _ in storage.attempts():
            try:
                with mpmath.workdps(self.digits):
                    run, self.targets = self.point.collect(PassesOnly(), storage)
                self.failed = run.error is not None
            except (GradcliError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, IndexError, KeyError):
                self.failed = True

    def agreeing(self, number: int, target: Target, position: int, truth: np.ndarray) -> np.ndarray | None:
        """`gradient`, taken anew at many more digits where it does not agree with what SymPy finds."""
        found = self.gradient(number, target, position)
        if found is None:
            return None
        off = ~(np.abs(found - truth) <= AGREEMENT * np.abs(truth)) & np.isfinite(truth)
        deeper = self.deeper.gradient(number, target, position) if off.any() else None
        return found if deeper is None else np.where(off, deeper, found)
