"""Gradients of a run that is over, as the program itself would have got them with the graph kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from gradcli import engine
from gradcli.commands.selection import Selection
from gradcli.engine.mode import state
from gradcli.engine.node import FREED_MESSAGE
from gradcli.engine.tensor import Tensor
from gradcli.errors import AutogradError
from gradcli.interpreter.faults import program_error

T = TypeVar("T")


def gradient(chosen: Selection, leaf: Tensor, order: int) -> np.ndarray | None:
    """The gradient for one leaf; None where the output does not depend on it.

    A higher order is the Jacobian of the derivative before, as `check` takes it: the whole Hessian for order 2.
    """
    with passes(chosen):
        if order > 1:
            return _higher(chosen, leaf, order)
        g = _even_if_freed(lambda own: _first(chosen, leaf, own=own))
    return None if g is None else np.asarray(g.value)


def _first(chosen: Selection, leaf: Tensor, *, own: bool) -> Tensor | None:
    return engine.grad(chosen.output, leaf, chosen.grad_outputs, retain_graph=True, allow_unused=True, own=own)[0]


def _higher(chosen: Selection, leaf: Tensor, order: int) -> np.ndarray:
    from gradcli.check.collect import differentiate
    from gradcli.check.target import gradient as jacobian

    weights = None if chosen.grad_outputs is None else chosen.grad_outputs.value
    before = differentiate(chosen.output, leaf, weights, order - 1)
    if before is None:
        return np.zeros(leaf.shape * 2, leaf.dtype)
    return np.asarray(jacobian(before, [leaf], None)[0])


def every(chosen: Selection, leaf: Tensor, order: int) -> np.ndarray:
    """All derivatives of that order: the shape of the output, unless it is weighted, and the leaf's as often."""
    weights = None if chosen.grad_outputs is None else chosen.grad_outputs.value
    with passes(chosen):
        return _every(chosen.output, leaf, order, weights)


def _every(output: Tensor, leaf: Tensor, order: int, weights: np.ndarray | None = None) -> np.ndarray:
    from gradcli.check.target import gradient as jacobian

    if order == 1:
        return np.asarray(jacobian(output, [leaf], weights)[0])
    units = np.eye(math.prod(output.shape), dtype=output.dtype).reshape(-1, *output.shape)
    rows = []
    for seed in units if weights is None else [weights]:
        (g,) = engine.grad(output, leaf, Tensor(seed[()]), create_graph=True, allow_unused=True, own=True)
        rows.append(np.zeros(leaf.shape * order) if g is None or not g.requires_grad else _every(g, leaf, order - 1))
    return np.reshape(rows, (output.shape if weights is None else ()) + leaf.shape * order)


def accumulated(chosen: Selection, *, alone: bool = False) -> dict[str, np.ndarray | None]:
    """Every leaf's `.grad` after one backward call; None where nothing reached it. `alone`: the chosen leaves are its `inputs`."""
    for leaf in chosen.leaves.values():
        leaf._grad = None
    inputs = list(chosen.leaves.values()) if alone else None
    with passes(chosen):
        _even_if_freed(lambda own: engine.backward(chosen.output, chosen.grad_outputs, retain_graph=True, inputs=inputs, own=own))
    return {name: None if leaf.grad is None else np.asarray(leaf.grad.value) for name, leaf in chosen.leaves.items()}


def _even_if_freed(take: Callable[[bool], T]) -> T:
    """As the program would; where its own backward has freed the graph, as gradcli's own pass, which no hook sees."""
    try:
        return take(False)
    except AutogradError as error:
        if str(error) != FREED_MESSAGE:
            raise
        return take(True)


@contextmanager
def passes(chosen: Selection) -> Iterator[None]:
    """What the engine raises, told as an error of the line that made the output."""
    node = chosen.output.grad_fn
    before = state.span, state.tracer
    state.span, state.tracer = None if node is None else node.span, None
    try:
        with np.errstate(all="ignore"):
            yield
    except Exception as error:
        told = program_error(error)
        if told is None:
            raise
        raise told from error
    finally:
        state.span, state.tracer = before
