"""Notes on switches near the point: where a step of rounding, or a little more, would take another branch.

The branch that was taken is judged; that another one is near is worth knowing, never a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gradcli.check.result import Note
from gradcli.engine.trace import Record, Test, ingredients
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation
from gradcli.references.difference import as_float, scales
from gradcli.references.pair import holds_complex
from gradcli.references.symbolic import kink_mask

NEAR = (1e-15, 1e-13, 1e-11, 1e-9, 1e-7)
"""Distances, relative to what an argument was made of, at which a switch is looked for; at the first it lies at the point itself."""
SYMBOLS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
STEEP = 1e4
"""A slope that no kink has: a result that moves by more jumps."""


def switch_notes(steps: Iterable[Record], tests: Iterable[Test]) -> list[Note]:
    """The switches of operations, and the comparisons, that are as good as undecided; one note a line and operation."""
    found: dict[tuple[Any, ...], Note] = {}
    for note in (*of_operations(steps), *of_tests(tests)):
        found.setdefault((note.kind, note.line, note.message), note)
    return list(found.values())


def of_operations(steps: Iterable[Record]) -> Iterator[Note]:
    """Jumps at the point and near it, and kinks near it: those at the point are verdicts."""
    for record in steps:
        op = record.op
        if not isinstance(op, Elementwise) or not op.decides or record.decision is None:
            continue
        values = [as_float(a.value if isinstance(a, Record) else a) for a in record.inputs]
        if any(holds_complex(v) for v in values):
            continue
        line = record.span.line if record.span else None
        for distance, jumps, bends in switched(record, op, values):
            where = f"within {distance:g} (relative) of"
            if jumps.any():
                place = "at" if distance == NEAR[0] else where
                text = f"{op.name}: {several(jumps)} {place} a jump: the derivative is that of the side that was taken"
                yield Note("jump", text, line)
            if bends.any() and type(op).kinks is not Operation.kinks:
                side = "rounding alone chose the side" if distance == NEAR[0] else "on the side that was taken"
                yield Note("near-kink", f"{op.name}: {several(bends)} {where} a kink: {side}", line)


def switched(record: Record, op: Elementwise, values: list[Any]) -> Iterator[tuple[float, np.ndarray, np.ndarray]]:
    """For each distance: the elements that jump, and those that bend, which did not at a smaller one."""
    shape = np.shape(record.value)
    sizes = [scale(a) if isinstance(a, Record) else None for a in record.inputs]
    jumps, bends = beyond(record, op, values, sizes, NEAR[-1])
    if not (jumps.any() or bends.any()):
        return
    exact = kink_mask(record, values)
    seen = np.zeros(shape, bool) if exact is None else np.broadcast_to(exact, shape).copy()
    for distance in NEAR:
        jumps, bends = (found & ~seen for found in beyond(record, op, values, sizes, distance))
        seen |= jumps | bends
        if jumps.any() or bends.any():
            yield distance, jumps, bends & ~jumps


def beyond(
    record: Record, op: Elementwise, values: list[Any], sizes: Sequence[np.ndarray | None], distance: float
) -> tuple[np.ndarray, np.ndarray]:
    """The elements that jump, and those that bend, when some argument moves so far up or down."""
    old, base = np.asarray(record.decision), np.asarray(as_float(record.value))
    jumps, bends = np.zeros(base.shape, bool), np.zeros(base.shape, bool)
    for k, size in enumerate(sizes):
        if size is None:
            continue
        for step in (distance * size, -distance * size):
            moved = [v + step if j == k else v for j, v in enumerate(values)]
            new = np.asarray(op.decide(*moved))
            changed = np.broadcast_to(new != old, base.shape)
            if changed.any():
                apart = np.abs(np.asarray(op.branch(*moved, decision=new), dtype=float) - base) > STEEP * distance * size
                jumps, bends = jumps | (changed & apart), bends | (changed & ~apart)
    return jumps, bends


def scale(side: Any) -> np.ndarray:
    """The size that a distance is relative to: of a result the largest of what it was made of, of a leaf or a number itself."""
    value = np.asarray(as_float(side.value if isinstance(side, Record) else side), dtype=float)
    return np.asarray(np.maximum(scales(value) if isinstance(side, Record) else np.abs(value), ingredients(side)))


def of_tests(tests: Iterable[Test]) -> Iterator[Note]:
    """Comparisons whose two sides are equal, or nearly so."""
    for test in tests:
        x, y = (np.asarray(side.value if isinstance(side, Record) else side, dtype=float) for side in test.sides)
        gap, size = np.abs(x - y), np.maximum(*map(scale, test.sides))
        distance = next((d for d in NEAR if (gap <= d * size).any()), None)
        if distance is not None:
            count, total = int((gap <= distance * size).sum()), max(gap.size, 1)
            where = "equal" if distance == NEAR[0] else f"within {distance:g} (relative) of each other"
            among = "" if total == 1 else f" in {count} of {total} elements"
            text = f"{SYMBOLS[test.name]}: the two sides are {where}{among}: the branch that was taken is judged"
            yield Note("switch", text, test.span.line if test.span else None)


def several(mask: np.ndarray) -> str:
    """Which arguments, with their verb: `the argument is`, `argument [0, 1] of 6 is`, `2 arguments of 6, the first [0, 1], are`."""
    if mask.size == 1:
        return "the argument is"
    first, count = [int(k) for k in np.argwhere(mask)[0]], int(mask.sum())
    return f"argument {first} of {mask.size} is" if count == 1 else f"{count} arguments of {mask.size}, the first {first}, are"
