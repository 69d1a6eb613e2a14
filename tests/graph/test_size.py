"""Large graphs: loops folded with honest counts, summaries, stubs, and no recursion anywhere."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest

from gradcli.graph.drawing import draw
from gradcli.graph.formats import FORMATS, written
from gradcli.graph.model import Graph, GraphEdge, GraphNode
from gradcli.graph.options import Options

from .conftest import graph_of, node

LOOP = """
    x = tensor(0.5, requires_grad=True)
    w = tensor(0.9, requires_grad=True)
    h = x
    for t in range({rounds}):
        d = h * w
        e = d + x
        h = sin(e) * 1.01
    out = h ** 2
    """


def chain(length: int) -> Graph:
    """A straight line of operations, each on a line of its own."""
    nodes = [GraphNode("n0", "leaf", "x", name="x", line=1, shape=(), dtype="float64")]
    nodes += [GraphNode(f"n{k}", "op", f"sin(h{k})", op="SinBackward0", line=k, shape=(), dtype="float64") for k in range(1, length)]
    nodes[-1].output = True
    return Graph(nodes, [GraphEdge(f"n{k}", f"n{k + 1}", 0) for k in range(length - 1)])


def counted(graph: Graph) -> int:
    return sum(n.count for n in graph.nodes)


def test_a_single_node_is_no_less_than_there_is(gradcli, tmp_path: Path) -> None:
    (tmp_path / "x.grad").write_text("x = tensor(2.0, requires_grad=True)\ny = x * x\n")
    assert gradcli("graph", "x.grad", "--max-nodes", "1").returncode == 0


def test_a_loop_shows_its_first_and_last_round_and_counts_the_rest() -> None:
    graph = graph_of(LOOP.format(rounds=100))
    drawn = draw(graph, Options())
    more = node(drawn, lambda n: n.kind == "more")
    assert (more.title, more.text, more.count) == ("… 98 more of line 5", "x98 same ops, 4 nodes each", 392)
    assert [n.title for n in drawn.nodes if n.loop and n.kind == "op"][:3] == ["d[0] = h * w", "e[0] = d + x", "sin(e)"]
    assert counted(drawn) == graph.total == len(graph.nodes) == 403
    assert "11 of 403 nodes shown, 392 in 1 group" in drawn.notes[-1]


def test_rounds_that_are_not_alike_are_not_called_the_same() -> None:
    graph = graph_of(
        """
        x = tensor(0.5, requires_grad=True)
        h = x
        for t in range(100):
            h = h * x
            if t % 7 == 3:
                h = sin(h)
        """
    )
    more = node(draw(graph, Options(max_nodes=50)), lambda n: n.kind == "more")
    assert more.text == f"98 more, not alike: {more.count} nodes"


def test_nested_loops_fold_at_the_outermost_that_hides_them() -> None:
    graph = graph_of(
        """
        x = tensor(0.5, requires_grad=True)
        h = x
        for i in range(10):
            for j in range(20):
                h = sin(h)
        """
    )
    drawn = draw(graph, Options())
    assert [(n.title, n.count) for n in drawn.nodes if n.kind == "more"] == [
        ("… 18 more of line 5", 18), ("… 8 more of line 4", 160), ("… 18 more of line 5", 18),
    ]  # fmt: skip
    assert counted(drawn) == len(graph.nodes) == 201


def test_a_round_with_something_to_see_is_shown() -> None:
    graph = graph_of(LOOP.format(rounds=100))
    guilty = next(n for n in graph.nodes if n.loop == ((5, 40),))
    guilty.status = "fail"
    drawn = draw(graph, Options())
    assert guilty.id in {n.id for n in drawn.nodes}
    assert [n.title for n in drawn.nodes if n.kind == "more"] == ["… 39 more of line 5", "… 58 more of line 5"]


def test_loops_left_early_and_inside_functions_are_told_apart() -> None:
    graph = graph_of(
        """
        def f(h):
            for k in range(10):
                h = sin(h)
                if k == 2:
                    return h

        x = tensor(0.5, requires_grad=True)
        h = x
        for t in range(4):
            h = f(h)
            if t == 2:
                break
        out = h * 2
        """
    )
    assert [n.loop for n in graph.nodes if n.op == "SinBackward0"] == [((10, t), (3, k)) for t in range(3) for k in range(3)]
    assert graph.nodes[-1].loop == ()


def test_above_the_limit_there_is_one_node_a_line() -> None:
    graph = graph_of(
        """
        def step(h, n):
            h = sin(h)
            h = h * 0.99
            return step(h, n - 1) if n else h

        x = tensor(0.5, requires_grad=True)
        out = step(x, 600)
        """
    )
    drawn = draw(graph, Options(max_nodes=100))
    lines = {n.line: n for n in drawn.nodes if n.kind == "line"}
    assert {line: (n.title, n.count) for line, n in lines.items()} == {3: ("h = sin(h)", 601), 4: ("h = h * 0.99", 601)}
    assert any("from the round before" in n.detail for n in drawn.nodes if n.kind == "stub")
    assert counted(drawn) == len(graph.nodes) == 1203


def test_a_long_file_is_cut_in_the_middle() -> None:
    drawn = draw(chain(5000), Options(max_nodes=20))
    assert 18 <= len(drawn.nodes) <= 21
    assert counted(drawn) == 5000
    assert any(n.title.endswith("more nodes") and n.text.startswith("lines ") for n in drawn.nodes)


def test_long_edges_and_shared_leaves_become_stubs() -> None:
    graph = graph_of(
        """
        x = tensor(0.5, requires_grad=True)
        a = x * 2
        b = sin(sin(sin(sin(sin(sin(a))))))
        out = a * b + x * x + x.exp() + x.cos()
        """
    )
    drawn = draw(graph, Options())
    stubs = Counter(n.title for n in drawn.nodes if n.kind == "stub")
    assert stubs == {"a": 1, "x": 3}
    assert all(n.text in {m.id for m in graph.nodes} for n in drawn.nodes if n.kind == "stub")
    assert not [n for n in draw(graph, Options(), stubs=False).nodes if n.kind == "stub"]


def test_focus_shows_the_neighbourhood_of_a_name_or_a_line() -> None:
    graph = graph_of(LOOP.format(rounds=3))
    assert {n.title for n in draw(graph, Options(focus=("out",), up=1, down=0)).nodes} == {"out = h ** 2", "h[2] = sin(e) * 1.01", "sin(e)"}
    near = draw(graph, Options(focus=("9",), up=1, down=0), stubs=False)
    assert "out = h ** 2" in {n.title for n in near.nodes}
    assert "2 of 15 nodes shown" in near.notes[-1]


@pytest.fixture(scope="module")
def large() -> Callable[[int], Graph]:
    """`large(rounds)`, made once: 4 operations a round."""
    return cache(lambda rounds: graph_of(LOOP.format(rounds=rounds)))


@pytest.mark.parametrize(("name", "seconds"), [("svg", 10), ("dot", 4), ("html", 10), ("mermaid", 4)])
@pytest.mark.parametrize(
    ("rounds", "expand"),
    [(2500, False), (250, True), pytest.param(2500, True, marks=pytest.mark.slow)],
    ids=["10000", "1000-all", "10000-all"],
)
def test_ten_thousand_operations_are_drawn_in_seconds(large, name: str, seconds: float, rounds: int, expand: bool) -> None:
    graph = large(rounds)
    began = time.process_time()
    data, _ = written(graph, FORMATS[name], Options(expand=expand))
    assert time.process_time() - began < seconds * rounds / 2500
    assert len(data) < 50_000 or (expand and name != "mermaid")


LITTLE = """
import resource
from gradcli.cli import status_of
status_of(["graph", "loop.grad", "--expand", "--out", "loop.html"])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_ten_thousand_operations_are_drawn_in_little_memory(tmp_path) -> None:
    (tmp_path / "loop.grad").write_text(dedent(LOOP.format(rounds=2500)))
    done = subprocess.run([sys.executable, "-c", LITTLE], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True, timeout=120)
    assert (tmp_path / "loop.html").stat().st_size > 1_000_000
    assert int(done.stdout) < 600_000


@pytest.mark.parametrize("name", ["text", "json", "svg"])
@pytest.mark.parametrize("length", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_long_chain_is_no_matter_of_recursion(name: str, length: int) -> None:
    data, _ = written(chain(length), FORMATS[name], Options(max_nodes=50, values="none"))
    assert len(data) < 200_000


def test_json_has_every_node_unless_a_part_is_asked_for() -> None:
    import json

    data, notes = written(chain(5000), FORMATS["json"], Options())
    assert len(json.loads(data)["nodes"]) == 5000
    assert not notes


def test_text_of_a_deep_tree_grows_with_the_number_of_nodes_only() -> None:
    data, _ = written(chain(3000), FORMATS["text"], Options(expand=True))
    assert len(data) < 3000 * 160
