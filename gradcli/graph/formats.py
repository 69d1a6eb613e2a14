"""The formats of graphs. A new one is a file beside this one, and a row here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath

from gradcli.errors import UsageError
from gradcli.graph.drawing import draw
from gradcli.graph.model import Graph
from gradcli.graph.options import WHOLE, Options
from gradcli.syntax.spelling import did_you_mean


@dataclass(frozen=True)
class Format:
    """`stubs`: long edges are cut for it. `by_dot`: another program draws it from DOT. `whole`: it is never made smaller unasked."""

    name: str
    suffixes: tuple[str, ...]
    module: str = ""
    stubs: bool = True
    by_dot: bool = False
    whole: bool = False


FORMATS = {
    row.name: row
    for row in (
        Format("dot", (".dot", ".gv"), "gradcli.graph.dot"),
        Format("svg", (".svg",), "gradcli.graph.svg"),
        Format("html", (".html", ".htm"), "gradcli.graph.html"),
        Format("mermaid", (".mmd", ".mermaid"), "gradcli.graph.mermaid"),
        Format("json", (".json",), "gradcli.graph.document", stubs=False, whole=True),
        Format("text", (".txt",), "gradcli.graph.text", stubs=False),
        Format("png", (".png",), by_dot=True),
        Format("pdf", (".pdf",), by_dot=True),
    )
}


def choose(name: str | None, out: str | None, option: str = "--out") -> Format:
    """The format that is named, else the one of the suffix of the file to write, else text. `option` is the one that names the file."""
    if name is not None:
        if name not in FORMATS:
            near = did_you_mean(name, list(FORMATS)) or f"choose from {', '.join(FORMATS)}"
            raise UsageError(f"no format {name!r}", hint=near, code="G102")
        return FORMATS[name]
    if out is None:
        return FORMATS["text"]
    suffix = PurePath(out).suffix.lower()
    for row in FORMATS.values():
        if suffix in row.suffixes:
            return row
    known = ", ".join(suffix for row in FORMATS.values() for suffix in row.suffixes)
    message = f"{option} {out}: no format has the suffix {suffix or '(none)'}"
    named = "name one with --format, or end in" if option == "--out" else "end in"
    raise UsageError(message, hint=f"{named} {known}", code="G102")


def written(graph: Graph, row: Format, options: Options, table: str = "") -> tuple[bytes, list[str]]:
    """The bytes of a graph in a format, and what there is to say about them (what was left out)."""
    if row.whole and not options.reduced:
        options = options.but(expand=True)
    stubs = row.stubs and (options.style == "card" or len(graph.nodes) > WHOLE or row.name != "dot")
    drawn = draw(graph, options, stubs=stubs)
    if row.by_dot:
        from gradcli.graph import dot, programs

        return programs.drawn(dot.render(drawn, options), row.name), drawn.notes
    module = import_module(row.module)
    text: str = module.render(drawn, options, table) if row.name == "html" else module.render(drawn, options)
    if row.name == "mermaid":
        drawn, text = smaller(graph, drawn, text, options)
    return text.encode("utf-8", "backslashreplace"), drawn.notes


def smaller(graph: Graph, drawn: Graph, text: str, options: Options) -> tuple[Graph, str]:
    """Mermaid that host pages draw: fewer and fewer nodes until it fits."""
    from gradcli.graph import mermaid

    most = 200
    while not mermaid.fits(drawn, text) and most >= 5:
        drawn = draw(graph, options.but(expand=False, max_nodes=most))
        text, most = mermaid.render(drawn, options), most // 2
    return drawn, text
