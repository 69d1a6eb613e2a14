"""Names and texts of every kind, in every format."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.graph.formats import FORMATS, written
from gradcli.graph.letters import cells, cut, printable, wrap
from gradcli.graph.mermaid import SAFE
from gradcli.graph.model import Graph, GraphEdge, GraphNode, Result, Saved
from gradcli.graph.options import Options

from .conftest import canonical, needs_dot

NASTY = [
    'quote " and \' and `', "<b>&amp;</b>", "{a|b} [c]", "back\\slash \\n \\l \\N", "two\nlines\r\n", "#35; %% ; click", "-->|x|", "]]>",
    "--></script>", "</title>", "\u202egnihtemos\u202c", "שלום", "مرحبا", "🙂👩‍👩‍👧", "名前" * 10, "\x00\x07\x1b[31m",
    "\ud800", "\ufffe", "x" * 10_000, " ", "", "end", "- x", "1. x",
]  # fmt: skip

CHARACTERS = st.one_of(st.sampled_from(list("\"'`<>&{}[]|\\\n\r\t;#%=-*_~$^@:/ ")), st.characters())
TEXTS = st.one_of(st.sampled_from(NASTY), st.text(CHARACTERS, max_size=60))


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    names = draw(st.lists(TEXTS, min_size=2, max_size=12))
    nodes = []
    for k, text in enumerate(names):
        made = GraphNode(f"n{k}", "leaf" if not k else "op", text, name=text, text=text, op=draw(TEXTS) if k else "", line=k, shape=(2,))
        made.status = draw(st.sampled_from([None, "pass", "fail", "kink", "nan-source"]))
        made.detail, made.hooks, made.saved = draw(TEXTS), [draw(TEXTS)], [Saved(text, None)]
        nodes.append(made)
    nodes[-1].output = True
    edges = [GraphEdge(a.id, b.id, 0) for a, b in pairwise(nodes)] + [GraphEdge("n0", nodes[-1].id, 1)]
    return Graph(nodes, edges, draw(TEXTS), [Result(names[-1], nodes[-1].id, (2,))], notes=[draw(TEXTS)])


def data(graph: Graph, name: str, options: Options) -> str:
    return written(graph, FORMATS[name], options)[0].decode("utf-8")


@given(graphs())
def test_svg_and_html_are_xml(graph: Graph) -> None:
    ElementTree.fromstring(data(graph, "svg", Options(saved="rows")))
    ElementTree.fromstring(data(graph, "html", Options(saved="nodes")).replace("<!DOCTYPE html>", ""))


@given(graphs())
def test_mermaid_keeps_to_its_escapes(graph: Graph) -> None:
    text = data(graph, "mermaid", Options(saved="rows"))
    for line in text.splitlines():
        found = re.search(r'"(.*)"', line)
        if found:
            inside = re.sub(r"#\d+;|<br/>", "", found[1])
            assert all(c in SAFE or ord(c) > 127 for c in inside), line


@given(graphs())
def test_json_is_json_and_text_stays_in_its_lines(graph: Graph) -> None:
    found = json.loads(data(graph, "json", Options()))
    assert len(found["nodes"]) == len(graph.nodes)
    text = data(graph, "text", Options(ascii=True))
    assert text.isascii()
    assert all(c.isprintable() or c == "\n" for c in text)
    assert all(c.isprintable() or c == "\n" or c == " " for c in data(graph, "text", Options()) if ord(c) < 127)


@needs_dot
@pytest.mark.parametrize("style", ["plain", "card"])
def test_graphviz_reads_every_name(style: str) -> None:
    short = [text for text in NASTY if len(text) < 1_000]
    nodes = [GraphNode(f"n{k}", "op", text, name=text, text=text, op=text, line=k, shape=(2,)) for k, text in enumerate(short)]
    for node in nodes:
        node.detail, node.hooks, node.saved = node.text, [node.text], [Saved(node.text, None)]
    graph = Graph(nodes, [GraphEdge(a.id, b.id, 0) for a, b in pairwise(nodes)], short[0], notes=short)
    canonical(data(graph, "dot", Options(style=style, saved="nodes")))  # type: ignore[arg-type]


@needs_dot
def test_graphviz_lays_out_names_of_any_length() -> None:
    nodes = [GraphNode(f"n{k}", "op" if k else "leaf", "x" * 10_000, name="x" * 10_000, op="y" * 10_000, shape=(2,)) for k in range(12)]
    graph = Graph(nodes, [GraphEdge(a.id, b.id, 0) for a, b in pairwise(nodes)] + [GraphEdge("n0", "n11", 1)])
    canonical(data(graph, "dot", Options(style="plain")))


@needs_dot
def test_graphviz_shows_a_label_as_it_is() -> None:
    label = 'a "quoted" \\n <b> & {c|d} &lt;'
    graph = Graph([GraphNode("n0", "leaf", label, name=label, shape=(2,))], [])
    shown = canonical(data(graph, "dot", Options(style="plain")))
    assert r'label="a \"quoted\" \\n <b> &amp; {c|d} &amp;lt;\n (2)"' in shown


@given(st.text(), st.integers(2, 60))
def test_cut_and_wrap_keep_to_their_width(text: str, width: int) -> None:
    assert cells(cut(text, width)) <= width
    assert all(cells(line) <= width for line in wrap(text, width))
    assert printable(printable(text)) == printable(text)
