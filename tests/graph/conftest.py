"""Graphs of programs, as the commands make them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from gradcli.check.file import check_file
from gradcli.check.options import CheckOptions
from gradcli.engine.tensor import Tensor
from gradcli.graph import checked, ofrun
from gradcli.graph.model import Graph, GraphNode
from gradcli.interpreter import Run, run_file
from gradcli.syntax.source import Source

SAMPLES = Path(__file__).resolve().parent.parent.parent / "samples"

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="needs the program dot of Graphviz")


def run(text: str) -> Run:
    return run_file(Source("test.grad", dedent(text)), trace=True)


def last_tensor(done: Run) -> tuple[str, Tensor]:
    return [(name, value) for name, value in done.scope.items() if isinstance(value, Tensor) and value.requires_grad][-1]


def graph_of(text: str) -> Graph:
    """The graph of the last tensor that requires grad; of a failing program as far as it came."""
    done = run(text)
    return ofrun.of_failure(done) if done.error is not None else ofrun.of_run(done, *last_tensor(done)).graph


def checked_graph(text: str) -> Graph:
    """The same with the result of a check on the nodes."""
    result = check_file("test.grad", dedent(text), CheckOptions())
    assert result.error is None, result.error
    return checked.merge(ofrun.of_run(done := run(text), *last_tensor(done)), result, checked.main_target(result))


def node(graph: Graph, want: Callable[[GraphNode], bool] | str) -> GraphNode:
    """The one node of a title, or for which `want` holds."""
    found = [n for n in graph.nodes if (n.title == want if isinstance(want, str) else want(n))]
    assert len(found) == 1, [n.title for n in graph.nodes]
    return found[0]


def canonical(dot: str) -> str:
    """What Graphviz reads in DOT text; fails where it cannot."""
    done = subprocess.run(["dot", "-Tcanon"], input=dot.encode("utf-8"), capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert b"syntax error" not in done.stderr, done.stderr.decode()
    return done.stdout.decode("utf-8")
