"""The backward pass: one walk from the roots to the leaves, newest node first, without recursion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import Any

import numpy as np

from gradcli.engine.mode import recording, state
from gradcli.engine.node import AccumulateGrad, Edge, Node
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import PassEntry, PassRecord, snapshot
from gradcli.errors import ArgumentError, AutogradError, ShapeError

Root = tuple[Tensor, Any]
"""An output and its gradient: a plain array, or a Tensor when the pass is recorded."""


class Pass:
    """One backward pass: the gradients that have arrived, per (node, output number).

    `capture` are the places whose gradient is asked for; `leaves` says into which leaves to accumulate
    (None: all). `own` marks gradcli's own passes, which may walk a graph that the program has freed.
    """

    def __init__(
        self, roots: Sequence[Root], *, capture: Sequence[Edge] = (), leaves: set[int] | None = None, recorded: bool = False, own: bool = False
    ) -> None:
        self.roots = roots
        self.recorded = recorded
        self.own = own
        self.leaves = leaves
        self.capture = {(id(node), nr) for node, nr in capture}
        self.captured: dict[tuple[int, int], Any] = {}
        self.contributions: list[tuple[Tensor, Any]] = []
        self.pending: dict[Node, list[Any]] = {}
        self.walked: list[Node] = []
        self.hooked = False

    def run(self, retain: bool) -> None:
        """Walk; frees the walked nodes unless `retain`."""
        starts = []
        for root, g in self.roots:
            edge = root.edge()
            assert edge is not None
            starts.append(edge[0])
            self.arrive(edge, g)
        waiting = self.waiting(starts)
        ready: list[tuple[float, int, Node]] = []
        for node in dict.fromkeys(starts):
            if not waiting.get(node):
                heappush(ready, (*priority(node), node))
        with recording(self.recorded), passing():
            while ready:
                node = heappop(ready)[2]
                self.visit(node)
                for edge in node.edges:
                    if edge is None:
                        continue
                    parent = edge[0]
                    left = waiting[parent] - 1
                    waiting[parent] = left
                    if not left:
                        heappush(ready, (*priority(parent), parent))
        if not retain:
            for node in self.walked:
                node.release()

    def waiting(self, starts: list[Node]) -> dict[Node, int]:
        """How many gradients each node below the roots waits for."""
        waiting: dict[Node, int] = {}
        seen = set(starts)
        stack = list(seen)
        while stack:
            for edge in stack.pop().edges:
                if edge is not None:
                    parent = edge[0]
                    waiting[parent] = waiting.get(parent, 0) + 1
                    if parent not in seen:
                        seen.add(parent)
                        stack.append(parent)
        return waiting

    def arrive(self, edge: Edge, g: Any) -> None:
        """Add a gradient to what has arrived at an output of a node."""
        node, nr = edge
        slots = self.pending.get(node)
        if slots is None:
            slots = self.pending[node] = [None] * len(node.shapes)
        slots[nr] = g if slots[nr] is None else slots[nr] + g

    def visit(self, node: Node) -> None:
        """Hand what has arrived at a node to its inputs."""
        grads = self.pending.pop(node, None)
        if grads is None:
            return
        if node.tensor_hooks is not None and not self.own:
            self.run_tensor_hooks(node, grads)
        if self.capture:
            for nr, g in enumerate(grads):
                if (id(node), nr) in self.capture:
                    self.captured[id(node), nr] = g
        if isinstance(node, AccumulateGrad):
            self.accumulate(node.variable, grads[0])
            return
        node.check_alive(self.own)
        self.walked.append(node)
        edges = node.edges
        for index, part in node.backward(grads, self.recorded):
            edge = edges[index]
            if edge is not None:
                self.arrive(edge, part)

    def run_tensor_hooks(self, node: Node, grads: list[Any]) -> None:
        """Let the hooks of the node's outputs see, and change, what arrived."""
        assert node.tensor_hooks is not None
        self.hooked = True
        for nr, hooks in node.tensor_hooks.items():
            if grads[nr] is not None:
                grads[nr] = run_hooks(hooks, grads[nr], self.recorded)

    def accumulate(self, leaf: Tensor, g: Any) -> None:
        """Add the gradient of a leaf to its `.grad`, which keeps the leaf's dtype and memory of its own."""
        if leaf.hooks and not self.own:
            self.hooked = True
            g = run_hooks(leaf.hooks, g, self.recorded)
        place = (id(leaf.edge()[0]), 0)  # type: ignore[index]
        if place in self.captured:
            self.captured[place] = g
        if self.leaves is not None and id(leaf) not in self.leaves:
            return
        self.contributions.append((leaf, g))


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


def priority(node: Node) -> tuple[float, int]:
    """Leaves first, then the node created last, as PyTorch."""
    return (-np.inf if isinstance(node, AccumulateGrad) else -node.sequence), node.sequence


def run_hooks(hooks: list[Any], g: Any, recorded: bool) -> Any:
    """Call hooks in order of registration; each receives the last value returned, None keeps it."""
    current = g if isinstance(g, Tensor) else Tensor(np.asarray(g))
    for hook in list(hooks):
        result = hook(current)
        if result is None:
            continue
        if not isinstance(result, Tensor):
            raise ArgumentError(f"expected Variable, but hook returned '{type(result).__name__}'")
        if result.shape != current.shape:
            raise ShapeError("hook has changed the size of value")
        current = result
    return current if recorded else current.value


