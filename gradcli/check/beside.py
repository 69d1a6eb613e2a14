"""The exact gradient at another point than the one that the program ran at: at 50 digits, by SymPy's derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np

from gradcli.check.target import Input, Term
from gradcli.engine.trace import Record
from gradcli.references.derived import apply
from gradcli.references.difference import as_float
from gradcli.references.estimate import NoAnswer
from gradcli.references.pair import constant, holds_complex, lowered, paired, parts
from gradcli.references.path import Path
from gradcli.references.scalar import DIGITS, ZERO, BudgetExceeded, Scalar, Tape, lift, number
from gradcli.references.symbolic import real_numbers, total

Step = Callable[[Record, list[Any]], Any]
HESSIAN_WORK = 200_000
"""Scalar operations that exact second derivatives may cost a Hessian; past it they are taken from the trace of the first."""
NUDGE = 20
"""Second derivatives are differences of exact gradients over steps of 10**-NUDGE: they keep as many digits."""


CANCELLED = 3
"""Digits lost besides, in what then counts as 0."""


def anew(record: Record, args: list[Any]) -> Any:
    """One operation with the decision that its arguments call for."""
    op = followed(record)
    return apply(op, tuple(args), op.decide(*map(lowered, args)) if op.decides else None)


def pinned(record: Record, args: list[Any]) -> Any:
    """One operation with the decision of the base run."""
    return apply(followed(record), tuple(args), record.decision)


def followed(record: Record) -> Any:
    if getattr(record.op, "no_exact", None):
        raise NoAnswer("an operation has no exact form")
    return record.op


def beside(inputs: Sequence[Input], moves: Sequence[np.ndarray], budget: int, step: Step = anew) -> list[np.ndarray]:
    """The gradient by each input (high-precision numbers) after moving all of them. Raises NoAnswer."""
    found = [np.full(i.shape, ZERO, dtype=object) for i in inputs]
    terms = {id(t): t for i in inputs for t in i.terms}
    for term in terms.values():
        records = [i.records(term) for i in inputs]
        used = [k for k, r in enumerate(records) if r]
        if term.record is None or not used:
            continue
        if term.weights is None:
            raise NoAnswer("a Jacobian has no one gradient")
        parts = swept(Path(term.record, [records[k] for k in used]), [moves[k] for k in used], term.weights, budget, step)
        for k, part in zip(used, parts, strict=True):
            found[k] = found[k] + part
    return found


def swept(path: Path, moves: Sequence[np.ndarray], weights: np.ndarray, budget: int, step: Step) -> list[np.ndarray]:
    """The weighted gradient of one path at a moved point."""
    tape = Tape(budget)
    with mpmath.workdps(max(DIGITS, mpmath.mp.dps)):
        try:
            given = [[lifted_at(r.value, move, tape) for r in records] for records, move in zip(path.inputs, moves, strict=True)]
            variables = [[real_numbers(v, r.value) for v, r in zip(*pair, strict=True)] for pair in zip(given, path.inputs, strict=True)]
            output = path.replay(given, step, lambda value: constant(as_float(value)))
            output = real_numbers(output, path.output.value)
        except BudgetExceeded:
            raise NoAnswer(f"more than {budget} scalar operations") from None
        pairs = zip(output.flat, np.asarray(weights).flat, strict=True)
        seeds = [(s.place, number(w)) for s, w in pairs if type(s) is Scalar and s.place >= 0]
        adjoint, _ = tape.sweep(seeds)
        return [shaped(total(v, adjoint), parts(records[0].value).shape) for v, records in zip(variables, path.inputs, strict=True)]


def lifted_at(value: Any, move: np.ndarray, tape: Tape) -> Any:
    """The variables for a value that was moved by (exact) real numbers."""
    moved = lift(parts(as_float(value)) + move, tape)
    return paired(moved) if holds_complex(value) else moved


def shaped(numbers: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    out = np.empty(len(numbers), dtype=object)
    out[:] = numbers
    return out.reshape(shape)


def curvature(inputs: Sequence[Input], direction: Sequence[np.ndarray], budget: int, times: int = 1) -> list[np.ndarray]:
    """The derivative of the exact gradient along a direction, taken so many times, by each input: exact to float64. Raises NoAnswer.

    A central difference, with as many more digits as the power of its step costs.
    """
    with mpmath.workdps(DIGITS + NUDGE * (times - 1)):
        h = mpmath.mpf(10) ** -NUDGE
        sides = []
        for k in range(times + 1):
            away = h * (mpmath.mpf(times) / 2 - k)
            moves = [shaped([number(d) * away for d in np.reshape(v, -1)], np.shape(v)) for v in direction]
            sides.append([(-1) ** k * math.comb(times, k) * g for g in beside(inputs, moves, budget, pinned)])
        return [quotient(parts, h**times) for parts in zip(*sides, strict=True)]


def quotient(terms: Sequence[np.ndarray], step: Any) -> np.ndarray:
    """The sum of the terms over the step; 0 where they cancel down to the rounding of their digits."""
    total, size = sum(terms[1:], terms[0]), sum(np.abs(terms[1:]), np.abs(terms[0]))
    value, floor = (
        np.asarray(v, dtype=object).astype(float) for v in (total / step, size * mpmath.mpf(10) ** (NUDGE + CANCELLED - DIGITS))
    )
    return np.where(np.abs(value) <= floor, 0.0, value)


def base_point(item: Input) -> np.ndarray:
    records = item.records(item.terms[0]) if item.terms else []
    return np.asarray(as_float(records[-1].value)) if records else np.zeros(item.shape)


def sensitivity(inputs: Sequence[Input], position: int, budget: int, eps: float) -> np.ndarray | None:
    """How much the exact gradient (or Jacobian) by one input changes when all inputs are rounded anew; None where that cannot be told.

    Any float formula of the gradient, also one by hand, is off by some such amounts: cos(x) at x = 1e6 by 1e6 roundings.
    """
    record = inputs[position].terms[0].record if inputs[position].terms else None
    if record is None or inputs[position].terms[0].weights is not None:
        return spread(inputs, position, budget, eps)
    shape = np.shape(record.value)
    rows = [spread(row_of(inputs, unit.reshape(shape)), position, budget, eps) for unit in np.eye(math.prod(shape))]
    known = [row for row in rows if row is not None]
    return np.stack(known).reshape(shape + inputs[position].shape) if len(known) == len(rows) > 0 else None


def row_of(inputs: Sequence[Input], weights: np.ndarray) -> list[Input]:
    """The inputs of one row of a Jacobian."""
    terms = {id(t): Term(t.record, weights) for i in inputs for t in i.terms}
    return [replace(i, terms=[terms[id(t)] for t in i.terms]) for i in inputs]


def spread(inputs: Sequence[Input], position: int, budget: int, eps: float) -> np.ndarray | None:
    """`sensitivity` of a gradient."""
    rng = np.random.default_rng(0)
    try:
        base = beside(inputs, [np.zeros(i.shape) for i in inputs], budget, pinned)[position]
        changes = []
        for _ in range(3):
            points = [base_point(i) for i in inputs]
            moved = beside(inputs, [p * eps * rng.choice([-1.0, 1.0], np.shape(p)) for p in points], budget, pinned)[position]
            changes.append(np.abs(np.asarray(moved - base).astype(float)))
    except (NoAnswer, ArithmeticError, ValueError, TypeError):
        return None
    return np.asarray(np.max(changes, axis=0))


def hessian(item: Input, term: Term, budget: int) -> np.ndarray | None:
    """The exact derivatives of the gradient of a term's origin by one input: weighted, or all (the shape twice); None where too many."""
    assert term.origin is not None
    origin = Input(item.name, None, item.shape, item.dtype, item.tensor, np.zeros(item.shape), [term.origin], fixed=item.fixed)
    records = origin.records(term.origin)
    if term.origin.record is None or not records:
        return np.zeros((() if term.weights is not None else item.shape) + item.shape)
    directions = [np.asarray(term.weights)] if term.weights is not None else list(np.eye(math.prod(item.shape)))
    if len(directions) * sum(np.size(r.value) for r in Path(term.origin.record, [records]).steps) > HESSIAN_WORK:
        return None
    rows = [curvature([origin], [d.reshape(item.shape)], budget, term.times)[0] for d in directions]
    return rows[0] if term.weights is not None else np.reshape(rows, item.shape + item.shape)
