"""Graph nodes: what a result remembers of how it was made, and how a gradient passes through it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.stale import stale
from gradcli.errors import AutogradError, Span
from gradcli.ops.complex import real
from gradcli.ops.conjugate import is_complex
from gradcli.ops.operation import Operation, Plan
from gradcli.ops.structure import SumTo, To
from gradcli.ops.where import where

if TYPE_CHECKING:
    from gradcli.engine.hooks import Watch
    from gradcli.engine.tensor import Tensor

float64 = np.float64

Edge = tuple["Node", int]

Form = tuple[tuple[int, ...], np.dtype]
"""Shape and dtype of a value."""

Parts = Sequence[Any]
"""The gradients that a node gives: one for each edge that is not None, in order; None where no gradient is defined."""


def placed(node: Node, parts: Parts) -> list[tuple[int, Any]]:
    """The gradients that a node gave, each with the position of its edge."""
    return list(zip((k for k, edge in enumerate(node.edges) if edge is not None), parts, strict=True))


class Sweep(Protocol):
    """What a node asks of the backward pass that visits it.

    `recorded`: the gradients are Tensors and what is done to them is recorded; `own`: gradcli's own pass, which may
    walk a graph that the program has freed, and whose leaves it has updated; `alone`: a look at one node after the
    fact, for which what it kept is what the trace has.
    """

    recorded: bool
    own: bool
    alone: bool

    def kept(self, node: OperationNode) -> tuple[Any, ...]:
        """What an operation kept, as the rules take it."""

    def zero(self, edge: Edge | None) -> Any:
        """The zero gradient of an input."""

    def derived(self, node: OperationNode, g: Any, kept: tuple[Any, ...]) -> Parts:
        """What the rules of an operation give, of a node of its own."""

    def within(self, roots: Sequence[tuple[Tensor, Any]], targets: Sequence[Edge]) -> dict[Edge, Any]:
        """The gradients that a pass inside a node brings to its entries."""


FREED_MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). "
    "Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


class Node:
    """One step of the graph.

    `edges` has a (node, output number) pair for each tensor argument, None for one without gradient;
    `shapes` the (shape, dtype) of each output; `watch` the hooks, None where there are none.
    """

    __slots__ = ("__weakref__", "edges", "freed", "sequence", "shapes", "span", "watch")

    prefix = ""
    """What `name()` puts before the name."""

    def __init__(self, edges: tuple[Edge | None, ...], shapes: tuple[Form, ...]) -> None:
        self.edges = edges
        self.shapes = shapes
        self.span: Span | None = state.span
        state.sequence += 1
        self.sequence = state.sequence
        self.freed = False
        self.watch: Watch | None = None

    @property
    def name(self) -> str:
        """PyTorch's name, as `type(node).__name__` shows it."""
        return type(self).__name__

    @property
    def full_name(self) -> str:
        """What `node.name()` gives."""
        return self.prefix + self.name

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        return tuple((None, 0) if edge is None else edge for edge in self.edges)

    def __repr__(self) -> str:
        return f"<{self.name} object at 0x{id(self):x}>"

    def backward(self, grads: list[Any], sweep: Sweep) -> Parts:
        """The gradients for the inputs that ask for one.

        `grads` has one entry an output, None where no gradient arrived; values are plain arrays, or Tensors
        when the pass is recorded.
        """
        raise NotImplementedError

    def undefined(self) -> Parts:
        """No gradient for any input."""
        return [None for edge in self.edges if edge is not None]

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

    def check_alive(self, own: bool = False) -> None:
        if self.freed and not own:
            raise AutogradError(FREED_MESSAGE, hint="pass retain_graph=True to the first backward call")


class AccumulateGrad(Node):
    """Where the gradient of a leaf ends."""

    __slots__ = ("variable",)

    prefix = "torch::autograd::"

    def __init__(self, variable: Tensor) -> None:
        super().__init__((), ((variable.shape, variable.dtype),))
        self.variable = variable


