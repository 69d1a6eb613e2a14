"""Tensor: a numpy value with a place in the graph."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.node import AccumulateGrad, Edge, Node, OperationNode, Version
from gradcli.engine.operators import Operators
from gradcli.engine.trace import Record, snapshot
from gradcli.errors import AutogradError, DtypeError, ShapeError
from gradcli.ops.operation import Elementwise, Operation
from gradcli.ops.promotion import promote
from gradcli.ops.window import Window

class ViewOf:
    """How a tensor shows the memory of another: `base` through `chain`, current as of version `seen`.

    `kind` is "" for an ordinary view, "multi" for one of several results of one operation, "no_grad" for one made
    without recording: the latter two may not be written to once gradients are recorded.
    """

    __slots__ = ("base", "chain", "kind", "seen")

    def __init__(self, base: Tensor, chain: tuple[Operation, ...], seen: int, kind: str) -> None:
        self.base = base
        self.chain = chain
        self.seen = seen
        self.kind = kind


class Tensor(Operators):
    """An array with a gradient.

    value          numpy array, or numpy scalar for a 0-d result
    requires_grad  whether a gradient is wanted for it or flows through it
    node           the graph node that made it; None for a leaf
    version        counts in-place writes to its memory
    view           ViewOf for a view, else None
    origin         the tensor whose memory this one shares outside the graph (detach, .data), while a run is traced
    trace          its Record while a run is traced, else None; `traced` is the version that it shows
    """

    __slots__ = (
        "__weakref__", "_accumulator", "_grad", "hooks", "is_inference", "node", "origin", "output_nr", "requires_grad", "retained",
        "trace", "traced", "value", "version", "view",
    )  # fmt: skip
    __operation_priority__ = 2

    def __init__(self, value: Any, requires_grad: bool = False) -> None:
        self.value = value
        self.requires_grad = requires_grad
        self.node: Node | None = None
        self.output_nr = 0
        self.version = Version()
        self._grad: Tensor | None = None
        self._accumulator: weakref.ref[AccumulateGrad] | None = None
        self.view: ViewOf | None = None
        self.origin: Tensor | None = None
        self.trace: Record | None = None
        self.traced = 0
        self.hooks: list[Callable[..., Any]] | None = None
        self.retained = False
        self.is_inference = False

    @classmethod
    def saved(cls, value: Any, edge: Edge | None, record: Record | None) -> Tensor | Any:
        """A value that a node kept, again as a tensor with its history; numbers stay numbers."""
        if edge is None:
            return value if isinstance(value, (int, float, complex)) and not isinstance(value, np.generic) else cls(value)
        node, output_nr = edge
        if isinstance(node, AccumulateGrad):
            return node.variable
        tensor = cls(value, True)
        tensor.node, tensor.output_nr, tensor.trace = node, output_nr, record
        return tensor

    # ---- what it is

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.value)

    @property
    def ndim(self) -> int:
        return np.ndim(self.value)

    @property
    def size_(self) -> int:
        return int(np.size(self.value))

    @property
    def dtype(self) -> np.dtype:
        dtype = self.value.dtype
        return np.dtype(np.float64) if dtype.kind == "O" else dtype

    @property
    def is_leaf(self) -> bool:
        return self.grad_fn is None

    @property
    def is_floating(self) -> bool:
        """Floating or complex: able to ask for gradients."""
        return self.value.dtype.kind in "fcO"

    @property
    def grad_fn(self) -> Node | None:
        self.refresh()
        return self.node

    @property
    def grad(self) -> Tensor | None:
        return self._grad

    @property
    def array(self) -> np.ndarray:
        """The value as an array that can be written to."""
        if not isinstance(self.value, np.ndarray):
            self.value = np.array(self.value)
        return self.value

    def __repr__(self) -> str:
        from gradcli.engine.printing import tensor_text

        return tensor_text(self)

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    def __getattr__(self, name: str) -> Any:
        from gradcli.engine.methods import method

        return method(self, name)

    # ---- its place in the graph

    def edge(self) -> Edge | None:
        """Where its gradient goes: None when it asks for none."""
        if not self.requires_grad:
            return None
        if self.node is not None:
            return self.node, self.output_nr
        accumulator = self._accumulator() if self._accumulator is not None else None
        if accumulator is None:
            accumulator = AccumulateGrad(self)
            self._accumulator = weakref.ref(accumulator)
        return accumulator, 0

    def refresh(self) -> None:
        """Give a view whose base was written to since the history of what it now shows."""
        view = self.view
        if view is None or view.seen == self.version.count:
            return
        view.seen = self.version.count
        base = view.base
        if base.requires_grad and base.node is not None and view.kind != "no_grad":
            op = Window(chain=view.chain)
            self.node = make_node(op, (base,), [base.value], 1, self.value)
            self.output_nr = 0
            self.requires_grad = True

    def record(self) -> Record | None:
        """Its trace record, made now for a leaf; None for a constant."""
        if self.view is not None and self.traced != self.version.count:
            self.traced = self.version.count
            root = self.view.base.record()
            self.trace = None
            if root is not None and state.tracer is not None:
                op = Window(chain=self.view.chain)
                self.trace = state.tracer.record(op, (root,), [root.value], op.forward(root.value))[0]
        if self.trace is None and self.requires_grad and self.node is None and state.tracer is not None:
            self.trace = state.tracer.leaf(self)
        return self.trace

    # ---- operations

    @staticmethod
    def __operation__(op: Operation, args: tuple[Any, ...]) -> Any:
        return apply(op, args)


def apply(op: Operation, args: tuple[Any, ...]) -> Any:
    """Apply an operation to tensors (and plain values): compute, and record a node where a gradient is asked for."""
    values = []
    mask, bit, tensors, plain = 0, 1, 0, True
    for arg in args:
        if type(arg) is Tensor:
            if arg.view is not None and arg.view.seen != arg.version.count:
                arg.refresh()
            if arg.requires_grad:
                mask |= bit
            value = arg.value
            if type(value) is not np.float64:
                plain = False
            tensors += 1
            values.append(value)
        else:
            values.append(arg)
        bit <<= 1
    out = op.forward(*values) if plain and not op.view else evaluate(op, args, values, tensors)
    recording = mask and state.grad and op.differentiable
    if type(out) is tuple:
        return _apply_several(op, args, values, mask if recording else 0, out)
    result = Tensor(out)
    if recording and out.dtype.kind in "fcO":
        result.requires_grad = True
        result.node = make_node(op, args, values, mask, out, result)
    if op.view:
        _share(result, args[0], op)
    if state.tracer is not None and state.tracer.following and op.differentiable:
        _trace(op, args, values, out, (result,))
    return result


def evaluate(op: Operation, args: tuple[Any, ...], values: list[Any], tensors: int) -> Any:
    """The result of an operation over arrays: dtypes promoted, the limit on elements asked first, PyTorch's message for shapes."""
    if tensors > 1 and isinstance(op, Elementwise):
        values[:] = promote(values)
    if op.view:
        values[0] = args[0].array
    size = op.size(*values)
    if size:
        state.charge(size)
    try:
        out = op(*values)
    except ValueError as error:
        raise broadcast_error(values) or error from error
    if not size and not op.view:
        state.charge(sum(v.size for v in out) if type(out) is tuple else out.size)
    return out


