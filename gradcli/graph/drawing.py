"""From the graph of a program to the graph that is drawn: view, part, size, stubs."""

from __future__ import annotations

from dataclasses import replace

from gradcli.graph.collapse import collapse_loops
from gradcli.graph.focus import focused, only
from gradcli.graph.model import Graph
from gradcli.graph.options import SUMMARY, WHOLE, Options
from gradcli.graph.stubs import cut_long_edges
from gradcli.graph.summary import by_line, shorten
from gradcli.graph.views import view


def draw(graph: Graph, options: Options, *, stubs: bool = True) -> Graph:
    """What the options show of a graph; `notes` says what was left out and how to see it."""
    total = graph.total
    if options.focus:
        graph = focused(graph, options.focus, options.up, options.down)
    if options.only:
        graph = only(graph, options.only)
    drawn = view(sized(graph, options), options)
    if stubs:
        drawn = cut_long_edges(drawn)
    drawn = replace(drawn, notes=[*graph.notes], total=total)
    if drawn.shown != total:
        drawn.notes.append(left_out(drawn, options))
    return drawn


def sized(graph: Graph, options: Options) -> Graph:
    """Loops collapsed, then one node a line, then the middle left out: as far as the number of nodes asks for."""
    most = options.max_nodes
    if options.expand:
        return graph if most is None else shorten(graph, most)
    limit = SUMMARY if most is None else most
    if len(graph.nodes) > min(WHOLE, limit):
        graph = collapse_loops(graph)
    if len(graph.nodes) > limit:
        graph = by_line(graph)
    return shorten(graph, limit) if len(graph.nodes) > limit else graph


def left_out(graph: Graph, options: Options) -> str:
    """`24 of 405 nodes shown, 381 in 1 group; --expand shows all`."""
    groups = [node for node in graph.nodes if node.kind in ("more", "line")]
    inside = sum(node.count for node in groups)
    text = f"{graph.shown} of {graph.total} nodes shown"
    if groups:
        text += f", {inside} in {len(groups)} group{'' if len(groups) == 1 else 's'}"
    outside = graph.total - graph.shown - inside
    if outside:
        text += f", {outside} not in this part"
    return text + ("; --expand or --max-nodes shows more" if groups else "")
