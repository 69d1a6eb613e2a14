"""What a picture must show, and stand: failing programs, NaN, wrong backwards, no colours, no network."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path

import pytest

from gradcli.graph.drawing import draw
from gradcli.graph.formats import FORMATS, written
from gradcli.graph.model import STATUS_WORDS, Graph, GraphEdge, GraphNode
from gradcli.graph.options import Options

from .conftest import SAMPLES, canonical, checked_graph, graph_of, needs_dot, node

TEXTS = ("dot", "svg", "html", "mermaid", "json", "text")

WRONG = """
    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return g * x

    x = tensor([1., 2., 3.], requires_grad=True)
    w = tensor([0.5, 0.1, 2.], requires_grad=True)
    h = Square.apply(x)
    out = (h.sin() * w).sum()
    """


def text_of(graph: Graph, name: str, options: Options = Options()) -> str:  # noqa: B008
    return written(graph, FORMATS[name], options)[0].decode("utf-8")


def test_exactly_the_wrong_backward_fails_and_its_neighbours_pass() -> None:
    graph = checked_graph(WRONG)
    statuses = {n.title: n.status for n in graph.nodes}
    assert statuses == {
        "x": "fail", "h = Square.apply(x)": "fail", "h.sin()": "pass", "w": "pass", "h.sin() * w": "pass",
        "out = (h.sin() * w).sum()": "pass",
    }  # fmt: skip
    assert "0.5" in node(graph, "h = Square.apply(x)").detail
    assert "autograd" in node(graph, "x").detail


def test_only_fail_keeps_the_guilty_nodes_and_their_way_to_the_output() -> None:
    drawn = draw(checked_graph(WRONG), Options(only="fail"))
    shown = [n.title for n in drawn.nodes if n.kind != "stub"]
    assert shown == ["x", "h = Square.apply(x)", "h.sin()", "h.sin() * w", "out = (h.sin() * w).sum()"]
    assert [n.title for n in drawn.nodes if n.kind == "stub"] == ["w"]


def test_the_first_nan_is_the_source_and_the_others_pass_it_on() -> None:
    graph = graph_of(
        """
        x = tensor([-1., 4.], requires_grad=True)
        y = sqrt(x)
        z = sqrt(y)
        out = z.sum()
        """
    )
    source = node(graph, "y = sqrt(x)")
    assert source.status == "nan-source"
    assert "sqrt of -1 at [0]" in source.detail
    assert [node(graph, t).status for t in ("z = sqrt(y)", "out = z.sum()")] == ["nan-passed", "nan-passed"]


def test_a_nan_born_in_the_backward_pass_is_found_there() -> None:
    graph = graph_of(
        """
        x = tensor([0., 4.], requires_grad=True)
        out = where(x > 0, sqrt(x), x).sum()
        """
    )
    source = node(graph, "sqrt(x)")
    assert (source.status, "backward pass" in source.detail) == ("nan-source", True)


def test_a_kink_is_marked_where_it_is() -> None:
    graph = checked_graph("x = tensor([-1., 0., 2.], requires_grad=True)\nout = relu(x).sum()\n")
    assert [(n.status, "[1]" in n.detail) for n in graph.nodes] == [("kink", True), ("kink", True), ("pass", False)]


def test_a_failing_program_is_drawn_as_far_as_it_came() -> None:
    graph = graph_of(
        """
        x = tensor([1., 2.], requires_grad=True)
        y = x * 2
        unused = y + 1
        z = y + tensor([1., 2., 3.])
        out = z.sum()
        """
    )
    errors = [n for n in graph.nodes if n.kind == "error"]
    assert [(n.line, n.status, n.title) for n in errors] == [(5, "error", "z = y + tensor([1., 2., 3.])")]
    assert "line 5: RuntimeError: The size of tensor a (2) must match" in errors[0].detail
    assert {n.title for n in graph.nodes} == {"x", "y = x * 2", "unused = y + 1", "z = y + tensor([1., 2., 3.])"}
    assert any(e.target == errors[0].id and e.source == node(graph, "y = x * 2").id for e in graph.edges)


def test_the_exit_status_of_a_failing_program_stays(gradcli, tmp_path: Path) -> None:
    (tmp_path / "bad.grad").write_text("x = tensor(1., requires_grad=True)\ny = x * 2\nz = y + nothing\n")
    done = gradcli("graph", "bad.grad", "--format", "svg")
    assert done.returncode == 2
    assert "ERROR line 3" in " ".join(done.stdout.split())
    assert "NameError" in done.stderr


def every_status() -> Graph:
    nodes = [GraphNode(f"n{k}", "op", f"t{k}", op="SinBackward0", line=k, status=s, detail="why") for k, s in enumerate(STATUS_WORDS)]
    return Graph(nodes, [GraphEdge(a.id, b.id) for a, b in pairwise(nodes)])


@pytest.mark.parametrize("name", ["dot", "svg", "html", "mermaid", "text"])
@pytest.mark.parametrize("style", ["plain", "card"])
def test_every_status_is_a_word_whatever_the_colours(name: str, style: str) -> None:
    plain = re.sub(r"#(\d+);", lambda m: chr(int(m[1])), text_of(every_status(), name, Options(style=style)))  # type: ignore[arg-type]
    without_colours = re.sub(r'(fill|stroke|color|bgcolor)="[^"]*"', "", plain, flags=re.IGNORECASE)
    for word in STATUS_WORDS.values():
        assert without_colours.count(f"{word} why") >= 1, word


def test_the_page_asks_the_network_for_nothing() -> None:
    page = text_of(checked_graph(WRONG), "html")
    assert "http" not in page
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)""", page)
    assert not re.search(r"@import|url\((?!#)", page)


