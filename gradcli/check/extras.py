"""What a report shows besides verdicts, where it is asked for: formulas, and how the error depends on the step."""

from __future__ import annotations

import math

import numpy as np

from gradcli.check.opinions import DIFFERENCE_WORK, Witness
from gradcli.check.options import CheckOptions
from gradcli.check.result import InputResult, Note, Sweep, TargetResult
from gradcli.check.target import Input, Target
from gradcli.references.difference import Program, scales
from gradcli.references.estimate import NoAnswer
from gradcli.references.path import Path

STEPS = 2.0 ** -np.arange(1, 45)
"""Relative steps of a sweep: from half of the point down to where only rounding is left."""

MOST_ELEMENTS = 16
LONGEST = 2000
"""Elements of a gradient, and characters in all, whose formulas are written out."""

MOST_NUMBERS = 40
"""A program that computes more numbers than this between leaf and output has no formula that is short, and SymPy takes long to see it."""


AGREEMENT = 1e-12
"""Relative distance at which two symbolic tiers are the same: one rounds its constants to float64."""


def add_extras(result: TargetResult, target: Target, witness: Witness, options: CheckOptions) -> None:
    """Fill in what the options ask for; what there is none of stays None."""
    closed = []
    for position, (item, found) in enumerate(zip(target.inputs, result.inputs, strict=True)):
        if options.formulas:
            form = formula(target, item)
            closed.append(form is not None and found.symbolic is not None and seconded(form[1], found, result, target))
            found.formula = None if form is None else form[0]
        if options.sweep:
            found.sweep = sweep(witness, position, found)
    if closed and all(closed):
        result.symbolic = "closed-form"


def seconded(value: np.ndarray, found: InputResult, result: TargetResult, target: Target) -> bool:
    """Whether the closed form gives what the derivative node by node gives, both SymPy's; a note where it does not."""
    assert found.symbolic is not None
    known = np.isfinite(value) & np.isfinite(found.symbolic)
    room = AGREEMENT * np.maximum(np.abs(value), float(np.max(np.abs(value[known]), initial=0.0)))
    differs = known & (np.abs(value - found.symbolic) > room)
    if differs.any():
        text = f"{found.name}: the closed form and the derivative node by node differ; the verdict is by the latter"
        result.notes.append(Note("unreliable-symbolic", text, target.line))
    return bool(known.all() and not differs.any())


def formula(target: Target, item: Input) -> tuple[str, np.ndarray] | None:
    """The derivative in closed form, as SymPy writes it, and its value; None where there is none, or none that a reader would read."""
    output, weights = target.roots[0] if target.roots else (None, None)
    if output is None or target.order != 1 or item.autograd.size > MOST_ELEMENTS or len(item.terms) != 1:
        return None
    if item.constant is not None or output.own_record is None or output.own_record is not item.terms[0].record:
        return None
    if sum(np.size(record.value) for record in Path(item.terms[0].record, [item.records(item.terms[0])]).steps) > MOST_NUMBERS:
        return None
    from gradcli.references.closed_form import closed_form, evaluated

    leaves = {other.name: other.tensor for other in target.inputs}
    try:
        form = closed_form(output, leaves, [item.name], weights if output.ndim else None)
    except NoAnswer:
        return None
    derivative = form.derivatives[item.name]
    text = str(derivative.tolist())
    return (text, evaluated(derivative, form.point())) if len(text) <= LONGEST else None


def sweep(witness: Witness, position: int, found: InputResult) -> Sweep | None:
    """Central differences along one direction at every step, held against the gradients; None where they cannot be had."""
    item = witness.inputs[position]
    paths = witness.paths(position)
    judged = found.autograd if found.claimed is None else found.claimed
    if not paths or judged.dtype.kind == "c" or witness.work(position) * len(STEPS) > DIFFERENCE_WORK * max(judged.size, 1):
        return None
    rng = np.random.default_rng(0)
    point = Program(paths[0][1], None).point
    direction = scales(point) * rng.uniform(0.5, 1.5, point.shape) * rng.choice((-1.0, 1.0), point.shape)
    shape = judged.shape[: judged.ndim - point.ndim]
    weights = rng.uniform(0.5, 1.5, shape) if shape else np.ones(())
    slope = np.zeros(len(STEPS))
    for term, path in paths:
        slope = slope + slopes(Program(path, weights if term.weights is None else term.weights), direction)
    fixed = 0.0 if item.constant is None else float((item.constant * direction).sum())
    along = [None if g is None else along_direction(g, weights, direction) - fixed for g in (judged, found.symbolic)]
    return Sweep(STEPS, *errors(slope, *along))


def slopes(program: Program, direction: np.ndarray) -> np.ndarray:
    """The difference quotient of the weighted output at each step."""
    moves = np.concatenate([STEPS, -STEPS]).reshape(-1, *(1,) * direction.ndim) * direction
    with np.errstate(all="ignore"):
        values = program.values(moves)
        quotients, _ = program.slopes(values[: len(STEPS)], values[len(STEPS) :], 2 * STEPS)
    return np.asarray(quotients, dtype=float)


def along_direction(gradient: np.ndarray, weights: np.ndarray, direction: np.ndarray) -> float:
    """The weighted gradient times the direction."""
    rows = np.asarray(gradient, dtype=float).reshape(weights.size, direction.size)
    return float(weights.reshape(-1) @ rows @ direction.reshape(-1))


def errors(slope: np.ndarray, judged: float | None, symbolic: float | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Relative to the size of the symbolic derivative, or where there is none to that of the judged one."""
    assert judged is not None
    truth = judged if symbolic is None or not math.isfinite(symbolic) else symbolic
    size = abs(truth) or 1.0
    return np.abs(slope - judged) / size, None if symbolic is None else np.abs(slope - symbolic) / size
