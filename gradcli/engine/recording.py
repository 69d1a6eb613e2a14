"""The node of an operation: where its inputs came from, and what its rules will ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.node import Edge, Form, OperationNode
from gradcli.engine.tensor import FLOAT64, Tensor, dtype_of
from gradcli.engine.version import Version
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation

float64 = np.float64

SCALAR: tuple[Form, ...] = (((), FLOAT64),)
"""The form of the usual 0-d result."""

NEVER = Version()
"""The version of what is no tensor: nothing writes to it."""


def make_node(op: Operation, args: tuple[Any, ...], values: list[Any], mask: int, out: Any, results: tuple[Tensor, ...]) -> OperationNode:
    """The node of an operation whose inputs of `mask` ask for gradients."""
    edges = [arg.edge() if type(arg) is Tensor else None for arg in args]
    return node_of(op, args, values, edges, mask, out, results)


def node_of(
    op: Operation,
    args: tuple[Any, ...],
    values: list[Any],
    edges: list[Edge | None],
    mask: int,
    out: Any,
    results: tuple[Tensor, ...],
) -> OperationNode:
    """The node of an operation, with what its rules need."""
    plan = op.plans.get(mask | 1 << len(args)) or op.plan(mask, len(args))
    kept = plan.kept
    saved, guards = kept_by(kept, args, values) if kept else NOTHING
    if plan.keeps_out:
        saved = (*saved, out)
        for result in results:
            guards = (*guards, result.version, result.version.count)
    if plan.about:
        saved = (*saved, *kept_about(op, plan.about, len(args), values))
    if type(out) is float64:
        made = OperationNode(op, tuple(edges), SCALAR, plan, saved, guards, None)
    else:
        shapes = tuple([(v.shape, v.dtype) for v in out]) if type(out) is tuple else ((out.shape, out.dtype),)
        made = OperationNode(op, tuple(edges), shapes, plan, saved, guards, fits(op, args, values, mask, out))
    if state.frame is not None:
        state.frame.pack(made)
    tracer = state.tracer
    if tracer is not None and tracer.following:
        made.records = tuple(arg.record() if type(arg) is Tensor else None for arg in args)
    return made


NOTHING: tuple[tuple[Any, ...], tuple[Any, ...]] = ((), ())
"""What an operation keeps that needs nothing."""


def kept_by(kept: tuple[int, ...], args: tuple[Any, ...], values: list[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The arguments at the places `kept`, and the version that each has now."""
    if len(kept) == 1:
        (slot,) = kept
        arg = args[slot]
        version = (arg.counter or arg.version) if type(arg) is Tensor else NEVER
        return (values[slot],), (version, version.count)
    guards: list[Any] = []
    for slot in kept:
        arg = args[slot]
        version = (arg.counter or arg.version) if type(arg) is Tensor else NEVER
        guards += (version, version.count)
    return tuple(map(values.__getitem__, kept)), tuple(guards)


def kept_about(op: Operation, slots: tuple[int, ...], count: int, values: list[Any]) -> Iterator[Any]:
    """What rules ask about arguments without keeping them: a shape, a dtype, the decision taken, what was put aside."""
    for slot in slots:
        if slot <= 2 * count:
            yield np.shape(values[slot - count - 1])
        elif slot == 3 * count + 2:
            yield op.aside(*values)
        elif slot > 3 * count + 2:
            value = np.asarray(values[slot - 3 * count - 3])
            yield tuple(s // value.itemsize for s in value.strides)
        else:
            yield op.decide(*values) if slot == 2 * count + 1 else np.asarray(values[slot - 2 * count - 2]).dtype


def fits(op: Operation, args: tuple[Any, ...], values: list[Any], mask: int, out: Any) -> tuple[Any, ...] | None:
    """The (shape, dtype) each gradient is reduced to, None where every input is like the output. Values may have been promoted."""
    if type(out) is tuple:
        return None
    shape, dtype = out.shape, dtype_of(out)
    elementwise = isinstance(op, Elementwise)
    for k, value in enumerate(values):
        if mask >> k & 1 and ((elementwise and value.shape != shape) or dtype_of(args[k].value) != dtype):
            pairs = enumerate(zip(args, values, strict=True))
            return tuple([(v.shape if elementwise else None, dtype_of(a.value)) if mask >> i & 1 else None for i, (a, v) in pairs])
    return None
