"""The judgement: one verdict for each element of a gradient, from what autograd gave and what the references say."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.check.opinions import Opinion
from gradcli.check.projection import CULPRITS, LOOSE, Project, Projection
from gradcli.check.verdicts import Judgement, Tolerance
from gradcli.references.difference import scales
from gradcli.references.estimate import NoAnswer

ULPS = 64.0
"""Rounding of a few operations: never worth a question."""
GROSS = 64.0
"""Rounding of the terms that add up to an element, in units of eps times their summed size."""
BARS = 10.0
"""How many error bars of a finite difference an honest value may be away."""
RELIABLE = 1e-4
"""A difference whose bar is larger than this part of its value (or of the largest element) decides nothing."""

Rederive = Callable[[], np.ndarray | None]
"""The engine's own rules run with more digits: the same gradient without rounding; None where that is not possible."""
Arbiter = Callable[[np.ndarray], np.ndarray]
"""Differences at 50 digits for the given flat elements; NaN where there is no answer."""


Slopes = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray] | None]
"""The slopes to the right and to the left by the given flat elements, and their bar."""


def corners(given: np.ndarray, right: np.ndarray, left: np.ndarray, bar: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the slopes to the right and to the left differ, and where a gradient lies between the two."""
    apart = np.abs(right - left) > BARS * bar + 1e-6 * np.maximum(np.abs(right), np.abs(left))
    room = BARS * bar + 1e-6 * np.abs(given)
    between = (given >= np.minimum(right, left) - room) & (given <= np.maximum(right, left) + room)
    return apart, between


class Judge:
    """Judges one gradient `given` (autograd's or a claimed one) by a tensor of `dtype` whose value is `point`."""

    def __init__(
        self,
        given: np.ndarray,
        opinion: Opinion,
        dtype: np.dtype,
        rederive: Rederive,
        arbiter: Arbiter,
        tolerance: Tolerance | None = None,
        point: np.ndarray | None = None,
        sensitivity: Rederive = lambda: None,
        slopes: Slopes | None = None,
        extended: Rederive = lambda: None,
        claimed: bool = False,
        loss: Callable[[], float | None] = lambda: None,
    ) -> None:
        self.claimed = claimed
        self.sensitivity = sensitivity
        self.extended = extended
        self.loss = loss
        self.point = given if point is None else point
        self.tolerance = tolerance or Tolerance()
        self.given = np.asarray(given, dtype=np.float64)
        self.opinion = opinion
        self.rederive = rederive
        self.arbiter = arbiter
        self.slopes = slopes
        self.eps = float(np.finfo(dtype).eps) if dtype.kind == "f" else float(np.finfo(np.float64).eps)
        self.tiny = float(np.finfo(dtype).tiny) if dtype.kind == "f" else 0.0
        shape = self.given.shape
        nothing = np.full(shape, np.nan)
        self.symbolic = opinion.symbolic.value if opinion.symbolic is not None else nothing
        self.slope = opinion.difference.value if opinion.difference is not None else nothing
        self.bar = opinion.difference.error if opinion.difference is not None else np.full(shape, np.inf)
        self.verdicts = np.full(shape, "unchecked", dtype=object)
        self.failing = np.zeros(shape, dtype=bool)
        self.error = np.zeros(shape)
        self.notes: list[tuple[str, str]] = []
        self.found: np.ndarray | None = None

    def judge(self) -> Judgement:
        with np.errstate(all="ignore"):
            self.by_symbolic()
            self.by_difference()
            self.by_projection()
            self.non_finite()
            self.second_opinions()
            distance = np.abs(self.given - self.symbolic) / self.unit(self.symbolic)
        spoken = np.isfinite(self.symbolic) & np.isfinite(self.given)
        ulps = np.where(spoken, distance, np.nan) if spoken.any() else None
        return Judgement(self.verdicts, self.failing, self.error, ulps, self.notes, self.found)

    def unit(self, truth: np.ndarray) -> np.ndarray:
        """One unit in the last place of the leaf's dtype."""
        unit: np.ndarray = np.maximum(np.abs(truth) * self.eps, np.maximum(self.tiny * self.eps, 5e-324))
        return unit

    # ---- against SymPy

    def by_symbolic(self) -> None:
        """Elements on which the symbolic reference speaks: right up to rounding, unstable, or wrong."""
        truth, given = self.symbolic, self.given
        spoken = np.isfinite(truth) & np.isfinite(given)
        if not spoken.any():
            return
        off = np.abs(given - truth)
        gross = np.where(np.isfinite(self.opinion.gross), self.opinion.gross, 0.0)
        rounding = np.maximum(ULPS * self.unit(truth), GROSS * self.eps * gross + self.tiny)
        self.error = np.where(spoken, off / rounding, self.error)
        near = spoken & (off <= np.maximum(rounding, self.tolerance.allows(truth)))
        digits = off <= self.tolerance.digits(truth, self.unit(truth), self.eps)
        lost = near & ~digits & (off > self.tolerance.allows(truth)) & (truth != 0) & (off > ULPS * self.unit(truth))
        self.set(near & ~lost, "pass")
        far = spoken & ~near
        if lost.any() or far.any():
            self.far_or_lost(near & lost, far, digits)
        self.kinks(spoken)
        if self.opinion.unsettled is not None:
            self.failing[self.opinion.unsettled] = False
            self.set(self.opinion.unsettled, "unstable")

    def far_or_lost(self, lost: np.ndarray, far: np.ndarray, digits: np.ndarray) -> None:
        """Rounding or a wrong rule? The engine's own rules at 50 digits tell."""
        found = self.rederive()
        exactly = np.full(self.given.shape, np.nan) if found is None else found
        silent = np.isnan(exactly) | (np.abs(exactly - self.given) > np.abs(self.given - self.symbolic))  # it went another way
        gross = np.where(np.isfinite(self.opinion.gross), self.opinion.gross, 0.0)
        alike = max(1e-12, ULPS * self.eps)  # what a program holds constant is rounded in the one and not in the other
        agree = np.abs(exactly - self.symbolic) <= alike * np.abs(self.symbolic) + 1e-14 * gross
        self.set(far & agree & digits, "pass")
        self.set((far & agree & ~digits) | (lost & agree), "unstable")
        self.set(lost & silent, "unstable")
        self.set(lost & ~agree & ~silent, "fail")
        doubtful = far & ~agree
        if (doubtful & silent).any():
            doubtful &= ~self.rounded_inputs(doubtful & silent, digits)
        if doubtful.any():
            doubtful &= ~self.rounded_value(doubtful)
        if not doubtful.any():
            return
        confirmed = self.confirm(doubtful)
        self.set(doubtful & confirmed, "fail")
        self.set(doubtful & ~confirmed, "pass")

    def rounded_inputs(self, doubtful: np.ndarray, digits: np.ndarray) -> np.ndarray:
        """Elements that are no farther off than rounding the inputs may move them: where the rules cannot be run without rounding."""
        spread = self.sensitivity()
        if spread is None:
            return np.zeros(self.given.shape, dtype=bool)
        honest: np.ndarray = doubtful & (np.abs(self.given - self.symbolic) <= GROSS * spread)
        self.set(honest & digits, "pass")
        self.set(honest & ~digits, "unstable")
        return honest

    def rounded_value(self, doubtful: np.ndarray) -> np.ndarray:
        """Elements that are right for the value computed, where rounding has taken half of its digits and as many of theirs."""
        loss = self.loss()
        if loss is None or loss <= np.sqrt(self.eps):
            return np.zeros(self.given.shape, dtype=bool)
        seconded = np.abs(self.given - self.slope) <= BARS * self.bar + 1e-6 * np.abs(self.given)
        room = GROSS * loss * float(np.abs(self.symbolic[np.isfinite(self.symbolic)]).max(initial=0.0))
        moved: np.ndarray = doubtful & seconded & (np.abs(self.given - self.symbolic) <= room)
        self.set(moved, "unstable")
        return moved

    def confirm(self, doubtful: np.ndarray) -> np.ndarray:
        """Whether differences at 50 digits side with SymPy; where they side with autograd, SymPy's form is to blame.

        Unless the plain differences side with SymPy: two that agree outvote the third.
        """
        elements = np.flatnonzero(doubtful)
        flat = np.full(self.given.size, np.nan)
        flat[elements] = self.arbiter(elements)
        answer = flat.reshape(self.given.shape)
        seconded = np.abs(self.slope - self.symbolic) <= BARS * self.bar
        seconded &= np.abs(self.slope - self.given) > 100 * BARS * self.bar
        against = (np.abs(answer - self.given) < 1e-3 * np.abs(answer - self.symbolic)) & ~seconded
        if (doubtful & against).any():
            self.notes.append(("unreliable-symbolic", "differences at 50 digits agree with autograd, not with the symbolic derivative"))
        return np.asarray(~against)

    def kinks(self, spoken: np.ndarray) -> None:
        """Elements whose derivative is another one beyond a switch that lies exactly at the point.

        An operation's convention is a subgradient of it: "kink". A user Function may choose any other between the sides.
        """
        sides = self.opinion.alternatives
        if not sides:
            return
        stack = np.stack([self.symbolic, *sides])
        low, high = np.fmin.reduce(stack, axis=0), np.fmax.reduce(stack, axis=0)
        room = ULPS * self.unit(np.maximum(np.abs(low), np.abs(high)))
        undefined = np.isnan(np.stack(sides)).any(axis=0)
        differs = spoken & ((high - low > 2 * room) | undefined)
        inside = differs & (self.given >= low - room) & (self.given <= high + room)
        if self.opinion.kinks_in_functions:
            self.failing[inside] = False
            self.set(inside, "pass")
        else:
            self.set(inside & (self.verdicts == "pass"), "kink")

    # ---- against finite differences

    def by_difference(self) -> None:
        """Elements on which only the differences speak."""
        silent = np.isfinite(self.given) & ~np.isfinite(self.symbolic) & np.isfinite(self.bar)
        if not silent.any():
            return
        off = np.abs(self.given - self.slope)
        cancelled = GROSS * self.eps * float(np.abs(self.slope[silent]).max())
        """The terms that add up to an element are not known: they may be as large as the largest of all."""
        allowed = BARS * self.bar + ULPS * self.unit(self.slope) + cancelled + self.tolerance.allows(self.slope)
        self.error = np.where(silent, off / allowed, self.error)
        reliable = self.reliable()
        near = silent & (off <= allowed)
        at_kink = bool(self.opinion.kinked) and not self.opinion.kinks_in_functions
        self.set(near & reliable, "kink" if at_kink else "pass")
        far = silent & ~near
        if far.any():
            elements = np.flatnonzero(far)
            flat = np.full(self.given.size, np.nan)
            flat[elements] = self.arbiter(elements)
            answer = flat.reshape(self.given.shape)
            agrees = np.abs(answer - self.given) <= 1e-9 * np.abs(answer) + self.tiny
            self.set(far & agrees, "pass")
            far &= ~agrees & ~self.rounding_alone(far & ~agrees & reliable)
            wrong = far & (reliable | np.isfinite(answer))
            self.set(wrong & ~self.at_corner(wrong & np.isnan(answer)), "fail")
        if (silent & ~reliable & (self.verdicts == "unchecked")).any():
            self.notes.append(("unreliable-fd", "the error bar of the finite difference is too wide to decide"))

    def rounding_alone(self, doubtful: np.ndarray) -> np.ndarray:
        """Elements for which the differences side with the engine's own rules in finer numbers: rounding takes their digits."""
        exactly = None if not doubtful.any() else self.extended() if self.opinion.symbolic is None else self.rederive()
        if exactly is None:
            return np.zeros(self.given.shape, dtype=bool)
        honest: np.ndarray = doubtful & (np.abs(exactly - self.slope) <= BARS * self.bar + ULPS * self.unit(self.slope))
        kept = np.abs(self.given - exactly) <= self.tolerance.digits(exactly, self.unit(exactly), self.eps)
        self.set(honest & kept, "pass")
        self.set(honest & ~kept, "unstable")
        return honest

    def at_corner(self, doubtful: np.ndarray) -> np.ndarray:
        """Elements at a corner: the slopes to the right and to the left differ, so no difference is a derivative.

        A gradient between the two is a slope that is right there ("kink"); another one stays unchecked: at a tie of
        singular values the slopes along single elements do not bound the right gradients.
        """
        corner = np.zeros(self.given.shape, dtype=bool)
        elements = np.flatnonzero(doubtful)
        found = self.slopes(elements) if elements.size and self.slopes is not None else None
        if found is None:
            return corner
        apart, between = corners(self.given.reshape(-1)[elements], *found)
        corner.reshape(-1)[elements[apart]] = True
        inside = np.zeros(self.given.size, dtype=bool)
        inside[elements[apart & between]] = True
        self.set(inside.reshape(self.given.shape), "kink")
        if apart.any():
            self.notes.append(("kink", "the slopes to the right and to the left differ: the function has a corner here"))
        return corner

    def by_projection(self) -> None:
        """A gradient too large for a reference by element: along random directions, by tangents where the program can be followed.

        Differences by element that have spoken before stay. What is off is rounding where the engine's own rules, run in
        extended precision, agree.
        """
        project = self.opinion.project
        silent = np.isfinite(self.given) & ~np.isfinite(self.symbolic)
        if project is None or not silent.any():
            return
        try:
            self.along_directions(project, silent)
        except NoAnswer as why:
            self.notes.append(("projection", f"no verdict along random directions: {why}"))

    def along_directions(self, project: Project, silent: np.ndarray) -> None:
        """`by_projection` of the elements that no reference by element speaks on."""
        size = np.where(np.isfinite(self.given), scales(np.asarray(self.point, dtype=float)), 0.0)
        given = np.where(np.isfinite(self.given), self.given, 0.0)
        unspoken = silent & (self.verdicts == "unchecked")
        doubt = self.opinion.doubt
        if Projection(given, size, project, self.eps, doubt).agrees():
            self.set(unspoken, "pass")
            return
        exactly = self.extended()
        if exactly is not None and np.isfinite(exactly).all():
            projection = Projection(exactly, size, project, doubt=doubt)
            rounded = projection.agrees()
        else:
            exactly, rounded = None, False
        if exactly is None or (self.claimed and not rounded):  # numbers that a claim states may be rounded ones
            projection = Projection(given, size, project, self.eps, doubt, LOOSE)
        if exactly is not None and rounded:
            off, typical = np.abs(self.given - exactly), float(np.abs(exactly).max(initial=0.0))
            kept = off <= np.maximum(self.tolerance.digits(exactly, self.unit(exactly), self.eps), GROSS * self.eps * typical)
            self.set(unspoken & kept, "pass")
            self.set(unspoken & ~kept, "unstable")
            return
        agrees = projection.run()
        self.found = projection.given
        if projection.factor is not None:
            self.notes.append(("projection", f"the gradient is {projection.factor:.12g} times the derivative along every direction"))
            self.set(silent & (self.given != 0), "fail")
        self.set(unspoken & (self.verdicts == "unchecked"), "pass" if agrees else "unchecked")
        for place, derivative in projection.wrong.items():
            index = np.unravel_index(place, self.given.shape)
            if silent[index]:
                self.wrong_along(index, derivative, projection)
        if not agrees:
            self.notes.append(("projection", "more elements are wrong than were looked for"))

    def wrong_along(self, index: Any, derivative: float, projection: Projection) -> None:
        """One element that a projection found wrong: a failure unless differences along it side with autograd."""
        at, given = [int(i) for i in index], float(self.given[index])
        by = "SymPy" if self.opinion.tangents is not None else "differences"
        self.notes.append(("projection", f"{at}: {derivative:.17g} by {by}, {given:.17g} by autograd"))
        if self.opinion.tangents is not None and self.opinion.slopes is not None:
            value, bar = self.opinion.slopes(projection.unit(index))
            room = BARS * bar + 1e-9 * abs(value)
            if abs(value - given) <= room < abs(value - derivative):
                self.notes.append(("unreliable-symbolic", f"{at}: differences agree with autograd, not with the symbolic derivative"))
                self.verdicts[index] = "unchecked"
                return
        self.set(index, "fail")
        self.error[index] = np.inf

    def reliable(self) -> np.ndarray:
        """Where the error bar is narrow against the value, or against the largest element of the gradient; an exact zero meets another."""
        zeros = (self.given == 0) & (self.slope == 0)
        finite = self.slope[np.isfinite(self.slope)]
        largest = float(np.max(np.abs(finite), initial=0.0))
        largest = max(largest, float(np.max(np.abs(self.given[np.isfinite(self.given)]), initial=0.0)))
        reliable: np.ndarray = zeros | (self.bar <= RELIABLE * np.abs(self.slope)) | (self.bar <= 1e-8 * largest)
        return reliable

    def non_finite(self) -> None:
        """NaN and infinity: a failure where the derivative exists."""
        broken = ~np.isfinite(self.given)
        if not broken.any():
            return
        alone = np.isnan(self.symbolic) & (self.opinion.symbolic is None)
        exists = np.isfinite(self.symbolic) | (alone & np.isfinite(self.slope) & self.reliable())
        if self.opinion.tangents is not None:
            exists |= self.exist_along(np.argwhere(broken)[:CULPRITS], self.opinion.tangents)
        self.verdicts[broken] = "nan"
        self.failing[broken & exists] = True
        self.error = np.where(broken, np.inf, self.error)

    def exist_along(self, places: np.ndarray, tangents: Project) -> np.ndarray:
        """Those of some elements that have a finite derivative along themselves."""
        exists = np.zeros(self.given.shape, dtype=bool)
        for place in map(tuple, places):
            unit = np.zeros(self.given.shape)
            unit[place] = 1.0
            with contextlib.suppress(NoAnswer):
                exists[place] = np.isfinite(tangents(unit)[0])
        return exists

    def second_opinions(self) -> None:
        """Say where the differences contradict a gradient that SymPy confirms."""
        text = "the finite difference contradicts autograd and the symbolic derivative, which agree"
        passed = (self.verdicts == "pass") & np.isfinite(self.symbolic)
        spoken = passed & np.isfinite(self.bar)
        if (spoken & (np.abs(self.slope - self.symbolic) > 100 * self.bar + 1e-6 * np.abs(self.symbolic))).any():
            self.notes.append(("unreliable-fd", text))
        elif self.opinion.slopes is not None and passed.all():
            projection = Projection(self.symbolic, scales(np.asarray(self.point, dtype=float)), self.opinion.slopes)
            with contextlib.suppress(NoAnswer):
                if not projection.agrees():
                    self.notes.append(("unreliable-fd", text + " (along a random direction)"))

    def set(self, where: Any, verdict: str) -> None:
        self.verdicts[where] = verdict
        if verdict == "fail":
            self.failing[where] = True
