"""Products with something added, outer and cross products, and chains of products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops.axes import one_dim
from gradcli.ops.conjugate import conj
from gradcli.ops.matmul import Bmm, Examples, Mm, Mv, bmm, broadcast_lead, dot, matmul, mm, mv
from gradcli.ops.operation import Operation, Structural, Value, rank
from gradcli.ops.reduction import sum as total
from gradcli.ops.shape import T, UnsafeView, reshape, squeeze, unsqueeze
from gradcli.ops.structure import Expand, SumTo


class AddedProduct(Structural, abstract=True):
    """beta * x + alpha * (product of the other two); x broadcasts. beta = 0 ignores x, NaN included."""

    beta: float = 1.0
    alpha: float = 1.0

    def product(self, a: Value, b: Value) -> Value:
        raise NotImplementedError

    def added(self, x: Value, product: Value) -> Value:
        if self.beta == 0:
            return self.alpha * product + np.zeros(np.shape(x), product.dtype)
        return (x if self.beta == 1 else self.beta * x) + (product if self.alpha == 1 else self.alpha * product)

    def batched(self, args: Sequence[Value], lead: Sequence[bool], operation: Operation) -> Any:
        x, a, b = args
        product = operation.batch([a, b], lead[1:]) if any(lead[1:]) else operation.forward(a, b)
        missing = rank(product) - any(lead[1:]) - (rank(x) - lead[0])
        return self.added(np.reshape(x, (len(x), *(1,) * missing, *np.shape(x)[1:])) if lead[0] else x, product)

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        g = g if self.beta == 1 else g * self.beta
        return g if g.shape == x_shape else SumTo(shape=x_shape)(g)

    def scaled(self, g: Value) -> Value:
        return g if self.alpha == 1 else g * self.alpha


class Addmm(AddedProduct):
    """beta * x + alpha * (mat1 @ mat2). (m, n) or broadcastable, (m, k), (k, n) -> (m, n)."""

    def forward(self, x: Value, mat1: Value, mat2: Value) -> Value:
        return self.added(x, mm(mat1, mat2))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.batched(args, lead, mm)

    def vjp_mat1(self, g: Value, mat2: Value) -> Value:
        return Mm().vjp_x(self.scaled(g), mat2)

    def vjp_mat2(self, g: Value, mat1: Value) -> Value:
        return Mm().vjp_mat2(self.scaled(g), mat1)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for shape in ((2, 2), (2,), ()):
            yield cls(beta=0.5, alpha=2.0), (rng.normal(size=shape), rng.normal(size=(2, 3)), rng.normal(size=(3, 2)))
        yield cls(), (rng.normal(size=(2, 2)), rng.normal(size=(2, 3)), rng.normal(size=(3, 2)))


class Addmv(AddedProduct):
    """beta * x + alpha * (mat @ vec). (m) or (), (m, k), (k) -> (m)."""

    def forward(self, x: Value, mat: Value, vec: Value) -> Value:
        return self.added(x, mv(mat, vec))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.batched(args, lead, mv)

    def vjp_mat(self, g: Value, vec: Value) -> Value:
        return Mv().vjp_x(self.scaled(g), vec)

    def vjp_vec(self, g: Value, mat: Value) -> Value:
        return Mv().vjp_vec(self.scaled(g), mat)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(beta=0.5, alpha=2.0), (rng.normal(size=(2,)), rng.normal(size=(2, 3)), rng.normal(size=(3,)))


class Baddbmm(AddedProduct):
    """beta * x + alpha * (batch1 @ batch2) for each leading index. (b, m, n), (b, m, k), (b, k, n) -> (b, m, n)."""

    def forward(self, x: Value, batch1: Value, batch2: Value) -> Value:
        return self.added(x, bmm(batch1, batch2))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.batched(args, lead, bmm)

    def vjp_batch1(self, g: Value, batch2: Value) -> Value:
        return Bmm().vjp_x(self.scaled(g), batch2)

    def vjp_batch2(self, g: Value, batch1: Value) -> Value:
        return Bmm().vjp_mat2(self.scaled(g), batch1)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(beta=0.5, alpha=2.0), (rng.normal(size=(2, 2, 2)), rng.normal(size=(2, 2, 3)), rng.normal(size=(2, 3, 2)))


class Addbmm(AddedProduct):
    """beta * x + alpha * sum over b of batch1[b] @ batch2[b]. (m, n), (b, m, k), (b, k, n) -> (m, n)."""

    def forward(self, x: Value, batch1: Value, batch2: Value) -> Value:
        return self.added(x, np.add.reduce(bmm(batch1, batch2), axis=-3))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        x, a, b = args
        return self.added(x, np.add.reduce(np.matmul(a, b), axis=-3))

    def vjp_batch1(self, g: Value, batch2: Value) -> Value:
        return Bmm().vjp_x(self.repeated(g, batch2), batch2)

    def vjp_batch2(self, g: Value, batch1: Value) -> Value:
        return Bmm().vjp_mat2(self.repeated(g, batch1), batch1)

    def repeated(self, g: Value, other: Value) -> Value:
        return Expand(shape=(other.shape[0], *g.shape))(self.scaled(g))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(beta=0.5, alpha=2.0), (rng.normal(size=(2, 2)), rng.normal(size=(3, 2, 3)), rng.normal(size=(3, 3, 2)))


class Addr(AddedProduct):
    """beta * x + alpha * outer(vec1, vec2). (m, n) or broadcastable, (m), (n) -> (m, n)."""

    def forward(self, x: Value, vec1: Value, vec2: Value) -> Value:
        if np.ndim(vec1) != 1 or np.ndim(vec2) != 1:
            raise ShapeError(f"addr: Expected 1-D argument vec1, but got {np.ndim(vec1)}-D")
        return self.added(x, vec1[:, None] * vec2)

    def size(self, *args: Value) -> int:
        return int(np.size(args[1]) * np.size(args[2]))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        x, a, b = args
        missing = 2 - (rank(x) - lead[0])
        x = np.reshape(x, (len(x), *(1,) * missing, *np.shape(x)[1:])) if lead[0] else x
        return self.added(x, a[..., :, None] * b[..., None, :])

    def vjp_vec1(self, g: Value, vec2: Value) -> Value:
        return mv(self.scaled(g), conj(vec2))

    def vjp_vec2(self, g: Value, vec1: Value) -> Value:
        return mv(T()(self.scaled(g)), conj(vec1))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(beta=0.5, alpha=2.0), (rng.normal(size=(2, 3)), rng.normal(size=(2,)), rng.normal(size=(3,)))


class LinalgCross(Structural):
    """The vector product along `dim`, of length 3: out[0] = x[1] * y[2] - x[2] * y[1], and so on round. Broadcasts."""

    name = "linalg.cross"
    dim: int = -1

    def forward(self, x: Value, y: Value) -> Value:
        ahead, behind = (1, 2, 0), (2, 0, 1)

        def turned(v: Value, order: tuple[int, ...]) -> Value:
            return np.take(v, order, axis=self.dim)

        return turned(x, ahead) * turned(y, behind) - turned(x, behind) * turned(y, ahead)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        full = max(rank(a) - batched for a, batched in zip(args, lead))
        return self.forward(*[
            np.reshape(a, (len(a), *(1,) * (full - rank(a) + 1), *np.shape(a)[1:])) if batched else a for a, batched in zip(args, lead)
        ])  # fmt: skip

    def vjp_x(self, g: Value, y: Value, x_shape: tuple[int, ...]) -> Value:
        return self.fitted(self(conj(y), g), x_shape)

    def vjp_y(self, g: Value, x: Value, y_shape: tuple[int, ...]) -> Value:
        return self.fitted(self(g, conj(x)), y_shape)

    def fitted(self, g: Value, shape: tuple[int, ...]) -> Value:
        return g if g.shape == shape else SumTo(shape=shape)(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(3,)), rng.normal(size=(3,)))
        yield cls(dim=-2), (rng.normal(size=(3, 2)), rng.normal(size=(3, 1)))
        yield cls(dim=-1), (rng.normal(size=(2, 3)), rng.normal(size=(3,)))


def linalg_cross(x: Any, y: Any, *, dim: int = -1) -> Any:
    """The vector product along `dim`, whose length must be 3."""
    if x.ndim != y.ndim:
        raise ShapeError("linalg.cross: inputs must have the same number of dimensions.")
    d = one_dim(dim, x.ndim)
    if x.shape[d] != 3 or y.shape[d] != 3:
        raise ShapeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {x.shape[d]} and {y.shape[d]}")
    broadcast_lead(x.shape, y.shape)
    return LinalgCross(dim=d)(x, y)


def cross(x: Any, y: Any, dim: int | None = None) -> Any:
    """The vector product along `dim`; without it along the first axis of length 3."""
    if dim is None:
        dim = next((d for d, n in enumerate(x.shape) if n == 3), None)
        if dim is None:
            raise ShapeError("no dimension of size 3 in input")
    return linalg_cross(x, y, dim=dim)


def vecdot(x: Any, y: Any, *, dim: int = -1) -> Any:
    """The inner product along `dim`, x conjugated: sum of conj(x) * y."""
    return total(conj(x) * y, dim)


def inner(x: Any, y: Any) -> Any:
    """The sum over the last axis of both: out[i..., j...] = sum_k x[i..., k] * y[j..., k]."""
    if not x.ndim or not y.ndim:
        return x * y
    if x.shape[-1] != y.shape[-1]:
        raise ShapeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(x.shape)} and {list(y.shape)}"
        )
    if x.ndim == y.ndim == 1:
        return dot(x, y)
    rows, columns = reshape(x, (-1, x.shape[-1])), reshape(y, (-1, y.shape[-1]))
    return reshape(mm(rows, T()(columns)), (*x.shape[:-1], *y.shape[:-1]))


def kron(x: Any, y: Any) -> Any:
    """The Kronecker product: each element of x times the whole of y."""
    n = max(x.ndim, y.ndim)
    a, b = (1,) * (n - x.ndim) + x.shape, (1,) * (n - y.ndim) + y.shape
    left = UnsafeView(shape=tuple(s for k in a for s in (k, 1)))(x)
    right = UnsafeView(shape=tuple(s for k in b for s in (1, k)))(y)
    return UnsafeView(shape=tuple(p * q for p, q in zip(a, b)))(left * right)


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
    return reshape(out, tuple(n for n, drop in zip(out.shape, (row, column)) if not drop))


def best_order(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split each run of factors, for the fewest multiplications."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            prices = {k: cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)}
            split[i, j] = min(prices, key=prices.__getitem__)
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


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """x @ weight.T + bias. x (..., in), weight (out, in) or (in), bias (out) -> (..., out)."""
    if weight.ndim == 1 or x.ndim == 0:
        out = matmul(x, weight)
        return out if bias is None else out + bias
    turned = T()(weight)
    if bias is None:
        return matmul(x, turned)
    if x.shape[-1] != weight.shape[1]:
        rows = int(np.prod(x.shape[:-1]))
        raise ShapeError(f"mat1 and mat2 shapes cannot be multiplied ({rows}x{x.shape[-1]} and {weight.shape[1]}x{weight.shape[0]})")
    if x.ndim == 2:
        return Addmm()(bias, x, turned)
    return reshape(Addmm()(bias, reshape(x, (-1, x.shape[-1])), turned), (*x.shape[:-1], weight.shape[0]))


def bilinear(x: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """out[..., o] = sum over i, j of x[..., i] * weight[o, i, j] * input2[..., j], plus bias[o]."""
    if x.shape[:-1] != input2.shape[:-1]:
        raise ShapeError(f"bilinear(): input batch dimensions do not match: got {list(x.shape)} and {list(input2.shape)}")
    if weight.ndim != 3 or weight.shape[1:] != (x.shape[-1], input2.shape[-1]):
        sizes = f"{x.shape[-1]} and {input2.shape[-1]}"
        raise ShapeError(f"bilinear(): weight of shape {list(weight.shape)} does not fit inputs of sizes {sizes}")
    rows = unsqueeze(unsqueeze(x, -2), -2)
    out = squeeze(matmul(matmul(rows, weight), unsqueeze(unsqueeze(input2, -1), -3)), (-1, -2))
    return out if bias is None else out + bias


OPERATIONS = (Addmm, Addmv, Baddbmm, Addbmm, Addr, LinalgCross)
FUNCTIONS = (cross, inner, kron, chain_matmul, linear, bilinear)
SPELLINGS = {"linalg.cross": linalg_cross, "linalg.vecdot": vecdot, "linalg.multi_dot": multi_dot, "vecdot": vecdot}
