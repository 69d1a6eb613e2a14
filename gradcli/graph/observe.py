"""gradcli's own backward pass, watched: what arrives at every node, and what leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcli.engine.backward import Pass, run_hooks, start
from gradcli.engine.mode import state
from gradcli.engine.node import AccumulateGrad, Edge, Node
from gradcli.engine.tensor import Tensor


@dataclass(slots=True)
class Step:
    """One node of the pass. `arrived` is what came in for each output, `incoming` the same after hooks;
    `outgoing` the gradients handed on, as (position of the operand, gradient)."""

    node: Node
    arrived: list[Any]
    incoming: list[Any]
    outgoing: list[tuple[int, Any]] = field(default_factory=list)

    @property
    def hooked(self) -> bool:
        return any(a is not b for a, b in zip(self.arrived, self.incoming))


class Watched(Pass):
    """A pass that keeps its steps, in the order of its walk."""

    def __init__(self, roots: Sequence[tuple[Tensor, Any]]) -> None:
        super().__init__(roots, leaves=set(), own=True)
        self.steps: list[Step] = []
        self.current: Step | None = None

    def visit(self, node: Node) -> None:
        grads = self.pending.get(node)
        if grads is None:
            super().visit(node)
            return
        step = self.current = Step(node, list(grads), list(grads))
        self.steps.append(step)
        super().visit(node)
        self.current = None

    def run_tensor_hooks(self, node: Node, grads: list[Any]) -> None:
        super().run_tensor_hooks(node, grads)
        assert self.current is not None
        self.current.incoming = list(grads)

    def accumulate(self, leaf: Tensor, g: Any) -> None:
        if leaf.hooks and self.current is not None:
            self.current.incoming = [run_hooks(leaf.hooks, g, False)]

    def arrive(self, edge: Edge, g: Any) -> None:
        super().arrive(edge, g)
        step = self.current
        if step is not None:
            taken = {index for index, _ in step.outgoing}
            position = next(k for k, other in enumerate(step.node.edges) if other == edge and k not in taken)
            step.outgoing.append((position, g))


def watch(outputs: Sequence[Tensor], grad_outputs: Sequence[Any] | None = None) -> list[Step]:
    """The steps of a backward pass from outputs, weighted by `grad_outputs` (ones where none is given).

    The graph stays as it is, and so does every `.grad`. Raises what a `backward` of the user's raises.
    """
    weights = grad_outputs or [None] * len(outputs)
    given = [Tensor(np.ones(o.shape, o.dtype)) if w is None else w for o, w in zip(outputs, weights)]
    kept, state.keep_graph = state.keep_graph, True
    try:
        with np.errstate(all="ignore"):
            sweep = Watched(start(outputs, given, create_graph=False))
            sweep.run(retain=True)
    finally:
        state.keep_graph = kept
    return sweep.steps


def arrivals(steps: list[Step]) -> dict[Node, list[Any]]:
    """What each node received, hooks applied."""
    return {step.node: step.incoming for step in steps}


def leaf_of(node: Node) -> Tensor | None:
    return node.variable if isinstance(node, AccumulateGrad) else None
