"""What the operations of linear algebra share: checks, errors, triangles, leading axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import Fault, ShapeError
from gradcli.ops.diagonal import Tril, Triu
from gradcli.ops.elementwise import rank
from gradcli.ops.operation import Value
from gradcli.ops.reduction import sum as total
from gradcli.ops.shape import Unsqueeze
from gradcli.ops.structure import SumTo, To
from gradcli.ops.where import where


class LinAlgError(Fault, RuntimeError):
    """A matrix for which the result does not exist: torch.linalg.LinAlgError."""

    kind = "value"
    shown = "_LinAlgError"


def need_matrix(name: str, x: Any) -> None:
    if np.ndim(x) < 2:
        raise ShapeError(f"{name}: The input tensor A must have at least 2 dimensions.")


def need_square(name: str, x: Any) -> None:
    """RuntimeError (PyTorch's text) for anything but a square matrix, or a batch of them."""
    need_matrix(name, x)
    if np.shape(x)[-1] != np.shape(x)[-2]:
        raise ShapeError(f"{name}: A must be batches of square matrices, but they are {x.shape[-2]} by {x.shape[-1]} matrices")


def place(x: Value, number: int) -> str:
    """Which matrix of a batch a message speaks of."""
    return f": (Batch element {number})" if np.ndim(x) > 2 else ""


def eye(n: int) -> Value:
    return np.eye(n, dtype=bool)


def lower(x: Value, strict: bool = False) -> Value:
    """The lower triangle, without the diagonal if strict; zeros elsewhere."""
    return Tril(diagonal=-1 if strict else 0)(x)


def upper(x: Value, strict: bool = False) -> Value:
    """The upper triangle, without the diagonal if strict; zeros elsewhere."""
    return Triu(diagonal=1 if strict else 0)(x)


def diagonal_of(x: Value) -> Value:
    """The main diagonal of square matrices."""
    return total(where(eye(x.shape[-1]), x, 0.0), -1)


def diagonal_matrix(x: Value) -> Value:
    """Square matrices with x on their diagonal."""
    return where(eye(x.shape[-1]), row(x), 0.0)


def like(x: Value, other: Value) -> Value:
    """x in the dtype of other: products of matrices don't promote."""
    return x if x.dtype == other.dtype else To(dtype=other.dtype)(x)


def row(x: Value) -> Value:
    """(..., n) -> (..., 1, n)."""
    return Unsqueeze(dim=-2)(x)


def column(x: Value) -> Value:
    """(..., n) -> (..., n, 1)."""
    return Unsqueeze(dim=-1)(x)


def spread(x: Value) -> Value:
    """(...) -> (..., 1, 1)."""
    return column(column(x))


def fitted(g: Value, shape: tuple[int, ...]) -> Value:
    """A gradient summed over the leading axes that were broadcast."""
    return g if g.shape == shape else SumTo(shape=shape)(g)


def lifted(args: Sequence[Value], lead: Sequence[bool], cores: Sequence[int]) -> list[Value]:
    """Batched arguments with axes of length 1 behind the leading one, so that their own leading axes still broadcast."""
    own = [rank(a) - batched - core for a, batched, core in zip(args, lead, cores, strict=True)]
    most = max(own)
    return [
        np.reshape(a, (len(a), *(1,) * (most - count), *np.shape(a)[1:])) if batched else a
        for a, batched, count in zip(args, lead, own, strict=True)
    ]
