"""Every user Function alone, at its own inputs, with a random upstream gradient: faults that cancel end to end do not hide here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.check.opinions import Opinion, Witness
from gradcli.check.projection import Project, Projection
from gradcli.check.result import FunctionResult
from gradcli.check.target import Input, Term
from gradcli.engine.backward import Pass
from gradcli.engine.function import FunctionNode
from gradcli.engine.mode import recording
from gradcli.engine.node import Node, placed
from gradcli.engine.trace import FunctionCall, Record, Tracer
from gradcli.references.difference import scales

CALLS = 8
"""Calls of one Function that are checked; the first ones."""
CLOSE = 1e-7
"""Relative disagreement that rounding inside a Function may cause."""


@dataclass
class Fault:
    """What is wrong with one returned gradient: of which argument, what it should be, what it is."""

    call: FunctionCall
    index: int
    given: np.ndarray
    expected: np.ndarray
    why: str


def check_functions(tracer: Tracer, budget: int, seed: int) -> tuple[list[FunctionResult], list[Fault]]:
    """One result for each user Function, and the faults found."""
    results, faults = [], []
    calls = tracer.calls
    for cls in dict.fromkeys(call.cls for call in calls):
        own = [call for call in calls if call.cls is cls and isinstance(call.node, FunctionNode)][:CALLS]
        line = cls.span.line if getattr(cls, "span", None) else None
        if tracer.is_surrogate(cls):
            results.append(FunctionResult(cls.__name__, line, "pass", False, "surrogate: its backward is deliberately not the derivative"))
            continue
        found = [fault for call in own for fault in faults_of(call, budget, seed)]
        faults += found
        results.append(FunctionResult(cls.__name__, line, "fail" if found else "pass", bool(found), found[0].why if found else None))
    return results, faults


def faults_of(call: FunctionCall, budget: int, seed: int) -> list[Fault]:
    """The wrong ones among the gradients that one call's backward returns for random upstream gradients."""
    rng = np.random.default_rng([seed, call.first])
    node = call.node
    weights = [signed(rng, shape) for shape, _ in node.shapes]
    sent = [np.array(w, dtype=dtype) for w, (_, dtype) in zip(weights, node.shapes)]
    given = alone(node, sent)
    if any((s != w).any() for s, w in zip(sent, weights)):
        return [Fault(call, 0, sent[0], weights[0], "backward changes grad_output in place")]
    terms = [Term(record, w) for record, w in zip(call.outputs, weights) if isinstance(record, Record)]
    inputs, groups = [], []
    for record in dict.fromkeys(r for k, r in enumerate(call.inputs) if isinstance(r, Record) and node.edges[k] is not None):
        places = [k for k, r in enumerate(call.inputs) if r is record]
        shape = np.shape(record.value)
        total = sum((np.asarray(given[k], dtype=float) for k in places if k in given), np.zeros(shape))
        inputs.append(Input(str(places[0]), None, shape, np.asarray(record.value).dtype, None, total, terms, fixed=[record]))  # type: ignore[arg-type]
        groups.append(places)
    witness = Witness(inputs, budget)
    faults = []
    for position, (item, places) in enumerate(zip(inputs, groups)):
        opinion = witness.opinion(position)
        expected = expectation(opinion)
        if expected is None and opinion.project is not None:
            expected = corrected(item, opinion.project)
        if expected is None or not disagrees(item.autograd, expected, opinion, item.dtype):
            continue
        missing = not any(k in given for k in places)
        why = describe(item.autograd, expected, places[0], missing)
        faults.append(Fault(call, places[0], item.autograd, expected, why))
    return faults


def alone(node: Node, grads: Sequence[Any]) -> dict[int, Any]:
    """What one node hands to each of its inputs, by position; None and missing entries mean no gradient."""
    with recording(False):
        return {index: g for index, g in placed(node, node.backward(list(grads), Pass([], own=True))) if g is not None}


def signed(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Random weights of generic size and sign."""
    return np.asarray(rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape))


def expectation(opinion: Opinion) -> np.ndarray | None:
    """The derivative by the best reference; NaN where neither speaks."""
    symbolic = None if opinion.symbolic is None else opinion.symbolic.value
    slope = None if opinion.difference is None else np.where(opinion.difference.error < 1e-4 * np.abs(opinion.difference.value) + 1e-9, opinion.difference.value, np.nan)
    if symbolic is None:
        return slope
    return symbolic if slope is None else np.where(np.isfinite(symbolic), symbolic, slope)


def corrected(item: Input, project: Project) -> np.ndarray:
    """A gradient too large to be checked by element, with the elements that bisection found wrong put right."""
    assert item.fixed is not None
    projection = Projection(item.autograd, scales(np.asarray(item.fixed[0].value, dtype=float)), project)
    projection.run()
    return projection.given


def disagrees(given: np.ndarray, expected: np.ndarray, opinion: Opinion, dtype: np.dtype) -> bool:
    """Whether some element is wrong beyond rounding, and is no other subgradient at a kink."""
    eps = float(np.finfo(dtype).eps) if dtype.kind == "f" else 2.2e-16
    gross = np.where(np.isfinite(opinion.gross), opinion.gross, 0.0)
    room = max(CLOSE, 100 * eps) * np.abs(expected) + 1e3 * eps * gross + float(np.finfo(np.float64).tiny)
    if opinion.symbolic is None and opinion.difference is not None:
        room = room + 10 * opinion.difference.error
    low, high = expected - room, expected + room
    for side in opinion.alternatives:
        low, high = np.fmin(low, side - room), np.fmax(high, side + room)
    known = np.isfinite(expected)
    return bool((known & ~((given >= low) & (given <= high))).any())


def describe(given: np.ndarray, expected: np.ndarray, index: int, missing: bool) -> str:
    """What the wrong gradient looks like next to the right one, in one sentence."""
    which = f"the gradient for argument {index + 1}"
    if missing:
        return f"{which} is None, but the output depends on it"
    if given.ndim == 2 and given.shape[0] == given.shape[1] and close(given.T, expected):
        return f"{which} is transposed"
    if close(-given, expected):
        return f"{which} has the wrong sign"
    factor = constant_factor(given, expected)
    if factor is not None:
        return f"{which} is off by a constant factor: it is {factor:.6g} times the derivative"
    unmasked = (np.abs(expected) == 0) & (given != 0)
    if unmasked.any() and close(np.where(unmasked, 0.0, given), expected):
        return f"{which} lacks a mask: it is not 0 where the derivative is"
    wrong = ~np.isclose(given, expected, rtol=1e-6, atol=0, equal_nan=True)
    if 0 < wrong.sum() < given.size:
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        return f"{which} is wrong in {int(wrong.sum())} of {given.size} elements, first at {list(place)}: {given[place]:.6g} instead of {expected[place]:.6g}"
    place = np.unravel_index(int(np.argmax(np.abs(given - expected))), given.shape) if given.size else ()
    return f"{which} is wrong: {float(given[place]):.6g} instead of {float(expected[place]):.6g}" + (f" at {[int(i) for i in place]}" if place else "")


def close(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.allclose(a, b, rtol=1e-6, atol=1e-12 * float(np.max(np.abs(b), initial=0.0))))


def constant_factor(given: np.ndarray, expected: np.ndarray) -> float | None:
    """The factor between two arrays, where one and the same factor takes all elements of the one to the other."""
    use = (expected != 0) & np.isfinite(expected) & np.isfinite(given)
    if not use.any():
        return None
    factor = float(np.median(given[use] / expected[use]))
    return factor if factor and close(expected * factor, given) else None
