"""Every user Function alone, at its own inputs, with a random upstream gradient: faults that cancel end to end do not hide here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import mpmath
import numpy as np

from gradcli.check.direction import split_input, split_term, united
from gradcli.check.distance import CLOSE, EPS, differs, expectation, far, mirrored, suspicious, truth
from gradcli.check.judge import BARS, GROSS, corners
from gradcli.check.opinions import Opinion, Witness
from gradcli.check.patterns import Context, counts_of, recognise
from gradcli.check.result import FunctionResult, Verdict
from gradcli.check.subgradient import Neighbours
from gradcli.check.target import Input, Term
from gradcli.engine.function import FunctionNode
from gradcli.engine.mode import recording, state
from gradcli.engine.node import Node, placed
from gradcli.engine.storage import Storage
from gradcli.engine.sweep import Pass
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import FunctionCall, Record, Tracer
from gradcli.errors import AutogradError, GradcliError, builtin_name
from gradcli.interpreter.faults import is_told
from gradcli.references.derived import TAIL_DIGITS
from gradcli.references.difference import as_float
from gradcli.references.estimate import NoAnswer
from gradcli.references.path import reachable
from gradcli.references.scalar import DIGITS, lift, lowered
from gradcli.references.symbolic import Exact

CALLS = 8
"""Calls of one Function that are checked; the first ones."""


@dataclass
class Fault:
    """What is wrong with one returned gradient: of which argument, and how it looks ("the gradient for argument 1 is ...").

    `kind` is the word of its pattern, `line` that of the last operation that made the gradient; `verdict` is "nan" where
    nothing is wrong but what is no finite number.
    """

    call: FunctionCall
    index: int
    kind: str
    why: str
    line: int | None = None
    verdict: Verdict = "fail"


Examine = Callable[[FunctionCall, int, int, set[Any]], list["Fault"]]
"""Looks at one call with a budget, a seed, and the Functions whose own backward is not the derivative of their forward."""


def check_functions(
    tracer: Tracer, budget: int, seed: int, again: Examine | None = None, rtol: float = 0.0
) -> tuple[list[FunctionResult], list[Fault]]:
    """One result for each user Function, and the faults found; `again` is asked too where the first look finds none.

    `rtol` is what a user allows beyond rounding, relative to each element.
    """
    results, faults = [], []
    calls = {cls: [c for c in tracer.calls if c.cls is cls and isinstance(c.node, FunctionNode)][:CALLS] for cls in by_call(tracer)}
    surrogates = {cls for cls in calls if tracer.is_surrogate(cls)}
    looks = {cls: [Alone(call, budget, seed, rtol) for call in own] for cls, own in calls.items() if cls not in surrogates}
    first = {cls: [fault for look in own for fault in look.faults()] for cls, own in looks.items()}
    untrue = surrogates | {cls for cls, found in first.items() if found}
    for cls, own in calls.items():
        line = cls.span.line if getattr(cls, "span", None) else None
        if cls in surrogates:
            results.append(FunctionResult(cls.__name__, line, "pass", False, "surrogate: its backward is deliberately not the derivative"))
            continue
        found = first[cls]
        if not found and again is not None:
            found = [fault for call in own for fault in again(call, budget, seed, untrue)]
        faults += found
        verdict: Verdict = "pass" if not found else "nan" if all(f.verdict == "nan" for f in found) else "fail"
        why = found[0].why if found else next((look.unable for look in looks[cls] if look.unable), None)
        results.append(FunctionResult(cls.__name__, line, verdict, bool(found), why))
    return results, faults


def by_call(tracer: Tracer) -> list[Any]:
    """The user Functions of a run, in the order of their first calls."""
    return list(dict.fromkeys(call.cls for call in tracer.calls))


class Alone:
    """One call of a user Function, judged at its own inputs along random upstream gradients."""

    def __init__(self, call: FunctionCall, budget: int, seed: int, rtol: float = 0.0) -> None:
        self.call, self.node, self.budget, self.rtol = call, call.node, budget, rtol
        rng = np.random.default_rng([seed, call.first])
        self.weights = [as_float(signed(rng, shape, dtype).astype(dtype)) for shape, dtype in self.node.shapes]
        outputs = zip(call.outputs, self.weights, strict=False)
        self.terms = [split_term(Term(record, w)) for record, w in outputs if isinstance(record, Record)]
        self.inputs: list[Input] = []
        self.places: list[list[int]] = []
        """For each input at which arguments it was given."""
        self.replays: dict[tuple[int, int, int], Exact | NoAnswer] = {}
        """What a witness knows of the outputs: the same whatever comes from above."""
        self.unable: str | None = None
        """Why nothing can be said of this call."""

    def faults(self) -> list[Fault]:
        """The wrong ones among the gradients that its backward returns; none where forward gave no tensor."""
        if all(dtype is None for _, dtype in self.node.shapes):
            return []
        sent = [np.array(w, dtype=dtype)[()] for w, (_, dtype) in zip(self.weights, self.node.shapes, strict=True)]
        try:
            given = alone(self.node, sent)
        except AutogradError:  # what it saved was written to since, and no trace knows it
            return []
        except Exception as error:
            if not is_told(error):
                raise
            self.unable = f"not judged alone: for another grad_output its backward raises {builtin_name(error)}: {error}"
            return []
        if any((s != w).any() for s, w in zip(sent, self.weights, strict=True)):
            return [Fault(self.call, 0, "inplace", "backward changes grad_output in place: what else gets this gradient is wrong then")]
        self.gather(given)
        witness = Witness(self.inputs, self.budget, partial=True)
        witness.exact = self.replays
        opinions = [witness.opinion(k) for k in range(len(self.inputs))]
        expected = [truth(o, item) for o, item in zip(opinions, self.inputs, strict=True)]
        triples = enumerate(zip(self.inputs, opinions, expected, strict=True))
        suspects = [k for k, (item, opinion, truth) in triples if suspicious(item, item.autograd, truth, opinion, self.rtol)]
        if suspects:
            suspects = self.without_rounding(suspects, opinions, expected)
        suspects = [k for k in suspects if not self.at_corner(k, witness, opinions[k], expected[k])]
        suspects = [k for k in suspects if not (self.half_read(k) and mirrored(self.inputs[k], expected[k]))]
        if any(o.kinked for o in opinions):
            suspects = self.beside_kinks(suspects)
        return [self.fault(k, opinions, expected, given) for k in suspects]

    def without_rounding(self, suspects: list[int], opinions: Sequence[Opinion], expected: Sequence[np.ndarray | None]) -> list[int]:
        """Which inputs remain suspect when forward and backward run at 50 digits, then at as many as bridge the exponents of
        float64; by how much they are off where that does not work."""
        affordable = any(opinions[k].symbolic is not None for k in suspects)
        left = self.wrong_at(DIGITS, suspects, opinions, expected) if affordable else None
        if left is None:
            return [k for k in suspects if far(self.inputs[k], expected[k], opinions[k], self.rtol)]
        deeper = self.wrong_at(TAIL_DIGITS, left, opinions, expected) if left else left
        return left if deeper is None else deeper

    def wrong_at(
        self, digits: int, suspects: list[int], opinions: Sequence[Opinion], expected: Sequence[np.ndarray | None]
    ) -> list[int] | None:
        """Which suspects are wrong when forward and backward run at so many digits; None where they do not run so."""
        exactly = rederived(self.call, self.weights, digits)
        if exactly is None:
            return None
        left = []
        for k in suspects:
            again = sum((exactly[p] for p in self.places[k] if p in exactly), np.zeros(self.inputs[k].shape))
            if differs(again, expected[k], opinions[k], max(1e-12, self.rtol), GROSS * EPS):
                left.append(k)
        return left

    def at_corner(self, position: int, witness: Witness, opinion: Opinion, expected: np.ndarray | None) -> bool:
        """Whether a gradient on which only differences speak is off at corners alone, and a slope between the two sides there."""
        if opinion.symbolic is not None or opinion.difference is None or expected is None:
            return False
        given = self.inputs[position].autograd
        off = np.flatnonzero(~(np.abs(given - expected) <= BARS * opinion.difference.error + CLOSE * np.abs(expected)))
        found = witness.slopes(position, off)
        return found is not None and bool(np.logical_and(*corners(given.reshape(-1)[off], *found)).all())

    def half_read(self, position: int) -> bool:
        """Whether the forward reads an argument by operations that take one triangle of it for the whole."""
        record = next(iter(self.inputs[position].fixed or ()), None)
        readers = [
            r.op for t in self.terms if t.record is not None for r in reachable(t.record, set()) if any(i is record for i in r.inputs)
        ]
        return bool(readers) and all(op is not None and op.one_triangle for op in readers)

    def gather(self, given: dict[int, Any]) -> None:
        """The differentiated inputs, each once, with the sum of what came back for it."""
        call = self.call
        for record in dict.fromkeys(r for k, r in enumerate(call.inputs) if isinstance(r, Record) and self.node.edges[k] is not None):
            places = [k for k, r in enumerate(call.inputs) if r is record]
            self.inputs.append(lone_input(str(places[0]), record, [given[k] for k in places if k in given], self.terms))
            self.places.append(places)

    def beside_kinks(self, suspects: list[int]) -> list[int]:
        """Which inputs remain suspect where switches lie exactly at the point: the whole gradient must be a subgradient."""
        try:
            neighbours = Neighbours(self.inputs, self.budget, self.call.first)
        except NoAnswer:
            return suspects
        if neighbours.allow([i.autograd for i in self.inputs]):
            return []
        return suspects or [0]

    def fault(self, position: int, opinions: Sequence[Opinion], expected: Sequence[np.ndarray | None], given: dict[int, Any]) -> Fault:
        """What is wrong with one gradient, in words."""
        item, places = self.inputs[position], self.places[position]
        which = f"the gradient for argument {places[0] + 1}"
        if not any(k in given for k in places):
            return Fault(self.call, places[0], "none", f"{which} is None, but the output depends on it", self.line(places[0]))
        truth = expected[position]
        assert truth is not None
        pattern = recognise(united(item, item.autograd), united(item, truth), self.context(position, expected))
        finite = np.where(np.isfinite(item.autograd), item.autograd, truth)
        verdict: Verdict = "fail" if suspicious(item, finite, truth, opinions[position], self.rtol) else "nan"
        return Fault(self.call, places[0], pattern.kind, f"{which} {pattern.text}", self.line(places[0]), verdict)

    def line(self, index: int) -> int | None:
        """The line of the last operation that made a gradient (or, for one that is None, another): which return ran."""
        try:
            with own_sweep(recorded=True):
                found = self.call.cls.rule()(self.node.context, *[Tensor(np.array(w), True) for w in self.weights])
        except Exception as error:
            if not is_told(error):
                raise
            return None
        results = found if isinstance(found, tuple) else (found,)
        nodes = [r.node for r in [*results[index : index + 1], *results] if isinstance(r, Tensor) and r.node is not None]
        return nodes[0].span.line if nodes and nodes[0].span is not None else None

    def context(self, position: int, expected: Sequence[np.ndarray | None]) -> Context:
        """What may explain a wrong gradient."""
        body = [r for t in self.terms if t.record is not None for r in reachable(t.record, set()) if self.call.first < r.index]
        counts, sums = counts_of(body)
        others = [
            (f"argument {self.places[k][0] + 1}", e) for k, e in enumerate(expected) if k != position and e is not None
        ]  # fmt: skip
        upstream = self.weights[0] if len(self.weights) == 1 else None
        values = [(f"argument {p[0] + 1}", np.asarray(i.fixed[0].value)) for p, i in zip(self.places, self.inputs, strict=True) if i.fixed]
        outputs = [np.asarray(t.record.value) for t in self.terms if t.record is not None]
        values += [("the output" if len(outputs) == 1 else f"output {k + 1}", v) for k, v in enumerate(outputs)]
        along = partial(self.along, position) if self.terms else None  # nothing leads from a constant output to the inputs
        return Context(counts, sums, values, others, upstream, along)

    def along(self, position: int, weights: np.ndarray) -> np.ndarray | None:
        """The right gradient of one input for another upstream gradient of the only output."""
        term = Term(self.terms[0].record, weights)
        witness = Witness([replace(i, terms=[term]) for i in self.inputs], self.budget, partial=True)
        witness.exact = self.replays
        return expectation(witness.opinion(position))


def lone_input(name: str, record: Record, parts: Sequence[Any], terms: list[Term]) -> Input:
    """An input that stands for one record, with the sum of the gradients that it got."""
    shape, dtype = np.shape(record.value), np.asarray(record.value).dtype
    total = sum((as_float(np.asarray(p)) for p in parts), np.zeros(shape))
    return split_input(Input(name, None, shape, dtype, None, total, terms, fixed=[record]), terms)  # type: ignore[arg-type]


def alone(node: Node, grads: Sequence[Any]) -> dict[int, Any]:
    """What one node hands to each of its inputs, by position; None and missing entries mean no gradient."""
    with own_sweep(recorded=False) as sweep:
        return {index: g for index, g in placed(node, node.backward(list(grads), sweep)) if g is not None}


@contextmanager
def own_sweep(recorded: bool, storage: Storage | None = None) -> Iterator[Pass]:
    """The engine set up for a pass of gradcli's own: over freed graphs too, and without a trace; with numbers in other storage."""
    before = state.sweep, state.tracer, state.storage
    sweep = Pass([], own=True, alone=True)
    state.sweep, state.tracer, state.storage = sweep, None, storage
    try:
        with recording(recorded):
            yield sweep
    finally:
        state.sweep, state.tracer, state.storage = before


