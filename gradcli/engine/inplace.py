"""Writing into tensors: in-place operations, and what a write through a view does to its base."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine.apply import broadcast_error
from gradcli.engine.forbidden import AMBIGUOUS, NO_GRAD_VIEW, OF_FUNCTION, ONE_OF_SEVERAL
from gradcli.engine.hooks import move_retained
from gradcli.engine.memory import check_overlap, repeats, write
from gradcli.engine.mode import state
from gradcli.engine.node import Edge, Node, OperationNode, Parts, Sweep
from gradcli.engine.recording import make_node
from gradcli.engine.stale import short_name
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import Record, snapshot
from gradcli.errors import AutogradError, DtypeError, ShapeError
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation
from gradcli.ops.promotion import promote, scalar_type
from gradcli.ops.structure import Copy, is_finer
from gradcli.ops.where import where
from gradcli.ops.window import Window, WriteWindow

ANYWHERE = ("FillBackward2", "Zero", "IndexPut", "MaskedFill")
"""The nodes of writes that PyTorch lets into memory that several elements share."""

WITHOUT_GRAD = f"{NO_GRAD_VIEW} is being modified inplace with grad mode enabled."


class CopySlices(Node):
    """The history of a base that was written to through a view: `inner` made what the window `chain` shows.

    A second pass over it fails whatever `inner` keeps: PyTorch drops the inner node itself.
    """

    __slots__ = ("chain", "inner")

    prefix = "torch::autograd::"

    def __init__(self, base_edge: Edge | None, inner: OperationNode, chain: tuple[Operation, ...], base: Tensor) -> None:
        super().__init__((base_edge, *inner.edges[1:]), ((base.shape, base.dtype),))
        self.inner = inner
        self.chain = chain

    @property
    def holds(self) -> bool:
        return True

    def forget(self) -> None:
        self.inner.forget()

    def backward(self, grads: list[Any], sweep: Sweep) -> Parts:
        g = grads[0]
        if g is None:
            return self.undefined()
        parts = list(self.inner.backward([Window(chain=self.chain)(g)], sweep))
        written = 0.0 if self.inner.edges[0] is None else parts.pop(0)
        return [WriteWindow(chain=self.chain)(g, written), *parts] if self.edges[0] is not None else parts


def check_writable(target: Tensor, others: tuple[Any, ...] = ()) -> None:
    """Raise RuntimeError, as PyTorch, where an in-place write would make gradients wrong or ill-defined.

    A view of what has joined the graph since the view was last looked at still counts as a leaf, in PyTorch too.
    """
    if target.untracked and not state.inference:
        raise AutogradError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before "
            "doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
        )
    if state.grad and any(t.would_ask for t in (target, *others) if type(t) is Tensor):
        if target.shares is not None:
            _check_view(target)
        if target.would_ask and target.node is None:
            raise AutogradError(
                "a leaf Variable that requires grad is being used in an in-place operation.",
                hint="update leaves inside `with no_grad():`, or use the out-of-place form",
            )


def _check_view(target: Tensor) -> None:
    """The rules for writing through a view."""
    view = target.shares
    assert view is not None
    if view.kind:
        by = f"Output {target.output_nr} of {short_name(target.node)} is a view and is being modified inplace." if target.node else ""
        if view.kind == "no_grad" or target.node is None:
            raise AutogradError(WITHOUT_GRAD + (AMBIGUOUS if view.kind == "no_grad" else ONE_OF_SEVERAL))
        raise AutogradError(by + (ONE_OF_SEVERAL if view.kind == "multi" else OF_FUNCTION))
    if target.would_ask and view.base.node is None:
        raise AutogradError(
            "a view of a leaf Variable that requires grad is being used in an in-place operation.", hint="clone() the leaf first"
        )


def check_memory(op: Operation, target: Tensor, others: tuple[Any, ...]) -> None:
    """Raise where PyTorch refuses the write because of what shares memory: one number everywhere fits any memory."""
    if op.node.startswith(ANYWHERE):
        return
    if repeats(target.value):
        raise AutogradError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )
    if isinstance(op, (Elementwise, Copy)):
        for other in others:
            if type(other) is Tensor:
                check_overlap(target.value, other.value)


def inplace(op: Operation, target: Tensor, *others: Any) -> Tensor:
    """target = op(target, *others), written into the target's memory and into its history; returns the target."""
    for arg in (target, *others):
        if isinstance(arg, Tensor) and type(arg) is not Tensor:
            return arg.write(target, op, others)  # type: ignore[no-any-return]
    check_writable(target, others)
    args = (target, *others)
    for arg in args:
        if type(arg) is Tensor:
            arg.refresh()
    mask = sum(1 << k for k, arg in enumerate(args) if type(arg) is Tensor and arg.wants)
    values = [arg.value if type(arg) is Tensor else arg for arg in args]
    if isinstance(op, Elementwise):
        values = promote(values, [type(arg) is Tensor for arg in args])
    check_memory(op, target, others)
    lost = any(type(arg) is Tensor and arg.would_ask for arg in others)  # a view made before its base was asked: its gradient goes nowhere
    recording = (mask or lost) and state.grad and target.is_floating and op.differentiable
    tracer = state.tracer
    if tracer is not None or (recording and 0 in op.plan(mask, len(args)).kept):
        values[0] = snapshot(values[0])
    try:
        out = op(*values)
    except ValueError as error:
        raise broadcast_error(values) or error from error
    check_fits(target, out)
    before = (tracer is not None and target.shares is not None) and snapshot(target.shares.base.value)
    records = _records(args) if tracer is not None and tracer.following else None
    node = _node(op, target, args, values, mask, out) if recording else None
    write(target.array, out)
    if node is not None:
        _rebase(target, node)
    target.version.bump(target if target.shares is None else target.shares.base)
    if node is not None and target.shares is not None:
        target.refresh()
    if tracer is not None:
        made = _trace(op, target, values, out, records, before)
        if node is not None and made is not None and node.records is not None:
            node.records = (*node.records, made)
    return target


