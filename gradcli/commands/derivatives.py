"""Gradients of a run that is over, as the program itself would have got them with the graph kept."""

from __future__ import annotations

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
    """The gradient for one leaf, from the second order on of the sum of the one before; None where nothing depends on it."""
    with passes(chosen):
        g = _first(chosen, leaf, create_graph=order > 1)
        for step in range(2, order + 1):
            if g is None or not g.requires_grad:
                break
            total = g.sum()
            (g,) = engine.grad(total, leaf, create_graph=step < order, materialize_grads=True, own=True)
        else:
            return None if g is None else np.asarray(g.value)
    return None if g is None else np.zeros(leaf.shape, leaf.dtype)


def _first(chosen: Selection, leaf: Tensor, *, create_graph: bool) -> Tensor | None:
    def take(own: bool) -> Tensor | None:
        return engine.grad(
            chosen.output, leaf, chosen.grad_outputs, retain_graph=True, create_graph=create_graph, allow_unused=True, own=own
        )[0]

    return _even_if_freed(take)


def accumulated(chosen: Selection) -> dict[str, np.ndarray | None]:
    """Every leaf's `.grad` after one backward call; None where nothing reached it."""
    for leaf in chosen.leaves.values():
        leaf._grad = None
    with passes(chosen):
        _even_if_freed(lambda own: engine.backward(chosen.output, chosen.grad_outputs, retain_graph=True, own=own))
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
