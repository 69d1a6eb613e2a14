"""The neutral graph: what a program computed, as plain data that every writer draws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["leaf", "op", "custom", "constant", "accumulate", "output", "base", "saved", "more", "line", "stub", "error"]
"""leaf, op, custom and constant come from the program; the others are made by a view or by what makes a graph smaller."""

EdgeKind = Literal["data", "view", "saved"]

STATUSES = ("fail", "error", "nan-source", "nan-passed", "kink", "unstable", "unchecked", "pass")
"""Worst first."""

STATUS_WORDS = {
    "fail": "FAIL", "error": "ERROR", "nan-source": "NaN SOURCE", "nan-passed": "NaN (passed on)", "kink": "KINK",
    "unstable": "UNSTABLE", "unchecked": "UNCHECKED", "pass": "PASS",
}  # fmt: skip


@dataclass(slots=True)
class Saved:
    """A tensor that a node keeps for its backward: under which name, from which node (None: a constant), at which version."""

    slot: str
    value: Any
    node: str | None = None
    version: int | None = None
    now: int | None = None

    @property
    def stale(self) -> bool:
        return self.version != self.now


@dataclass(slots=True)
class GraphNode:
    """One node. Values and gradients are numpy objects, or None where they are not known.

    title    what a reader calls it: `y = sin(x)`; `text` the source text alone
    op       the name of the graph node ("SinBackward0"), empty for a leaf; `verb` the operation ("sin")
    loop     (line of the loop, number of the round), outermost first
    handed   the gradients that it hands on, in the order of its operands
    written  the in-place operation that made it ("mul_"), or None
    status   one of STATUSES, or None where nothing was checked; `detail` says more
    count    how many nodes of the program it stands for: 0 for what a view adds
    """

    id: str
    kind: Kind
    title: str = ""
    name: str | None = None
    text: str = ""
    op: str = ""
    verb: str = ""
    line: int | None = None
    column: int | None = None
    loop: tuple[tuple[int, int], ...] = ()
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    requires_grad: bool = True
    output: bool = False
    version: int = 0
    written: str | None = None
    value: Any = None
    grad: Any = None
    grad_known: bool = False
    handed: list[Any] = field(default_factory=list)
    saved: list[Saved] = field(default_factory=list)
    hooks: list[str] = field(default_factory=list)
    status: str | None = None
    detail: str = ""
    checks: dict[str, Any] = field(default_factory=dict)
    count: int = 1


@dataclass(slots=True)
class GraphEdge:
    """In the direction of the data: from an operand to what is made of it. `arg` is the operand's position."""

    source: str
    target: str
    arg: int | None = None
    kind: EdgeKind = "data"
    directed: bool = True


@dataclass(slots=True)
class Result:
    """An output of the program: the node that made it; for a view also the tensor whose memory it shows (`base` made that)."""

    name: str
    node: str
    shape: tuple[int, ...]
    base: str | None = None
    base_shape: tuple[int, ...] | None = None


@dataclass(slots=True)
class Graph:
    """Nodes in order of execution, edges in the order of their targets; `lines` is the source text."""

    nodes: list[GraphNode]
    edges: list[GraphEdge]
    path: str = ""
    outputs: list[Result] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    total: int = 0
    """How many nodes the program's graph has; set where some are not shown."""

    def __post_init__(self) -> None:
        self.total = self.total or sum(node.count for node in self.nodes)

    def by_id(self) -> dict[str, GraphNode]:
        return {node.id: node for node in self.nodes}

    def operands(self) -> dict[str, list[GraphEdge]]:
        """The edges into each node."""
        into: dict[str, list[GraphEdge]] = {node.id: [] for node in self.nodes}
        for edge in self.edges:
            into[edge.target].append(edge)
        return into

    def consumers(self) -> dict[str, list[GraphEdge]]:
        """The edges out of each node."""
        out: dict[str, list[GraphEdge]] = {node.id: [] for node in self.nodes}
        for edge in self.edges:
            out[edge.source].append(edge)
        return out

    @property
    def shown(self) -> int:
        """How many nodes of the program are drawn one by one."""
        return sum(node.count for node in self.nodes if node.kind not in ("more", "line"))


def worst(statuses: list[str | None]) -> str | None:
    """The worst of them."""
    return min((s for s in statuses if s is not None), key=STATUSES.index, default=None)
