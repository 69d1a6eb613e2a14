"""DOT: `plain` labels as torchviz writes them, or `card` tables."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.graph import numbertext
from gradcli.graph.card import card
from gradcli.graph.letters import cut, printable, wrap
from gradcli.graph.model import Graph, GraphEdge, GraphNode
from gradcli.graph.options import Options
from gradcli.graph.palette import ROLES, STUB, look, role

FONT = "Helvetica"
STATUS_WIDTH = 48
NAME_WIDTH = 120
"""Graphviz refuses nodes thousands of columns wide; the whole title is in the tooltip."""


def render(graph: Graph, options: Options) -> str:
    return "\n".join([*header(graph, options), *statements(graph, options), "}"]) + "\n"


def header(graph: Graph, options: Options) -> Iterator[str]:
    yield "digraph gradcli {"
    if graph.notes:
        yield f"  label={quoted('; '.join(graph.notes))} labelloc=b fontname={FONT} fontsize=10"
    yield f"  graph [ranksep=0.3 nodesep=0.25 fontname={FONT}]"
    if options.style == "plain":
        yield f"  node [shape=box style=filled fillcolor=lightgrey fontname={FONT} fontsize=10 height=0.2]"
    else:
        yield f"  node [shape=plain fontname={FONT} fontsize=10]"
    yield f'  edge [fontname={FONT} fontsize=8 color="#555555" arrowsize=0.7]'


def statements(graph: Graph, options: Options) -> Iterator[str]:
    draw = plain if options.style == "plain" else table
    for node in graph.nodes:
        yield f"  {node.id} [{stub(node) if node.kind == 'stub' else draw(node, options)}]"
    into = graph.operands()
    for edge in graph.edges:
        yield f"  {edge.source} -> {edge.target}{edge_attributes(edge, numbered(edge, into[edge.target]))}"


def numbered(edge: GraphEdge, siblings: list[GraphEdge]) -> bool:
    """Positions are written where a node has several operands from one place."""
    return edge.arg is not None and sum(other.source == edge.source for other in siblings) > 1


def edge_attributes(edge: GraphEdge, labelled: bool) -> str:
    parts = []
    if labelled:
        parts.append(f'label="{edge.arg}"')
    if edge.kind == "view":
        parts.append("style=dotted")
    if not edge.directed:
        parts.append("dir=none")
    return f" [{' '.join(parts)}]" if parts else ""


def stub(node: GraphNode) -> str:
    return (
        f'label={quoted(cut(printable(node.title), 24))} shape=box style=rounded color="{STUB}" fontcolor="{STUB}" fontsize=9 height=0.15 '
        f"tooltip={quoted(printable(node.detail))}"
    )


def plain(node: GraphNode, options: Options) -> str:
    """torchviz's label: the name and shape of a tensor, the name of a function; then what torchviz does not know."""
    if node.kind in ("leaf", "output", "base", "saved", "constant"):
        name = cut(printable(node.name or node.title), NAME_WIDTH) if node.kind != "base" else ""
        lines = [name, " " + numbertext.shape(node.shape)]
    elif node.kind in ("op", "custom", "accumulate"):
        lines = [cut(printable(node.op), NAME_WIDTH)]
        if node.kind != "accumulate":
            lines.append(cut(" ".join(part for part in (printable(node.name or ""), numbertext.shape(node.shape)) if part)))
    else:
        made = card(node, options)
        lines = [made.title, *(text for _, text in made.rows)]
    status = card(node, options).status
    lines += wrap(status, STATUS_WIDTH)
    seen = look(node)
    attributes = [f"label={quoted(chr(10).join(lines))}"]
    fill = ROLES[role(node)]
    if node.kind == "more" or (role(node) not in ("op", "custom", "accumulate", "line")):
        attributes.append(f'fillcolor="{fill}"')
    if node.status is not None or node.kind == "more":
        attributes.append(f'style="filled,{seen.line}" color="{seen.border}" penwidth={seen.width:g}')
        if seen.double:
            attributes.append("peripheries=2")
    if node.title:
        attributes.append(f"tooltip={quoted(printable(node.title))}")
    return " ".join(attributes)


def table(node: GraphNode, options: Options) -> str:
    """A table as label: the title in the colour of the role, rows, the status in its own colour."""
    made, seen = card(node, options), look(node)
    rows = [f'<TR><TD COLSPAN="2" BGCOLOR="{ROLES[role(node)]}"><B>{html(made.title)}</B></TD></TR>']
    for label, text in made.rows:
        if label:
            rows.append(f'<TR><TD ALIGN="LEFT"><FONT COLOR="#555555">{html(label)}</FONT></TD><TD ALIGN="LEFT">{html(text)}</TD></TR>')
        else:
            rows.append(f'<TR><TD COLSPAN="2" ALIGN="LEFT">{html(text)}</TD></TR>')
    if made.status:
        lines = "<BR/>".join(html(line) for line in wrap(made.status, STATUS_WIDTH))
        rows.append(f'<TR><TD COLSPAN="2" BGCOLOR="{seen.fill}">{lines}</TD></TR>')
    style = f' STYLE="{seen.line.upper()}"' if seen.line != "solid" else ""
    border = f'BORDER="{max(round(seen.width), 1)}" CELLBORDER="0" CELLSPACING="0" CELLPADDING="3" COLOR="{seen.border}"{style}'
    label = f"<<TABLE {border}>{''.join(rows)}</TABLE>>"
    double = f' shape=box peripheries=2 color="{seen.border}" margin="0.02"' if seen.double else ""
    return f"label={label}{double} tooltip={quoted(made.whole)}"


def quoted(text: str) -> str:
    """A quoted string: backslashes are no escapes of DOT, an ampersand begins no entity, a newline centres the line before it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;").replace("\n", "\\n")
    return f'"{escaped}"'


def html(text: str) -> str:
    """Text of an HTML-like label."""
    for mark, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("[", "&#91;"), ("]", "&#93;")):
        text = text.replace(mark, entity)
    return text or " "
