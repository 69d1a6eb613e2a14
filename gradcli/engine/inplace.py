"""Writing into tensors: in-place operations, and what a write through a view does to its base."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.node import Edge, Node, OperationNode
from gradcli.engine.tensor import Tensor, broadcast_error, make_node
from gradcli.engine.trace import snapshot
from gradcli.errors import AutogradError, DtypeError, ShapeError
from gradcli.ops.operation import Elementwise, Operation
from gradcli.ops.promotion import promote
from gradcli.ops.where import where
from gradcli.ops.window import Window, WriteWindow

KIND_NAMES = {"f": "Float", "i": "Long", "b": "Bool", "c": "ComplexDouble"}


class CopySlices(Node):
    """The history of a base that was written to through a view: `inner` made what the window `chain` shows."""

    __slots__ = ("chain", "inner")

    def __init__(self, base_edge: Edge | None, inner: OperationNode, chain: tuple[Operation, ...], base: Tensor) -> None:
        super().__init__((base_edge, *inner.edges[1:]), ((base.shape, base.dtype),))
        self.inner = inner
        self.chain = chain

    @property
    def holds(self) -> bool:
        return self.inner.holds

    def forget(self) -> None:
        self.inner.forget()

    def backward(self, grads: list[Any], recorded: bool) -> Iterator[tuple[int, Any]]:
        g = grads[0]
        part: Any = 0.0
        for index, gradient in self.inner.backward([Window(chain=self.chain)(g)], recorded):
            if index == 0:
                part = gradient
            elif self.edges[index] is not None:
                yield index, gradient
        if self.edges[0] is not None:
            yield 0, WriteWindow(chain=self.chain)(g, part)


def check_writable(target: Tensor) -> None:
    """Raise RuntimeError, as PyTorch, where an in-place write would make gradients wrong or ill-defined."""
    if target.is_inference and not state.inference:
        raise AutogradError("Inplace update to inference tensor outside InferenceMode is not allowed.")
    value = target.value
    if isinstance(value, np.ndarray) and any(s == 0 and n > 1 for s, n in zip(value.strides, value.shape)):
        raise AutogradError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )
    if not state.grad:
        return
    view = target.view
    if view is None:
        if target.requires_grad and target.node is None:
            raise AutogradError(
                "a leaf Variable that requires grad is being used in an in-place operation.",
                hint="update leaves inside `with no_grad():`, or use the out-of-place form",
            )
        return
    if view.base.requires_grad and view.base.node is None:
        raise AutogradError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation.", hint="clone() the leaf first"
        )
    if view.kind == "multi" and (target.requires_grad or view.base.requires_grad):
        raise AutogradError(
            "Output 0 of a function that returns multiple views is a view and is being modified inplace. "
            "This view is the output of a function that returns multiple views. Such functions do not allow the output views "
            "to be modified inplace. You should replace the inplace operation by an out-of-place one."
        )
    if view.kind == "no_grad" and view.base.requires_grad:
        raise AutogradError(
            "A view was created in no_grad mode and is being modified inplace with grad mode enabled. "
            "You can clone() the view, or make it outside no_grad."
        )


def inplace(op: Operation, target: Tensor, *others: Any) -> Tensor:
    """target = op(target, *others), written into the target's memory and into its history; returns the target."""
    check_writable(target)
    if target.view is not None:
        target.refresh()
    args = (target, *others)
    mask = sum(1 << k for k, arg in enumerate(args) if isinstance(arg, Tensor) and arg.requires_grad)
    values = [arg.value if isinstance(arg, Tensor) else arg for arg in args]
    if isinstance(op, Elementwise):
        values = promote(values)
    recording = bool(mask) and state.grad and target.is_floating and op.differentiable
    if recording or state.tracer is not None:
        values[0] = snapshot(values[0])
    try:
        out = op(*values)
    except ValueError as error:
        raise broadcast_error(values) or error from error
    check_fits(target, out)
    before = (state.tracer is not None and target.view is not None) and snapshot(target.view.base.value)
    records = _records(args) if state.tracer is not None and state.tracer.following else None
    node = _node(op, target, args, values, mask, out) if recording else None
    target.array[...] = out
    target.version.count += 1
    target.version.writer = weakref.ref(target if target.view is None else target.view.base)
    if node is not None:
        _rebase(target, node)
    if state.tracer is not None:
        _trace(op, target, values, out, records, before)
    return target


