"""Stubs: a small node that names another one, in place of an edge across the whole picture."""

from __future__ import annotations

from dataclasses import replace

from gradcli.graph.letters import cut
from gradcli.graph.model import Graph, GraphEdge, GraphNode
from gradcli.graph.ranks import ranks

LONGEST = 4
"""An edge may span so many ranks."""

USES = 3
"""A leaf may have so many edges."""


class Stubs:
    """Makes stubs, one for each pair of nodes."""

    def __init__(self, graph: Graph) -> None:
        self.known = graph.by_id()
        self.made: dict[tuple[str, str], GraphNode] = {}

    @property
    def nodes(self) -> list[GraphNode]:
        return list(self.made.values())

    def cut(self, edge: GraphEdge) -> GraphEdge:
        """The edge from a stub instead."""
        key = edge.source, edge.target
        if key not in self.made:
            origin = self.known[edge.source]
            name = origin.name or cut(origin.title or origin.id, 20)
            stub = GraphNode(f"{edge.source}_r{edge.target.removeprefix('n')}", "stub", name, line=origin.line, shape=origin.shape, count=0)
            stub.text = edge.source
            stub.detail = f"from {origin.title or origin.id}" + (f", line {origin.line}" if origin.line else "")
            self.made[key] = stub
        return replace(edge, source=self.made[key].id)


def cut_long_edges(graph: Graph) -> Graph:
    """Stubs for edges over more than LONGEST ranks, and for all but the first use of a leaf with more than USES."""
    rank = ranks(graph)
    consumers = graph.consumers()
    stubs = Stubs(graph)
    kept_use = {
        node.id: min(consumers[node.id], key=lambda e: rank[e.target]).target
        for node in graph.nodes
        if node.kind in ("leaf", "accumulate") and len({e.target for e in consumers[node.id]}) > USES
    }
    edges = []
    for edge in graph.edges:
        shared = edge.source in kept_use and kept_use[edge.source] != edge.target
        far = rank[edge.target] - rank[edge.source] > LONGEST
        edges.append(stubs.cut(edge) if (shared or far) and edge.kind != "saved" else edge)
    return replace(graph, nodes=[*graph.nodes, *stubs.nodes], edges=edges) if stubs.made else graph
