"""The derivative of an operation as one node, as PyTorch has it for some: what a recorded pass makes of the rule stays inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.node import AccumulateGrad, Node, OperationNode, Parts, Sweep, fit, times
from gradcli.engine.tensor import Tensor
from gradcli.ops.operation import Operation
from gradcli.ops.straight import InGraph


class Entry(AccumulateGrad):
    """Where the inside of a derivative begins. What is kept there is the tensor outside; a later pass goes on to its history."""

    __slots__ = ()

    def __init__(self, variable: Tensor) -> None:
        super().__init__(variable)
        self.edges = (variable.edge(),)

    def backward(self, grads: list[Any], sweep: Sweep) -> Parts:
        return grads


class Derivative(Node):
    """A derivative as one step: `results` are those of the inside, which goes back to `entries`, one for each edge."""

    __slots__ = ("entries", "op", "results")

    def __init__(self, op: Operation, inputs: Sequence[Tensor], entries: Sequence[Tensor], results: Sequence[Tensor]) -> None:
        super().__init__(tuple(t.edge() for t in inputs), tuple((r.shape, r.dtype) for r in results))
        self.op = op
        self.entries = entries
        self.results = results

    @property
    def name(self) -> str:
        return self.op.derivative

    def inside(self) -> list[Node]:
        """The nodes between the results and the entries."""
        found = list(dict.fromkeys(r.node for r in self.results if r.node is not None))
        for node in found:
            found += [edge[0] for edge in node.edges if edge is not None and type(edge[0]) is not Entry and edge[0] not in found]
        return found

    @property
    def holds(self) -> bool:
        """What the inside keeps is not dropped with it: a graph of higher order leads through the inside too."""
        return len(self.entries) > 1

    def backward(self, grads: list[Any], sweep: Sweep) -> Parts:
        if all(g is None for g in grads):
            return self.undefined()
        roots = [(result, g) for result, g in zip(self.results, grads, strict=True) if g is not None and result.node is not None]
        asked = [(entry.edge(), edge) for entry, edge in zip(self.entries, self.edges, strict=True) if edge is not None]
        captured = sweep.within(roots, [inner for inner, _ in asked if inner is not None])
        parts = (captured.get(inner) if inner is not None else None for inner, _ in asked)
        return [part if part is not None or self.op.joint else sweep.zero(edge) for part, (_, edge) in zip(parts, asked, strict=True)]


def derived(node: OperationNode, g: Tensor, kept: tuple[Any, ...], sweep: Sweep) -> Parts:
    """The gradients that the rules of an operation give, each as the result of one node; all of one node where the operation is `joint`."""
    op, steps = node.op, node.plan.steps
    parts: list[Any] = []
    for group in [steps] if op.joint else [(step,) for step in steps]:
        inputs = Inputs(g)
        if op.joint:
            kept = tuple(map(inputs.enter, kept))
        found = []
        for _, rule, positions, local in group:
            given = [kept[p] if op.joint else inputs.enter(kept[p]) for p in positions]
            part = rule(op, *given) if local else rule(op, inputs.g, *given)
            found.append(times(inputs.g, part) if local else part)
        parts += inputs.leave(op, found)
    zeros = (sweep.zero(node.edges[index]) if part is None else part for (index, *_), part in zip(steps, parts, strict=True))
    return [part if node.fits is None else fit(part, *node.fits[index]) for (index, *_), part in zip(steps, zeros, strict=True)]


def bound(parts: Parts, kept: tuple[Any, ...]) -> Parts:
    """Gradients that are constant, in the graph of what the operation kept: PyTorch's derivative of them is 0, not an error."""
    asking = next((v for v in kept if isinstance(v, Tensor) and v.wants and v.is_floating), None)
    if asking is None:
        return parts
    return [InGraph()(part, asking) if isinstance(part, Tensor) and not part.wants else part for part in parts]


class Inputs:
    """The gradient and the kept values that go into a derivative, and what stands for them inside where they have a history."""

    def __init__(self, g: Tensor) -> None:
        self.outer: list[Tensor] = []
        self.entries: list[Tensor] = []
        self.g = self.enter(g)

    def enter(self, value: Any) -> Any:
        if not isinstance(value, Tensor) or value.value is None or not value.is_floating:
            return value
        entry = Tensor(value.value, value.wants)
        if value.wants:
            entry.node = Entry(value)
            entry.counter = value.version
        self.outer.append(value)
        self.entries.append(entry)
        return entry

    def leave(self, op: Operation, found: Sequence[Any]) -> list[Any]:
        """The results of the inside as those of one node: a constant too, where an input asks for its gradient, which is zero."""
        inner = [part if isinstance(part, Tensor) or part is None else Tensor(part) for part in found]
        made = [part for part in inner if part is not None]
        if not made or not any(value.wants for value in self.outer):
            return inner
        node = Derivative(op, self.outer, self.entries, made)
        out: list[Any] = []
        for part in inner:
            result = None if part is None else Tensor(part.value, True)
            if result is not None:
                result.node, result.output_nr = node, sum(done is not None for done in out)
            out.append(result)
        return out
