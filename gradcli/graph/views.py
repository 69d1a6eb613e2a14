"""The views of one graph: operations as the reader wrote them, or PyTorch's nodes as torchviz shows them."""

from __future__ import annotations

from dataclasses import replace

from gradcli.graph.model import Graph, GraphEdge, GraphNode, Result
from gradcli.graph.options import Options


def view(graph: Graph, options: Options) -> Graph:
    """The nodes of a view: `backward` has the accumulator behind each leaf and the output tensors as nodes of their own."""
    seen = backward(graph) if options.view == "backward" else replace(graph, nodes=list(graph.nodes), edges=list(graph.edges))
    if options.saved == "nodes":
        add_saved(seen)
    return seen


def backward(graph: Graph) -> Graph:
    nodes: list[GraphNode] = []
    source_of: dict[str, str] = {}
    edges: list[GraphEdge] = []
    for node in graph.nodes:
        if node.kind == "constant":
            continue
        nodes.append(replace(node, output=False))
        if node.kind == "leaf":
            gate = GraphNode(
                f"{node.id}_a", "accumulate", "AccumulateGrad", name=node.name, op="AccumulateGrad", line=node.line,
                shape=node.shape, dtype=node.dtype, grad=node.grad, grad_known=node.grad_known, count=0,
            )  # fmt: skip
            nodes.append(gate)
            edges.append(GraphEdge(node.id, gate.id))
            source_of[node.id] = gate.id
    edges += [replace(edge, source=source_of.get(edge.source, edge.source)) for edge in graph.edges]
    known = graph.by_id()
    taken: set[str] = set()
    for result in graph.outputs:
        add_output(nodes, edges, known[result.node], result, source_of, taken)
    return replace(graph, nodes=nodes, edges=edges)


def add_output(
    nodes: list[GraphNode], edges: list[GraphEdge], made: GraphNode, result: Result, source_of: dict[str, str], taken: set[str]
) -> None:
    """The tensor of an output behind the node that made it; a leaf that is its own output stays alone."""
    if made.kind == "leaf":
        next(node for node in nodes if node.id == made.id).output = True
        return
    name = next(f"{made.id}_o{k or ''}" for k in range(len(taken) + 1) if f"{made.id}_o{k or ''}" not in taken)
    taken.add(name)
    output = GraphNode(name, "output", result.name, name=result.name, line=made.line, shape=result.shape, dtype=made.dtype, output=True)
    output.value, output.requires_grad, output.count = made.value, made.requires_grad, 0
    output.grad, output.grad_known = made.grad, made.grad_known
    nodes.append(output)
    if made.kind != "constant":
        edges.append(GraphEdge(made.id, name))
    if result.base_shape is not None:
        nodes.append(GraphNode(f"{name}_b", "base", "base", shape=result.base_shape, dtype=made.dtype, count=0))
        if result.base is not None:
            edges.append(GraphEdge(source_of.get(result.base, result.base), f"{name}_b"))
        edges.append(GraphEdge(f"{name}_b", name, kind="view"))


def add_saved(graph: Graph) -> None:
    """A note for each tensor that a node keeps, dotted to where it came from."""
    known = graph.by_id()
    notes: list[GraphNode] = []
    for node in graph.nodes:
        for k, saved in enumerate(node.saved):
            note = GraphNode(f"{node.id}_s{k}", "saved", saved.slot, name=saved.slot, line=node.line, value=saved.value, count=0)
            note.shape = getattr(saved.value, "shape", ())
            note.detail = "" if not saved.stale else f"saved at version {saved.version}, now {saved.now}"
            notes.append(note)
            graph.edges.append(GraphEdge(note.id, node.id, kind="saved", directed=False))
            if saved.node in known and saved.node != node.id:
                graph.edges.append(GraphEdge(str(saved.node), note.id, kind="view"))
    graph.nodes += notes
