"""Digits that rounding takes: from the value of an output, and from an unstable gradient, with the operation that magnifies it most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import mpmath
import numpy as np

from gradcli.check.blame import NODES, below, wrong_rule
from gradcli.check.opinions import Opinion, Witness
from gradcli.check.result import Note
from gradcli.check.target import Target, Term
from gradcli.check.verdicts import Judgement
from gradcli.engine.node import OperationNode
from gradcli.engine.trace import Record
from gradcli.references.derived import apply
from gradcli.references.difference import as_float
from gradcli.references.estimate import NoAnswer
from gradcli.references.pair import constant, holds_complex, lifted, parts
from gradcli.references.path import Path
from gradcli.references.scalar import DIGITS, ONE, Scalar, Tape, number, to_float

MAGNIFIED = 1e4
"""A condition number from which on an operation, or a sum of gradients, is told."""


@dataclass
class Loss:
    """The operation that magnifies rounding most on the way: how much, as its condition number at the worst element."""

    record: Record | None = None
    condition: float = 0.0
    errors: dict[int, float] = field(default_factory=dict)
    """The relative error of each record's value in the run, by id: the largest over its elements."""


def unstable_notes(target: Target, judgements: Sequence[Judgement], opinions: Sequence[Opinion], budget: int) -> list[Note]:
    """One note for a target with unstable elements: the node where the digits go."""
    unstable = [(j.verdicts == "unstable") for j in judgements]
    if not any(mask.any() for mask in unstable):
        return []
    if any(i.claimed is not None for i in target.inputs):
        return [Note("unstable", "the claimed formula is right, but rounding takes its digits at these inputs", target.line)]
    terms = {id(t): t for i in target.inputs for t in i.terms if t.record is not None}
    losses = [loss for term in terms.values() if (loss := forward_loss(target, term, budget)) is not None]
    worst = max(losses, key=lambda loss: loss.condition, default=Loss())
    if worst.record is not None and worst.record.op is not None and worst.condition >= MAGNIFIED:
        line = worst.record.span.line if worst.record.span else None
        return [Note("unstable", f"{worst.record.op.name}: digits are lost here, condition number {worst.condition:.1e}", line)]
    sums = [cancellation(o, mask) for o, mask in zip(opinions, unstable, strict=True)]
    place = int(np.argmax(sums))
    if sums[place] >= MAGNIFIED:
        text = f"the terms of its gradient cancel, condition number {sums[place]:.1e}"
        return [Note("unstable", f"{target.inputs[place].name}: {text}", target.line)]
    for node in list(below(target))[:NODES]:
        found = wrong_rule(node, budget) if isinstance(node, OperationNode) else None
        if found is not None:
            return [Note("unstable", f"{node.name}: digits are lost in its derivative at these inputs", found.line)]
    return []


def value_ulps(target: Target, witness: Witness) -> float | None:
    """How far the value is from the exact one, in units of its last place, at the worst element; None where nobody knows."""
    terms = list({id(t): t for i in witness.inputs for t in i.terms}.values())
    if len(terms) != 1 or terms[0].record is None or terms[0].origin is not None or witness.method == "fd":
        return None
    try:
        exact = witness.replay(terms[0], 0).output
    except NoAnswer:
        return None
    value = np.asarray(parts(terms[0].record.value), dtype=float)
    eps = rounding(target)
    with mpmath.workdps(DIGITS), np.errstate(all="ignore"):
        return float(relative_errors(value, exact).max(initial=0.0)) / eps


def rounding(target: Target) -> float:
    """The machine epsilon that its value is computed with: that of the coarsest dtype on the way."""
    return max(float(np.finfo(i.precision).eps) for i in target.inputs) if target.inputs else float(np.finfo(float).eps)


def value_note(target: Target, ulps: float | None) -> list[Note]:
    """A note where the value has lost more than half of its digits: the gradient is judged apart from it."""
    eps = rounding(target)
    if ulps is None or not ulps * eps > np.sqrt(eps):
        return []
    return [
        Note("value", f"the value of {target.output} has lost more than half of its digits: {ulps:.1e} ulp from the exact one", target.line)
    ]


