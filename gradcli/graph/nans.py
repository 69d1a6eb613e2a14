"""Where NaN and infinity begin: the first node that makes one from finite operands, and those that pass it on."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.graph import numbertext
from gradcli.graph.model import Graph, GraphNode


def finite(value: Any) -> bool:
    """Is every number finite? What is unknown counts as finite."""
    array = np.asarray(value)
    return value is None or array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def mark_nans(graph: Graph) -> None:
    """Give a status to the nodes of the forward and of the backward pass, where something not finite came out at the end."""
    known = graph.by_id()
    results = [known[r.node] for r in graph.outputs] or graph.nodes[-1:]
    if all(finite(node.value) for node in results) and all(finite(n.grad) for n in graph.nodes if n.kind == "leaf"):
        return
    operands = graph.operands()
    for node in graph.nodes:
        if node.kind in ("leaf", "constant") or finite(node.value):
            continue
        before = [known[edge.source] for edge in operands[node.id]]
        if all(finite(other.value) for other in before):
            node.status, node.detail = "nan-source", f"in the forward pass: {origin(node, before)}"
        else:
            node.status, node.detail = "nan-passed", ""
    mark_backward(graph, known)


def mark_backward(graph: Graph, known: dict[str, GraphNode]) -> None:
    """A node that received a finite gradient and handed on one that is not."""
    for node in reversed(graph.nodes):
        if node.status is not None or not node.grad_known:
            continue
        if finite(node.grad) and not all(finite(part) for part in node.handed):
            bad = next(part for part in node.handed if not finite(part))
            node.status = "nan-source"
            node.detail = f"in the backward pass: gradient {spot(bad)} from {numbertext.number(first(node.grad, bad))}"
        elif not finite(node.grad):
            node.status, node.detail = "nan-passed", "gradient"


def first(grad: Any, bad: Any) -> Any:
    """The incoming gradient where the outgoing one is not finite, or any of it."""
    grad, bad = np.asarray(grad), np.asarray(bad)
    return grad[tuple(np.argwhere(~np.isfinite(bad))[0])] if grad.shape == bad.shape else grad.ravel()[0]


def spot(value: Any) -> str:
    """`nan at [0, 1]`: the first number that is not finite."""
    array = np.asarray(value)
    where = np.argwhere(~np.isfinite(array))[0]
    place = numbertext.index(where)
    return f"{numbertext.number(array[tuple(where)])}{f' at {place}' if place else ''}"


def origin(node: GraphNode, before: list[GraphNode]) -> str:
    """`sqrt of -1 at [0]`: the operation and what it was given there."""
    name = node.verb
    where = tuple(np.argwhere(~np.isfinite(np.asarray(node.value)))[0])
    given = [np.asarray(other.value)[where] for other in before if np.shape(other.value) == np.shape(node.value)]
    if len(given) != len(before) or not given:
        return f"{name} gave {spot(node.value)}"
    place = numbertext.index(where)
    return f"{name} of {', '.join(numbertext.number(x) for x in given)}{f' at {place}' if place else ''} gave {spot(node.value).split()[0]}"
