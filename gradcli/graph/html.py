"""One HTML file: the picture with zoom, find, paths and filters; beside it the text tree, the table of the check, the JSON.

It is well-formed XML too, opens from disk, and asks the network for nothing.
"""

from __future__ import annotations

from importlib.resources import files

from gradcli.graph import document, svg, text
from gradcli.graph.letters import printable
from gradcli.graph.model import STATUS_WORDS, STATUSES, Graph
from gradcli.graph.options import Options, unpainted


def render(graph: Graph, options: Options, table: str = "") -> str:
    """The page; `table` is the report of a check as text."""
    title = svg.xml(svg.title(graph))
    picture = svg.document(graph, options, standalone=False)
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        f'<head><meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/><title>{title}</title>',
        f"<style>{asset('page.css')}</style></head>",
        "<body>",
        f"<header><h1>{title}</h1>",
        '<input type="search" id="find" placeholder="Find a name, an operation, a line" aria-label="Find nodes"/>',
        '<span id="found" role="status"></span>',
        filters(graph),
        '<button type="button" id="fit" title="Key 0">Fit</button></header>',
        f'<div class="page"><main>{picture}</main>',
        "<section>",
        *(panel("Check", table, opened=True) if table else ()),
        *panel("Tree", text.render(graph, options.but(width=200, paint=unpainted))),
        *panel("Notes", "\n".join([f"{graph.total} nodes", *graph.notes, HELP])),
        "</section></div>",
        f'<script type="application/json" id="graph">{embedded(document.render(graph, options))}</script>',
        f"<script>/*<![CDATA[*/{asset('page.js')}/*]]>*/</script>",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


HELP = "Wheel zooms, drag moves, a click lights what a node depends on and what depends on it; / finds, 0 fits, + and - zoom."


def asset(name: str) -> str:
    """A file that lies beside this one."""
    return files("gradcli.graph").joinpath(name).read_text(encoding="utf-8")


def filters(graph: Graph) -> str:
    """A box for each status that occurs."""
    found = {node.status for node in graph.nodes if node.kind != "stub"}
    boxes = [
        f'<label><input type="checkbox" checked="checked" data-status="{status}"/> {STATUS_WORDS[status]}</label>'
        for status in STATUSES
        if status in found
    ]
    if boxes and None in found:
        boxes.append('<label><input type="checkbox" checked="checked" data-status=""/> without status</label>')
    return f'<fieldset aria-label="Statuses">{"".join(boxes)}</fieldset>' if boxes else ""


def panel(title: str, content: str, *, opened: bool = False) -> list[str]:
    lines = "\n".join(printable(line) for line in content.rstrip("\n").split("\n"))
    state = ' open="open"' if opened else ""
    return [f"<details{state}><summary>{title}</summary><pre>{svg.xml(lines)}</pre></details>"]


def embedded(data: str) -> str:
    """JSON that neither HTML nor XML takes for markup."""
    safe = data
    for mark in "&<>":
        safe = safe.replace(mark, f"\\u{ord(mark):04x}")
    return "".join(c if c.isprintable() or c == "\n" else f"\\u{ord(c):04x}" if ord(c) <= 0xFFFF else c for c in safe)
