"""A backward pass: one walk from the roots to the leaves, newest node first, without recursion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import numpy as np

from gradcli.engine.accumulate import add_retained, store
from gradcli.engine.anomaly import check_parts, reported
from gradcli.engine.derived import bound, derived
from gradcli.engine.hooks import as_tensor, run_after, run_before, run_tensor_hooks
from gradcli.engine.mode import recording, state
from gradcli.engine.node import AccumulateGrad, Edge, Node, OperationNode, Parts
from gradcli.engine.roots import Root
from gradcli.engine.saved import unpack
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import PassRecord
from gradcli.errors import ArgumentError, AutogradError

newest_first = attrgetter("sequence")


class Pass:
    """One backward pass: the gradients that have arrived, per node.

    `targets` are the places that alone are wanted (None: every leaf); with `capture` their gradients are kept in
    `captured`, else they are accumulated. `own` marks gradcli's own passes, which may walk a graph that the program
    has freed, call no hook and leave no note; `alone` one that looks at a single node.
    """

    careful = False
    """Take every node through `attend`."""

    def __init__(
        self,
        roots: Sequence[Root],
        *,
        targets: Sequence[Edge] | None = None,
        capture: bool = False,
        recorded: bool = False,
        own: bool = False,
        alone: bool = False,
    ) -> None:
        self.roots = roots
        self.recorded = recorded
        self.own = own
        self.alone = alone
        self.limited = targets is not None
        self.targets = {edge[0] for edge in targets or ()}
        self.capture: set[tuple[Node, int]] = set(targets or ()) if capture else set()
        self.captured: dict[tuple[Node, int], Any] = {}
        self.needed: set[Node] = set()
        self.pending: dict[Node, list[Any]] = {}
        self.uses: dict[Node, int] = defaultdict(int)
        self.order: list[Node] = []
        self.hooked = False
        self.recomputed: dict[Any, Any] = {}
        """What checkpointed blocks have made again for this pass."""
        self.note: PassRecord | None = None

    def run(self, retain: bool, kind: str = "backward") -> None:
        """Walk; frees the walked nodes unless `retain`."""
        if state.tracer is not None and not self.own:
            self.note = PassRecord(kind, self.roots, False)
            state.tracer.passes.append(self.note)
        edges = [root.edge() for root, _ in self.roots]
        order = self.survey([edge[0] for edge in edges if edge is not None])
        if self.limited:
            order = self.limit(order)
        self.order = order
        before, state.sweep = state.sweep, self
        try:
            with recording(self.recorded), passing():
                for edge, (_, g) in zip(edges, self.roots, strict=False):
                    assert edge is not None
                    self.arrive(edge, g)
                for edge in edges:
                    if edge is not None and type(edge[0]) is AccumulateGrad:
                        self.uses[edge[0]] -= 1
                        self.settle(edge[0])
                self.walk(order, retain)
        finally:
            state.sweep = before
            if self.note is not None:
                self.note.hooked = self.hooked

    # ---- what there is to do

    def survey(self, starts: list[Node]) -> list[Node]:
        """The nodes below the roots, newest first: an order in which every gradient is complete when its node comes.

        Leaves are not among them: they are due as soon as the last node that leads to them has run, so their uses
        are counted.
        """
        order: list[Node] = []
        uses = self.uses
        for node in starts:
            if type(node) is AccumulateGrad:
                uses[node] += 1
        stack = [node for node in dict.fromkeys(starts) if type(node) is not AccumulateGrad]
        seen = set(stack)
        while stack:
            node = stack.pop()
            order.append(node)
            for edge in node.edges:
                if edge is not None:
                    parent = edge[0]
                    if type(parent) is AccumulateGrad:
                        uses[parent] += 1
                    elif parent not in seen:
                        seen.add(parent)
                        stack.append(parent)
        order.sort(key=newest_first, reverse=True)
        return order

    def limit(self, order: list[Node]) -> list[Node]:
        """Only the nodes that lead to a target, and the targets; those in `needed` run, the others only show what arrives."""
        needed, targets = self.needed, self.targets
        if not self.capture:
            needed |= {node for node in targets if type(node) is not AccumulateGrad}
        for node in reversed(order):
            if any(edge is not None and (edge[0] in needed or edge[0] in targets) for edge in node.edges):
                needed.add(node)
        for node in order:
            if node not in needed:
                for edge in node.edges:
                    if edge is not None and edge[0] in self.uses:
                        self.uses[edge[0]] -= 1
        return [node for node in order if node in needed or node in targets]

    # ---- the walk

    def walk(self, order: list[Node], retain: bool) -> None:
        pending, uses, own = self.pending, self.uses, self.own
        careful = self.careful or self.limited or state.anomaly is not None
        for node in order:
            grads = pending.pop(node, None)
            if grads is None:
                continue
            parts: Parts
            if careful or node.watch is not None:
                attended = self.attend(node, grads)
                if attended is None:
                    continue
                parts = attended
            else:
                if node.freed and not own:
                    node.check_alive()
                parts = node.backward(grads, self)
            edges: Sequence[Any] = node.edges
            if len(parts) < len(edges):
                edges = [edge for edge in edges if edge is not None]
            for (parent, nr), g in zip(edges, parts):
                slots = pending.get(parent)
                if slots is None:
                    pending[parent] = slots = [None] * len(parent.shapes)
                    slots[nr] = g
                elif slots[nr] is None:
                    slots[nr] = g
                elif g is not None:
                    slots[nr] = slots[nr] + g
                if parent in uses:
                    uses[parent] = left = uses[parent] - 1
                    if not left:
                        self.settle(parent)
            if not retain:
                node.release()

    def arrive(self, edge: Edge, g: Any) -> None:
        """Add a gradient to what has arrived at an output of a node."""
        node, nr = edge
        slots = self.pending.setdefault(node, [None] * len(node.shapes))
        if g is not None:
            slots[nr] = g if slots[nr] is None else slots[nr] + g

    def settle(self, node: AccumulateGrad) -> None:
        """A use of a leaf has given its gradient: the leaf is due where no more is to come."""
        if not self.uses[node] and (not self.limited or node in self.targets):
            self.finish(node, self.pending.pop(node, [None]))

    def attend(self, node: Node, grads: list[Any]) -> Parts | None:
        """Run a node with hooks, or one whose gradient is asked for; None when it need not run."""
        runs = not self.limited or node in self.needed
        if not runs:
            grads = self.show(node, grads)
        for nr, g in enumerate(grads):
            if (node, nr) in self.capture:
                self.captured[node, nr] = g
        if not runs:
            return None
        grads = self.show(node, grads)
        watch = node.watch if not self.own else None
        if watch is not None and watch.before:
            grads = run_before(watch.before, grads, self.recorded)
        node.check_alive(self.own)
        if state.anomaly is None:
            parts = node.backward(grads, self)
        else:
            with reported(node):
                parts = node.backward(grads, self)
                check_parts(node, parts)
        if watch is not None and watch.after:
            parts = run_after(watch.after, node, parts, grads, self.recorded)
        return parts

    def show(self, node: Node, grads: list[Any]) -> list[Any]:
        """Let the hooks of a node's outputs see, and change, what arrived; then keep it where it was asked to be kept."""
        watch = node.watch
        if watch is None or self.own:
            return grads
        for nr, hooks in watch.tensors.items():
            if hooks:
                self.hooked = True
                grads[nr] = run_tensor_hooks(hooks, grads[nr], self.recorded)
        for nr, held in watch.retained.items():
            tensor = held()
            if tensor is not None and grads[nr] is not None:
                add_retained(tensor, grads[nr], self.recorded)
        return grads

    def finish(self, node: AccumulateGrad, grads: list[Any]) -> None:
        """The gradient of a leaf is complete: hooks, then into `.grad` (or kept, when it is asked for)."""
        leaf, g = node.variable, grads[0]
        if leaf.hooks and not self.own:
            self.hooked = True
            g = run_tensor_hooks(leaf.hooks, g, self.recorded)
        if self.capture:
            self.captured[node, 0] = g
            return
        watch = node.watch if not self.own else None
        if watch is not None and watch.before:
            g = run_before(watch.before, [g], self.recorded)[0]
        if g is not None and leaf.wants:
            self.accumulate(leaf, g)
        if watch is not None and watch.after:
            run_after(watch.after, node, [], [g], self.recorded)

    def accumulate(self, leaf: Tensor, g: Any) -> None:
        """Add to `.grad`, and tell the tracer. Raises RuntimeError, as PyTorch, where a write in place has made the leaf a result."""
        if leaf.node is not None:
            raise AutogradError("leaf variable has been moved into the graph interior", hint="write to a clone() of the leaf")
        tracer = state.tracer
        if self.note is None or tracer is None:
            store(leaf, g, self.recorded)
        else:
            entry = tracer.accumulated(self.note, leaf, g)
            store(leaf, g, self.recorded)
            tracer.stored(self.note, entry)
        if leaf.post_hooks and not self.own:
            for hook in list(leaf.post_hooks.values()):
                hook(leaf)

    # ---- what nodes and hooks ask for

    def will_run(self, node: Node) -> bool:
        """Whether the pass comes to a node."""
        if type(node) is AccumulateGrad:
            return node in self.uses and (not self.limited or node in self.targets)
        return node in self.order

    def kept(self, node: OperationNode) -> tuple[Any, ...]:
        """What an operation kept, as its rules take it."""
        values = node.read(self.own, self.alone)
        return unpack(node, values) if self.recorded else values

    def derived(self, node: OperationNode, g: Any, kept: tuple[Any, ...]) -> Parts:
        """What the rules of an operation give, of a node of its own; while a run is traced, of the operations in them."""
        return derived(node, g, kept, self) if state.tracer is None else bound(node.apply_rules(g, kept, self), kept)

    def within(self, roots: Sequence[Root], targets: Sequence[Edge]) -> dict[Edge, Any]:
        """The gradients that a pass inside a node brings to its entries."""
        run = Pass(roots, targets=targets, capture=True, recorded=self.recorded)
        run.run(retain=True)
        return run.captured

    def zero(self, edge: Edge | None) -> Any:
        """The zero gradient of an input."""
        assert edge is not None
        value = np.zeros(*edge[0].shapes[edge[1]])[()]
        return Tensor(value) if self.recorded else value


