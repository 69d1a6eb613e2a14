"""torchviz's picture of a graph as DOT: what `make_dot` gives, and `gradcli graph --style plain`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gradcli.engine.function import FunctionNode
from gradcli.engine.mode import state
from gradcli.engine.node import AccumulateGrad, Node, OperationNode
from gradcli.engine.saved import saved_attribute, saved_names
from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError

HEADER = "\tnode [align=left fontname=monospace fontsize=10 height=0.2 ranksep=0.1 shape=box style=filled]"
LEAF, SAVED, OUTPUT, BASE = "lightblue", "orange", "darkolivegreen1", "darkolivegreen3"


class Digraph:
    """DOT text under construction; a node is known by the object that it stands for."""

    def __init__(self) -> None:
        self.statements: list[str] = []
        self.ids: dict[int, str] = {}
        self.kept: list[Any] = []

    def id(self, thing: Any) -> str:
        """A stable id of an object, numbered in the order of first mention."""
        if id(thing) not in self.ids:
            self.ids[id(thing)] = f"n{len(self.ids)}"
            self.kept.append(thing)
        return self.ids[id(thing)]

    def node(self, thing: Any, label: str, fill: str | None = None) -> None:
        colour = f" fillcolor={fill}" if fill else ""
        self.statements.append(f"\t{self.id(thing)} [label={quoted(label)}{colour}]")

    def edge(self, tail: Any, head: Any, **attributes: str) -> None:
        listed = " ".join(f"{k}={v}" for k, v in sorted(attributes.items()))
        self.statements.append(f"\t{self.id(tail)} -> {self.id(head)}" + (f" [{listed}]" if listed else ""))

    @property
    def source(self) -> str:
        size = max(12, 0.15 * len(self.statements))
        return "\n".join(["digraph {", f'\tgraph [size="{size},{size}"]', HEADER, *self.statements, "}", ""])

    def __repr__(self) -> str:
        return self.source


def quoted(text: str) -> str:
    """A DOT string; line ends stand in it as they are, and a backslash-n in a name stays an escape, as torchviz leaves them."""
    inner = text.replace('"', '\\"')
    return f'"{inner}"' if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", inner) else inner


def make_dot(
    var: Tensor | Sequence[Tensor],
    params: Mapping[str, Tensor] | None = None,
    show_attrs: bool = False,
    show_saved: bool = False,
    max_attr_chars: int = 50,
) -> Digraph:
    """The graph behind one output or a tuple of them.

    `params` names the leaves; `show_attrs` lists what each node keeps, `show_saved` draws the kept tensors.
    Raises RuntimeError when kept tensors are asked for and the graph has been freed.
    """
    names = {id(tensor): name for name, tensor in (params or {}).items()}
    for tensor in (params or {}).values():
        if not isinstance(tensor, Tensor):
            raise ArgumentError(f"params must hold tensors, not {type(tensor).__name__}")
    outputs = var if isinstance(var, tuple) else (var,)
    if not all(isinstance(output, Tensor) for output in outputs):
        raise ArgumentError(f"make_dot takes a tensor or a tuple of tensors, not {type(var).__name__}")
    drawing = Drawing(names, show_attrs, show_saved, max(max_attr_chars, 3))
    for output in outputs:
        drawing.output(output)
    return drawing.graph


class Drawing:
    """The walk over the graph, which states things in torchviz's order: what is stated twice has its last label and colour."""

    def __init__(self, names: dict[int, str], show_attrs: bool, show_saved: bool, max_attr_chars: int) -> None:
        self.graph = Digraph()
        self.names = names
        self.show_attrs = show_attrs
        self.show_saved = show_saved
        self.max_attr_chars = max_attr_chars
        self.seen: set[int] = set()
        self.places: dict[tuple[Node, int], Tensor] = {}

    def tensor_label(self, tensor: Tensor, name: str = "") -> str:
        return f"{name or self.names.get(id(tensor), '')}\n ({', '.join(map(str, tensor.shape))})"

    def output(self, tensor: Tensor, fill: str = OUTPUT) -> None:
        """An output and everything behind it; a view stands above its base."""
        thing = self.thing(tensor)
        if id(thing) in self.seen:
            return
        self.seen.add(id(thing))
        self.graph.node(thing, self.tensor_label(tensor), fill)
        node = tensor.grad_fn
        if node is not None:
            self.walk(node)
            self.graph.edge(node, thing)
        if tensor.shares is not None:
            self.output(tensor.shares.base, BASE)
            self.graph.edge(self.thing(tensor.shares.base), thing, style="dotted")

    def walk(self, root: Node) -> None:
        """A node and those behind it; a list of what is left, no recursion, so that depth is no limit."""
        left: list[Callable[[], None]] = []

        def enter(node: Node) -> None:
            if id(node) in self.seen:
                return
            self.seen.add(id(node))
            self.node(node)
            left.append(lambda: self.saved_of_function(node))
            left.extend(partial(follow, source, node) for source, _ in reversed(node.next_functions) if source is not None)

        def follow(source: Node, node: Node) -> None:
            self.graph.edge(source, node)
            enter(source)

        enter(root)
        while left:
            left.pop()()

    def node(self, node: Node) -> None:
        """A node with what it kept, or with its leaf."""
        if self.show_saved and isinstance(node, OperationNode):
            self.saved(node)
        if isinstance(node, AccumulateGrad):
            self.seen.add(id(node.variable))
            self.graph.node(node.variable, self.tensor_label(node.variable), LEAF)
            self.graph.edge(node.variable, node)
        self.graph.node(node, self.label(node))

    def saved(self, node: OperationNode) -> None:
        """The tensors that an operation kept."""
        for name in saved_names(node):
            value = saved_attribute(node, f"_saved_{name}")
            for place, tensor in enumerate(value) if isinstance(value, tuple) else [(None, value)]:
                if isinstance(tensor, Tensor):
                    shown = name if place is None else f"{name}[{place}]"
                    thing = tensor if tensor.node is node else self.thing(tensor)
                    self.seen.add(id(thing))
                    self.graph.edge(node, thing, dir="none")
                    self.graph.node(thing, self.tensor_label(tensor, shown), SAVED)

    def thing(self, tensor: Tensor) -> Any:
        """What stands for a tensor: itself for a leaf, its values for a constant, else its place in the graph, where more nodes find it."""
        if tensor.node is None:
            return tensor if tensor.wants else tensor.value
        return self.places.setdefault((tensor.node, tensor.output_nr), tensor)

    def saved_of_function(self, node: Node) -> None:
        """The tensors that a user Function saved, always shown, as torchviz does."""
        if not isinstance(node, FunctionNode) or (node.freed and not state.keep_graph):
            return
        for tensor in node.saved_tensors():
            if isinstance(tensor, Tensor):
                self.seen.add(id(tensor))
                self.graph.edge(tensor, node, dir="none")
                self.graph.node(tensor, self.tensor_label(tensor), SAVED)

    def label(self, node: Node) -> str:
        """The class of a node, and its attributes when they are asked for."""
        names = saved_names(node) if self.show_attrs else []
        if not names:
            return node.name
        shown = {name: attribute_text(saved_attribute(node, f"_saved_{name}")) for name in names}
        key_width = max(map(len, shown))
        value_width = min(max(map(len, shown.values())), self.max_attr_chars)
        rule = "-" * max(key_width + value_width + 2, len(node.name))
        rows = [f"{key:<{key_width}}: {shorten(value, value_width):>{value_width}}" for key, value in shown.items()]
        return "\n".join([node.name, rule, *rows])


def attribute_text(value: Any) -> str:
    if isinstance(value, tuple) and any(isinstance(v, Tensor) for v in value):
        return "[saved tensors]"
    return "[saved tensor]" if isinstance(value, Tensor) else str(value)


def shorten(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
