"""The graph of a finished run, with the gradients of gradcli's own pass; of a failed one as far as it came."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gradcli.engine.edges import behind
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import Tracer
from gradcli.errors import ProgramError
from gradcli.graph import observe
from gradcli.graph.build import Builder
from gradcli.graph.model import Graph, GraphEdge, GraphNode
from gradcli.graph.nans import mark_nans
from gradcli.interpreter import Run
from gradcli.syntax.source import Source


@dataclass(frozen=True)
class Drawn:
    """A graph with what it was built from."""

    graph: Graph
    builder: Builder
    tracer: Tracer | None


def of_run(run: Run, name: str, output: Tensor, grad_outputs: Tensor | None = None) -> Drawn:
    """The graph behind one output. A note says so where no gradients can be had."""
    notes: list[str] = []
    steps: list[observe.Step] | None = None
    if output.requires_grad:
        if grad_outputs is None and output.size_ != 1:
            notes.append(f"gradients are those of {name}.sum(): --grad-outputs gives other weights")
        try:
            steps = observe.watch([output], [grad_outputs])
        except Exception as error:
            notes.append(f"no gradients: {type(error).__name__}: {error}")
    builder = builder_of(run, [(name, output)])
    graph = builder.graph(steps)
    graph.notes += notes
    mark_nans(graph)
    return Drawn(graph, builder, run.tracer)


def builder_of(run: Run, outputs: list[tuple[str, Tensor]]) -> Builder:
    return Builder(outputs, run.scope, run.tree.source, run.tracer)


def of_failure(run: Run) -> Graph:
    """The graph of what was computed before the program failed, and one node for the failure."""
    assert run.error is not None
    ends = open_ends(run.scope)
    graph = builder_of(run, ends).graph(None)
    for result in graph.outputs:
        graph.by_id()[result.node].output = False
    graph = replace(graph, outputs=[])
    mark_nans(graph)
    add_error(graph, run.error, run.tree.source, run.scope)
    graph.notes.append(f"the program failed{f' on line {run.error.span.line}' if run.error.span else ''}: the graph ends there")
    return graph


def open_ends(scope: Mapping[str, Any]) -> list[tuple[str, Tensor]]:
    """The tensors of a scope that nothing else was computed from."""
    tensors = [(name, value) for name, value in scope.items() if isinstance(value, Tensor) and value.requires_grad]
    used = {edge[0] for node in behind([value for _, value in tensors]) for edge in node.edges if edge is not None}
    ends: dict[object, tuple[str, Tensor]] = {}
    for name, value in tensors:
        edge = value.edge()
        if edge is not None and edge[0] not in used:
            ends.setdefault(edge[0], (name, value))
    return list(ends.values())


def add_error(graph: Graph, error: ProgramError, source: Source, scope: Mapping[str, Any]) -> None:
    """A node for the failure, behind the nodes of the variables that the failing line names."""
    line = error.span.line if error.span is not None else None
    text = source.line(line).strip() if line is not None else ""
    node = GraphNode(f"n{len(graph.nodes)}", "error", text or error.message, line=line, count=0, status="error")
    node.detail = f"{f'line {line}: ' if line else ''}{error.type}: {error.message}"
    named = {node.name: node.id for node in graph.nodes if node.name}
    graph.nodes.append(node)
    for name in names_in(text):
        if name in named and isinstance(scope.get(name), Tensor):
            graph.edges.append(GraphEdge(named[name], node.id))


def names_in(text: str) -> list[str]:
    """The variables that a line of source names; none where it is only part of a statement."""
    try:
        tree = ast.parse(text.removesuffix(":"))
    except SyntaxError:
        return []
    return list(dict.fromkeys(n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)))