class OperationNode(Node):
    """The node of an operation: `saved` holds what `plan` keeps, `guards` the versions that it had.

    `guards` has a (Version, count) pair for each argument and result kept, in the order of `saved`.
    `fits` says to which (shape, dtype) each gradient must be reduced, None where all inputs are like the output.
    `records` keeps the trace records of arguments and outputs, so that a recorded backward can be traced.
    """

    __slots__ = ("fits", "guards", "op", "plan", "records", "saved")

    def __init__(
        self,
        op: Operation,
        edges: tuple[Edge | None, ...],
        shapes: tuple[Form, ...],
        plan: Plan,
        saved: Any,
        guards: tuple[Any, ...],
        fits: tuple[Any, ...] | None,
    ) -> None:
        self.edges = edges
        self.shapes = shapes
        self.span = state.span
        sequence = state.sequence + 1
        self.sequence = state.sequence = sequence
        self.freed = False
        self.watch = None
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
    def prefix(self) -> str:  # type: ignore[override]
        return "torch::autograd::" if self.op.node in ("CopyBackwards", "CopySlices", "NotImplemented") else ""

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        """As PyTorch: of the arguments that have a rule; a condition, a target or a weight has none."""
        rules = self.op.rules
        listed = super().next_functions
        if self.op.variadic:
            return listed
        return tuple(pair for pair, rule in zip(listed, rules, strict=True) if rule is not None)[: self.op.listed]

    @property
    def holds(self) -> bool:
        return self.plan.holds

    def release(self) -> None:
        if self.plan.holds:
            self.freed = True
            if not state.keep_graph:
                self.saved = self.guards = ()

    def forget(self) -> None:
        self.saved = self.guards = ()

    def backward(self, grads: list[Any], sweep: Sweep) -> Parts:
        kept = () if not self.plan.slots else sweep.kept(self) if sweep.recorded else self.read(sweep.own, sweep.alone)
        if len(grads) == 1:
            g = grads[0]
            if g is None:
                return self.undefined()
        else:
            g = self.filled(grads)
        if sweep.recorded:
            state.ruling = True
            try:
                if self.op.derivative:
                    return sweep.derived(self, g, kept)
                return self.apply_rules(g, kept, sweep)
            finally:
                state.ruling = False
        return self.apply_rules(g, kept, sweep)

    def apply_rules(self, g: Any, kept: tuple[Any, ...], sweep: Sweep) -> Parts:
        op, fits = self.op, self.fits
        parts: list[Any] = []
        for index, rule, positions, local in self.plan.steps:
            if not positions:
                part = rule(op) if local else rule(op, g)
            elif len(positions) == 1:
                value = kept[positions[0]]
                part = rule(op, value) if local else rule(op, g, value)
            else:
                given = map(kept.__getitem__, positions)
                part = rule(op, *given) if local else rule(op, g, *given)
            if part is None or part is False:
                part = sweep.zero(self.edges[index])
            elif local:
                part = g * part if type(part) is float64 else times(g, part)
            if fits is not None:
                part = fit(part, *fits[index])
            parts.append(part)
        return parts

    def read(self, own: bool = False, alone: bool = False) -> tuple[Any, ...]:
        """What is kept, once it is sure that nothing has changed it in place. For `own` and `alone` see Sweep."""
        saved = self.saved
        if type(saved) is not tuple:
            return tuple(saved.unpack(self))
        guards = self.guards
        if len(guards) == 2:
            version, count = guards
            return saved if version.count == count and version.moves is None else self.checked(own, alone)
        for k in range(0, len(guards), 2):
            version = guards[k]
            if version.count != guards[k + 1] or version.moves is not None:
                return self.checked(own, alone)
        return saved

    def checked(self, own: bool, alone: bool) -> tuple[Any, ...]:
        """What is kept, where something has been written to or moved."""
        written = [k // 2 for k in range(0, len(self.guards), 2) if self.guards[k].count != self.guards[k + 1]]
        for k in written:
            if not (own and (self.was_leaf(k) or (alone and self.records is not None and len(self.records) > len(self.edges)))):
                raise stale(self, k, self.guarded()[k], self.source(k))
        return self.recorded_values() if written else self.followed()

    def followed(self) -> tuple[Any, ...]:
        """What is kept, where values were moved to another memory."""
        values = list(self.saved)
        arguments = len(self.plan.kept)
        for k, value in enumerate(values[:arguments]):
            values[k] = self.guards[2 * k].follow(value, is_result=False)
        if self.plan.keeps_out:
            results = values[arguments]
            versions = self.guards[2 * arguments :: 2]
            if isinstance(results, tuple):
                values[arguments] = tuple(v.follow(r, is_result=True) for v, r in zip(versions, results, strict=False))
            else:
                values[arguments] = versions[0].follow(results, is_result=True)
        return tuple(values)

    def was_leaf(self, position: int) -> bool:
        """Whether a guarded value is that of a leaf, as the trace has it: an optimiser may have moved the leaf since."""
        if self.records is None or position >= len(self.plan.kept):
            return False
        record = self.records[self.plan.kept[position]]
        return record is not None and record.op is None

    def recorded_values(self) -> tuple[Any, ...]:
        """What was kept, as the trace has it: for gradcli's own pass over a graph whose leaves were updated since."""
        assert self.records is not None
        values = list(self.saved)
        count = len(self.edges)
        made = self.records[count:]
        for k, slot in enumerate(self.plan.kept):
            source = self.records[slot] or (made[0].inputs[slot] if made else None)
            if source is not None:
                values[k] = getattr(source, "value", source)
        if self.plan.keeps_out and made:
            results = tuple(record.value for record in made)
            values[len(self.plan.kept)] = results if self.op.outputs > 1 else results[0]
        return tuple(values)

    def guarded(self) -> list[Any]:
        """The kept values that `guards` speaks of, in its order."""
        arguments = len(self.plan.kept)
        values = list(self.saved[:arguments])
        if self.plan.keeps_out:
            result = self.saved[arguments]
            values += result if isinstance(result, tuple) else (result,)
        return values

    def source(self, position: int) -> Edge | None:
        """The place in the graph of a guarded value; None for a leaf or a constant."""
        arguments = len(self.plan.kept)
        if position >= arguments:
            return self, position - arguments
        edge = self.edges[self.plan.kept[position]]
        return None if edge is None or isinstance(edge[0], AccumulateGrad) else edge

    def filled(self, grads: list[Any]) -> tuple[Any, ...]:
        """Zeros where no gradient arrived."""
        return tuple(np.zeros(shape, dtype) if g is None else g for g, (shape, dtype) in zip(grads, self.shapes, strict=False))


def times(g: Any, d: Any) -> Any:
    """The chain rule for one element: a boolean derivative selects, a number multiplies (conjugated when complex)."""
    if type(d) is complex:
        return g * d.conjugate()
    kind = d.dtype.kind if hasattr(d, "dtype") else ("b" if isinstance(d, bool) else "f")
    if kind == "b":
        return where(d, g, 0.0)
    if kind == "c":
        return g * d.conj()
    return g * (np.conjugate(d) if kind == "O" else d)


def fit(part: Any, shape: tuple[int, ...] | None, dtype: np.dtype) -> Any:
    """A gradient summed over broadcast axes (None: it has its shape already) and in the dtype of its input."""
    if shape is not None and part.shape != shape:
        part = SumTo(shape=shape)(part)
    held = getattr(part, "dtype", None)
    if held is not None and held.kind == "c" and dtype.kind == "f":
        part = real(part)
        held = part.dtype
    if held != dtype and held is not None and (held.kind != "O" or (dtype.kind == "f" and is_complex(part))):
        part = To(dtype=dtype)(part)
    return part
