"""One node for each source line, for graphs that no picture could hold."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from gradcli.graph import numbertext
from gradcli.graph.collapse import contract
from gradcli.graph.model import Graph, GraphEdge, GraphNode, worst
from gradcli.graph.stubs import Stubs

LEAVES = 50
"""So many leaves are drawn one by one."""


def by_line(graph: Graph) -> Graph:
    """The graph of the source lines. What a line takes from a later one, in the round before, becomes a stub."""
    apart = sum(node.kind == "leaf" for node in graph.nodes) <= LEAVES
    groups: dict[tuple[object, ...], list[GraphNode]] = defaultdict(list)
    for node in graph.nodes:
        if node.count and not (apart and node.kind == "leaf"):
            groups[node.kind == "leaf", node.line, None if node.line else node.op].append(node)
    stands = {}
    for members in groups.values():
        if len(members) > 1:
            made = line_node(members, graph)
            stands.update({node.id: made for node in members})
    return without_cycles(contract(graph, stands))


def line_node(members: list[GraphNode], graph: Graph) -> GraphNode:
    """What stands for the nodes of a line."""
    first, last = members[0], members[-1]
    line = first.line
    text = graph.lines[line - 1].strip() if line and line <= len(graph.lines) else first.op
    made = replace(
        last, id=f"{first.id}_line", kind="line", title=text, text=f"{len(members)} nodes: {kinds(members)}", line=line, op="", loop=(),
        saved=[], hooks=[], written=None, count=len(members), output=any(n.output for n in members), checks={}, handed=[],
    )  # fmt: skip
    shapes = list(dict.fromkeys(n.shape for n in members))
    made.shape = last.shape if len(shapes) == 1 else None
    made.dtype = last.dtype if len(shapes) == 1 else f"{len(shapes)} shapes, last {numbertext.shape(last.shape)}"
    made.status = worst([n.status for n in members])
    guilty = [n for n in members if n.status == made.status]
    made.detail = "" if made.status is None else f"{len(guilty)} of {len(members)}" + (f": {guilty[0].detail}" if guilty[0].detail else "")
    return made


def kinds(members: list[GraphNode]) -> str:
    """`2 MulBackward0, 1 SinBackward0`, the first three."""
    counts: dict[str, int] = {}
    for node in members:
        counts[node.op or "leaf"] = counts.get(node.op or "leaf", 0) + 1
    parts = [f"{count} {op}" for op, count in list(counts.items())[:3]]
    return ", ".join(parts) + (f" and {len(counts) - 3} more kinds" if len(counts) > 3 else "")


def without_cycles(graph: Graph) -> Graph:
    """Edges against the order of the nodes cut to stubs."""
    place = {node.id: k for k, node in enumerate(graph.nodes)}
    stubs = Stubs(graph)
    edges: list[GraphEdge] = []
    for edge in graph.edges:
        if place[edge.source] < place[edge.target]:
            edges.append(edge)
        else:
            edges.append(stubs.cut(edge))
    for stub in stubs.nodes:
        stub.detail += ", from the round before"
    return replace(graph, nodes=[*graph.nodes, *stubs.nodes], edges=edges)


def shorten(graph: Graph, most: int) -> Graph:
    """At most about so many nodes: the first and the last in order of execution, one node for those between."""
    counted = [node for node in graph.nodes if node.count]
    if len(counted) <= most:
        return graph
    keep = max(most - 1, 2)
    hidden = counted[keep // 2 : len(counted) - (keep - keep // 2)]
    hidden = [node for node in hidden if not node.output]
    if not hidden:
        return graph
    made = GraphNode(f"{hidden[0].id}_more", "more", f"… {len(hidden)} more nodes", count=sum(n.count for n in hidden))
    lines = [n.line for n in hidden if n.line]
    made.text = f"lines {min(lines)} to {max(lines)}" if lines else ""
    made.status = worst([n.status for n in hidden])
    gone = {n.id for n in hidden}
    loose = {n.id for n in graph.nodes if not n.count} & dangling(graph, gone)
    stands = dict.fromkeys(gone | loose, made)
    return without_cycles(contract(graph, stands))


def dangling(graph: Graph, gone: set[str]) -> set[str]:
    """Nodes that a view added for hidden ones alone."""
    ends: dict[str, set[str]] = defaultdict(set)
    for edge in graph.edges:
        ends[edge.source].add(edge.target)
        ends[edge.target].add(edge.source)
    return {node for node, others in ends.items() if others <= gone}