def check_fits(target: Tensor, out: Any) -> None:
    """The result must have the target's shape and be castable to its dtype."""
    shape = np.shape(out)
    if shape != target.shape:
        raise ShapeError(f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(shape)}")
    kinds = "biufcO"
    dtype = np.asarray(out).dtype
    held = target.value.dtype
    if is_finer(dtype) and not is_finer(held) and state.storage is not None:
        state.storage.overwritten(target if target.shares is None else target.shares.base)
        raise AutogradError("the written-to tensor cannot hold numbers of so many digits")
    if kinds.index(dtype.kind) > kinds.index(held.kind) and {dtype.kind, held.kind} != {"i", "u"}:
        raise DtypeError(
            f"result type {scalar_type(dtype)} can't be cast to the desired output type {scalar_type(held)}",
            hint="make the target floating first: .double()",
        )


def _node(op: Operation, target: Tensor, args: tuple[Any, ...], values: list[Any], mask: int, out: Any) -> OperationNode:
    """The node of the written result; it guards its own copy of what was overwritten, and the version that the write makes."""
    overwritten = Tensor(values[0], target.wants)
    overwritten.node, overwritten.output_nr, overwritten.own_record = target.node, target.output_nr, target.own_record
    overwritten._accumulator = target._accumulator
    written = Tensor(target.array)
    written.counter = target.version
    node = make_node(op, (overwritten, *args[1:]), values, mask, target.array, (written,))
    if node.plan.keeps_out:
        node.guards = (*node.guards[:-1], node.guards[-1] + 1)
    return node


def _rebase(target: Tensor, node: OperationNode) -> None:
    """Put the new node into the history of the target, or through its window into that of its base."""
    view = target.shares
    if view is None:
        _replace(target, node)
        return
    base = view.base
    base.refresh()
    _replace(base, CopySlices(base.edge(), node, view.chain, base))


def _replace(target: Tensor, node: Node) -> None:
    """Give a tensor a new history."""
    old = target.node
    nr = target.output_nr
    target.wants, target.node, target.output_nr = True, node, 0
    if target.retained:
        move_retained(target, old, nr)


def _records(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.record() if type(a) is Tensor else None for a in args)


def _trace(op: Operation, target: Tensor, values: list[Any], out: Any, records: Any, before: Any) -> Record | None:
    """Leave records of the write, also for the base of a view and for a tensor that shares memory outside the graph.

    Returns that of what was written, where it depends on a leaf.
    """
    tracer = state.tracer
    assert tracer is not None
    base = target.shares.base if target.shares is not None else None
    origin = target.origin if base is None else base.origin
    if origin is not None:
        overwrite(origin)
    if records is None:
        overwrite(target, told=False)
        return None
    made = None
    if any(records):
        inputs = tuple(snapshot(v) if r is None else r for r, v in zip(records, values, strict=False))
        made = tracer.record(op, inputs, values, out)[0]
    target.own_record = made
    if base is None:
        return made
    root = base.record()
    if root is None and made is None:
        target.traced = None
        return None
    write = WriteWindow(chain=target.shares.chain)  # type: ignore[union-attr]
    written = made or snapshot(np.asarray(out))
    base.own_record = tracer.record(write, (before if root is None else root, written), [before, out], base.value)[0]
    base.own_record.value = snapshot(base.value)
    target.own_record = target.traced = None  # a window onto the base, as autograd has it
    return made


def overwrite(origin: Tensor, *, told: bool = True) -> None:
    """The memory of `origin` was written to outside the graph: what changed is a constant from now on, a leaf another leaf."""
    tracer = state.tracer
    if origin.shares is not None:
        origin = origin.shares.base
    old = origin.own_record
    if tracer is None or old is None:
        return
    if told:
        tracer.stop("overwritten outside the graph")
    if old.op is None:
        origin.own_record = None
        return
    kept = np.asarray(old.value == origin.value)
    now = snapshot(origin.value)
    origin.own_record = tracer.record(where, (kept, old, now), [kept, old.value, now], snapshot(now))[0]