def root_gradient(output: Tensor, given: Any, position: int) -> Any:
    """The gradient to start from at an output: the given one, or 1 for an output of one element."""
    if given is None:
        if output.size_ != 1:
            raise AutogradError(
                "grad can be implicitly created only for scalar outputs",
                hint=f"the output has shape {list(output.shape)}: pass the gradient, e.g. torch.ones_like(output), or sum it first",
            )
        return Tensor(np.ones(output.shape, output.dtype))
    if not isinstance(given, Tensor):
        raise ArgumentError(
            f"gradients can be either Tensors or None, but got {type(given).__name__}", hint="pass torch.tensor(...)"
        )
    if given.shape != output.shape:
        raise ShapeError(
            f"Mismatch in shape: grad_output[{position}] has a shape of torch.Size({list(given.shape)}) and "
            f"output[{position}] has a shape of torch.Size({list(output.shape)})."
        )
    return given


def check_roots(outputs: Sequence[Tensor]) -> None:
    for position, output in enumerate(outputs):
        if not output.requires_grad:
            raise AutogradError(
                f"element {position} of tensors does not require grad and does not have a grad_fn",
                hint="no operation on the way asks for a gradient: create a leaf with requires_grad=True",
            )


def start(outputs: Sequence[Tensor], given: Sequence[Any], create_graph: bool) -> list[Root]:
    """The roots of a pass with their gradients, in the dtype of the outputs."""
    roots = []
    for k, (output, g) in enumerate(zip(outputs, given)):
        g = root_gradient(output, g, k)
        value = g.value if g.value.dtype.kind == "O" else np.asarray(g.value).astype(output.dtype, copy=False)[()]
        if create_graph:
            roots.append((output, g if g.requires_grad and g.dtype == output.dtype else Tensor(value)))
        else:
            roots.append((output, value))
    return roots


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Tensor | Sequence[Tensor] | None = None,
    *,
    own: bool = False,
) -> None:
    """Add d(tensors)/d(leaf), weighted by `grad_tensors`, to the `.grad` of every leaf (of `inputs` alone when given).

    Raises RuntimeError as PyTorch does: for an output without graph, a gradient of another shape, a freed graph.
    """
    outputs = as_sequence(tensors)
    given = [None] * len(outputs) if grad_tensors is None else list(as_sequence(grad_tensors))
    if len(given) != len(outputs):
        raise AutogradError(f"got {len(outputs)} tensors and {len(given)} gradients")
    check_roots(outputs)
    chosen = None
    if inputs is not None:
        chosen = as_sequence(inputs)
        if not chosen:
            raise AutogradError("`inputs` argument to `backward()` cannot be empty.")
    sweep = Pass(start(outputs, given, create_graph), leaves=None if chosen is None else {id(t) for t in chosen}, recorded=create_graph, own=own)
    sweep.run(create_graph if retain_graph is None else bool(retain_graph))
    record = note(sweep, "backward")
    for leaf, g in sweep.contributions:
        entry = None if record is None else state.tracer.accumulated(record, leaf, g)  # type: ignore[union-attr]
        store(leaf, g, create_graph)
        if record is not None and entry is not None:
            state.tracer.stored(record, entry)  # type: ignore[union-attr]


def note(sweep: Pass, kind: str) -> PassRecord | None:
    """Tell the tracer of a pass that the program made."""
    if state.tracer is None or sweep.own:
        return None
    record = PassRecord(kind, list(sweep.roots), sweep.hooked)
    state.tracer.passes.append(record)
    return record


def store(leaf: Tensor, g: Any, create_graph: bool) -> None:
    """Accumulate one pass's gradient into `.grad`."""
    if create_graph:
        total = g if leaf._grad is None else leaf._grad + g
        leaf._grad = total
    elif leaf._grad is None:
        leaf._grad = Tensor(np.array(g, dtype=None if g.dtype.kind == "O" else leaf.dtype, subok=True))
    else:
        held = leaf._grad
        held.array[...] += g
        held.version.count += 1


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
    *,
    own: bool = False,
) -> tuple[Tensor | None, ...]:
    """d(outputs)/d(inputs) weighted by `grad_outputs`: one tensor an input, of its shape; `.grad` stays as it is.

    Raises RuntimeError for an input that does not ask for a gradient, or that was not used (unless allowed).
    """
    roots, wanted = as_sequence(outputs), as_sequence(inputs)
    given = [None] * len(roots) if grad_outputs is None else list(as_sequence(grad_outputs))
    if len(given) != len(roots):
        raise AutogradError(f"got {len(roots)} tensors and {len(given)} gradients")
    check_roots(roots)
    edges = []
    for k, tensor in enumerate(wanted):
        tensor.refresh()
        edge = tensor.edge()
        if edge is None:
            raise AutogradError("One of the differentiated Tensors does not require grad", hint=f"input {k} was created without requires_grad=True")
        edges.append(edge)
    sweep = Pass(start(roots, given, create_graph), capture=edges, leaves=set(), recorded=create_graph, own=own)
    sweep.run(create_graph if retain_graph is None else bool(retain_graph))
    record = note(sweep, "grad")
    if record is not None:
        for tensor, (node, nr) in zip(wanted, edges):
            g = sweep.captured.get((id(node), nr))
            if g is not None:
                record.entries.append(PassEntry(tensor, snapshot(getattr(g, "value", g)), None, []))
    return tuple(
        answer(sweep.captured.get((id(node), nr)), tensor, allow_unused, materialize_grads) for tensor, (node, nr) in zip(wanted, edges)
    )


def answer(g: Any, tensor: Tensor, allow_unused: bool | None, materialize: bool) -> Tensor | None:
    """What `grad` gives for one input."""
    if g is not None:
        return g if isinstance(g, Tensor) else Tensor(np.array(g, subok=True)[()])
    if materialize:
        return Tensor(np.zeros(tensor.shape, tensor.dtype))
    if allow_unused:
        return None
    raise AutogradError(
        "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior."
    )


def as_sequence(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


__all__ = ["Pass", "backward", "grad", "state"]
