"""The backward pass step by step: what comes in, the local derivative, what goes out, and where gradients vanish or explode."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcli.engine.mode import recording, state
from gradcli.engine.node import AccumulateGrad, Node, OperationNode
from gradcli.engine.sweep import Pass
from gradcli.engine.trace import Record
from gradcli.graph.build import Builder
from gradcli.graph.local_text import local_derivatives
from gradcli.graph.model import Graph, GraphNode
from gradcli.graph.nans import finite
from gradcli.graph.observe import Step

VANISHED = 1e-6
EXPLODED = 1e6
"""Beyond so many times the gradient of the output a gradient has vanished, or exploded."""


@dataclass(slots=True)
class Handed:
    """A gradient handed to an operand, with the local derivative by it: as a formula, and its value."""

    to: GraphNode
    position: int
    gradient: Any
    norm: float
    derivative: str = ""
    formula: str = ""
    value: Any = None


@dataclass(slots=True)
class PassStep:
    """One node of the pass; `flag` says what begins here."""

    number: int
    node: GraphNode
    incoming: Any
    norm: float
    handed: list[Handed] = field(default_factory=list)
    flag: str = ""


@dataclass(slots=True)
class BackwardPass:
    """The whole pass; `findings` are its flags as sentences."""

    graph: Graph
    output: str
    grad_outputs: Any
    steps: list[PassStep]
    findings: list[str] = field(default_factory=list)


def backward_pass(graph: Graph, builder: Builder, steps: list[Step], grad_outputs: Any) -> BackwardPass:
    """The steps with names, formulas and norms; of a graph that is only a part, those of its nodes."""
    by_id = graph.by_id()
    known = {node: by_id[name] for node, name in builder.ids.items() if name in by_id}
    made: list[PassStep] = []
    for step in steps:
        if step.node not in known:
            continue
        incoming = step.incoming[0] if len(step.incoming) == 1 else next((g for g in step.incoming if g is not None), None)
        row = PassStep(len(made) + 1, known[step.node], incoming, norm(incoming))
        if not isinstance(step.node, AccumulateGrad):
            row.handed = handed(step, known, builder)
        made.append(row)
    result = BackwardPass(graph, graph.outputs[0].name, grad_outputs, made)
    flag(result)
    return result


def handed(step: Step, known: dict[Node, GraphNode], builder: Builder) -> list[Handed]:
    """What a node hands to its operands."""
    node = step.node
    made = []
    for position, g in step.outgoing:
        edge = node.edges[position]
        if edge is not None and edge[0] in known:
            made.append(Handed(known[edge[0]], position, g, norm(g)))
    record = builder.recorded.records.get(node)
    texts = local_derivatives(node, record, {h.position: operand_name(h.to) for h in made})
    values = local_values(node, record)
    for item in made:
        item.derivative, item.formula = texts.get(item.position, ("", ""))
        item.value = values.get(item.position)
    return made


def operand_name(node: GraphNode) -> str:
    """A variable by its name, anything else by its id."""
    rounds = "".join(f"[{number}]" for _, number in node.loop)
    return f"{node.name}{rounds}" if node.name and node.name.isidentifier() else node.name or node.id


def local_values(node: Node, record: Record | None) -> dict[int, Any]:
    """What an elementwise operation hands on for an incoming gradient of ones: the value of its local derivative."""
    from gradcli.ops.elementwise import Elementwise

    if not isinstance(node, OperationNode) or not isinstance(node.op, Elementwise) or record is None:
        return {}
    shape, dtype = node.shapes[0]
    before, state.sweep = state.sweep, Pass([], own=True)
    try:
        with recording(False), np.errstate(all="ignore"):
            parts = node.backward([np.ones(shape, dtype)[()]], state.sweep)
            places = [index for index, edge in enumerate(node.edges) if edge is not None]
    finally:
        state.sweep = before
    return {index: g for index, g in zip(places, parts, strict=True) if g is not None and np.shape(g) == shape}


def norm(value: Any) -> float:
    """The Euclidean norm, without overflow; NaN for NaN."""
    if value is None:
        return 0.0
    array = np.abs(np.asarray(value, dtype=complex if np.asarray(value).dtype.kind == "c" else float)).ravel()
    top = float(np.max(array, initial=0.0))
    if top == 0 or not math.isfinite(top):
        return top
    return top * float(np.sqrt(np.sum((array / top) ** 2)))


def typical(value: Any) -> float:
    """The root mean square: what an element's gradient is like, whatever their number."""
    return norm(value) / math.sqrt(max(np.size(value), 1))


def flag(result: BackwardPass) -> None:
    """Mark the steps after which a gradient is not finite, 0, vanished or exploded, though all that went into it was sound."""
    start = typical(result.steps[0].incoming) if result.steps else 0.0
    givers: dict[str, list[tuple[PassStep, Handed]]] = {}
    seen: set[str] = set()
    for step in result.steps:
        for item in step.handed:
            givers.setdefault(item.to.id, []).append((step, item))
        given = givers.get(step.node.id, [])
        word = what_begins(step, [giver for giver, _ in given], start) if given else ""
        if not word:
            continue
        guilty = next((giver for giver, item in given if word == "not finite" and not finite(item.gradient)), given[-1][0])
        guilty.flag = guilty.flag or word
        if word not in seen:
            seen.add(word)
            place = f", line {guilty.node.line}" if guilty.node.line else ""
            result.findings.append(f"{SENTENCES[word]} at {guilty.node.id} {guilty.node.title}{place}{extent(word, result)}")


SENTENCES = {
    "not finite": "not finite: the first NaN or infinity among the gradients arises",
    "exploding": "exploding: the gradient becomes more than a million times that of the output",
    "vanishing": "vanishing: the gradient becomes less than a millionth of that of the output",
    "dead": "dead: the gradient becomes exactly 0",
}


def what_begins(step: PassStep, givers: list[PassStep], start: float) -> str:
    """What became of a gradient on the way from the steps that gave it."""
    before = [giver.incoming for giver in givers]
    if not all(finite(g) for g in before):
        return ""
    if not finite(step.incoming):
        return "not finite"
    after, sizes = typical(step.incoming), [typical(g) for g in before]
    if after == 0:
        return "dead" if all(sizes) else ""
    if after < VANISHED * start:
        return "vanishing" if min(sizes) >= VANISHED * start else ""
    return "exploding" if after > EXPLODED * start >= max(sizes) and start else ""


def extent(word: str, result: BackwardPass) -> str:
    """How far it goes: the smallest or the largest gradient of a leaf."""
    leaves = [(s.norm, s.node.title) for s in result.steps if s.node.kind == "leaf" and math.isfinite(s.norm)]
    if word not in ("vanishing", "exploding") or not leaves:
        return ""
    size, name = min(leaves) if word == "vanishing" else max(leaves)
    return f" (norm {size:.3g} at {name})"
