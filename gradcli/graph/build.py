"""A program's run -> its graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.edges import behind
from gradcli.engine.function import FunctionNode
from gradcli.engine.inplace import CopySlices
from gradcli.engine.node import AccumulateGrad, Edge, Node, OperationNode
from gradcli.engine.places import names_of
from gradcli.engine.saved import argument_names
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import Tracer
from gradcli.graph import observe
from gradcli.graph.loops import Loops
from gradcli.graph.model import Graph, GraphEdge, GraphNode, Result, Saved
from gradcli.graph.naming import Naming
from gradcli.graph.numbertext import summary
from gradcli.graph.recorded import Recorded
from gradcli.syntax.source import Source


def build(
    outputs: Sequence[tuple[str, Tensor]],
    scope: Mapping[str, Any],
    source: Source | None = None,
    *,
    tracer: Tracer | None = None,
    steps: list[observe.Step] | None = None,
) -> Graph:
    """The graph behind the outputs. `steps` of a watched pass give every node its gradient."""
    return Builder(outputs, scope, source, tracer).graph(steps)


class Builder:
    """What is known of a run while its graph is built."""

    def __init__(
        self, outputs: Sequence[tuple[str, Tensor]], scope: Mapping[str, Any], source: Source | None, tracer: Tracer | None
    ) -> None:
        self.outputs = outputs
        self.source = source
        self.naming = Naming(source)
        self.loops = Loops(tracer.rounds if tracer is not None else ())
        self.path = source.path if source is not None else ""
        tensors = [tensor for _, tensor in outputs]
        self.nodes = behind(tensors)
        self.ids = {node: f"n{k}" for k, node in enumerate(self.nodes)}
        self.recorded = Recorded(self.nodes, [*tensors, *(v for v in scope.values() if isinstance(v, Tensor))], tracer)
        self.labels = tracer.labels if tracer is not None else {}
        self.leaf_names = names_of(scope)
        self.made = self._made([*scope.items(), *outputs])

    def _made(self, items: Sequence[tuple[str, Any]]) -> dict[Node, str]:
        """The name under which a node's result was left."""
        made: dict[Node, str] = {}
        for name, value in items:
            if isinstance(value, Tensor) and value.grad_fn is not None and value.output_nr == 0:
                made.setdefault(value.grad_fn, name)
        return made

    def graph(self, steps: list[observe.Step] | None) -> Graph:
        nodes = [self._node(node) for node in self.nodes]
        by_id = {node.id: node for node in nodes}
        edges = [
            GraphEdge(self.ids[edge[0]], self.ids[node], k)
            for node in self.nodes
            for k, edge in enumerate(node.edges)
            if edge is not None
        ]  # fmt: skip
        results = [self._result(name, tensor, by_id, nodes) for name, tensor in self.outputs]
        self._titles(nodes)
        if steps is not None:
            self._gradients(by_id, steps)
        lines = self.source.lines if self.source is not None else []
        return Graph(nodes, edges, self.path, results, lines=lines)

    def _result(self, name: str, tensor: Tensor, by_id: dict[str, GraphNode], nodes: list[GraphNode]) -> Result:
        """Mark the node that made an output; one that asks for no gradient has none, and gets one."""
        edge = tensor.edge()
        if edge is not None:
            node = by_id[self.ids[edge[0]]]
            node.name = node.name or name
        else:
            node = GraphNode(f"n{len(nodes)}", "constant", name=name, requires_grad=False, value=tensor.value)
            node.shape, node.dtype = tensor.shape, tensor.dtype.name
            nodes.append(node)
            by_id[node.id] = node
        node.output = True
        base = tensor.shares.base if tensor.shares is not None and edge is not None else None
        origin = base.edge() if base is not None else None
        if base is None or origin is None:
            return Result(name, node.id, tensor.shape)
        return Result(name, node.id, tensor.shape, self.ids.get(origin[0]) if base.grad_fn is not None else None, base.shape)

    def _node(self, node: Node) -> GraphNode:
        if isinstance(node, AccumulateGrad):
            return self._leaf(node)
        span = node.span
        shape, dtype = node.shapes[0]
        made = GraphNode(
            self.ids[node], "custom" if isinstance(node, FunctionNode) else "op", op=node.name, shape=shape, dtype=dtype.name,
            name=self.naming.name(span) or self.made.get(node), text=self.naming.text(span), loop=self.loops.at(node.sequence),
            value=self.recorded.value(node), saved=self._saved(node),
        )  # fmt: skip
        made.verb = node.op.name if isinstance(node, OperationNode) else plain_name(node.name)
        if span is not None:
            made.line, made.column = span.line, span.column
        if isinstance(node, CopySlices) or self.recorded.is_written(node):
            inner = node.inner if isinstance(node, CopySlices) else node
            made.written = f"{inner.op.name}_" if isinstance(inner, OperationNode) else "written"
            made.version = self.recorded.version(node)
        hooks = node.watch.tensors.values() if node.watch is not None else ()
        made.hooks = [f"hook {k + 1}" for k in range(sum(map(len, hooks)))]
        return made

    def _leaf(self, node: AccumulateGrad) -> GraphNode:
        leaf = node.variable
        name, line = self._called(leaf)
        span = self.naming.binding(name, line)
        made = GraphNode(
            self.ids[node], "leaf", name=name, text=self.naming.text(span), shape=leaf.shape, dtype=leaf.dtype.name,
            value=self.recorded.leaf(leaf), version=leaf.version.count,
        )  # fmt: skip
        place = span or node.span
        if place is not None:
            made.line, made.column = place.line, place.column
        made.hooks = [f"hook {k + 1}" for k in range(len(leaf.hooks or ()))]
        return made

    def _called(self, leaf: Tensor) -> tuple[str | None, int | None]:
        """The name that a leaf was first bound to, and on which line; the run's own note survives `del` and rebinding."""
        label = self.labels.get(id(leaf))
        return (label[0], label[1]) if label is not None else (self.leaf_names.get(id(leaf)), None)

    def _titles(self, nodes: list[GraphNode]) -> None:
        """Titles: `y = sin(x)`. Where one expression made several nodes, the last of them is its result."""
        result: dict[tuple[Any, ...], str] = {}
        for node in nodes:
            if node.kind in ("op", "custom"):
                result[node.line, node.column, node.text, node.loop] = node.id
        spans = {(span.line, span.column) for span in self.naming.passes}
        for node in nodes:
            if node.kind in ("leaf", "constant"):
                node.title = node.name or "leaf without a name"
                continue
            last = result[node.line, node.column, node.text, node.loop] == node.id
            if (node.line, node.column) in spans and node.kind == "op":
                node.name = self.made.get(self.nodes[int(node.id[1:])])
                node.title = (f"{node.name} = " if node.name else "") + f"{node.verb} of a backward pass"
            elif not node.text:
                node.title = node.name or node.verb
            elif not last:
                node.title, node.name = f"{node.verb} in {node.text}", None
            else:
                node.title = titled(node)

    def _saved(self, node: Node) -> list[Saved]:
        """What a node keeps, by PyTorch's names."""
        inner = node.inner if isinstance(node, CopySlices) else node
        if isinstance(inner, FunctionNode):
            return self._saved_by_function(inner)
        if not isinstance(inner, OperationNode) or not isinstance(inner.saved, tuple) or not inner.saved:
            return []
        arguments = argument_names(inner.op)
        names = [arguments[slot] if slot < len(arguments) else f"tensors[{slot}]" for slot in inner.plan.kept]
        homes = [inner.edges[slot] for slot in inner.plan.kept]
        values = inner.guarded()
        names += ["result"] * (len(values) - len(names))
        kept = []
        for k, (name, value) in enumerate(zip(names, values)):
            home = self.ids[node] if k >= len(homes) else self._home(homes[k])
            kept.append(Saved(name, value, home, inner.guards[2 * k + 1], inner.guards[2 * k].count))
        return kept

    def _saved_by_function(self, node: FunctionNode) -> list[Saved]:
        kept = []
        for k, item in enumerate(node.saved if isinstance(node.saved, tuple) else ()):
            if item is not None:
                home = self.ids[node] if item.tensor is None else self._home(item.tensor.edge())
                kept.append(Saved(f"saved_tensors[{k}]", item.value, home))
        return kept

    def _home(self, edge: Edge | None) -> str | None:
        return None if edge is None else self.ids.get(edge[0])

    def _gradients(self, by_id: dict[str, GraphNode], steps: list[observe.Step]) -> None:
        for node in by_id.values():
            node.grad_known = True
        for step in steps:
            if step.node not in self.ids:
                continue
            node = by_id[self.ids[step.node]]
            node.grad = step.incoming[0]
            node.handed = [part for _, part in step.outgoing]
            if step.hooked and node.hooks:
                called = "hook" if len(node.hooks) == 1 else f"{len(node.hooks)} hooks"
                node.hooks = [f"{called}: {summary(step.arrived[0])} -> {summary(step.incoming[0])}"]


def titled(node: GraphNode) -> str:
    """`y = x + 2`; in a loop `h[3] = tanh(d)`; a statement that writes in place is its own title."""
    if node.name is None or node.text == node.name:
        return node.text
    if node.text.startswith(node.name) and node.text[len(node.name) :].lstrip()[:1] in set("+-*/@%&|^=[") and "=" in node.text:
        return node.text
    rounds = "".join(f"[{number}]" for _, number in node.loop)
    return f"{node.name}{rounds} = {node.text}"


def plain_name(op: str) -> str:
    """The operation of a node's name: `MyExpBackward` -> MyExp."""
    return op.partition("Backward")[0] or op
