"""Blame: which node's own derivative is wrong, and where it stands in the file."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradcli.check.direction import split_term, united
from gradcli.check.distance import expectation, far
from gradcli.check.functions import CALLS, Alone, Fault, alone, lone_input, signed
from gradcli.check.opinions import Opinion, Witness
from gradcli.check.patterns import Context, counts_of, recognise
from gradcli.check.result import Blame, InputResult
from gradcli.check.returns import backward_of, parameter, place_of
from gradcli.check.target import Target, Term
from gradcli.engine.edges import behind
from gradcli.engine.node import Node, OperationNode
from gradcli.engine.trace import FunctionCall, Record
from gradcli.errors import AutogradError
from gradcli.references.path import reachable

NODES = 2000
"""Nodes whose rules are checked alone, newest first; more would take too long."""


def blame(target: Target, faults: Sequence[Fault], module: ast.Module, budget: int, calls: Sequence[FunctionCall] = ()) -> Blame | None:
    """The guilty node of a target that failed: a faulty user Function below it, else a node whose rule or kept values are wrong.

    Of a Function that was called too often for all `calls` to be checked before, the others are looked at now.
    """
    nodes = list(below(target))
    for fault in faults:
        if any(node is fault.call.node for node in nodes):
            return of_function(fault, module)
    for call in [call for call in unchecked(calls) if call.node in nodes][:NODES]:
        for fault in Alone(call, budget, 0).faults():
            return of_function(fault, module)
    for node in nodes[:NODES]:
        if isinstance(node, OperationNode):
            found = stale(node) or wrong_rule(node, budget)
            if found is not None:
                return found
    return None


def unchecked(calls: Sequence[FunctionCall]) -> Iterator[FunctionCall]:
    """The calls past the first ones of each user Function."""
    count: Counter[Any] = Counter()
    for call in calls:
        count[call.cls] += 1
        if count[call.cls] > CALLS:
            yield call


def of_function(fault: Fault, module: ast.Module) -> Blame:
    """The faulty return of a user Function's backward."""
    cls = fault.call.cls
    definition = backward_of(module, cls)
    line, column = place_of(definition, fault, cls)
    return Blame(line, column, cls.__name__, f"{cls.__name__}.backward: {by_name(fault, module)}")


def by_name(fault: Fault, module: ast.Module) -> str:
    """The words of a fault with the arguments by the names that forward gives them, the first with its number too."""
    told: set[int] = set()

    def named(match: re.Match[str]) -> str:
        number = int(match[1])
        name = parameter(module, fault.call.cls, number - 1)
        if name is None:
            return match[0]
        text = name if number in told else f"{name} ({match[0]})"
        told.add(number)
        return text

    return re.sub(r"argument (\d+)", named, fault.why)


def of_claim(target: Target, inputs: Sequence[InputResult]) -> Blame | None:
    """A gradient that the file claims has no node: the claim itself is to blame."""
    wrong = next((i for i in inputs if i.claimed is not None and i.failing.any()), None)
    return None if wrong is None else Blame(target.line, None, None, sentence(target, wrong, inputs))


def sentence(target: Target, item: InputResult, inputs: Sequence[InputResult], found: np.ndarray | None = None) -> str:
    """What a human would say of a wrong gradient: "d loss/d W is right up to a factor of 2: the mean over 2 rows is missing".

    `found` is the right one where the gradient was too large for a reference by element.
    """
    truth = next((t for t in (item.symbolic, item.finite_difference, found) if t is not None), None)
    given = item.autograd if item.claimed is None else item.claimed
    name = f"d {target.output}/d {item.name}"
    if truth is None:
        return f"{name} is wrong"
    terms = [t.record for i in target.inputs for t in i.terms if t.record is not None]
    counts, sums = counts_of([r for record in terms for r in reachable(record, set())])
    values = [(i.name, np.asarray(i.tensor.value)) for i in target.inputs]
    others = [(f"d {target.output}/d {i.name}", i.symbolic) for i in inputs if i is not item and i.symbolic is not None]
    return f"{name} {recognise(np.asarray(given), truth, Context(counts, sums, values, others)).text}"


def below(target: Target) -> Iterator[Node]:
    """The nodes below the outputs of a target, newest first."""
    return reversed(behind([tensor for tensor, _ in target.roots]))


def place(node: Node) -> tuple[int | None, int | None]:
    return (node.span.line, node.span.column) if node.span is not None else (None, None)


STALE = "a value that it kept for backward was overwritten afterwards, outside the graph (.data or detach())"


def stale(node: OperationNode) -> Blame | None:
    """A kept value that is no longer the one that the operation saw: overwritten outside the graph."""
    if node.records is None or not isinstance(node.saved, tuple):  # else what is kept is in the hands of the program's own hooks
        return None
    count = len(node.edges)
    for slot, value in zip(node.plan.slots, node.saved, strict=False):
        record = node.records[slot] if slot <= count and slot < len(node.records) else None
        if not isinstance(record, Record) or not isinstance(value, np.ndarray) or value.shape != np.shape(record.value):
            continue
        if not np.array_equal(value, record.value, equal_nan=True):
            line, column = place(node)
            return Blame(line, column, node.name, f"{node.name}: {STALE}")
    return None


def wrong_rule(node: OperationNode, budget: int) -> Blame | None:
    """A rule that disagrees with the references at the node's own inputs."""
    count = len(node.edges)
    if node.records is None or len(node.records) <= count:
        return None
    outputs = node.records[count:]
    rng = np.random.default_rng(node.sequence)
    weights = [signed(rng, shape, dtype) for shape, dtype in node.shapes]
    terms = [split_term(Term(record, w)) for record, w in zip(outputs, weights, strict=False) if isinstance(record, Record)]
    if not terms:
        return None
    try:
        given = alone(node, [np.asarray(w, dtype=dtype)[()] for w, (_, dtype) in zip(weights, node.shapes, strict=True)])
    except AutogradError:
        return None
    inputs = []
    for record in dict.fromkeys(r for r in node.records[:count] if isinstance(r, Record)):
        places = [k for k, r in enumerate(node.records[:count]) if r is record and node.edges[k] is not None]
        if places:
            inputs.append(lone_input(f"argument {places[0] + 1}", record, [given[k] for k in places if k in given], terms))
    witness = Witness(inputs, budget, partial=True)
    opinions = [witness.opinion(k) for k in range(len(inputs))]
    return judged(node, inputs, opinions)


def judged(node: OperationNode, inputs: Sequence[Any], opinions: Sequence[Opinion]) -> Blame | None:
    """The first of a node's gradients that is wrong."""
    expected = [expectation(o) for o in opinions]
    for k, (item, opinion, truth) in enumerate(zip(inputs, opinions, expected, strict=True)):
        if truth is None or opinion.kinked or not far(item, truth, opinion):
            continue
        others = [(other.name, e) for j, (other, e) in enumerate(zip(inputs, expected, strict=True)) if j != k and e is not None]
        line, column = place(node)
        text = recognise(united(item, item.autograd), united(item, truth), Context(others=others)).text
        return Blame(line, column, node.name, f"{node.name}: its gradient for {item.name} {text}")
    return None
