"""Every node alone: what its backward hands on, against differences of its own forward along a random direction.

So a wrong backward is found at the node that has it, and the nodes around it pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.backward import Pass
from gradcli.engine.function import FunctionNode
from gradcli.engine.mode import recording, state
from gradcli.engine.node import AccumulateGrad, Node, OperationNode, placed
from gradcli.engine.trace import FunctionCall, Record, Tracer
from gradcli.graph import numbertext
from gradcli.graph.build import Builder
from gradcli.graph.model import GraphNode
from gradcli.references.path import Path

STEPS = (2.0**-9, 2.0**-10, 2.0**-11)
ROOM = 1e-6
"""Relative disagreement that is no fault: differences are not exact."""

Forward = Callable[[list[Any]], Any]
"""The result from new values of the operands that move."""


class Alone(NamedTuple):
    """A node with what is needed to run it by itself: the records of operands (by position) and the record of its result."""

    node: Node
    operands: list[tuple[int, Record]]
    result: Record
    forward: Forward


def judge(builder: Builder, nodes: Sequence[GraphNode], tracer: Tracer | None) -> None:
    """Give every operation without a status one: pass, fail, kink, or unchecked with the reason."""
    calls = {call.node: call for call in (tracer.calls if tracer is not None else ()) if call.node is not None}
    for engine_node, node in zip(builder.nodes, nodes):
        if isinstance(engine_node, AccumulateGrad) or node.status is not None:
            continue
        record = builder.recorded.records.get(engine_node)
        with np.errstate(all="ignore"):
            node.status, node.detail = verdict(engine_node, record, calls.get(engine_node), node)


def verdict(node: Node, record: Record | None, call: FunctionCall | None, shown: GraphNode) -> tuple[str, str]:
    alone = of_function(node, call) if isinstance(node, FunctionNode) else of_operation(node, record)
    if isinstance(alone, str):
        return "unchecked", alone
    place = kink(alone)
    if place is not None:
        return "kink", place
    return compare(alone, shown)


def of_operation(node: Node, record: Record | None) -> Alone | str:
    """An operation with the decision that it took."""
    if not isinstance(node, OperationNode) or record is None or record.op is None:
        return "not traced"
    op = record.op
    if op.outputs > 1 or len(node.shapes) > 1:
        return "several results"
    operands = [(k, r) for k, r in enumerate(record.inputs) if isinstance(r, Record) and k < len(node.edges) and node.edges[k] is not None]

    def forward(values: list[Any]) -> Any:
        args = [r.value if isinstance(r, Record) else r for r in record.inputs]
        for (k, _), value in zip(operands, values):
            args[k] = value
        return op.replay(args, record.decision)

    return Alone(node, operands, record, forward)


def of_function(node: Node, call: FunctionCall | None) -> Alone | str:
    """A user Function: the trace of its body."""
    if call is None or not isinstance(node, FunctionNode) or not call.outputs:
        return "not traced"
    if call.opaque:
        return f"its forward calls {call.opaque}"
    result = call.outputs[0]
    if len(call.outputs) > 1 or not isinstance(result, Record):
        return "several results, or none that depends on its inputs"
    operands = [(k, r) for k, r in enumerate(call.inputs) if isinstance(r, Record) and node.edges[k] is not None]
    distinct = list(dict.fromkeys(r for _, r in operands))
    path = Path(result, [[r] for r in distinct])

    def forward(values: list[Any]) -> Any:
        moved = dict(zip((r for _, r in operands), values))
        given = [[moved[r]] for r in distinct]
        return path.replay(given, lambda record, args: record.op.replay(args, record.decision) if record.op is not None else record.value)

    return Alone(node, operands, result, forward)


def kink(alone: Alone) -> str | None:
    """Where an argument lies exactly at a switch of the operation."""
    op = alone.result.op
    if not isinstance(alone.node, OperationNode) or op is None:
        return None
    switch = op.kinks(*[r.value if isinstance(r, Record) else r for r in alone.result.inputs])
    if switch is None or not np.any(np.asarray(switch) == 0):
        return None
    where = np.argwhere(np.asarray(switch) == 0)
    place = numbertext.index(where[0]) if where.size else ""
    more = f" and {len(where) - 1} more" if len(where) > 1 else ""
    return f"{f'at {place}{more}: ' if place else ''}argument of {op.name} is at its switch"


def compare(alone: Alone, shown: GraphNode) -> tuple[str, str]:
    """The directional derivative of the node against what its backward says."""
    values = [r.value for _, r in alone.operands]
    if any(np.asarray(v).dtype.kind != "f" for v in [*values, alone.result.value]):
        return "unchecked", "not real"
    if not values:
        return "unchecked", "no operand is traced"
    rng = np.random.default_rng(alone.result.index)
    weights = rng.uniform(0.5, 1.5, np.shape(alone.result.value))
    handed = run(alone, weights)
    if isinstance(handed, str):
        return "fail", handed
    worst, where = 0.0, None
    for position, (k, record) in enumerate(alone.operands):
        if any(r is record for _, r in alone.operands[:position]):
            continue
        error, report = error_for(alone, record, values, weights, handed, rng)
        if not error <= worst:
            worst, where = error, (k, report)
    coarse = np.asarray(alone.result.value).dtype.itemsize < 8
    if where is not None and not worst <= (1e-2 if coarse else ROOM):
        shown.checks.update(where[1])
        return "fail", f"rel err {numbertext.number(float(f'{worst:.2g}'))} for operand {where[0] + 1}: {said(where[1])}"
    return "pass", f"rel err {worst:.1e}" if worst else "exact"


def said(report: dict[str, Any]) -> str:
    return f"backward gives {numbertext.number(report['autograd'])}, differences {numbertext.number(report['numeric'])}"


def run(alone: Alone, weights: np.ndarray) -> dict[int, Any] | str:
    """What the node hands to each operand; the words of an error that its backward raises."""
    dtype = alone.node.shapes[0][1]
    before, state.sweep = state.sweep, Pass([], own=True)
    try:
        with recording(False):
            given = alone.node.backward([np.asarray(weights, dtype=dtype)[()]], state.sweep)
        return {index: np.asarray(getattr(g, "value", g), dtype=float) for index, g in placed(alone.node, given) if g is not None}
    except Exception as error:
        return f"backward raises {type(error).__name__}: {error}"
    finally:
        state.sweep = before


def error_for(
    alone: Alone, record: Record, values: list[Any], weights: np.ndarray, handed: dict[int, Any], rng: np.random.Generator
) -> tuple[float, dict[str, Any]]:
    """The relative error for one operand, which may stand at several positions, and the two numbers that were compared."""
    places = [k for k, r in alone.operands if r is record]
    point = np.asarray(record.value, dtype=float)
    direction = rng.uniform(0.5, 1.5, point.shape) * rng.choice([-1.0, 1.0], point.shape)
    scale = np.maximum(np.abs(point), 1e-3)
    direction = direction * scale
    parts = [np.sum(handed[k] * direction) for k in places if k in handed]
    autograd = float(np.sum(parts)) if parts else 0.0

    def slope(step: float) -> float:
        sides = []
        for sign in (1.0, -1.0):
            here = point + sign * step * direction
            moved = [here if r is record else np.asarray(v, dtype=float)[()] for (_, r), v in zip(alone.operands, values)]
            sides.append(np.asarray(alone.forward(moved), dtype=float))
        return float(np.sum((sides[0] - sides[1]) * weights)) / (2 * step)

    numeric, spread = extrapolated([slope(step) for step in STEPS])
    gross = sum(float(np.sum(np.abs(handed[k] * direction))) for k in places if k in handed)
    size = max(abs(numeric), abs(autograd), 1e-3 * gross, 1e-300)
    error = max(abs(autograd - numeric) - 10 * spread, 0.0) / size
    raw = abs(autograd - numeric) / size
    return (raw if error > ROOM else min(raw, ROOM)), {"autograd": autograd, "numeric": numeric, "rel_err": raw}


def extrapolated(slopes: list[float]) -> tuple[float, float]:
    """Richardson's limit of three central differences, each at half the step, and how far it may be off."""
    first = [(4 * b - a) / 3 for a, b in pairwise(slopes)]
    limit = (16 * first[1] - first[0]) / 15
    return limit, abs(limit - first[1])
