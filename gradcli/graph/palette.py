"""Colours and line styles. A status is always a word too: colour only repeats it.

The status fills and borders keep apart for readers with any of the common kinds of colour blindness (the lowest CIE76
distance is 25 between fills, 39 between borders); the role colours are torchviz's, as hexadecimal numbers because its
X11 names are no SVG colours.
"""

from __future__ import annotations

from typing import NamedTuple

from gradcli.graph.model import GraphNode

ROLES = {
    "leaf": "#ADD8E6", "op": "#E6E6E6", "custom": "#E6E6E6", "output": "#CAFF70", "saved": "#FFD27F", "base": "#A2CD5A",
    "accumulate": "#E6E6E6", "constant": "#FFFFFF", "more": "#FFFFFF", "line": "#E6E6E6", "stub": "#FFFFFF", "error": "#F7A072",
}  # fmt: skip

TORCHVIZ = {"leaf": "lightblue", "output": "darkolivegreen1", "base": "darkolivegreen3", "saved": "orange"}
"""torchviz's own names of its fills; it leaves a function to the default, light grey."""


class Look(NamedTuple):
    """How a status is drawn: fill of its row, border, width of the border, its line style in DOT and as an SVG dash array."""

    fill: str
    border: str
    width: float
    line: str
    dashes: str
    double: bool = False


STATUSES = {
    "pass": Look("#CFEFE2", "#007A5A", 2, "solid", ""),
    "fail": Look("#F7A072", "#D55E00", 3, "solid", "", double=True),
    "error": Look("#F7A072", "#D55E00", 3, "solid", "", double=True),
    "kink": Look("#F0E442", "#000000", 2, "dashed", "7 4"),
    "nan-source": Look("#C58FC0", "#6A1B9A", 3, "solid", ""),
    "nan-passed": Look("#FFFFFF", "#6A1B9A", 2, "dotted", "2 3"),
    "unstable": Look("#F0E442", "#000000", 2, "dashed", "7 4"),
    "unchecked": Look("#FFFFFF", "#777777", 1, "dashed", "7 4"),
}

PLAIN = Look("#FFFFFF", "#555555", 1, "solid", "")
MORE = Look("#FFFFFF", "#555555", 1.5, "dashed", "7 4")
STUB = "#1F5FA8"


def look(node: GraphNode) -> Look:
    """How a node is drawn."""
    if node.status is not None:
        return STATUSES[node.status]
    return MORE if node.kind == "more" else PLAIN


def role(node: GraphNode) -> str:
    """Which of ROLES a node is: an operation whose result is an output looks like one."""
    return "output" if node.output and node.kind in ("op", "custom", "line", "constant") else node.kind
