"""Into `.grad`: how the gradients of several passes add up in a leaf, or in a tensor that keeps its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine.inplace import inplace
from gradcli.engine.tensor import Tensor
from gradcli.ops.structure import Copy


def store(leaf: Tensor, g: Any, recorded: bool) -> None:
    """Add the gradient of one pass: the first gets memory of its own, a later one is added in place (a recorded one out of place)."""
    held = leaf._grad
    if recorded:
        leaf._grad = own_copy(g) if held is None else held + g
    elif held is None:
        leaf._grad = Tensor(np.array(g, dtype=None if g.dtype.kind == "O" else leaf.value.dtype, subok=True))
    else:
        held.array[...] += g
        held.version.bump(held)


def own_copy(g: Tensor) -> Tensor:
    """A recorded gradient in memory of its own."""
    return inplace(Copy(), Tensor(np.empty(g.shape, g.dtype)), g) if g.value.dtype.kind != "O" else g


def add_retained(tensor: Tensor, g: Any, recorded: bool) -> None:
    """Keep the gradient of a tensor that is no leaf."""
    held = tensor._grad
    if recorded:
        tensor._grad = own_copy(g) if held is None else held + g
    else:
        tensor._grad = Tensor(np.array(g, subok=True) if held is None else np.asarray(held.value + g))
