"""What is written on a node: a title, rows, and the status in words."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradcli.graph import numbertext
from gradcli.graph.letters import cut, printable
from gradcli.graph.model import STATUS_WORDS, GraphNode, Saved
from gradcli.graph.options import Options

ROW = 44
"""A row is cut here unless all values are asked for."""


@dataclass(slots=True)
class Card:
    """`whole` is the title before it was cut. A row is (label, text); the label may be empty."""

    title: str
    whole: str
    rows: list[tuple[str, str]] = field(default_factory=list)
    status: str = ""


def card(node: GraphNode, options: Options) -> Card:
    """The card of a node under the options."""
    whole = printable(node.title or node.op or node.id)
    made = Card(cut(whole), whole)
    if node.kind in ("more", "line", "error"):
        made.rows += [("", printable(text)) for text in (node.text,) if text]
    if node.kind in ("op", "custom", "leaf", "line"):
        made.rows += described(node, options)
    elif node.kind in ("output", "base", "saved", "accumulate", "constant"):
        made.rows += tensor_rows(node, options)
    if options.values != "full":
        made.rows = [(label, cut(text, ROW)) for label, text in made.rows]
    made.status = status(node)
    return made


def described(node: GraphNode, options: Options) -> list[tuple[str, str]]:
    """The rows of an operation or a leaf."""
    rows = [("", operation(node))] if node.kind != "line" else []
    kept = [("saved", saved_text(item)) for item in node.saved] if options.saved == "rows" else []
    return rows + tensor_rows(node, options) + [("hook", printable(text)) for text in node.hooks] + kept


def operation(node: GraphNode) -> str:
    """`AddBackward0, line 2`; `leaf, line 1`; `MyExpBackward (custom), line 5`."""
    name = printable(node.op) + (" (custom)" if node.kind == "custom" else "") if node.op else node.kind
    return name + (f", line {node.line}" if node.line else "")


def tensor_rows(node: GraphNode, options: Options) -> list[tuple[str, str]]:
    """Shape and dtype, value and gradient."""
    rows = []
    if node.shape is not None or node.dtype:
        shape = numbertext.shape(node.shape)
        rows.append(("shape", " ".join(part for part in (shape, node.dtype, "" if node.requires_grad else "no grad") if part)))
    if node.written:
        rows.append(("in place", f"{node.written}, version {node.version}"))
    elif node.version:
        rows.append(("version", str(node.version)))
    if options.values == "none" or node.kind in ("base", "more"):
        return rows
    text = numbertext.full if options.values == "full" else numbertext.summary
    if node.value is not None and options.view != "backward":
        rows.append(("value", text(node.value)))
    if options.view != "forward" and node.grad_known and node.kind != "constant":
        rows.append(("grad", "None" if node.grad is None else text(node.grad)))
    return rows


def saved_text(saved: Saved) -> str:
    """`self=n2 (v0)`, with a mark where it was written to since."""
    what = saved.node or (numbertext.summary(saved.value) if saved.value is not None else "None")
    version = "" if saved.version is None else f" (v{saved.version}{f', now v{saved.now}: stale' if saved.stale else ''})"
    return printable(f"{saved.slot}={what}{version}")


def status(node: GraphNode) -> str:
    """`FAIL rel err 0.31 at [1]`; empty where nothing was checked."""
    if node.status is None:
        return ""
    return STATUS_WORDS[node.status] + (f" {printable(node.detail)}" if node.detail else "")
