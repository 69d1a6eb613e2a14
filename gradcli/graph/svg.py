"""SVG by our own layout: cards, edges, stubs, a legend of the statuses that occur."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.graph.card import Card, card
from gradcli.graph.dot import numbered
from gradcli.graph.layout import Box, Placed, Size, layout
from gradcli.graph.letters import cells, cut, printable, wrap
from gradcli.graph.model import STATUS_WORDS, STATUSES, Graph, GraphEdge, GraphNode
from gradcli.graph.options import Options
from gradcli.graph.palette import ROLES, STUB, look, role
from gradcli.graph.palette import STATUSES as LOOKS

COLUMN = 7.25
"""The width of a character: 12 pixels of any common monospace font are no wider."""

ROW = 17.0
TITLE = 25.0
PAD = 11.0
STUB_HEIGHT = 20.0
MARGIN = 26.0
STATUS_WIDTH = 44
SMALL = 0.9
"""Rows are set in a smaller size than titles."""

STYLE = """
svg { font-family: "DejaVu Sans Mono", "Menlo", "Consolas", "Liberation Mono", monospace; font-size: 12px; }
.paper { fill: #FFFFFF; }
text { fill: #1A1A1A; white-space: pre; }
.title { font-weight: 600; }
.row, .status, .note { font-size: 11px; }
.label, .note { fill: #5A5A5A; }
.edge { fill: none; stroke: #6B7280; stroke-width: 1.3; }
.edge.view { stroke-dasharray: 2 3; }
.arrow { fill: #6B7280; }
.stub rect { fill: #F4F8FD; stroke: STUB; stroke-width: 1; }
.stub text { fill: STUB; font-size: 11px; }
""".replace("STUB", STUB)


class Shape:
    """A node as it is drawn: its card, its size, and the lines of its status."""

    def __init__(self, node: GraphNode, options: Options) -> None:
        self.node = node
        self.card: Card = card(node, options)
        self.status = wrap(self.card.status, STATUS_WIDTH)
        self.labels = max((cells(label) for label, _ in self.card.rows if label), default=0) + 2
        self.size = self._size()

    def _size(self) -> Size:
        if self.node.kind == "stub":
            return cells(cut(self.card.title, 24)) * COLUMN * SMALL + 18, STUB_HEIGHT
        widths = [cells(self.card.title) * COLUMN]
        widths += [((self.labels if label else 0) + cells(text)) * COLUMN * SMALL for label, text in self.card.rows]
        widths += [cells(line) * COLUMN * SMALL for line in self.status]
        height = TITLE + len(self.card.rows) * ROW + (6 if self.card.rows else 0)
        height += len(self.status) * ROW + (6 if self.status else 0)
        return max(max(widths) + 2 * PAD, 60.0), height


def render(graph: Graph, options: Options) -> str:
    return document(graph, options, standalone=True)


def document(graph: Graph, options: Options, *, standalone: bool) -> str:
    """The whole picture; within HTML the name space goes without saying."""
    shapes = {node.id: Shape(node, options) for node in graph.nodes}
    place = layout(graph, {name: shape.size for name, shape in shapes.items()})
    legend = legend_items(graph)
    notes = [line for note in graph.notes for line in wrap(note, 110)]
    width = max(place.width, legend_width(legend), max((cells(n) for n in notes), default=0) * COLUMN * SMALL) + 2 * MARGIN
    foot = (30 if legend else 0) + 16 * len(notes)
    height = place.height + 2 * MARGIN + foot
    shift = (width - 2 * MARGIN - place.width) / 2
    space = ' xmlns="http://www.w3.org/2000/svg"' if standalone else ""
    parts = [
        f'<svg{space} viewBox="0 0 {f(width)} {f(height)}" width="{f(width)}" height="{f(height)}" role="img" class="gradcli">',
        f"<title>{xml(title(graph))}</title>",
        f"<desc>{xml(described(graph))}</desc>",
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" '
        'orient="auto"><path class="arrow" d="M0 0.5 8 4 0 7.5z"/></marker></defs>',
        f'<rect class="paper" width="{f(width)}" height="{f(height)}"/>',
        f'<g class="drawing" transform="translate({f(MARGIN + shift)} {f(MARGIN)})">',
        *edges(graph, place),
        *(line for node in graph.nodes for line in drawn(shapes[node.id], place.boxes[node.id])),
        "</g>",
        *legend_lines(legend, MARGIN + place.height + MARGIN),
    ]
    base = height - 16 * len(notes)
    parts += [text(MARGIN, base + 16 * k, note, "note") for k, note in enumerate(notes)]
    return "\n".join([*parts, "</svg>"]) + "\n"


def title(graph: Graph) -> str:
    names = ", ".join(result.name for result in graph.outputs)
    return f"Computation graph of {names or 'a program'}" + (f" ({graph.path})" if graph.path else "")


def described(graph: Graph) -> str:
    """How much there is, for those who cannot see it."""
    counts: dict[str, int] = {}
    for node in graph.nodes:
        if node.status is not None:
            counts[STATUS_WORDS[node.status]] = counts.get(STATUS_WORDS[node.status], 0) + 1
    found = "".join(f", {count} {word}" for word, count in counts.items())
    return f"{graph.total} nodes{found}" + "".join(f"; {note}" for note in graph.notes)


def edges(graph: Graph, place: Placed) -> Iterator[str]:
    into = graph.operands()
    for edge, points in zip(graph.edges, place.paths):
        kind = "edge" if edge.kind == "data" else "edge view"
        tip = ' marker-end="url(#tip)"' if edge.directed else ""
        yield f'<path class="{kind}" data-from="{edge.source}" data-to="{edge.target}" d="{curve(points)}"{tip}/>'
        if numbered(edge, into[edge.target]):
            x, y, _ = points[-1]
            yield text(x + 4, y - 9, str(edge.arg), "note")


def curve(points: list[tuple[float, float, float]]) -> str:
    """From point to point by cubic curves that leave and arrive upright; straight down along a rank that is passed."""
    x, y, _ = points[0]
    path = [f"M{f(x)} {f(y)}"]
    for next_x, next_y, run in points[1:]:
        middle = (y + next_y) / 2
        path.append(f"C{f(x)} {f(middle)} {f(next_x)} {f(middle)} {f(next_x)} {f(next_y)}")
        if run:
            path.append(f"V{f(next_y + run)}")
        x, y = next_x, next_y + run
    return "".join(path)


def drawn(shape: Shape, box: Box) -> Iterator[str]:
    """One node as a group with its id."""
    node = shape.node
    left, top = box.x - box.width / 2, box.y - box.height / 2
    classes = " ".join(part for part in (node.kind, node.status or "") if part)
    if node.kind == "stub":
        yield f'<a href="#{node.text}"><g id="{node.id}" class="{classes}" transform="translate({f(left)} {f(top)})">'
        yield f"<title>{xml(printable(node.detail))}</title>"
        yield f'<rect width="{f(box.width)}" height="{f(box.height)}" rx="10"/>'
        yield text(9, 14, cut(shape.card.title, 24), "row")
        yield "</g></a>"
        return
    state = f' data-status="{node.status}"' if node.status else ""
    yield f'<g id="{node.id}" class="{classes}"{state} transform="translate({f(left)} {f(top)})">'
    yield f"<title>{xml(tooltip(shape))}</title>"
    yield from frame(shape, box.width, box.height)
    yield from written(shape)
    yield "</g>"


def tooltip(shape: Shape) -> str:
    rows = [f"{label} {value}".strip() for label, value in shape.card.rows]
    return "\n".join([f"{shape.node.id}: {shape.card.whole}", *rows, *([shape.card.status] if shape.card.status else [])])


def frame(shape: Shape, width: float, height: float) -> Iterator[str]:
    """The box with its title band, its status band and its border."""
    seen, node = look(shape.node), shape.node
    w, h = f(width), f(height)
    yield f'<rect width="{w}" height="{h}" rx="6" fill="#FFFFFF"/>'
    band = TITLE if shape.card.rows or shape.status else height
    yield f'<path d="{rounded_top(width, band, whole=band == height)}" fill="{ROLES[role(node)]}"/>'
    if shape.status:
        start = height - len(shape.status) * ROW - 6
        yield f'<path d="{rounded_bottom(width, start, height)}" fill="{seen.fill}"/>'
        yield f'<path d="M0 {f(start)}H{w}" stroke="{seen.border}" stroke-width="1"/>'
    dashes = f' stroke-dasharray="{seen.dashes}"' if seen.dashes else ""
    yield f'<rect width="{w}" height="{h}" rx="6" fill="none" stroke="{seen.border}" stroke-width="{seen.width:g}"{dashes}/>'
    if seen.double:
        outer = f'width="{f(width + 8)}" height="{f(height + 8)}" rx="9"'
        yield f'<rect x="-4" y="-4" {outer} fill="none" stroke="{seen.border}" stroke-width="1.5"/>'


def rounded_top(width: float, height: float, *, whole: bool) -> str:
    """A band with round corners above, and below too where it is the whole box."""
    w, h = f(width), f(height)
    below = f"V{f(height - 6)}Q{w} {h} {f(width - 6)} {h}H6Q0 {h} 0 {f(height - 6)}" if whole else f"V{h}H0"
    return f"M6 0H{f(width - 6)}Q{w} 0 {w} 6{below}V6Q0 0 6 0z"


def rounded_bottom(width: float, top: float, bottom: float) -> str:
    w, b = f(width), f(bottom)
    return f"M0 {f(top)}H{w}V{f(bottom - 6)}Q{w} {b} {f(width - 6)} {b}H6Q0 {b} 0 {f(bottom - 6)}z"


def written(shape: Shape) -> Iterator[str]:
    """The text of a card, from top to bottom."""
    yield text(PAD, 17, shape.card.title, "title")
    y = TITLE + 15.0
    for label, value in shape.card.rows:
        if label:
            yield text(PAD, y, label, "row label")
            yield text(PAD + shape.labels * COLUMN * SMALL, y, value, "row")
        else:
            yield text(PAD, y, value, "row label")
        y += ROW
    y += 6 if shape.card.rows else 0
    for line in shape.status:
        yield text(PAD, y, line, "status")
        y += ROW


def legend_items(graph: Graph) -> list[str]:
    """The statuses that occur, worst first."""
    found = {node.status for node in graph.nodes}
    return [status for status in STATUSES if status in found]


def legend_width(items: list[str]) -> float:
    return sum(cells(STATUS_WORDS[s]) * COLUMN * SMALL + 46 for s in items)


def legend_lines(items: list[str], y: float) -> Iterator[str]:
    if not items:
        return
    x = MARGIN
    yield '<g class="legend">'
    for status in items:
        seen = LOOKS[status]
        dashes = f' stroke-dasharray="{seen.dashes}"' if seen.dashes else ""
        yield (
            f'<rect x="{f(x)}" y="{f(y)}" width="20" height="13" rx="3" fill="{seen.fill}" stroke="{seen.border}" '
            f'stroke-width="{min(seen.width, 2):g}"{dashes}/>'
        )
        yield text(x + 27, y + 11, STATUS_WORDS[status], "row")
        x += cells(STATUS_WORDS[status]) * COLUMN * SMALL + 46
    yield "</g>"


def text(x: float, y: float, content: str, kind: str) -> str:
    return f'<text x="{f(x)}" y="{f(y)}" class="{kind}">{xml(content)}</text>'


def f(x: float) -> str:
    """A coordinate: one decimal, none where it is 0."""
    return f"{round(x, 1) + 0.0:.1f}".removesuffix(".0")


def xml(content: str) -> str:
    """Text of an element or of an attribute in double quotes."""
    return printable_lines(content).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def printable_lines(content: str) -> str:
    return "\n".join(printable(line) for line in content.split("\n"))


__all__ = ["GraphEdge", "document", "render"]
