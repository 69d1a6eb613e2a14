"""Graph nodes: what a result remembers of how it was made, and how a gradient passes through it."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.errors import AutogradError, Span
from gradcli.ops.operation import Operation, Plan
from gradcli.ops.structure import SumTo, To
from gradcli.ops.where import where

if TYPE_CHECKING:
    from gradcli.engine.tensor import Tensor

Edge = tuple["Node", int]

KINDS = {"float64": "DoubleTensor", "float32": "FloatTensor", "int64": "LongTensor", "bool": "BoolTensor", "float16": "HalfTensor",
         "complex128": "ComplexDoubleTensor", "complex64": "ComplexFloatTensor"}  # fmt: skip
"""What PyTorch calls tensors of a dtype in its messages."""

FREED_MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
    "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors after calling backward."
)


class Version:
    """Counts the in-place writes to one piece of memory; shared by views and detached tensors.

    `writer` is a weak reference to the tensor that was last written to.
    """

    __slots__ = ("count", "writer")

    def __init__(self) -> None:
        self.count = 0
        self.writer: weakref.ref[Tensor] | None = None


class Node:
    """One step of the graph.

    `edges` has a (node, output number) pair for each tensor argument, None for one without gradient;
    `shapes` the (shape, dtype) of each output, for gradients that never arrive.
    """

    __slots__ = ("__weakref__", "edges", "freed", "hooks", "prehooks", "sequence", "shapes", "span", "tensor_hooks")

    def __init__(self, edges: tuple[Edge | None, ...], shapes: tuple[tuple[tuple[int, ...], np.dtype], ...]) -> None:
        self.edges = edges
        self.shapes = shapes
        self.span: Span | None = state.span
        state.sequence += 1
        self.sequence = state.sequence
        self.freed = False
        self.hooks: list[Callable[..., Any]] | None = None
        self.prehooks: list[Callable[..., Any]] | None = None
        self.tensor_hooks: dict[int, list[Callable[..., Any]]] | None = None

    @property
    def name(self) -> str:
        """PyTorch's name, as `type(node).__name__` shows it."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        return tuple((None, 0) if edge is None else edge for edge in self.edges)

    def __repr__(self) -> str:
        return f"<{self.name} object at 0x{id(self):x}>"

    def backward(self, grads: list[Any], recording: bool) -> Iterator[tuple[int, Any]]:
        """The gradients for the inputs as (position among the edges, gradient).

        `grads` has one entry an output, None where no gradient arrived; values are plain arrays, or Tensors
        when `recording`.
        """
        raise NotImplementedError

    @property
    def holds(self) -> bool:
        """Whether it keeps tensors, so that a second pass over the freed graph must fail."""
        return False

    def release(self) -> None:
        """Free what is kept (only marked while gradcli itself still needs the graph)."""
        if self.holds:
            self.freed = True
            if not state.keep_graph:
                self.forget()

    def forget(self) -> None:
        """Drop what is kept."""

    def check_alive(self, own_pass: bool) -> None:
        if self.freed and not own_pass:
            raise AutogradError(FREED_MESSAGE, hint="pass retain_graph=True to the first backward call")


class AccumulateGrad(Node):
    """Where the gradient of a leaf ends."""

    __slots__ = ("variable",)

    def __init__(self, variable: Tensor) -> None:
        super().__init__((), ((variable.shape, variable.dtype),))
        self.variable = variable