def cancellation(opinion: Opinion, mask: np.ndarray) -> float:
    """The largest ratio of the size of the terms of an unstable element to the element: the condition number of their sum."""
    if opinion.symbolic is None or not mask.any():
        return 0.0
    with np.errstate(all="ignore"):
        ratios = (opinion.gross / np.abs(opinion.symbolic.value))[mask]
    return float(np.nanmax(ratios, initial=0.0))


def forward_loss(target: Target, term: Term, budget: int) -> Loss | None:
    """Where the values of the run move away from the exact ones; None where the path has no exact values."""
    assert term.record is not None
    path = Path(term.record, [records for i in target.inputs if (records := i.records(term))])
    if path.scalars > budget or any(holds_complex(r.value) for r in path.steps):
        return None
    loss = Loss()
    try:
        with mpmath.workdps(DIGITS):
            given = [[lifted(as_float(r.value)) for r in records] for records in path.inputs]
            path.replay(given, lambda record, args: followed(loss, record, args), lambda value: constant(as_float(value)))
    except (NoAnswer, TypeError, ValueError, AttributeError, ArithmeticError, NotImplementedError):
        return None
    return loss


def followed(loss: Loss, record: Record, args: list[Any]) -> Any:
    """One operation at 50 digits; notes how far the run's value is off, and what the operation does to rounding if it is the first."""
    op = record.op
    assert op is not None
    if getattr(op, "no_exact", None):
        raise NoAnswer("an operation has no exact form")
    out = apply(op, tuple(args), record.decision)
    result = out[record.output_nr] if isinstance(out, tuple) else out
    error = relative_errors(np.asarray(record.value, dtype=float), np.asarray(result, dtype=object))
    worst = float(error.max(initial=0.0))
    loss.errors[id(record)] = worst
    eps = float(np.finfo(np.asarray(record.value).dtype).eps) if np.asarray(record.value).dtype.kind == "f" else 0.0
    before = max([loss.errors.get(id(a), 0.0) for a in record.inputs if isinstance(a, Record)], default=0.0)
    if worst > max(MAGNIFIED * eps, 100 * before):
        condition = condition_number(record, args, int(error.argmax()))
        if condition > loss.condition:
            loss.record, loss.condition = record, condition
    return out


def relative_errors(value: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """How far each number is off, relative to the exact one; infinite where that is 0 and the number is not."""
    flat = np.zeros(value.size)
    for k, (v, e) in enumerate(zip(value.flat, exact.flat, strict=True)):
        truth = number(e)
        if mpmath.isfinite(truth) and np.isfinite(v) and truth != v:
            flat[k] = to_float(abs((truth - mpmath.mpf(float(v))) / truth)) if truth else np.inf
    return flat


def condition_number(record: Record, args: list[Any], element: int) -> float:
    """sum abs(x_i * dy/dx_i) / abs(y) of one element y of an operation's result, by SymPy's derivatives."""
    tape = Tape(1_000_000)
    moving = [fresh(a, tape) if isinstance(r, Record) else a for r, a in zip(record.inputs, args, strict=True)]
    assert record.op is not None
    out = apply(record.op, tuple(moving), record.decision)
    y = np.asarray(out[record.output_nr] if isinstance(out, tuple) else out, dtype=object).reshape(-1)[element]
    if type(y) is not Scalar or y.place < 0:
        return 0.0
    adjoint, _ = tape.sweep([(y.place, ONE)])
    variables = [s for a in moving for s in np.asarray(a, dtype=object).flat if type(s) is Scalar and s.place >= 0]
    total = sum((abs(s.value * adjoint[s.place]) for s in variables), mpmath.mpf(0))
    return to_float(total / abs(y.value)) if y.value else float("inf")


def fresh(arg: Any, tape: Tape) -> Any:
    """The same numbers as variables of a tape."""
    numbers = np.asarray(arg, dtype=object)
    out = np.empty(numbers.shape, dtype=object)
    out.reshape(-1)[:] = [Scalar(number(v), tape, ()) for v in numbers.flat]
    return out if out.shape else out[()]
