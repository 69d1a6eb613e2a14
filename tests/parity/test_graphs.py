"""Graphs are those of PyTorch, drawn by torchviz: chains of nodes, what every node keeps, and graphs of derivatives.

Skipped where torch or torchviz is not installed.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from compare import gradcli_output, torch_output
from expressions import AREAS, KEPT_OTHERWISE, LEAVES, OTHERWISE, PREAMBLE, RULED_OTHERWISE

pytest.importorskip("torch")
pytest.importorskip("torchviz")

START = "from torchviz import make_dot\n" + PREAMBLE
CHAIN = "print(make_dot(out).source)"
KEPT = "print(make_dot(out, show_attrs=True, show_saved=True).source)"
DERIVED = f"""
value = out.real if out.is_complex() else out
start = torch.ones(value.shape, dtype=value.dtype, requires_grad=True)
grads = torch.autograd.grad(value, [{LEAVES}], start, create_graph=True, allow_unused=True)
print(make_dot(tuple(g for g in grads if g is not None)).source)
"""

ID = re.compile(r"(?m)(?<=^\t)n?\d+(?= \[| ->)|(?<=-> )n?\d+")


def numbered(dot: str) -> str:
    """A drawing whose things are numbered in the order of their mention."""
    names: dict[str, str] = {}
    return ID.sub(lambda match: names.setdefault(match[0], f"n{len(names)}"), dot)


def drawings(expression: str, drawing: str) -> tuple[str, str]:
    program = f"{START}out = {expression}\nout = out[0] if isinstance(out, tuple) else out\n{drawing}\n"
    return numbered(gradcli_output(program)), numbered(torch_output(program))


def differing(expressions: list[str], drawing: str) -> set[str]:
    found = set()
    for expression in expressions:
        ours, theirs = drawings(expression, drawing)
        assert theirs.startswith("digraph"), f"PyTorch cannot draw {expression}"
        if ours != theirs:
            found.add(expression)
    return found


@pytest.mark.parametrize("area", AREAS)
def test_chains_of_nodes(area: str) -> None:
    assert differing(AREAS[area], CHAIN) == OTHERWISE & set(AREAS[area])


@pytest.mark.parametrize("area", AREAS)
def test_what_nodes_keep(area: str) -> None:
    assert differing(AREAS[area], KEPT) == (OTHERWISE | KEPT_OTHERWISE) & set(AREAS[area])


@pytest.mark.parametrize("area", AREAS)
def test_graphs_of_derivatives(area: str) -> None:
    possible = [e for e in AREAS[area] if e not in RULED_OTHERWISE]
    assert differing(possible, DERIVED) == set()