def broadcast_error(values: list[Any]) -> ShapeError | None:
    """PyTorch's message for the first two shapes that do not broadcast; None when they all do."""
    shapes = [np.shape(v) for v in values]
    for a, b in zip(shapes, shapes[1:]):
        for k in range(1, min(len(a), len(b)) + 1):
            if a[-k] != b[-k] and 1 not in (a[-k], b[-k]):
                axis = max(len(a), len(b)) - k
                return ShapeError(
                    f"The size of tensor a ({a[-k]}) must match the size of tensor b ({b[-k]}) at non-singleton dimension {axis}",
                    hint=f"shapes {list(a)} and {list(b)} do not broadcast: counted from the end, axes must be equal or 1",
                )
    return None


def _apply_several(op: Operation, args: tuple[Any, ...], values: list[Any], mask: int, out: tuple[Any, ...]) -> tuple[Tensor, ...]:
    """The results of an operation with several: one node, an output number each."""
    results = tuple(Tensor(value) for value in out)
    if mask:
        node = make_node(op, args, values, mask, out, *results)
        for k, result in enumerate(results):
            if result.is_floating:
                result.requires_grad, result.node, result.output_nr = True, node, k
    if op.view:
        for k, result in enumerate(results):
            _share(result, args[0], op.part(k), "multi")
    if state.tracer is not None and state.tracer.following:
        _trace(op, args, values, out, results)
    return results


