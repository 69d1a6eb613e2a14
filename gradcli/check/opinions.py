"""What the references say about one input of a target."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from gradcli.check.beside import hessian
from gradcli.check.projection import Doubt, Project
from gradcli.check.target import Input, Term
from gradcli.engine.trace import FunctionCall, Record
from gradcli.references import difference, tangent
from gradcli.references.arbiter import arbitrate
from gradcli.references.difference import one_sided
from gradcli.references.estimate import Estimate, NoAnswer
from gradcli.references.numeric import numeric, projected
from gradcli.references.pair import parts
from gradcli.references.path import Path
from gradcli.references.scalar import DIGITS
from gradcli.references.symbolic import Exact

Along = Callable[[Path, np.ndarray, np.ndarray], tuple[float, float]]

DIFFERENCE_WORK = 40_000_000
SECOND_WORK = 4_000_000
"""Elements that one pass of finite differences over an input may compute; where they are but a second opinion on what SymPy
says of every element, more are judged along random directions."""


@dataclass
class Opinion:
    """The references on one input. `gross` bounds the size of the terms that make up each element, NaN where unknown.

    `alternatives` are the symbolic values on the other sides of the kinks that lie exactly at the point, whose records
    are `kinked`; `kinks_in_functions` when all of those lie in the bodies of user Functions.
    """

    symbolic: Estimate | None
    difference: Estimate | None
    gross: np.ndarray
    alternatives: list[np.ndarray]
    unsettled: np.ndarray | None = None
    """Elements whose symbolic value still changes between 50 and 100 digits: nobody knows their derivative."""
    kinked: list[Record] = field(default_factory=list)
    kinks_in_functions: bool = False
    why_no_symbolic: str = ""
    why_no_difference: str = ""
    tangents: Project | None = None
    """The symbolic derivative along directions, where the program is too large for one by element."""
    doubt: Doubt | None = None
    """What tangents find at a point rounded anew."""
    slopes: Project | None = None
    """Differences along directions, where the input is too large for differences by element."""

    @property
    def project(self) -> Project | None:
        """The best derivative along directions."""
        return self.tangents or self.slopes


RESHAPED = "its .data has got another shape since it was used"


class Witness:
    """Asks the references about the inputs of one target; the exact replay of a term is made once for all inputs.

    `partial`: each input is a variable of its own, though the program computed one from another, as the arguments of a
    user Function are. Else such an input takes those along that depend on it, and needs a replay of its own.
    """

    def __init__(
        self, inputs: Sequence[Input], budget: int, calls: Sequence[FunctionCall] = (), method: str = "all", *, partial: bool = False
    ) -> None:
        self.method = method
        self.partial = partial
        self.joint = partial or (not any(i.fixed for i in inputs) and len({id(i.tensor) for i in inputs}) == len(inputs))
        """Whether one replay serves all inputs: none depends on another, or is another."""
        self.calls = calls
        self.inputs = list(inputs)
        self.budget = budget
        self.exact: dict[tuple[int, int, int], Exact | NoAnswer] = {}
        self.order: dict[int, list[list[Record]]] = {}
        self.known_paths: dict[int, list[tuple[Term, Path]]] = {}

    def records(self, term: Term) -> list[list[Record]]:
        """For each input the records of the term that it moves."""
        key = id(term)
        if key not in self.order:
            self.order[key] = [i.records(term) for i in self.inputs]
        return self.order[key]

    def replay(self, term: Term, position: int, digits: int = DIGITS) -> Exact:
        """The term's output at so many digits, for an input. Raises NoAnswer."""
        key = id(term.record), -1 if self.joint else position, digits
        if key not in self.exact:
            assert term.record is not None
            records = [r for r in self.records(term) if r] if self.joint else [self.records(term)[position]]
            try:
                self.exact[key] = Exact(Path(term.record, records), self.budget, digits)
            except NoAnswer as silent:
                self.exact[key] = silent
        found = self.exact[key]
        if isinstance(found, NoAnswer):
            raise found
        return found

    def exact_part(self, term: Term, position: int, digits: int = DIGITS) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """Symbolic value, gross size and values beyond kinks of one term by one input."""
        item = self.inputs[position]
        second = None if term.origin is None else hessian(item, term, self.budget)
        if second is not None and not self.records(term)[position]:
            return second, np.abs(second), []
        if second is not None:
            _, gross, _ = self.first_part(term, position, digits)
            return second, np.fmax(gross, np.abs(second)), []
        return self.first_part(term, position, digits)

    def first_part(self, term: Term, position: int, digits: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """The part of a term by the derivative of its record."""
        item = self.inputs[position]
        records = self.records(term)
        shape = (() if term.weights is not None else np.shape(term.record.value)) + item.shape  # type: ignore[union-attr]
        if not records[position]:
            return np.zeros(shape), np.zeros(shape), []
        exact = self.replay(term, position, digits)
        place = sum(1 for r in records[:position] if r) if self.joint else 0
        value, gross = exact.derivative(term.weights)[place]
        return value, gross, [d[place] for d in exact.beyond_kinks(term.weights)]

    def symbolic(self, position: int, digits: int = DIGITS) -> tuple[Estimate, np.ndarray, list[np.ndarray]]:
        """The symbolic opinion on an input: the sum over its terms. Raises NoAnswer."""
        item = self.inputs[position]
        parts = [self.exact_part(term, position, digits) for term in item.terms if term.record is not None or term.origin is not None]
        value = sum((p[0] for p in parts), np.zeros(np.shape(item.autograd)))
        gross = sum((p[1] for p in parts), np.zeros(np.shape(item.autograd)))
        if item.constant is not None:
            value, gross = value + item.constant, gross + np.abs(item.constant)
        count = max((len(p[2]) for p in parts), default=0)
        others = [sum((p[2][k] if k < len(p[2]) else p[0] for p in parts), np.zeros(np.shape(value))) for k in range(count)]
        return Estimate(np.array(value), np.array(np.spacing(np.abs(value))), "per-node"), np.array(gross), others

    def settle(self, position: int, value: np.ndarray, gross: np.ndarray) -> np.ndarray | None:
        """Ask again at twice the digits where cancellation eats most of them.

        Sets to 0 what is 0 up to the digits carried; returns a mask of the elements on which the two disagree, None
        where all is settled.
        """
        doubtful = np.isfinite(value) & np.isfinite(gross) & (gross * 10.0 ** (3 - DIGITS) > 1e-17 * np.abs(value))
        if not doubtful.any():
            return None
        again, gross_again, _ = self.symbolic(position, 2 * DIGITS)
        zero = doubtful & (np.abs(value) <= 1e-25 * gross) & (gross_again <= 2 * gross)
        value[zero] = 0.0
        disagree: np.ndarray = doubtful & ~zero & ~(np.abs(value - again.value) <= 1e-15 * np.abs(again.value))
        return disagree if disagree.any() else None

    def difference(self, position: int) -> Estimate:
        """The finite-difference opinion on an input: the sum over its terms."""
        item = self.inputs[position]
        given = np.asarray(item.autograd if item.claimed is None else item.claimed)
        value, error = np.zeros(np.shape(item.autograd)), np.zeros(np.shape(item.autograd))
        for term, path in self.paths(position):
            part = numeric(path, term.weights, given)
            value, error = value + part.value, error + part.error
        if item.constant is not None:
            value = value + item.constant
        return Estimate(np.array(value), np.array(error), "full")

    def paths(self, position: int) -> list[tuple[Term, Path]]:
        """The path from an input to each term that depends on it."""
        if position not in self.known_paths:
            moved = [(t, self.records(t)[position]) for t in self.inputs[position].terms if t.record is not None]
            paths = [(t, Path(t.record, [records], self.held(t, position))) for t, records in moved if records and t.record is not None]
            self.known_paths[position] = [(t, path) for t, path in paths if path.reached]
        return self.known_paths[position]

    def held(self, term: Term, position: int) -> list[Record]:
        """What does not move with an input, though it may depend on it."""
        return [r for k, records in enumerate(self.records(term)) if k != position for r in records] if self.partial else []

    def evaluations(self, position: int) -> int:
        """How often the program was evaluated for the differences by an input."""
        return sum(path.evaluations for _, path in self.paths(position))

    def work(self, position: int) -> int:
        return sum(difference.work(path) for _, path in self.paths(position))

    def project(self, position: int, direction: np.ndarray) -> tuple[float, float]:
        """The differences of all terms along a direction of an input's space, and their error bar."""
        return self.summed(position, projected, direction)

    def summed(self, position: int, along: Along, direction: np.ndarray) -> tuple[float, float]:
        """One reference along a direction, over all terms."""
        found = [along(path, term.weights, direction) for term, path in self.paths(position) if term.weights is not None]
        constant = self.inputs[position].constant
        fixed = 0.0 if constant is None else float((constant * direction).sum())
        return sum((value for value, _ in found), fixed), sum(bar for _, bar in found)

    def refine(self, position: int, estimate: Estimate, elements: np.ndarray) -> None:
        """Sharpen the difference opinion on some (flat) elements by the full ladder; for one term only, sums keep theirs."""
        item = self.inputs[position]
        paths = self.paths(position)
        if len(paths) != 1 or item.constant is not None:
            return
        term, path = paths[0]
        noise = 0.0
        if term.weights is not None:
            with contextlib.suppress(NoAnswer):
                noise = self.replay(term, position).noise(term.weights)
        difference.refined(estimate, path, term.weights, elements, noise)

    def opinion(self, position: int) -> Opinion:
        """Everything the references say about an input, each with its reason where it is silent."""
        item = self.inputs[position]
        gross = np.full(np.shape(item.autograd), np.nan)
        if any(np.shape(parts(r.value)) != item.shape for _, path in self.paths(position) for r in path.inputs[0]):
            return Opinion(None, None, gross, [], why_no_symbolic=RESHAPED, why_no_difference=RESHAPED)
        found: Estimate | None = None
        unsettled: np.ndarray | None = None
        slopes: Estimate | None = None
        others: list[np.ndarray] = []
        why_symbolic = why_difference = ""
        try:
            if self.method == "fd":
                raise NoAnswer("not asked for (--method fd)")
            found, gross, others = self.symbolic(position)
            unsettled = self.settle(position, found.value, gross)
        except NoAnswer as silent:
            why_symbolic = str(silent)
        tangents = project = None
        weighted = all(term.weights is not None for term in item.terms)
        if found is None and self.method != "fd":
            tangents, why_symbolic = self.followed(position, why_symbolic)
        if self.method == "symbolic":
            why_difference = "not asked for (--method symbolic)"
        elif self.work(position) <= (SECOND_WORK if weighted and (found or tangents) else DIFFERENCE_WORK):
            slopes = self.difference(position)
        elif weighted:
            project = partial(self.project, position)
        else:
            why_difference = "the Jacobian has too many elements"
        kinked = [r for e in self.exact.values() if isinstance(e, Exact) for r in e.kinked]
        inside = bool(kinked) and all(any(call.first < r.index <= call.last for call in self.calls) for r in kinked)
        return Opinion(
            found,
            slopes,
            gross,
            others,
            unsettled,
            kinked,
            inside,
            why_symbolic,
            why_difference,
            tangents,
            partial(self.doubt, position) if tangents else None,
            project,
        )

    def followed(self, position: int, why: str) -> tuple[Project | None, str]:
        """The derivative by tangents in extended precision; None where these cannot follow the program, with the reason."""
        item = self.inputs[position]
        if any(term.weights is None or term.origin is not None for term in item.terms) or not self.paths(position):
            return None, why
        try:
            self.tangent(position, np.isfinite(item.autograd).astype(float))
        except NoAnswer as silent:
            return None, f"{why}; {silent}"
        return partial(self.tangent, position), ""

    def tangent(self, position: int, direction: np.ndarray) -> tuple[float, float]:
        """The symbolic derivative of all terms along a direction of an input's space, and how far rounding moves it. Raises NoAnswer."""
        return self.summed(position, tangent.along, direction)

    def doubt(self, position: int, direction: np.ndarray) -> float:
        """What tangents find along a direction at a point rounded anew."""
        return self.summed(position, tangent.beside, direction)[0]

    def slopes(self, position: int, elements: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """The slopes to the right and to the left by some (flat) elements, and their bar; None where they cannot be told."""
        paths = self.paths(position)
        if len(paths) != 1 or self.inputs[position].constant is not None or paths[0][0].weights is None:
            return None
        term, path = paths[0]
        return one_sided(path, term.weights, elements)

    def arbitrate(self, position: int, elements: np.ndarray) -> np.ndarray:
        """Differences at high precision for some (flat) elements of an input: the sum over its terms; NaN without an answer."""
        item = self.inputs[position]
        if self.method == "symbolic":
            return np.full(len(elements), np.nan)
        answer = np.zeros(len(elements))
        if any(term.origin is not None for term in item.terms):
            return np.full(len(elements), np.nan)
        for term, path in self.paths(position):
            answer = answer + arbitrate(path, term.weights, elements)
        return answer if item.constant is None else answer + item.constant.reshape(-1)[elements]
