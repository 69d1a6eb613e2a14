"""A layered layout: ranks from top to bottom, few crossings, straight long edges. Python's own floats only, so that it gives
the same bytes everywhere; every step walks lists, so that depth costs no stack.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gradcli.graph.model import Graph
from gradcli.graph.ranks import ranks

RANK_GAP = 34.0
NODE_GAP = 22.0
VIRTUAL_WIDTH = 4.0
STUB_PULL = 0.05
ORDER_SWEEPS = 8
PLACE_SWEEPS = 16

Size = tuple[float, float]
Point = tuple[float, float]


@dataclass(slots=True)
class Box:
    """The centre and the size of a node."""

    x: float
    y: float
    width: float
    height: float


@dataclass(slots=True)
class Placed:
    """Boxes by id; for each edge the points that it goes through, each with the height along which it runs straight down."""

    boxes: dict[str, Box]
    paths: list[list[tuple[float, float, float]]]
    width: float = 0.0
    height: float = 0.0


@dataclass
class Layers:
    """Vertices are numbers: the nodes first, then one for every rank that an edge passes. A stub pulls its neighbours little (`pull`)."""

    widths: list[float]
    heights: list[float]
    rank: list[int]
    pull: list[float]
    above: list[list[int]] = field(default_factory=list)
    below: list[list[int]] = field(default_factory=list)
    rows: list[list[int]] = field(default_factory=list)
    chains: list[list[int]] = field(default_factory=list)


def layout(graph: Graph, sizes: dict[str, Size]) -> Placed:
    """Places for the nodes and the edges of a graph without cycles."""
    ids = [node.id for node in graph.nodes]
    if not ids:
        return Placed({}, [])
    layers = layered(graph, ids, sizes)
    arrange(layers)
    x = columns(layers)
    return placed(layers, ids, x)


def layered(graph: Graph, ids: list[str], sizes: dict[str, Size]) -> Layers:
    """The vertices in their ranks, in order of execution."""
    number = {node: k for k, node in enumerate(ids)}
    by_id = ranks(graph)
    pull = [STUB_PULL if node.kind == "stub" else 1.0 for node in graph.nodes]
    layers = Layers([sizes[i][0] for i in ids], [sizes[i][1] for i in ids], [by_id[i] for i in ids], pull)
    layers.above = [[] for _ in ids]
    layers.below = [[] for _ in ids]
    for edge in graph.edges:
        layers.chains.append(chain(layers, number[edge.source], number[edge.target]))
    layers.rows = [[] for _ in range(max(layers.rank) + 1)]
    for vertex in first_order(layers, len(ids)):
        layers.rows[layers.rank[vertex]].append(vertex)
    return layers


def first_order(layers: Layers, real: int) -> list[int]:
    """Nodes in order of execution; the vertices of an edge and what has no operands stand beside where the edge goes."""
    key = [float(k) for k in range(len(layers.rank))]
    for vertex in range(len(layers.rank) - 1, -1, -1):
        if layers.below[vertex] and (vertex >= real or not layers.above[vertex]):
            key[vertex] = key[layers.below[vertex][0]] - 0.5
    return sorted(range(len(key)), key=lambda v: (key[v], v))


def chain(layers: Layers, source: int, target: int) -> list[int]:
    """The vertices of an edge, made where it passes a rank."""
    passed = [source]
    for rank in range(layers.rank[source] + 1, layers.rank[target]):
        layers.rank.append(rank)
        layers.widths.append(VIRTUAL_WIDTH)
        layers.heights.append(0.0)
        layers.pull.append(1.0)
        layers.above.append([])
        layers.below.append([])
        passed.append(len(layers.rank) - 1)
    passed.append(target)
    for upper, lower in pairwise(passed):
        layers.below[upper].append(lower)
        layers.above[lower].append(upper)
    return passed


def arrange(layers: Layers) -> None:
    """Sort every rank by the mean place of its neighbours, downwards and upwards in turn; keep the order with the fewest crossings."""
    place = [0.0] * len(layers.rank)
    number(layers.rows, place)
    best, fewest = [list(row) for row in layers.rows], crossings(layers, place)
    for sweep in range(ORDER_SWEEPS):
        down = sweep % 2 == 0
        neighbours = layers.above if down else layers.below
        for row in layers.rows if down else reversed(layers.rows):
            if len(row) > 1:
                row.sort(key=lambda v: sum(place[n] for n in neighbours[v]) / len(neighbours[v]) if neighbours[v] else place[v])
            number([row], place)
        count = crossings(layers, place)
        if count < fewest:
            best, fewest = [list(row) for row in layers.rows], count
        if not fewest:
            break
    layers.rows = best


def number(rows: Sequence[list[int]], place: list[float]) -> None:
    """Places between 0 and 1, so that ranks of different length compare."""
    for row in rows:
        for k, vertex in enumerate(row):
            place[vertex] = (k + 0.5) / len(row)


def crossings(layers: Layers, place: list[float]) -> int:
    """How many pairs of edges cross: inversions, counted by insertion into a sorted list."""
    total = 0
    for row in layers.rows:
        ends: list[float] = []
        for vertex in sorted(row, key=lambda v: place[v]):
            lower = sorted(place[n] for n in layers.below[vertex])
            total += sum(len(ends) - bisect_right(ends, end) for end in lower)
            for end in lower:
                insort(ends, end)
    return total


def columns(layers: Layers) -> list[float]:
    """x of every vertex: near its neighbours, in order, with gaps between."""
    x = [0.0] * len(layers.rank)
    for row in layers.rows:
        left = 0.0
        for vertex in row:
            x[vertex] = left + layers.widths[vertex] / 2
            left += layers.widths[vertex] + NODE_GAP
        middle = left / 2
        for vertex in row:
            x[vertex] -= middle
    for sweep in range(PLACE_SWEEPS):
        down = sweep % 2 == 0
        for row in layers.rows if down else reversed(layers.rows):
            settle(layers, row, x, down)
    return x


def settle(layers: Layers, row: list[int], x: list[float], down: bool) -> None:
    """Put a row where its neighbours of the row before pull it."""
    near, far = (layers.above, layers.below) if down else (layers.below, layers.above)
    wanted, weights, pull = [], [], layers.pull
    for vertex in row:
        others = near[vertex] or far[vertex]
        total = sum(pull[n] for n in others)
        wanted.append(sum(x[n] * pull[n] for n in others) / total if others else x[vertex])
        weights.append(total * pull[vertex] if near[vertex] else 0.2 * pull[vertex])
    if len(row) == 1:
        x[row[0]] = wanted[0]
        return
    gaps = [(layers.widths[a] + layers.widths[b]) / 2 + NODE_GAP for a, b in pairwise(row)]
    for vertex, value in zip(row, spaced(wanted, weights, gaps)):
        x[vertex] = value


def spaced(wanted: list[float], weights: list[float], gaps: list[float]) -> list[float]:
    """The nearest positions (least squares) that keep the order and the gaps: pool adjacent violators."""
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    blocks: list[list[float]] = []
    for want, weight, offset in zip(wanted, weights, offsets):
        weight = max(weight, 1e-3)
        blocks.append([(want - offset) * weight, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] >= blocks[-1][0] * blocks[-2][1]:
            last = blocks.pop()
            blocks[-1] = [a + b for a, b in zip(blocks[-1], last)]
    levels = [total / weight for total, weight, count in blocks for _ in range(int(count))]
    return [level + offset for level, offset in zip(levels, offsets)]


def placed(layers: Layers, ids: list[str], x: list[float]) -> Placed:
    """Boxes with the origin at the top left, and the points of the edges."""
    tall = [max(layers.heights[v] for v in row) if row else 0.0 for row in layers.rows]
    tops = [0.0]
    for height in tall:
        tops.append(tops[-1] + height + RANK_GAP)
    left = min(x[v] - layers.widths[v] / 2 for v in range(len(x)))
    boxes = {}
    for k, name in enumerate(ids):
        rank, height = layers.rank[k], layers.heights[k]
        room = tall[rank] - height
        y = tops[rank] + height / 2 + (room / 2 if layers.above[k] else room)
        boxes[name] = Box(x[k] - left, y, layers.widths[k], height)
    right = max(x[v] + layers.widths[v] / 2 for v in range(len(x))) - left
    ports = Ports(layers, x)
    paths = []
    for k, passed in enumerate(layers.chains):
        source, target = boxes[ids[passed[0]]], boxes[ids[passed[-1]]]
        points = [(source.x + ports.out(k), source.y + source.height / 2, 0.0)]
        points += [(x[v] - left, tops[layers.rank[v]], tall[layers.rank[v]]) for v in passed[1:-1]]
        points.append((target.x + ports.into(k), target.y - target.height / 2, 0.0))
        paths.append(points)
    return Placed(boxes, paths, right, tops[-1] - RANK_GAP)


class Ports:
    """Where along its side of a node each edge begins and ends: side by side, in the order of the other ends."""

    def __init__(self, layers: Layers, x: list[float]) -> None:
        out: dict[int, list[int]] = {}
        into: dict[int, list[int]] = {}
        for k, passed in enumerate(layers.chains):
            out.setdefault(passed[0], []).append(k)
            into.setdefault(passed[-1], []).append(k)
        chains = layers.chains
        self.starts = self.spread(layers, out, lambda k: (x[chains[k][1]], k))
        self.ends = self.spread(layers, into, lambda k: (x[chains[k][-2]], k))

    @staticmethod
    def spread(layers: Layers, groups: dict[int, list[int]], key: Callable[[int], tuple[float, int]]) -> dict[int, float]:
        shifts = {}
        for vertex, edges in groups.items():
            room = min(layers.widths[vertex] * 0.5, 22.0 * (len(edges) - 1))
            for k, edge in enumerate(sorted(edges, key=key)):
                shifts[edge] = room * (k / (len(edges) - 1) - 0.5) if len(edges) > 1 else 0.0
        return shifts

    def out(self, edge: int) -> float:
        return self.starts[edge]

    def into(self, edge: int) -> float:
        return self.ends[edge]