@pytest.mark.parametrize("name", ["svg", "html"])
def test_pictures_are_well_formed_and_have_a_group_for_every_node(name: str) -> None:
    graph = checked_graph(WRONG)
    text = text_of(graph, name)
    tree = ElementTree.fromstring(text.replace("<!DOCTYPE html>", ""))
    ids = {e.get("id") for e in tree.iter() if e.tag.rpartition("}")[2] == "g"}
    assert {n.id for n in graph.nodes} <= ids


CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_the_page_comes_alive_in_a_browser(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(text_of(checked_graph(WRONG), "html"), encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    done = subprocess.run([str(CHROMIUM), *flags, f"file://{tmp_path / 'page.html'}"], capture_output=True, timeout=120, check=False)
    opened = re.search(r"<svg[^>]*>", done.stdout.decode("utf-8"))
    assert opened, done.stderr.decode()
    # the script takes the fixed size away and fits the picture to the window
    assert " width=" not in opened[0]
    assert 'viewBox="0 0 ' not in opened[0]


@needs_dot
@pytest.mark.parametrize("style", ["plain", "card"])
@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.grad")), ids=lambda p: p.stem)
def test_graphviz_reads_the_dot_of_every_sample(path: Path, style: str) -> None:
    graph = graph_of(path.read_text())
    canonical(text_of(graph, "dot", Options(style=style, view="backward" if style == "plain" else "both", saved="rows")))  # type: ignore[arg-type]


def test_two_processes_with_other_hash_seeds_give_the_same_bytes() -> None:
    script = (
        "import sys; from gradcli.cli import status_of\n"
        "for name in ('dot', 'svg', 'html', 'mermaid', 'json', 'text'):\n"
        "    for sample in ('mlp_cross_entropy', 'function_wrong', 'second_order'):\n"
        f"        status_of(['graph', rf'{SAMPLES}/' + sample + '.grad', '--format', name, '--saved', 'rows'])\n"
    )
    runs = []
    for seed, zone in (("1", "C"), ("2", "C.UTF-8")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": zone, "PYTHONUTF8": "1"}
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment, timeout=120, check=True)
        runs.append(done.stdout)
    assert runs[0] == runs[1]
    assert len(runs[0]) > 10_000
    assert b"0x" not in runs[0]


def test_check_draws_the_graph_of_its_one_file(gradcli, tmp_path: Path) -> None:
    sample = SAMPLES / "function_wrong.grad"
    done = gradcli("check", sample, "--graph", "out.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out.html").read_text()
    assert "FAIL" in page
    assert "blame: Square" in page
    assert gradcli("check", sample, SAMPLES / "kink.grad", "--graph", "out.svg").returncode == 2
    refused = gradcli("check", sample, "--graph", "out.odt")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--graph out.odt: no format has the suffix .odt" in refused.stderr
    assert "--format" not in refused.stderr


def test_a_file_that_cannot_be_written_stays_as_it_was(gradcli, tmp_path: Path) -> None:
    (tmp_path / "x.grad").write_text("x = tensor(2., requires_grad=True)\ny = x * x\nn = 3\n")
    (tmp_path / "folder.svg").mkdir()
    assert gradcli("graph", "x.grad", "--out", "missing/x.svg").returncode == 2
    assert gradcli("graph", "x.grad", "--out", "folder.svg").returncode == 2
    assert gradcli("graph", "x.grad", "--out", "x.unknown").returncode == 2
    assert gradcli("graph", "x.grad", "--output", "n").returncode == 2
    assert gradcli("graph", "x.grad", "--format", "svgz").returncode == 2
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.svg", "x.grad"]
