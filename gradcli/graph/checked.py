"""The result of a check laid over the graph of its run: a status for every node, and the guilty one marked."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.check.result import FileResult, InputResult, TargetResult
from gradcli.graph import numbertext
from gradcli.graph.model import Graph, GraphNode
from gradcli.graph.ofrun import Drawn

MOST = 5000
"""Nodes that are checked one by one; in larger graphs only what the check itself found is marked."""


def main_target(result: FileResult) -> TargetResult | None:
    """The target to draw: the first that fails, else the first of the worst status, else the last."""
    failing = next((t for t in result.targets if t.failing), None)
    return failing or next((t for t in result.targets if t.status != "pass"), result.targets[-1] if result.targets else None)


def merge(drawn: Drawn, result: FileResult, target: TargetResult | None) -> Graph:
    """Mark the graph of a run with what a check of the same file found."""
    graph = drawn.graph
    if len(graph.nodes) <= MOST:
        from gradcli.graph.local import judge

        judge(drawn.builder, graph.nodes, drawn.tracer)
    else:
        graph.notes.append(f"more than {MOST} nodes: only what the check found is marked")
    mark_functions(graph, result)
    if target is not None:
        mark_blame(graph, target)
        mark_leaves(graph, target)
    others = len(result.targets) - 1
    if target is not None and others > 0:
        where = f" (line {target.line})" if target.line else ""
        graph.notes.append(f"the graph of {target.output}{where}: {others} more checked in this file")
    return graph


def mark_functions(graph: Graph, result: FileResult) -> None:
    """A user Function that was checked alone."""
    for found in result.functions:
        for node in graph.nodes:
            if node.kind == "custom" and node.op == f"{found.name}Backward":
                if found.status == "fail" and node.status != "fail":
                    node.status, node.detail = "fail", found.why or ""
                elif found.status == "fail":
                    node.detail = found.why or node.detail
                elif found.status == "pass" and (found.why or node.status == "fail"):
                    node.status, node.detail = "pass", found.why or "checked alone"


def mark_blame(graph: Graph, target: TargetResult) -> None:
    """The guilty node."""
    blame = target.blame
    if blame is None or blame.function is None:
        return
    custom = [n for n in graph.nodes if n.op == f"{blame.function}Backward"]
    guilty = custom or [n for n in graph.nodes if n.op == blame.function and n.line == blame.line]
    for node in guilty:
        node.status, node.detail = "fail", blame.why


def mark_leaves(graph: Graph, target: TargetResult) -> None:
    """Leaves carry the result from end to end."""
    found = {item.name: item for item in target.inputs}
    for node in graph.nodes:
        item = found.get(node.name or "")
        if item is not None and (node.kind == "leaf" or node.status is None):
            node.status, node.detail = leaf_status(item)
            mark_numbers(node, item)


def leaf_status(item: InputResult) -> tuple[str, str]:
    """The status of a leaf in the words of the graph."""
    failing = bool(np.asarray(item.failing).any())
    if item.status == "pass":
        return "pass", f"max rel err {item.max_rel_error:.1e}" if item.max_rel_error else "exact"
    place, numbers = worst_element(item)
    where = f"at {place}: " if place else ""
    if item.status == "nan":
        return ("fail" if failing else "nan-passed"), f"{where}{numbers}"
    if item.status == "fail":
        return "fail", f"rel err {numbertext.number(float(f'{item.max_rel_error:.2g}'))} {where}{numbers}"
    return item.status, f"{where}{numbers}"


def worst_element(item: InputResult) -> tuple[str, str]:
    """The first element of the leaf's status, and its numbers."""
    verdicts = np.asarray(item.verdicts)
    where = np.argwhere(verdicts == item.status)
    place = tuple(where[0]) if where.size else (0,) * verdicts.ndim
    parts = [f"{name} {numbertext.number(np.asarray(array)[place])}" for name, array in references(item) if array is not None]
    return numbertext.index(place), ", ".join(parts)


def references(item: InputResult) -> list[tuple[str, Any]]:
    judged = ("autograd", item.autograd) if item.claimed is None else ("claimed", item.claimed)
    return [judged, ("sympy", item.symbolic), ("numeric", item.finite_difference)]


def mark_numbers(node: GraphNode, item: InputResult) -> None:
    node.checks.update({name: array for name, array in references(item) if array is not None})
    node.checks["rel_err"] = item.max_rel_error
