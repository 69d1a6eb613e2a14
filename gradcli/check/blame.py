"""Blame: which node's own derivative is wrong, and where it stands in the file."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradcli.check.functions import Fault, alone, describe, disagrees, expectation
from gradcli.check.opinions import Witness
from gradcli.check.result import Blame
from gradcli.check.target import Input, Target, Term
from gradcli.engine.node import Node, OperationNode
from gradcli.engine.trace import Record


def blame(target: Target, faults: Sequence[Fault], module: ast.Module, budget: int) -> Blame | None:
    """The guilty node of a target that failed: a faulty user Function below it, else a node whose rule or kept values are wrong."""
    nodes = list(below(target))
    for fault in faults:
        if any(node is fault.call.node for node in nodes):
            return of_function(fault, module)
    for node in nodes:
        if isinstance(node, OperationNode):
            found = stale(node) or wrong_rule(node, budget)
            if found is not None:
                return found
    return None


def of_function(fault: Fault, module: ast.Module) -> Blame:
    """The faulty return of a user Function's backward."""
    cls = fault.call.cls
    line, column = returned(module, cls, fault.index)
    return Blame(line, column, cls.__name__, f"{cls.__name__}.backward: {fault.why}")


def returned(module: ast.Module, cls: Any, index: int) -> tuple[int | None, int | None]:
    """Line and column of the gradient with this index in the last return of a class's backward."""
    span = getattr(cls, "span", None)
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__ and (span is None or node.lineno == span.line):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and member.name == "backward":
                    returns = [n for n in ast.walk(member) if isinstance(n, ast.Return) and n.value is not None]
                    if not returns:
                        return member.lineno, member.col_offset + 1
                    value: ast.expr = max(returns, key=lambda n: n.lineno).value  # type: ignore[assignment]
                    if isinstance(value, ast.Tuple) and index < len(value.elts):
                        value = value.elts[index]
                    return value.lineno, value.col_offset + 1
    return (span.line, span.column) if span is not None else (None, None)


def below(target: Target) -> Iterator[Node]:
    """The nodes below the outputs of a target, newest first."""
    seen: dict[Node, None] = {}
    stack = [edge[0] for edge in (tensor.edge() for tensor, _ in target.roots) if edge is not None]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen[node] = None
            stack.extend(edge[0] for edge in node.edges if edge is not None)
    return iter(sorted(seen, key=lambda n: -n.sequence))


def place(node: Node) -> tuple[int | None, int | None]:
    return (node.span.line, node.span.column) if node.span is not None else (None, None)


def stale(node: OperationNode) -> Blame | None:
    """A kept value that is no longer the one that the operation saw: overwritten outside the graph."""
    if node.records is None:
        return None
    count = len(node.edges)
    for slot, value in zip(node.plan.slots, node.saved):
        record = node.records[slot] if slot <= count and slot < len(node.records) else None
        if not isinstance(record, Record) or not isinstance(value, np.ndarray) or value.shape != np.shape(record.value):
            continue
        if not np.array_equal(value, record.value, equal_nan=True):
            line, column = place(node)
            return Blame(line, column, node.name, "a value that it kept for backward was overwritten afterwards, outside the graph (.data or detach())")
    return None


def wrong_rule(node: OperationNode, budget: int) -> Blame | None:
    """A rule that disagrees with the references at the node's own inputs."""
    if node.records is None or node.op.outputs > 1 or len(node.records) <= len(node.edges):
        return None
    output = node.records[len(node.edges)]
    if not isinstance(output, Record):
        return None
    weights = np.random.default_rng(node.sequence).uniform(0.5, 1.5, np.shape(output.value))
    given = alone(node, [weights[()]])
    term = Term(output, weights)
    inputs = []
    for record in dict.fromkeys(r for r in node.records[: len(node.edges)] if isinstance(r, Record)):
        places = [k for k, r in enumerate(node.records[: len(node.edges)]) if r is record and node.edges[k] is not None]
        if places:
            total = sum((np.asarray(given[k], dtype=float) for k in places if k in given), np.zeros(np.shape(record.value)))
            inputs.append(Input("", None, np.shape(record.value), np.asarray(record.value).dtype, None, total, [term], fixed=[record]))  # type: ignore[arg-type]
    witness = Witness(inputs, budget)
    for position, item in enumerate(inputs):
        opinion = witness.opinion(position)
        expected = expectation(opinion)
        if expected is not None and disagrees(item.autograd, expected, opinion, item.dtype):
            line, column = place(node)
            return Blame(line, column, node.name, f"{node.name}: {describe(item.autograd, expected, position, False)}")
    return None


