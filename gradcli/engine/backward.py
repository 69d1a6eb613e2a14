"""`backward` and `grad`: what they are given, and what they give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.engine.hooks import retain_grad
from gradcli.engine.mode import state
from gradcli.engine.node import Edge
from gradcli.engine.roots import as_sequence, check_roots, gradients_of, start
from gradcli.engine.sweep import Pass
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import PassEntry, PassRecord, fixed_record, snapshot
from gradcli.errors import AutogradError

ONLY_INPUTS = (
    "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other parts of the graph, "
    "please use torch.autograd.backward."
)
NOT_ASKING = "One of the differentiated Tensors does not require grad"


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Tensor | Sequence[Tensor] | None = None,
    *,
    own: bool = False,
) -> None:
    """Add d(tensors)/d(leaf), weighted by `grad_tensors`, to the `.grad` of every leaf (of `inputs` alone when given).

    Raises RuntimeError as PyTorch does: for an output without graph, a gradient of another shape, a freed graph.
    """
    if grad_variables is not None:
        state.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
        if grad_tensors is not None:
            raise AutogradError("`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`.")
        grad_tensors = grad_variables
    chosen = None if inputs is None else as_sequence(inputs)
    if chosen is not None and not chosen:
        raise AutogradError("`inputs` argument to `backward()` cannot be empty.", hint="leave it out, or name the leaves")
    outputs = as_sequence(tensors)
    given = gradients_of(outputs, grad_tensors)
    roots = start(outputs, given, create_graph)
    check_roots(outputs)
    targets = None if chosen is None else [target_of(t) for t in chosen]
    if create_graph and not own:
        state.warn_once(
            "create_graph",
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which can cause "
            "a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use this function, make "
            "sure to reset the .grad fields of your parameters to None after use to break the cycle and avoid the leak.",
        )
    sweep = Pass(roots, targets=targets, recorded=bool(create_graph), own=own)
    try:
        sweep.run(bool(create_graph) if retain_graph is None else bool(retain_graph))
    finally:
        note_plain(sweep.note)


def note_plain(note: PassRecord | None) -> None:
    """What a pass in which a hook took part gives without it: asked for now, since the program may change the graph later.

    Nobody knows of a pass that ended in an error.
    """
    if note is None or not note.hooked or not note.entries:
        return
    outputs, weights = [o[0] for o in note.outputs], [Tensor(np.asarray(o[3])) for o in note.outputs]
    try:
        found = grad(outputs, [e.tensor for e in note.entries], weights, retain_graph=True, allow_unused=True, own=True)
    except AutogradError:
        found = ()
    if not found:
        for entry in note.entries:
            entry.plain = None
    for entry, g in zip(note.entries, found, strict=False):
        entry.plain = np.zeros(entry.tensor.shape, entry.tensor.dtype) if g is None else snapshot(g.value)


def asked(tensor: Tensor) -> Edge | None:
    """The edge of a tensor that requires grad; of a view whose base was asked later, one where nothing arrives."""
    tensor.refresh()
    return tensor.edge() or ((tensor.accumulator(), 0) if tensor.asks else None)


def target_of(tensor: Tensor) -> Edge:
    """Where `backward(inputs=...)` stops: at a leaf, or at a result, which then keeps its gradient."""
    edge = asked(tensor)
    if edge is None:
        raise AutogradError(NOT_ASKING)
    if isinstance(tensor, Tensor):
        retain_grad(tensor)
    return edge


def grad(
    outputs: Tensor | Sequence[Tensor],
    inputs: Tensor | Sequence[Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
    *,
    own: bool = False,
) -> tuple[Tensor | None, ...]:
    """d(outputs)/d(inputs) weighted by `grad_outputs`: one tensor an input, of its shape; `.grad` stays as it is.

    Raises RuntimeError for an input that does not ask for a gradient, or that was not used (unless allowed).
    """
    if materialize_grads and allow_unused is False:
        raise ValueError("Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.")
    if not only_inputs:
        state.warn(ONLY_INPUTS, FutureWarning)
    sources, wanted = as_sequence(outputs), as_sequence(inputs)
    given = gradients_of(sources, grad_outputs)
    roots = start(sources, given, create_graph)
    check_roots(sources)
    edges = []
    for k, tensor in enumerate(wanted):
        edge = asked(tensor)
        if edge is None:
            raise AutogradError(NOT_ASKING, hint=f"input {k} was created without requires_grad=True")
        edges.append(edge)
    sweep = Pass(roots, targets=edges, capture=True, recorded=bool(create_graph), own=own)
    sweep.run(bool(create_graph) if retain_graph is None else bool(retain_graph), "grad")
    if sweep.note is not None:
        sweep.note.entries += [
            PassEntry(tensor, snapshot(getattr(g, "value", g)), None, [], fixed_record(tensor))
            for tensor, g in ((t, sweep.captured.get(edge)) for t, edge in zip(wanted, edges, strict=False))
            if g is not None
        ]
        note_plain(sweep.note)
    given = [sweep.captured.get(edge) for edge in edges]
    return tuple(answer(g, tensor, k, allow_unused, materialize_grads) for k, (g, tensor) in enumerate(zip(given, wanted, strict=True)))


def answer(g: Any, tensor: Tensor, position: int, allow_unused: bool | None, materialize: bool) -> Tensor | None:
    """What `grad` gives for one input."""
    if g is not None:
        return g if isinstance(g, Tensor) else Tensor(np.array(g, subok=True)[()])
    if materialize:
        return Tensor(np.zeros(tensor.shape, tensor.dtype)[()])
    if allow_unused:
        return None
    raise AutogradError(
        f"The differentiated Tensor at index {position} appears to not have been used in the graph. "
        "Set allow_unused=True if this is the desired behavior."
    )