class OperationNode(Node):
    """The node of an operation: `saved` holds what `plan` keeps, `guards` the versions that it had.

    `fits` says to which (shape, dtype) each gradient must be reduced, None where all inputs are like the output.
    `records` keeps the trace records of arguments and outputs, so that a recorded backward can be traced.
    """

    __slots__ = ("fits", "guards", "op", "plan", "records", "saved")

    def __init__(
        self,
        op: Operation,
        edges: tuple[Edge | None, ...],
        shapes: tuple[tuple[tuple[int, ...], np.dtype], ...],
        plan: Plan,
        saved: tuple[Any, ...],
        guards: tuple[Any, ...],
        fits: tuple[Any, ...] | None,
    ) -> None:
        self.edges = edges
        self.shapes = shapes
        self.span = state.span
        state.sequence += 1
        self.sequence = state.sequence
        self.freed = False
        self.hooks = self.prehooks = self.tensor_hooks = None
        self.op = op
        self.plan = plan
        self.saved = saved
        self.guards = guards
        self.fits = fits
        self.records: tuple[Any, ...] | None = None

    @property
    def name(self) -> str:
        return self.op.node

    @property
    def holds(self) -> bool:
        count = len(self.op.arguments) if not self.op.variadic else len(self.edges)
        return any(slot <= count or slot == 2 * count + 1 for slot in self.plan.slots)

    def forget(self) -> None:
        self.saved = self.guards = ()

    def backward(self, grads: list[Any], recording: bool) -> Iterator[tuple[int, Any]]:
        op = self.op
        kept = self.unpack() if recording else self.saved
        guards = self.guards
        for k in range(0, len(guards), 2):
            if guards[k].count != guards[k + 1]:
                raise stale(self, k // 2)
        g = grads[0] if op.outputs == 1 else tuple(self.filled(grads))
        for index, rule, positions, local in self.plan.steps:
            part = rule(op, *[kept[p] for p in positions]) if local else rule(op, g, *[kept[p] for p in positions])
            if part is None:
                continue
            if local:
                part = times(g, part)
            if self.fits is not None:
                part = fit(part, *self.fits[index])
            yield index, part

    def filled(self, grads: list[Any]) -> Iterator[Any]:
        """Zeros where no gradient arrived."""
        for g, (shape, dtype) in zip(grads, self.shapes):
            yield np.zeros(shape, dtype) if g is None else g

    def unpack(self) -> list[Any]:
        """What is kept, as Tensors with their history, for a backward pass that is itself recorded."""
        from gradcli.engine.tensor import Tensor

        count = len(self.edges) if self.op.variadic else len(self.op.arguments)
        kept: list[Any] = []
        for slot, value in zip(self.plan.slots, self.saved):
            if slot < count:
                kept.append(Tensor.saved(value, self.edges[slot], self.records[slot] if self.records else None))
            elif slot == count:
                results = value if isinstance(value, tuple) else (value,)
                outs = [
                    Tensor.saved(v, (self, k), self.records[count + k] if self.records else None)
                    if _floating(v) else Tensor(v)
                    for k, v in enumerate(results)
                ]  # fmt: skip
                kept.append(tuple(outs) if isinstance(value, tuple) else outs[0])
            else:
                kept.append(value)
        return kept

    def guarded(self) -> list[Any]:
        """The kept values that `guards` speaks of, in its order."""
        count = len(self.edges)
        values: list[Any] = []
        for slot, value in zip(self.plan.slots, self.saved):
            if slot < count and isinstance(value, (np.ndarray, np.generic)):
                values.append(value)
            elif slot == count:
                values += value if isinstance(value, tuple) else (value,)
        return values


def stale(node: Any, position: int) -> AutogradError:
    """A kept tensor was changed in place since: PyTorch's message, with the line that kept it."""
    version, expected = node.guards[2 * position : 2 * position + 2]
    value = node.guarded()[position]
    writer = version.writer() if version.writer is not None else None
    which = ""
    if writer is not None and writer.grad_fn is not None:
        which = f", which is output {writer.output_nr} of {writer.grad_fn.name.removesuffix('Backward')},"
    line = f" It was saved on line {node.span.line} for {node.name}." if node.span else ""
    return AutogradError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{KINDS.get(value.dtype.name, 'Tensor')} {list(value.shape)}]{which} is at version {version.count}; "
        f"expected version {expected} instead.{line} "
        "Hint: enable anomaly detection to find the operation that failed to compute its gradient, "
        "with torch.autograd.set_detect_anomaly(True).",
        hint="use the out-of-place form, or clone() before the value is changed",
    )


def _floating(value: Any) -> bool:
    return bool(value.dtype.kind in "fcO")


def times(g: Any, d: Any) -> Any:
    """The chain rule for one element: a boolean derivative selects, a number multiplies (conjugated when complex)."""
    kind = d.dtype.kind if hasattr(d, "dtype") else ("b" if isinstance(d, bool) else "f")
    if kind == "b":
        return where(d, g, 0.0)
    return g * d.conj() if kind == "c" else g * d


def fit(part: Any, shape: tuple[int, ...] | None, dtype: np.dtype) -> Any:
    """A gradient summed over broadcast axes (None: it has its shape already) and in the dtype of its input."""
    if shape is not None and part.shape != shape:
        part = SumTo(shape=shape)(part)
    if getattr(part, "dtype", None) != dtype:
        part = To(dtype=dtype)(part)
    return part
