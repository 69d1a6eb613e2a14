"""Inner, cross and Kronecker products, and chains of products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops.axes import one_dim
from gradcli.ops.conjugate import conj
from gradcli.ops.einsum import tensordot
from gradcli.ops.matmul import Examples, Vdot, broadcast_lead, dot, matmul, mm
from gradcli.ops.matrices import fitted, lifted
from gradcli.ops.operation import Structural, Value
from gradcli.ops.reduction import sum as total
from gradcli.ops.shape import UnsafeView, reshape, unsqueeze

vdot = Vdot()


class LinalgCross(Structural):
    """The vector product along `dim`, of length 3: out[0] = x[1] * y[2] - x[2] * y[1], and so on round. Broadcasts.

    (..., 3, ...), (..., 3, ...) -> (..., 3, ...).
    """

    saves = "dim other=y self=x"
    name = "linalg.cross"
    dim: int = -1

    def forward(self, x: Value, y: Value) -> Value:
        ahead, behind = (1, 2, 0), (2, 0, 1)

        def turned(v: Value, order: tuple[int, ...]) -> Value:
            return np.take(v, order, axis=self.dim)

        return turned(x, ahead) * turned(y, behind) - turned(x, behind) * turned(y, ahead)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(*lifted(args, lead, (0, 0)))

    def vjp_x(self, g: Value, y: Value, x_shape: tuple[int, ...]) -> Value:
        return fitted(self(conj(y), g), x_shape)

    def vjp_y(self, g: Value, x: Value, y_shape: tuple[int, ...]) -> Value:
        return fitted(self(g, conj(x)), y_shape)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(3,)), rng.normal(size=(3,)))
        yield cls(dim=-2), (rng.normal(size=(3, 2)), rng.normal(size=(3, 1)))
        yield cls(dim=-1), (rng.normal(size=(2, 3)), rng.normal(size=(3,)))


def linalg_cross(x: Value, y: Value, *, dim: int = -1) -> Any:
    """The vector product along `dim`, whose length must be 3."""
    if x.ndim != y.ndim:
        raise ShapeError("linalg.cross: inputs must have the same number of dimensions.")
    d = one_dim(dim, x.ndim)
    if x.shape[d] != 3 or y.shape[d] != 3:
        raise ShapeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {x.shape[d]} and {y.shape[d]}")
    broadcast_lead(x.shape, y.shape)
    return LinalgCross(dim=d)(x, y)


def cross(x: Value, y: Value, dim: int | None = None) -> Any:
    """The vector product along `dim`; without it along the first axis of length 3."""
    if dim is None:
        dim = next((d for d, n in enumerate(x.shape) if n == 3), None)
        if dim is None:
            raise ShapeError("no dimension of size 3 in input")
    return linalg_cross(x, y, dim=dim)


def vecdot(x: Value, y: Value, *, dim: int = -1) -> Any:
    """The inner product along `dim`, x conjugated: sum of conj(x) * y."""
    if x.ndim == y.ndim == 1:
        return vdot(x, y)
    return total(conj(x) * y, dim)


def inner(x: Value, y: Value) -> Any:
    """The sum over the last axis of both: out[i..., j...] = sum_k x[i..., k] * y[j..., k]."""
    if not x.ndim or not y.ndim:
        return x * y
    if x.shape[-1] != y.shape[-1]:
        raise ShapeError(f"inner() the last dimension must match on both input tensors but got shapes {list(x.shape)} and {list(y.shape)}")
    if x.ndim == y.ndim == 1:
        return dot(x, y)
    return tensordot(x, y, ([-1], [-1]))


def kron(x: Value, y: Value) -> Any:
    """The Kronecker product: each element of x times the whole of y."""
    n = max(x.ndim, y.ndim)
    a, b = (1,) * (n - x.ndim) + x.shape, (1,) * (n - y.ndim) + y.shape
    left = UnsafeView(shape=tuple(s for k in a for s in (k, 1)))(x)
    right = UnsafeView(shape=tuple(s for k in b for s in (1, k)))(y)
    return UnsafeView(shape=tuple(p * q for p, q in zip(a, b, strict=True)))(left * right)


def multi_dot(tensors: Any) -> Any:
    """The product of matrices in the order of fewest multiplications; the first and the last may be vectors.

    Source of the order: the dynamic programme of Cormen et al., Introduction to Algorithms, 15.2.
    """
    factors = list(tensors)
    if len(factors) < 2:
        raise ShapeError(f"multi_dot(): expected at least 2 tensors but got {len(factors)}")
    row, column = factors[0].ndim == 1, factors[-1].ndim == 1
    if len(factors) == 2:
        return matmul(*factors)
    if row:
        factors[0] = unsqueeze(factors[0], 0)
    if column:
        factors[-1] = unsqueeze(factors[-1], -1)
    for factor in factors:
        if factor.ndim != 2:
            raise ShapeError("multi_dot(): the first and last tensors must be 1D or 2D, those between 2D")
    out = _in_order(factors, best_order([f.shape[0] for f in factors] + [factors[-1].shape[1]]), 0, len(factors) - 1)
    return reshape(out, tuple(n for n, drop in zip(out.shape, (row, column), strict=True) if not drop))


def best_order(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split each run of factors, for the fewest multiplications."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            prices = {k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)}
            split[i, j] = min(reversed(prices) if count == 3 else prices, key=prices.__getitem__)  # PyTorch's choice among equals
            cost[i, j] = prices[split[i, j]]
    return split


def _in_order(factors: list[Any], split: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return factors[i]
    k = split[i, j]
    return mm(_in_order(factors, split, i, k), _in_order(factors, split, k + 1, j))


def chain_matmul(*matrices: Any) -> Any:
    """The product of matrices, as `linalg.multi_dot`."""
    return matrices[0] if len(matrices) == 1 else multi_dot(matrices)


OPERATIONS = (LinalgCross,)
FUNCTIONS = (cross, inner, kron, chain_matmul)
SPELLINGS = {"linalg.cross": linalg_cross, "linalg.vecdot": vecdot, "linalg.multi_dot": multi_dot, "vecdot": vecdot}