def check_fits(target: Tensor, out: Any) -> None:
    """The result must have the target's shape and be castable to its dtype."""
    shape = np.shape(out)
    if shape != target.shape:
        raise ShapeError(f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(shape)}")
    kinds = "biufcO"
    kind = np.asarray(out).dtype.kind
    if kinds.index(kind) > kinds.index(target.value.dtype.kind) and {kind, target.value.dtype.kind} != {"i", "u"}:
        raise DtypeError(
            f"result type {KIND_NAMES.get(kind, kind)} can't be cast to the desired output type {KIND_NAMES.get(target.value.dtype.kind, '?')}",
            hint="make the target floating first: .double()",
        )


def _node(op: Operation, target: Tensor, args: tuple[Any, ...], values: list[Any], mask: int, out: Any) -> OperationNode:
    """The node of the written result; it guards its own copy of what was overwritten, and the version that the write makes."""
    overwritten = Tensor(values[0], target.requires_grad)
    overwritten.node, overwritten.output_nr, overwritten._accumulator = target.node, target.output_nr, target._accumulator
    overwritten.trace = target.trace
    written = Tensor(target.array)
    written.version = target.version
    node = make_node(op, (overwritten, *args[1:]), values, mask, target.array, written)
    guards = list(node.guards)
    if node.plan.slots and len(args) in node.plan.slots:
        guards[-1] += 1
    node.guards = tuple(guards)
    return node


def _rebase(target: Tensor, node: OperationNode) -> None:
    """Put the new node into the history of the target, or through its window into that of its base."""
    view = target.view
    target.requires_grad = True
    if view is None:
        target.node, target.output_nr = node, 0
        return
    base = view.base
    base.refresh()
    base.node, base.output_nr = CopySlices(base.edge(), node, view.chain, base), 0
    base.requires_grad = True
    target.refresh()


def _records(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.record() if isinstance(a, Tensor) else None for a in args)


def _trace(op: Operation, target: Tensor, values: list[Any], out: Any, records: Any, before: Any) -> None:
    """Leave records of the write, also for the base of a view and for a tensor that shares memory outside the graph."""
    tracer = state.tracer
    assert tracer is not None
    if target.origin is not None:
        overwrite(target.origin)
    base = target.view.base if target.view is not None else None
    if records is None or not any(records):
        if base is None:
            target.trace = None
            return
        new: Any = snapshot(np.asarray(out))
    else:
        inputs = tuple(snapshot(v) if r is None else r for r, v in zip(records, values))
        new = target.trace = tracer.record(op, inputs, values, out)[0]
    target.traced = target.version.count
    if base is None:
        return
    root = base.record() if tracer.following else None
    if root is None and records is None:
        base.trace = None
        return
    write = WriteWindow(chain=target.view.chain)  # type: ignore[union-attr]
    base.trace = tracer.record(write, (before if root is None else root, new), [before, out], base.value)[0]
    base.trace.value = snapshot(base.value)


def overwrite(origin: Tensor) -> None:
    """The memory of `origin` was written to outside the graph: what changed is a constant from now on."""
    tracer = state.tracer
    if origin.view is not None:
        origin = origin.view.base
    old = origin.trace
    if tracer is None or old is None:
        return
    tracer.stop("overwritten outside the graph")
    if old.op is None:
        origin.trace = None
        return
    kept = np.asarray(old.value == origin.value)
    origin.trace = tracer.record(where, (kept, old, snapshot(origin.value)), [kept, old.value, origin.value], snapshot(origin.value))[0]


