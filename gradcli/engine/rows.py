"""autograd.grad over a batch of gradients: one pass for each row, the answers stacked."""

from __future__ import annotations

from typing import Any

from gradcli.engine.backward import grad
from gradcli.engine.roots import as_sequence, gradients_of
from gradcli.engine.tensor import Tensor
from gradcli.errors import AutogradError
from gradcli.ops.catalogue import FUNCTIONS


def grad_of_rows(
    outputs: Any, inputs: Any, grad_outputs: Any, retain_graph: bool | None, create_graph: bool, *options: Any
) -> tuple[Tensor | None, ...]:
    """`grad` with is_grads_batched: each of `grad_outputs` has one more axis in front, and so have the answers."""
    given = gradients_of(as_sequence(outputs), grad_outputs)
    sizes = {g.shape[0] for g in given if isinstance(g, Tensor) and g.ndim}
    if len(sizes) != 1 or any(isinstance(g, Tensor) and not g.ndim for g in given):
        raise AutogradError(
            "is_grads_batched=True: every grad_outputs must have the same number of rows", hint="stack them: torch.eye(n), one row each"
        )
    (count,) = sizes
    keep = create_graph if retain_graph is None else retain_graph
    rows = []
    for k in range(count):
        row = [g.select(0, k) if isinstance(g, Tensor) else None for g in given]
        rows.append(grad(outputs, inputs, row, keep or k < count - 1, create_graph, *options))
    stack = FUNCTIONS["stack"]
    return tuple(None if column[0] is None else stack(list(column)) for column in zip(*rows, strict=True))
