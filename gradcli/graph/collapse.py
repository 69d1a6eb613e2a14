"""Loops made short: the first round, how many more, the last; and every round where something is to be seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace

from gradcli.graph.model import Graph, GraphEdge, GraphNode, worst

Loop = tuple[tuple[tuple[int, int], ...], int]
"""The rounds around it, and its line."""

Group = tuple[Loop, int]
"""A loop, and after how many of its shown rounds a stretch of hidden ones comes."""

QUIET = (None, "pass")


def collapse_loops(graph: Graph) -> Graph:
    """Hide the rounds between the first and the last of each loop."""
    shown = shown_rounds(graph)
    hidden: dict[str, Group] = {}
    for node in graph.nodes:
        group = hidden_in(node, shown)
        if group is not None:
            hidden[node.id] = group
    if not hidden:
        return graph
    members: dict[Group, list[GraphNode]] = defaultdict(list)
    for node in graph.nodes:
        if node.id in hidden:
            members[hidden[node.id]].append(node)
    operands = graph.operands()
    stands = {group: more_node(group, nodes, operands) for group, nodes in members.items()}
    return contract(graph, {node: stands[group] for node, group in hidden.items()})


def shown_rounds(graph: Graph) -> dict[Loop, list[int]]:
    """Of each loop: its first and its last round, those with a status that says something, and any that would be hidden alone."""
    rounds: dict[Loop, dict[int, bool]] = defaultdict(dict)
    for node in graph.nodes:
        for depth, (line, number) in enumerate(node.loop):
            loop = node.loop[:depth], line
            rounds[loop][number] = rounds[loop].get(number, False) or node.status not in QUIET or node.output
    shown = {}
    for loop, numbers in rounds.items():
        order = sorted(numbers)
        kept = {order[0], order[-1]} | {number for number in order if numbers[number]}
        for before, number, after in zip(order, order[1:], order[2:]):
            if before in kept and after in kept:
                kept.add(number)
        shown[loop] = sorted(kept)
    return shown


def hidden_in(node: GraphNode, shown: dict[Loop, list[int]]) -> Group | None:
    """The group of hidden rounds that a node belongs to, of the outermost loop that hides it."""
    for depth, (line, number) in enumerate(node.loop):
        loop = node.loop[:depth], line
        if number not in shown[loop]:
            return loop, sum(1 for kept in shown[loop] if kept < number)
    return None


def more_node(group: Group, nodes: list[GraphNode], operands: dict[str, list[GraphEdge]]) -> GraphNode:
    """The node that stands for hidden rounds, with an honest count."""
    (around, line), _ = group
    depth = len(around)
    rounds: dict[int, list[GraphNode]] = defaultdict(list)
    for node in nodes:
        rounds[node.loop[depth][1]].append(node)
    alike = len({signature(part, operands) for part in rounds.values()}) == 1
    count = len(rounds)
    made = GraphNode(f"{nodes[0].id}_more", "more", f"… {count} more of line {line}", line=line, loop=around, count=len(nodes))
    made.text = f"x{count} same ops, {counted(len(nodes) // count)} each" if alike else f"{count} more, not alike: {counted(len(nodes))}"
    made.status = worst([node.status for node in nodes])
    made.grad_known = False
    return made


def counted(nodes: int) -> str:
    return f"{nodes} node{'' if nodes == 1 else 's'}"


def signature(nodes: list[GraphNode], operands: dict[str, list[GraphEdge]]) -> tuple[object, ...]:
    """What makes two rounds the same: operations, shapes, source, and the leaves that they use."""
    own = {node.id: k for k, node in enumerate(nodes)}
    leaves = {e.source for node in nodes for e in operands[node.id] if e.source not in own}
    return tuple(
        (n.op, n.shape, n.text, n.line, tuple(own.get(e.source, -1) for e in operands[n.id])) for n in nodes
    ), frozenset(leaf for leaf in leaves if len(operands.get(leaf, ())) == 0)  # fmt: skip


def contract(graph: Graph, stands: dict[str, GraphNode]) -> Graph:
    """Put one node in place of several. Parallel edges between nodes that stand for others become one."""
    nodes: dict[str, GraphNode] = {}
    for node in graph.nodes:
        made = stands.get(node.id, node)
        nodes.setdefault(made.id, made)
    edges = list(merged(graph.edges, lambda node: stands[node].id if node in stands else node, set(stands)))
    outputs = [replace(r, node=stands[r.node].id) if r.node in stands else r for r in graph.outputs]
    outputs = [replace(r, base=stands[r.base].id) if r.base in stands else r for r in outputs]
    return replace(graph, nodes=list(nodes.values()), edges=edges, outputs=outputs)


def merged(edges: Iterable[GraphEdge], home: Callable[[str], str], replaced: set[str]) -> Iterable[GraphEdge]:
    seen: set[tuple[str, str, str]] = set()
    for edge in edges:
        if edge.source not in replaced and edge.target not in replaced:
            yield edge
            continue
        source, target = home(edge.source), home(edge.target)
        key = source, target, edge.kind
        if source != target and key not in seen:
            seen.add(key)
            yield GraphEdge(source, target, None, edge.kind, edge.directed)
