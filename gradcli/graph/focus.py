"""Parts of a graph: what lies around a node, or the failing nodes with their way to the output."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gradcli.errors import UsageError
from gradcli.graph.model import Graph, GraphEdge
from gradcli.graph.stubs import Stubs
from gradcli.syntax.spelling import did_you_mean

AROUND = 2
"""Levels on either side where the reader names neither."""

ONLY = {
    "fail": frozenset({"fail", "error", "nan-source"}),
    "kink": frozenset({"kink"}),
    "nan": frozenset({"nan-source", "nan-passed"}),
}


def focused(graph: Graph, wanted: Iterable[str], up: int | None, down: int | None) -> Graph:
    """The nodes of that name or line, `up` levels of their operands and `down` levels of their consumers."""
    chosen = {node_id for want in wanted for node_id in find(graph, want)}
    if up is None and down is None:
        up = down = AROUND
    kept = spread(graph, chosen, up or 0, forward=False) | spread(graph, chosen, down or 0, forward=True)
    return part(graph, kept)


def find(graph: Graph, want: str) -> list[str]:
    """The ids of the nodes of a name, a line number or an id; UsageError when there is none."""
    found = [n.id for n in graph.nodes if want in (n.name, n.id) or (want.isdigit() and n.line == int(want))]
    if not found:
        names = list(dict.fromkeys(n.name for n in graph.nodes if n.name))
        hint = did_you_mean(want, names) or f"name a variable ({', '.join(names[:8])}) or a line with a node"
        raise UsageError(f"--focus: no node {want!r} in the graph", hint=hint, code="G102")
    return found


def spread(graph: Graph, start: set[str], levels: int, *, forward: bool) -> set[str]:
    """What is reached from some nodes in so many steps; a negative number means all the way."""
    links = graph.consumers() if forward else graph.operands()
    reached, front = set(start), set(start)
    while front and levels:
        levels -= 1
        front = {e.target if forward else e.source for node in front for e in links[node]} - reached
        reached |= front
    return reached


def ways(graph: Graph, ends: set[str]) -> Graph:
    """The nodes on the ways from the outputs to some of their operands."""
    return part(graph, spread(graph, ends, -1, forward=True))


def only(graph: Graph, word: str) -> Graph:
    """The nodes of a status, their way to the outputs and their direct operands."""
    if word not in ONLY:
        raise UsageError(f"--only: no status {word!r}", hint=f"choose from {', '.join(ONLY)}", code="G102")
    chosen = {node.id for node in graph.nodes if node.status in ONLY[word]}
    return part(graph, spread(graph, chosen, -1, forward=True) | spread(graph, chosen, 1, forward=False))


def part(graph: Graph, kept: set[str]) -> Graph:
    """Some nodes; operands that are left out stay as stubs that name them."""
    stubs = Stubs(graph)
    edges: list[GraphEdge] = []
    for edge in graph.edges:
        if edge.target not in kept:
            continue
        edges.append(edge if edge.source in kept else stubs.cut(edge))
    nodes = [node for node in graph.nodes if node.id in kept]
    outputs = [replace(r, base=r.base if r.base in kept else None) for r in graph.outputs if r.node in kept]
    return replace(graph, nodes=[*nodes, *stubs.nodes], edges=edges, outputs=outputs)
