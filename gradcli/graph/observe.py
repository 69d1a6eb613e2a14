"""gradcli's own backward pass, watched: what arrives at every node, and what leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcli.engine.hooks import run_tensor_hooks
from gradcli.engine.node import AccumulateGrad, Node, Parts, placed
from gradcli.engine.roots import Root, start
from gradcli.engine.sweep import Pass
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
    """A pass that keeps its steps, in the order of its walk. It is gradcli's own, but lets the hooks of tensors change what passes."""

    careful = True

    def __init__(self, roots: Sequence[Root]) -> None:
        super().__init__(roots, own=True)
        self.steps: list[Step] = []

    def attend(self, node: Node, grads: list[Any]) -> Parts | None:
        step = Step(node, list(grads), grads)
        parts = super().attend(node, grads)
        step.outgoing = [(position, g) for position, g in placed(node, parts or ()) if g is not None]
        self.steps.append(step)
        return parts

    def show(self, node: Node, grads: list[Any]) -> list[Any]:
        for nr, hooks in node.watch.tensors.items() if node.watch is not None else ():
            grads[nr] = run_tensor_hooks(hooks, grads[nr], False)
        return grads

    def finish(self, node: Node, grads: list[Any]) -> None:
        step = Step(node, list(grads), grads)
        leaf = leaf_of(node)
        if leaf is not None and leaf.hooks:
            step.incoming = [run_tensor_hooks(leaf.hooks, grads[0], False)]
        self.steps.append(step)


def watch(outputs: Sequence[Tensor], grad_outputs: Sequence[Any] | None = None) -> list[Step]:
    """The steps of a backward pass from outputs, weighted by `grad_outputs` (ones where none is given).

    The graph stays as it is, and so does every `.grad`. Raises what a `backward` of the user's raises.
    """
    weights = grad_outputs or [None] * len(outputs)
    given = [Tensor(np.ones(o.shape, o.dtype)) if w is None else w for o, w in zip(outputs, weights)]
    with np.errstate(all="ignore"):
        sweep = Watched(start(outputs, given, False))
        sweep.run(retain=True)
    return sweep.steps


def leaf_of(node: Node) -> Tensor | None:
    return node.variable if isinstance(node, AccumulateGrad) else None
