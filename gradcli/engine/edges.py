"""Places in the graph as values: what `torch.autograd.graph.get_gradient_edge` gives, and `autograd.grad` takes instead of a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.engine.node import AccumulateGrad, Edge, Form, Node
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import Record
from gradcli.errors import AutogradError


def behind(outputs: Sequence[Tensor]) -> list[Node]:
    """Every node behind the outputs, in order of execution."""
    stack = [edge[0] for edge in (output.edge() for output in outputs) if edge is not None]
    seen = dict.fromkeys(stack)
    while stack:
        for edge in stack.pop().edges:
            if edge is not None and edge[0] not in seen:
                seen[edge[0]] = None
                stack.append(edge[0])
    return sorted(seen, key=lambda node: node.sequence)


class GradientEdge:
    """One output of a node. It answers what a backward pass asks of a tensor, so that it can stand for one without keeping its value."""

    __slots__ = ("node", "output_nr")

    asks = wants = True
    hooks = None

    def __init__(self, node: Node, output_nr: int) -> None:
        self.node = node
        self.output_nr = output_nr

    @property
    def form(self) -> Form:
        return self.node.shapes[self.output_nr]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.form[0]

    @property
    def dtype(self) -> np.dtype:
        return self.form[1]

    @property
    def size_(self) -> int:
        return int(np.prod(self.shape))

    def edge(self) -> Edge:
        return self.node, self.output_nr

    def refresh(self) -> None:
        """It never changes."""

    def record(self) -> Record | None:
        """The trace record of the tensor that it stands for."""
        if isinstance(self.node, AccumulateGrad):
            return self.node.variable.record()
        records = getattr(self.node, "records", None)
        return None if records is None else records[len(self.node.edges) + self.output_nr]

    @property
    def value(self) -> Any:
        """The value that the tensor had, as far as a trace knows it."""
        record = self.record()
        return None if record is None else record.value

    def __repr__(self) -> str:
        return f"GradientEdge(node={self.node!r}, output_nr={self.output_nr}, ownership_token=None)"


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The place in the graph where the gradient of a tensor arrives."""
    if not tensor.asks:
        raise AutogradError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    edge = tensor.edge()
    assert edge is not None
    return GradientEdge(*edge)


def increment_version(tensor: Any) -> None:
    """Count a write to a tensor, or to each of several, that autograd has not seen."""
    for one in tensor if isinstance(tensor, (tuple, list)) else (tensor,):
        one.version.bump(one)
