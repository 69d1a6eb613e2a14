"""Ranks: how far down a node lies. Computed along the order of execution, so that nothing is recursive."""

from __future__ import annotations

from gradcli.graph.model import Graph


def ranks(graph: Graph) -> dict[str, int]:
    """The longest path from a source; then everything is pulled down to just above its first use."""
    order = ordered(graph)
    operands, consumers = graph.operands(), graph.consumers()
    rank: dict[str, int] = {}
    for node in order:
        rank[node] = max((rank[e.source] + 1 for e in operands[node] if e.source != node), default=0)
    for node in reversed(order):
        if consumers[node]:
            rank[node] = max(min(rank[e.target] for e in consumers[node]) - 1, 0)
    return rank


def ordered(graph: Graph) -> list[str]:
    """Operands before consumers."""
    waiting = {node: len(edges) for node, edges in graph.operands().items()}
    consumers = graph.consumers()
    order = [node.id for node in graph.nodes if not waiting[node.id]]
    for node in order:
        for edge in consumers[node]:
            waiting[edge.target] -= 1
            if not waiting[edge.target]:
                order.append(edge.target)
    return order
