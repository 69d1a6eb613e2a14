"""Every node alone: what its backward hands on, against differences of its own forward along a random direction.

So a wrong backward is found at the node that has it, and the nodes around it pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gradcli.check.blame import stale, wrong_rule
from gradcli.engine.function import FunctionNode
from gradcli.engine.mode import recording, state
from gradcli.engine.node import AccumulateGrad, Node, OperationNode, placed
from gradcli.engine.sweep import Pass
from gradcli.engine.trace import FunctionCall, Record, Tracer
from gradcli.graph import numbertext
from gradcli.graph.build import Builder
from gradcli.graph.model import GraphNode
from gradcli.references.pair import holds_complex
from gradcli.references.path import Path

STEPS = (2.0**-9, 2.0**-10, 2.0**-11)
ROOM = 1e-6
"""Relative disagreement that is no fault: differences are not exact."""

REACHES = (1.0, 2.0**12, 2.0**-12, 2.0**24, 2.0**-24)
"""How many times the usual distance an operand is moved where the usual one tells too little."""

NOISE = 4.0
EPS = float(np.finfo(np.float64).eps)
BUDGET = 20_000
"""Scalar operations that confirming a fault may take."""

Forward = Callable[[list[Any]], Any]
"""The result from new values of the operands that move."""


class Alone(NamedTuple):
    """A node with what is needed to run it by itself: the records of operands (by position) and the record of its result."""

    node: Node
    operands: list[tuple[int, Record]]
    result: Record
    forward: Forward


class Slope(NamedTuple):
    """A directional derivative by one operand: as the backward says, as differences say. `blind`: these cannot tell."""

    position: int
    autograd: float
    numeric: float
    error: float
    wrong: bool
    blind: bool


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
    if any(holds_complex(r.value) for r in (alone.result, *(r for _, r in alone.operands))):
        return "unchecked", "complex numbers"
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
    """The directional derivative of the node, operand by operand, against what its backward says."""
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
    slopes = [slope_of(alone, record, weights, handed, rng) for record in dict.fromkeys(r for _, r in alone.operands)]
    wrong = next((s for s in slopes if s.wrong), None)
    if wrong is not None:
        shown.checks.update(autograd=wrong.autograd, numeric=wrong.numeric, rel_err=wrong.error)
        return convicted(alone, wrong)
    if any(s.blind for s in slopes):
        return "unchecked", "rounding hides the difference"
    worst = max(s.error for s in slopes)
    return "pass", f"rel err {worst:.1e}" if worst else "exact"


def convicted(alone: Alone, wrong: Slope) -> tuple[str, str]:
    """A fault that differences see in an operation of ours counts where the symbolic derivative sees it too."""
    if isinstance(alone.node, OperationNode):
        blame = wrong_rule(alone.node, BUDGET)
        if blame is None and stale(alone.node) is None:
            return "unchecked", "differences cannot resolve it here"
    error = numbertext.number(float(f"{wrong.error:.2g}"))
    return "fail", f"rel err {error} for operand {wrong.position + 1}: {said(wrong)}"


def said(wrong: Slope) -> str:
    return f"backward gives {numbertext.number(wrong.autograd)}, differences {numbertext.number(wrong.numeric)}"


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


def slope_of(alone: Alone, record: Record, weights: np.ndarray, handed: dict[int, Any], rng: np.random.Generator) -> Slope:
    """One operand, which may stand at several positions, moved along a random direction."""
    places = [k for k, r in alone.operands if r is record]
    point = np.asarray(record.value, dtype=float)
    size = np.abs(point)
    typical = float(np.max(size, initial=0.0)) or 1.0
    direction = rng.uniform(0.5, 1.5, point.shape) * rng.choice([-1.0, 1.0], point.shape) * np.where(size > 0, size, min(typical, 1.0))
    terms = [handed[k] * direction for k in places if k in handed]
    autograd = float(np.sum([np.sum(t) for t in terms])) if terms else 0.0
    gross = float(np.sum([np.sum(np.abs(t)) for t in terms])) if terms else 0.0
    best, bar = np.nan, np.inf
    for reach in REACHES:
        numeric, error = differences(alone, record, direction * reach, weights)
        if error / reach < bar:
            best, bar = numeric / reach, error / reach
        if bar <= ROOM * max(abs(best), gross):
            break
    coarse = np.asarray(alone.result.value).dtype.itemsize < 8
    scale = max(abs(best), abs(autograd), 1e-3 * gross, 1e-300)
    off = abs(autograd - best)
    blind = autograd != best and (not bar <= 1e-2 * scale or not np.isfinite(best))
    room = bar + (1e-2 if coarse else ROOM) * scale
    return Slope(places[0], autograd, best, off / scale, wrong=not blind and not off <= room, blind=blind)


def differences(alone: Alone, record: Record, direction: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """The directional derivative by central differences, and how far it may be off."""
    point = np.asarray(record.value, dtype=float)
    slopes, sizes = [], []
    for step in STEPS:
        sides = []
        for sign in (1.0, -1.0):
            here = (point + sign * step * direction)[()]
            moved = [here if r is record else np.asarray(r.value, dtype=float)[()] for _, r in alone.operands]
            sides.append(np.asarray(alone.forward(moved), dtype=float))
        slopes.append(float(np.sum((sides[0] - sides[1]) * weights)) / (2 * step))
        sizes.append(float(np.sum(np.abs(sides[0]) * weights)))
    limit, spread = extrapolated(slopes)
    return limit, 10 * spread + NOISE * EPS * max(sizes) / STEPS[-1]


def extrapolated(slopes: list[float]) -> tuple[float, float]:
    """Richardson's limit of three central differences, each at half the step, and how far it may be off."""
    first = [(4 * b - a) / 3 for a, b in pairwise(slopes)]
    limit = (16 * first[1] - first[0]) / 15
    return limit, abs(limit - first[1])
