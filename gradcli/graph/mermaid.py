"""Mermaid, for READMEs and the summaries of CI systems, which draw it themselves."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.graph.card import card
from gradcli.graph.dot import numbered
from gradcli.graph.letters import wrap
from gradcli.graph.model import Graph, GraphNode
from gradcli.graph.options import Options
from gradcli.graph.palette import ROLES, STATUSES, role

MOST_EDGES = 400
MOST_CHARACTERS = 45_000
"""What host pages draw: Mermaid's own limits are 500 edges and 50,000 characters."""

SHAPES = {"leaf": ("[", "]"), "output": ("([", "])"), "fail": ("[[", "]]"), "error": ("[[", "]]"), "kink": ("{{", "}}"),
          "nan-source": ("{{", "}}"), "nan-passed": ("{{", "}}"), "stub": ("([", "])"), "saved": ("[/", "/]")}  # fmt: skip

SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:=+-/'…")


def render(graph: Graph, options: Options) -> str:
    lines = ["flowchart TD", *statements(graph, options), *classes(graph)]
    if options.fence:
        lines = ["```mermaid", *lines, "```"]
    return "\n".join(lines) + "\n"


def fits(graph: Graph, text: str) -> bool:
    """Would a host page draw it?"""
    return len(graph.edges) <= MOST_EDGES and len(text) <= MOST_CHARACTERS


def statements(graph: Graph, options: Options) -> Iterator[str]:
    names = ", ".join(result.name for result in graph.outputs)
    yield f"  accTitle: {escaped(f'Computation graph of {names}')}"
    yield f"  accDescr: {escaped('; '.join([f'{graph.total} nodes', *graph.notes]))}"
    for node in graph.nodes:
        before, after = SHAPES.get(node.status or "") or SHAPES.get(role(node)) or ("(", ")")
        yield f'  {node.id}{before}"{label(node, options)}"{after}'
    into = graph.operands()
    for edge in graph.edges:
        arrow = {"data": "-->", "view": "-.->", "saved": "-.-"}[edge.kind]
        number = f"|{edge.arg}|" if numbered(edge, into[edge.target]) else ""
        yield f"  {edge.source} {arrow}{number} {edge.target}"
    for node in graph.nodes:
        yield f"  class {node.id} {'_'.join(class_of(node))}"


def label(node: GraphNode, options: Options) -> str:
    made = card(node, options)
    lines = [made.title]
    if node.kind != "stub":
        lines += [f"{name} {text}".strip() for name, text in made.rows]
        lines += wrap(made.status, 44)
    return "<br/>".join(escaped(line) for line in lines)


def class_of(node: GraphNode) -> tuple[str, ...]:
    return (role(node), *([node.status.replace("-", "")] if node.status else []))


def classes(graph: Graph) -> Iterator[str]:
    """One class for each pair of role and status that occurs. Text is black, or a dark page would hide it."""
    for name, status in sorted({(class_of(node), node.status or "") for node in graph.nodes}):
        seen = STATUSES.get(status)
        fill = seen.fill if seen is not None else ROLES[name[0]]
        border, width = (seen.border, seen.width) if seen is not None else ("#555555", 1)
        dashes = f",stroke-dasharray:{seen.dashes}" if seen is not None and seen.dashes else ""
        yield f"  classDef {'_'.join(name)} fill:{fill},stroke:{border},stroke-width:{width:g}px,color:#000{dashes}"


def escaped(text: str) -> str:
    """Whatever is not plainly harmless as `#decimal;`."""
    return "".join(c if c in SAFE or ord(c) > 127 else f"#{ord(c)};" for c in text)
