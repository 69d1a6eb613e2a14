"""Replaying a trace: every record recomputed from the leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import Record


def reachable(record: Record) -> list[Record]:
    """The records behind one, oldest first."""
    seen: dict[int, Record] = {}
    stack = [record]
    while stack:
        current = stack.pop()
        if id(current) in seen:
            continue
        seen[id(current)] = current
        stack += [r for r in current.inputs if isinstance(r, Record)]
    return sorted(seen.values(), key=lambda r: r.index)


def replayed(record: Record) -> Any:
    """The value of a record, computed anew from the values of the leaves."""
    values: dict[int, Any] = {}
    for step in reachable(record):
        if step.op is None:
            values[id(step)] = step.value
            continue
        args = [values[id(r)] if isinstance(r, Record) else r for r in step.inputs]
        out = step.op.replay(args, step.decision)
        values[id(step)] = out[step.output_nr] if isinstance(out, tuple) else out
    return values[id(record)]


def check_trace(tensor: Tensor) -> None:
    """What the trace says about a tensor is what the tensor holds, and follows from the leaves."""
    record = tensor.record()
    if record is None:
        return
    np.testing.assert_array_equal(np.asarray(record.value), np.asarray(tensor.value))
    np.testing.assert_allclose(np.asarray(replayed(record)), np.asarray(tensor.value), rtol=1e-12, atol=1e-14)