def make_node(op: Operation, args: tuple[Any, ...], values: list[Any], mask: int, out: Any, *results: Tensor) -> OperationNode:
    """The node of an operation whose inputs of `mask` ask for gradients, with what its rules need."""
    count = len(args)
    plan = op.plan(mask, count)
    saved: list[Any] = []
    guards: list[Any] = []
    for slot in plan.slots:
        if slot < count:
            saved.append(values[slot])
            arg = args[slot]
            if type(arg) is Tensor:
                guards += (arg.version, arg.version.count)
        elif slot == count:
            saved.append(out)
            for result in results:
                guards += (result.version, result.version.count)
        else:
            saved.append(kept_about(op, slot, count, values))
    shapes = tuple([(v.shape, v.dtype) for v in out]) if type(out) is tuple else ((out.shape, out.dtype),)
    edges = tuple([arg.edge() if type(arg) is Tensor else None for arg in args])
    node = OperationNode(op, edges, shapes, plan, tuple(saved), tuple(guards), fits(op, values, mask, out))
    if state.tracer is not None and state.tracer.following:
        node.records = tuple(arg.record() if type(arg) is Tensor else None for arg in args)
    return node


def kept_about(op: Operation, slot: int, count: int, values: list[Any]) -> Any:
    """What a rule asks about an argument without keeping it: its shape, its dtype, the decision taken."""
    if slot <= 2 * count:
        return np.shape(values[slot - count - 1])
    return op.decide(*values) if slot == 2 * count + 1 else np.asarray(values[slot - 2 * count - 2]).dtype


def fits(op: Operation, values: list[Any], mask: int, out: Any) -> tuple[Any, ...] | None:
    """The (shape, dtype) each gradient is reduced to, None where every input is like the output."""
    if type(out) is tuple or type(out) is np.float64:
        return None
    shape, dtype = out.shape, out.dtype
    elementwise = isinstance(op, Elementwise)
    for k, value in enumerate(values):
        if mask >> k & 1 and ((elementwise and value.shape != shape) or value.dtype != dtype):
            return tuple((v.shape if elementwise else None, v.dtype) if mask >> i & 1 else None for i, v in enumerate(values))
    return None


def _share(result: Tensor, source: Tensor, op: Operation, kind: str = "") -> None:
    """Make `result` a view of `source`."""
    result.version = source.version
    root = source.view
    if not state.grad and not kind:
        kind = "no_grad"
    base, chain = (source, (op,)) if root is None else (root.base, (*root.chain, op))
    if root is not None and root.kind:
        kind = root.kind
    result.view = ViewOf(base, chain, source.version.count, kind)
    result.traced = source.version.count


def _trace(op: Operation, args: tuple[Any, ...], values: list[Any], out: Any, results: tuple[Tensor, ...]) -> None:
    """Leave records beside the results when an input depends on a leaf."""
    tracer = state.tracer
    assert tracer is not None
    records = tuple(arg.record() if type(arg) is Tensor else None for arg in args)
    if not any(records):
        return
    inputs = tuple(snapshot(v) if r is None else r for r, v in zip(records, values))
    made = tracer.record(op, inputs, values, out)
    for result, record in zip(results, made):
        if result.is_floating:
            result.trace = record
    node = results[0].node
    if isinstance(node, OperationNode):
        node.records = (*records, *made)


def tensor(data: Any, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """A leaf from data: numbers, nested sequences, arrays. Python floats become float64, ints int64.

    Raises RuntimeError when a gradient is asked for and the dtype is not floating or complex.
    """
    value = np.array(data, dtype=dtype)[()]
    result = Tensor(value)
    state.charge(result.size_)
    if requires_grad:
        require_grad(result, True)
    return result


def require_grad(target: Tensor, flag: bool) -> Tensor:
    """Switch `requires_grad`, in place, under PyTorch's rules."""
    if flag and not target.is_floating:
        raise DtypeError(
            "Only Tensors of floating point and complex dtype can require gradients", hint="make it floating: tensor([1., 2.]) or .double()"
        )
    if not flag and target.grad_fn is not None:
        raise AutogradError(
            "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph "
            "that doesn't require differentiation use var_no_grad = var.detach()."
        )
    target.requires_grad = flag
    return target
