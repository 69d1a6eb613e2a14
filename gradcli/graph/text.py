"""Text: a tree from each output to its operands, with columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from gradcli.graph import numbertext
from gradcli.graph.card import status
from gradcli.graph.letters import cells, cut, printable
from gradcli.graph.model import Graph, GraphEdge, GraphNode
from gradcli.graph.options import Options

DEEPEST = 8
"""What lies deeper goes on as a tree of its own, so that long chains give no endless indents."""

LEAST = 16
"""A title is never cut shorter, however deep it stands."""

VALUE = 17
"""Numbers are cut here, unless there is much room, or all of them are asked for."""

STATUS = 16
"""A status longer than this may stick out: nothing stands behind it."""

Row = tuple[str, GraphNode, str]
"""Branch lines, node, remark."""


class Marks:
    """The lines of a tree."""

    def __init__(self, ascii_only: bool) -> None:
        self.tee, self.corner, self.bar, self.blank = ("|- ", "`- ", "|  ", "   ") if ascii_only else ("├─ ", "└─ ", "│  ", "   ")


def render(graph: Graph, options: Options) -> str:
    rows = list(tree(graph, Marks(options.ascii)))
    lines = [line for part in (table(rows, options), notes(graph, options.width)) for line in part]
    text = "\n".join(line.rstrip() for line in lines) + "\n"
    return "".join(c if c.isascii() else plain(c) for c in text) if options.ascii else text


def plain(character: str) -> str:
    return {"…": "..."}.get(character) or character.encode("unicode_escape").decode("ascii")


def notes(graph: Graph, width: int) -> Iterator[str]:
    wrapped = (textwrap.wrap(printable(note), width, subsequent_indent="  ", break_long_words=False) for note in graph.notes)
    yield from ("", *(line for lines in wrapped for line in lines)) if graph.notes else ()


def tree(graph: Graph, marks: Marks) -> Iterator[Row]:
    """The rows of all trees, from the outputs first; every node once, then `(see n3)`."""
    operands, consumers, known = graph.operands(), graph.consumers(), graph.by_id()
    roots = [n.id for n in graph.nodes if n.output and not consumers[n.id]] or [n.id for n in graph.nodes if n.output]
    roots += [n.id for n in graph.nodes if not consumers[n.id] and n.id not in roots]
    seen: set[str] = set()
    waiting = [(root, "") for root in reversed(roots)]
    while waiting:
        root, label = waiting.pop()
        if root in seen:
            continue
        later: list[str] = []
        yield from branch(root, label, operands, known, marks, seen, later)
        waiting += [(node, f"{node}: ") for node in reversed(later)]


def branch(
    root: str, label: str, operands: dict[str, list[GraphEdge]], known: dict[str, GraphNode], marks: Marks, seen: set[str], later: list[str]
) -> Iterator[Row]:
    """One tree. `later` collects the nodes that are too deep for it."""
    stack: list[tuple[str, str, str, int]] = [(root, label, "", 0)]
    while stack:
        node, head, indent, depth = stack.pop()
        below = [edge.source for edge in operands[node]]
        if node in seen:
            yield head, known[node], f"(see {node})" if below else ""
            continue
        if below and depth >= DEEPEST:
            later.append(node)
            yield head, known[node], f"({node}, continued below)"
            continue
        seen.add(node)
        yield head, known[node], ""
        for k in range(len(below) - 1, -1, -1):
            last = k == len(below) - 1
            head, deeper = (marks.corner, marks.blank) if last else (marks.tee, marks.bar)
            stack.append((below[k], indent + head, indent + deeper, depth + 1))


def table(rows: list[Row], options: Options) -> Iterator[str]:
    """Aligned columns as wide as the reader's end; columns that do not fit are left out, never gradient and status."""
    heads = ["", "operation", "shape", *(["value"] if options.values != "none" else []), "grad", "status"]
    cols = [[head, *(cell(head, row, options) for row in rows)] for head in heads]
    if not any(col != "" for col in cols[-1][1:]):
        heads, cols = heads[:-1], cols[:-1]
    widths = [max(cells(text) for text in col) for col in cols]
    for spare in ("shape", "operation", "value"):
        if sum(widths[:-1]) + min(widths[-1], STATUS) + 2 * (len(widths) - 1) > options.width and spare in heads:
            k = heads.index(spare)
            heads, cols, widths = heads[:k] + heads[k + 1 :], cols[:k] + cols[k + 1 :], widths[:k] + widths[k + 1 :]
    for number, line in enumerate(zip(*cols)):
        padded = [text + " " * (width - cells(text)) for text, width in zip(line, widths)]
        if heads[-1] == "status" and number:
            padded[-1] = options.paint(line[-1], rows[number - 1][1].status or "")
        text = "  ".join(padded)
        yield text if number else options.paint(text.rstrip(), "heading")


def cell(head: str, row: Row, options: Options) -> str:
    branches, node, remark = row
    if head == "":
        room = (60 if options.width >= 130 else 40 if options.width >= 80 else options.width - VALUE - 2) - len(branches)
        return branches + cut(printable(node.title or node.op), max(room, LEAST)) + (f" {remark}" if remark else "")
    if remark:
        return ""
    if head == "operation":
        return operation(node)
    if head == "shape":
        return numbertext.shape(node.shape)
    if head == "status":
        return status(node)
    if head == "grad":
        return "" if not node.grad_known or options.view == "forward" else "None" if node.grad is None else shown(node.grad, options)
    return "" if node.value is None else shown(node.value, options)


def operation(node: GraphNode) -> str:
    """`n3 AddBackward0:2`, with the line after a colon; what a node that stands for others holds."""
    if node.kind in ("more", "line", "error"):
        return printable(node.text)
    if node.kind == "stub":
        return ""
    return f"{node.id} {printable(node.op or node.kind)}" + (f":{node.line}" if node.line else "")


def shown(value: object, options: Options) -> str:
    return numbertext.full(value) if options.values == "full" else cut(numbertext.summary(value), VALUE if options.width < 130 else 26)
