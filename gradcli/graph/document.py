"""JSON: everything that is known of the graph, for programs."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from gradcli.graph import numbertext
from gradcli.graph.letters import printable, whole
from gradcli.graph.model import Graph, GraphEdge, GraphNode, Result, Saved
from gradcli.graph.options import Options

SCHEMA = "gradcli.graph/1"


def render(graph: Graph, options: Options) -> str:
    """One document; a node or an edge a line, so that two graphs can be compared line by line."""
    nodes = ",\n".join("  " + dumped(node_data(node, options)) for node in graph.nodes)
    edges = ",\n".join("  " + dumped(edge_data(edge)) for edge in graph.edges)
    head = {
        "schema": SCHEMA, "version": 1, "file": graph.path, "view": options.view, "total": graph.total,
        "outputs": [output_data(result) for result in graph.outputs], "notes": graph.notes,
    }  # fmt: skip
    return f'{dumped(head)[:-1]}, "nodes": [\n{nodes}\n ], "edges": [\n{edges}\n ]}}\n'


def dumped(data: Any) -> str:
    """JSON that UTF-8 can carry."""
    return whole(json.dumps(data, ensure_ascii=False, allow_nan=False))


def node_data(node: GraphNode, options: Options) -> dict[str, Any]:
    return {
        "id": node.id, "kind": node.kind, "title": node.title, "name": node.name, "op": node.op, "source": node.text,
        "line": node.line, "column": node.column, "loop": [list(turn) for turn in node.loop],
        "shape": None if node.shape is None else list(node.shape), "dtype": node.dtype, "requires_grad": node.requires_grad,
        "leaf": node.kind == "leaf", "output": node.output, "version": node.version, "written": node.written,
        "value": value_data(node.value, options), "grad": value_data(node.grad, options), "grad_known": node.grad_known,
        "handed_on": [value_data(part, options) for part in node.handed],
        "status": node.status, "detail": node.detail, "checks": {name: value_data(value, options) for name, value in node.checks.items()},
        "saved": [saved_data(item) for item in node.saved], "hooks": [printable(hook) for hook in node.hooks], "count": node.count,
    }  # fmt: skip


def edge_data(edge: GraphEdge) -> dict[str, Any]:
    return {"from": edge.source, "to": edge.target, "arg": edge.arg, "kind": edge.kind}


def output_data(result: Result) -> dict[str, Any]:
    return {"name": result.name, "node": result.node, "shape": list(result.shape)}


def saved_data(saved: Saved) -> dict[str, Any]:
    return {"slot": saved.slot, "node": saved.node, "version": saved.version, "now": saved.now}


def value_data(value: Any, options: Options) -> Any:
    """Small values and, with `--values full`, all of them as nested lists; of others the range, in words."""
    if value is None or options.values == "none":
        return None
    array = np.asarray(value)
    if options.values == "full" or array.size <= numbertext.MOST:
        return plain(array)
    return {"summary": numbertext.summary(array)}


def plain(value: Any) -> Any:
    """Data of JSON: non-finite numbers as strings, complex ones as objects, six significant digits no fewer than all."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, complex):
        return {"re": plain(value.real), "im": plain(value.imag)}
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else numbertext.number(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)