def signed(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any = np.float64) -> np.ndarray:
    """Random weights of generic size and sign."""
    if np.dtype(dtype).kind == "c":
        return np.asarray(signed(rng, shape) + 1j * signed(rng, shape))
    return np.asarray(rng.uniform(0.5, 1.5, shape) * rng.choice([-1.0, 1.0], shape))


def rederived(call: FunctionCall, weights: Sequence[np.ndarray], digits: int) -> dict[int, np.ndarray] | None:
    """What the user's own forward and backward give at so many digits; None where they do not run so."""
    found, storage = None, Storage(lift)
    for _ in storage.attempts():
        found = in_storage(call, weights, digits, storage)
    return found


def in_storage(call: FunctionCall, weights: Sequence[np.ndarray], digits: int, storage: Storage) -> dict[int, np.ndarray] | None:
    """One attempt at `rederived`."""
    try:
        with mpmath.workdps(digits), own_sweep(recorded=True, storage=storage) as sweep:
            args = [Tensor(lift(r.value), True) if isinstance(r, Record) else a for r, a in zip(call.inputs, call.args, strict=True)]
            result = call.cls.apply(*args)
            results = result if isinstance(result, tuple) else (result,)
            node = next(t.node for t in results if isinstance(t, Tensor) and t.node is not None)
            with recording(False):
                found = placed(node, node.backward([lift(w) for w in weights], sweep))
            return {k: np.asarray(lowered(np.asarray(getattr(g, "value", g))), dtype=float) for k, g in found if g is not None}
    except (GradcliError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, LookupError, StopIteration):
        return None
