"""The references on a plain function: differences by calling it, SymPy where it could be followed on tensors too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradcli.check.opinions import DIFFERENCE_WORK, Witness
from gradcli.check.options import CheckOptions
from gradcli.check.result import InputResult, Note, TargetResult
from gradcli.check.target import Input
from gradcli.check.verdicts import rank
from gradcli.references import difference
from gradcli.references.called import Called, sides
from gradcli.references.estimate import Estimate, NoAnswer

MOST_CALLS = 50_000
"""Calls that differences by element may cost; past it a gradient is judged along random directions."""
MOST_KINK_CALLS = 4_000


class Sampled(Witness):
    """A witness whose differences call the function; `silence` says why there is no symbolic reference, empty where there is one."""

    def __init__(self, inputs: Sequence[Input], options: CheckOptions, programs: Sequence[Called], silence: str) -> None:
        super().__init__(inputs, options.symbolic_budget, (), options.method)
        self.programs = list(programs)
        self.silence = silence

    def symbolic(self, position: int, digits: int = 50) -> tuple[Estimate, np.ndarray, list[np.ndarray]]:
        if self.silence:
            raise NoAnswer(self.silence)
        return super().symbolic(position, digits)

    def work(self, position: int) -> int:
        calls = 2 * len(difference.QUICK) * self.programs[position].point.size
        return 0 if calls <= MOST_CALLS else DIFFERENCE_WORK + 1

    def difference(self, position: int) -> Estimate:
        program = self.programs[position]
        elements = np.arange(program.point.size)
        shape = program.shape + program.point.shape
        if not elements.size:
            return Estimate(np.zeros(shape), np.zeros(shape), "full")
        value, error = difference.ladder(program, elements, difference.QUICK)
        value, error = (np.moveaxis(part, 0, -1).reshape(shape) for part in (value, error))
        return Estimate(value, error, "full")

    def evaluations(self, position: int) -> int:
        return self.programs[position].path.evaluations

    def refine(self, position: int, estimate: Estimate, elements: np.ndarray) -> None:
        program = self.programs[position]
        value, error = difference.ladder(program, elements, difference.LADDER)
        index = (slice(None),) * len(program.shape) + (elements,)
        for whole, part in ((estimate.value, value), (estimate.error, error)):
            flat = whole.reshape(*program.shape, -1)
            flat[index] = np.moveaxis(part, 0, -1)

    def project(self, position: int, direction: np.ndarray) -> tuple[float, float]:
        program = self.programs[position]
        moved = program.path.call  # type: ignore[attr-defined]
        point = program.point
        rows = np.array([sign * s for sign in (1.0, -1.0) for s in difference.LADDER])
        out = np.stack([moved(point + row * direction) for row in rows])
        half = len(difference.LADDER)
        quotients = [
            program.slopes(out[k : k + 1], out[half + k : half + k + 1], np.array([2 * s])) for k, s in enumerate(difference.LADDER)
        ]
        value, error = difference.extrapolate(quotients, difference.LADDER, order=2)
        return float(value[0]), float(error[0])


def allow_kinks(result: TargetResult, witness: Sampled, options: CheckOptions) -> None:
    """Where differences alone have judged: at a kink every value between the slopes of the two sides will do."""
    for item, program in zip(result.inputs, witness.programs, strict=True):
        if item.symbolic is not None or item.finite_difference is None or 4 * program.point.size > MOST_KINK_CALLS:
            continue
        kinked, low, high = sides(program)
        if kinked.any():
            apply_kinks(item, kinked, low, high, options)
            result.notes.append(Note("kink", f"{item.name}: the slopes of the two sides differ at {int(kinked.sum())} of the elements"))
    worst = max(((rank(i.status, bool(i.failing.any())), i.status) for i in result.inputs), default=(0.0, "pass"))[1]
    result.status, result.failing = worst, any(bool(i.failing.any()) for i in result.inputs)
    if worst != "fail":
        result.blame = None
        result.notes = [n for n in result.notes if n.kind != "wrong-gradient"]


def apply_kinks(item: InputResult, kinked: np.ndarray, low: np.ndarray, high: np.ndarray, options: CheckOptions) -> None:
    """Turn the verdicts of one input around where they were reached at a kink."""
    given = item.autograd if item.claimed is None else item.claimed
    room = 1e-5 * (np.abs(low) + np.abs(high))
    inside = (given >= np.minimum(low, high) - room) & (given <= np.maximum(low, high) + room)
    item.verdicts[kinked & inside] = "kink"
    item.failing[kinked & inside] = options.fails("kink")
    words = {(str(v), bool(f)) for v, f in zip(item.verdicts.flat, item.failing.flat)}
    item.status = max(((rank(v, f), v) for v, f in words), default=(0.0, "pass"))[1]  # type: ignore[assignment]