def call_node(node: Node, *grads: Any) -> Any:
    """`node(*grads)`: the one step from the gradients of its outputs to those of its inputs, recorded where recording is on."""
    step = Pass([], recorded=state.grad)
    node.check_alive()
    for k, g in enumerate(grads):
        if g is not None and not isinstance(g, Tensor):
            raise ArgumentError(f"argument {k} is not a Variable", hint="give a tensor, or None, for each output")
    if len(grads) != len(node.shapes):
        raise ArgumentError(f"expected {len(node.shapes)} arguments, got {len(grads)} instead")
    given = [g if g is None or state.grad else g.value for g in grads]
    if type(node) is AccumulateGrad:
        step.finish(node, given)
        return ()
    before, state.sweep = state.sweep, step
    try:
        parts = iter(node.backward(given, step))
    finally:
        state.sweep = before
    found = tuple(None if parent is None else as_tensor(next(parts)) for parent, _ in node.next_functions)
    return found if len(found) != 1 else found[0]


Node.__call__ = call_node  # type: ignore[method-assign]


@contextmanager
def passing() -> Iterator[None]:
    """Tell the tracer that a backward pass runs."""
    tracer = state.tracer
    if tracer is None:
        yield
        return
    before, tracer.passing = tracer.passing, True
    try:
        yield
    finally:
        tracer.passing = before
