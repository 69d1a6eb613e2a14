"""Where the first NaN or infinity is born, forward or backward."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.check.result import Note
from gradcli.engine.mode import recording
from gradcli.engine.node import Node, placed
from gradcli.engine.sweep import Pass
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import Record
from gradcli.references.path import reachable


def finite(value: Any) -> bool:
    array = np.asarray(getattr(value, "value", value))
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def forward_origin(records: Sequence[Record]) -> Note | None:
    """The first operation whose result is not finite although its arguments are."""
    for record in records:
        if finite(record.value):
            continue
        line = record.span.line if record.span else None
        if record.op is None:
            return Note("nan-source", "the leaf itself holds values that are not finite", line)
        values = [a.value if isinstance(a, Record) else a for a in record.inputs]
        if all(finite(v) for v in values if isinstance(v, (np.ndarray, np.generic, float))):
            word = "NaN" if np.isnan(record.value).any() else "infinity"
            place = int(np.flatnonzero(~np.isfinite(record.value))[0])
            columns = [np.broadcast_to(v, np.shape(record.value)).reshape(-1) for v in values if elementlike(v, record)]
            argument = ", ".join(f"{column[place]:.6g}" for column in columns)
            of = f" of {argument}" if argument else ""
            return Note("nan-source", f"forward: {record.op.name}{of} gives {word}", line)
    return None


def elementlike(value: Any, record: Record) -> bool:
    """Whether a value broadcasts against the result, so that one element of it can be named."""
    if not isinstance(value, (np.ndarray, np.generic, float, int)):
        return False
    try:
        return bool(np.broadcast_shapes(np.shape(value), np.shape(record.value)) == np.shape(record.value))
    except ValueError:
        return False


def backward_origin(roots: Sequence[tuple[Tensor, np.ndarray | None]]) -> Note | None:
    """The node that first turns a finite gradient into one that is not."""
    seeds = [(t, np.ones(t.shape, t.dtype)[()] if w is None else np.asarray(w, dtype=t.dtype)[()]) for t, w in roots if t.requires_grad]
    try:
        found = first_broken(seeds)
    except (RuntimeError, TypeError, ValueError):  # a backward that runs once only, or not with these gradients
        return None
    if found is None:
        return None
    node, word = found
    return Note("nan-source", f"backward: {word} first appears in {node.name}", node.span.line if node.span else None)


def first_broken(seeds: Sequence[tuple[Tensor, Any]]) -> tuple[Node, str] | None:
    """The first node of a backward pass whose gradients are finite on the way in and not on the way out."""
    sweep = Pass(seeds, own=True)
    edges = [edge for edge in (tensor.edge() for tensor, _ in seeds) if edge is not None]
    for edge, (_, g) in zip(edges, seeds):
        sweep.arrive(edge, g)
    with recording(False):
        for node in sweep.survey([edge[0] for edge in edges]):
            grads = sweep.pending.pop(node, None)
            if grads is None:
                continue
            sound = all(g is None or finite(g) for g in grads)
            for index, g in placed(node, node.backward(grads, sweep)):
                below = node.edges[index]
                if below is None or g is None:
                    continue
                if sound and not finite(g):
                    return node, "NaN" if np.isnan(np.asarray(getattr(g, "value", g))).any() else "infinity"
                sweep.arrive(below, g)
    return None


REMEDY = "a derivative that is infinite meets a factor 0: guard the argument, where(mask, x, 1) before the operation, not only its result"


def origins(roots: Sequence[tuple[Tensor, np.ndarray | None]], records: Sequence[Record | None], exists: bool) -> list[Note]:
    """Everything there is to say about a gradient that is not finite; `exists`: the true derivative is finite."""
    traced = [r for record in records if record is not None for r in reachable(record, set())]
    notes = [n for n in (forward_origin(sorted(traced, key=lambda r: r.index)), backward_origin(roots)) if n is not None]
    if exists and notes and notes[-1].message.startswith("backward"):
        notes[-1].message += f"; the derivative itself is finite. {REMEDY}"
    return notes
