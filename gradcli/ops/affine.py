"""Products with something added, and the affine maps of layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops.conjugate import conj
from gradcli.ops.elementwise import rank
from gradcli.ops.matmul import Bmm, Examples, Mm, Mv, Pair, bmm, matmul, mm, mv
from gradcli.ops.operation import Operation, Structural, Value
from gradcli.ops.shape import reshape, unsqueeze
from gradcli.ops.structure import Expand, SumTo
from gradcli.ops.transposition import T


class AddedProduct(Structural, abstract=True):
    """beta * x + alpha * (product of the other two); x broadcasts. beta = 0 ignores x, NaN included."""

    beta: float = 1
    alpha: float = 1

    def product(self, a: Value, b: Value) -> Value:
        raise NotImplementedError

    def added(self, x: Value, product: Value) -> Value:
        if self.beta == 0:
            return self.alpha * product + np.zeros(np.shape(x), product.dtype)
        return (x if self.beta == 1 else self.beta * x) + (product if self.alpha == 1 else self.alpha * product)

    def replay(self, args: Sequence[Value], decision: Any) -> Any:
        return self.batch(args, [False] * len(args))

    def batched(self, args: Sequence[Value], lead: Sequence[bool], operation: Operation) -> Any:
        x, a, b = args
        product = operation.batch([a, b], lead[1:])
        missing = rank(product) - any(lead[1:]) - (rank(x) - lead[0])
        return self.added(np.reshape(x, (len(x), *(1,) * missing, *np.shape(x)[1:])) if lead[0] else x, product)

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        g = g if self.beta == 1 else g * self.beta
        return g if g.shape == x_shape else SumTo(shape=x_shape)(g)

    def scaled(self, g: Value) -> Value:
        return g if self.alpha == 1 else g * self.alpha


class Addmm(AddedProduct):
    """beta * x + alpha * (mat1 @ mat2). (m, n) or broadcastable, (m, k), (k, n) -> (m, n)."""

    saves = (
        "alpha beta mat1 mat1_sym_sizes=mat1_shape "
        "mat1_sym_strides=mat1_strides mat2 mat2_sym_sizes=mat2_shape mat2_sym_strides=mat2_strides"
    )

    def forward(self, x: Value, mat1: Value, mat2: Value) -> Value:
        return self.added(x, mm(mat1, mat2))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.batched(args, lead, mm)

    def vjp_mat1(self, g: Value, mat2: Value, mat1_shape: Pair, mat1_strides: Pair) -> Value:
        return self.scaled(Mm().vjp_x(g, mat2, mat1_shape, mat1_strides))

    def vjp_mat2(self, g: Value, mat1: Value, mat2_shape: Pair, mat2_strides: Pair) -> Value:
        return self.scaled(Mm().vjp_mat2(g, mat1, mat2_shape, mat2_strides))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for shape in ((2, 2), (2,), ()):
            yield cls(beta=0.5, alpha=2.0), (rng.normal(size=shape), rng.normal(size=(2, 3)), rng.normal(size=(3, 2)))
        yield cls(), (rng.normal(size=(2, 2)), rng.normal(size=(2, 3)), rng.normal(size=(3, 2)))


class Addmv(AddedProduct):
    """beta * x + alpha * (mat @ vec). (m) or (), (m, k), (k) -> (m)."""

    saves = "alpha beta mat vec"

    def forward(self, x: Value, mat: Value, vec: Value) -> Value:
        return self.added(x, mv(mat, vec))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.batched(args, lead, mv)

    def vjp_mat(self, g: Value, vec: Value) -> Value:
        return self.scaled(Mv().vjp_x(g, vec))

    def vjp_vec(self, g: Value, mat: Value) -> Value:
        return self.scaled(Mv().vjp_vec(g, mat))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(beta=0.5, alpha=2.0), (rng.normal(size=(2,)), rng.normal(size=(2, 3)), rng.normal(size=(3,)))


class Baddbmm(AddedProduct):
    """beta * x + alpha * (batch1 @ batch2) for each leading index. (b, m, n), (b, m, k), (b, k, n) -> (b, m, n)."""

    saves = "alpha batch1 batch2 beta"

    def forward(self, x: Value, batch1: Value, batch2: Value) -> Value:
        return self.added(x, bmm(batch1, batch2))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.batched(args, lead, bmm)

    def vjp_batch1(self, g: Value, batch2: Value) -> Value:
        return self.scaled(Bmm().vjp_x(g, batch2))

    def vjp_batch2(self, g: Value, batch1: Value) -> Value:
        return self.scaled(Bmm().vjp_mat2(g, batch1))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(beta=0.5, alpha=2.0), (rng.normal(size=(2, 2, 2)), rng.normal(size=(2, 2, 3)), rng.normal(size=(2, 3, 2)))


class Addbmm(AddedProduct):
    """beta * x + alpha * sum over b of batch1[b] @ batch2[b]. (m, n), (b, m, k), (b, k, n) -> (m, n)."""

    saves = (
        "alpha batch1 batch1_sym_argsize_0=batch1_shape.0 "
        "batch1_sym_argsize_1=batch1_shape.1 batch2 batch2_sym_argsize_2=batch2_shape.2 beta"
    )

    def forward(self, x: Value, batch1: Value, batch2: Value) -> Value:
        return self.added(x, np.add.reduce(bmm(batch1, batch2), axis=-3))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        x, a, b = args
        return self.added(x, np.add.reduce(np.matmul(a, b), axis=-3))

    def vjp_batch1(self, g: Value, batch2: Value) -> Value:
        return self.scaled(Bmm().vjp_x(self.repeated(g, batch2), batch2))

    def vjp_batch2(self, g: Value, batch1: Value) -> Value:
        return self.scaled(Bmm().vjp_mat2(self.repeated(g, batch1), batch1))

    def repeated(self, g: Value, other: Value) -> Value:
        return Expand(shape=(other.shape[0], *g.shape))(unsqueeze(g, 0))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(beta=0.5, alpha=2.0), (rng.normal(size=(2, 2)), rng.normal(size=(3, 2, 3)), rng.normal(size=(3, 3, 2)))


class Addr(AddedProduct):
    """beta * x + alpha * outer(vec1, vec2). (m, n) or broadcastable, (m), (n) -> (m, n)."""

    saves = "alpha beta vec1 vec2"

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
        return self.scaled(mv(g, conj(vec2)))

    def vjp_vec2(self, g: Value, vec1: Value) -> Value:
        return self.scaled(mv(T()(g), conj(vec1)))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(beta=0.5, alpha=2.0), (rng.normal(size=(2, 3)), rng.normal(size=(2,)), rng.normal(size=(3,)))


def linear(x: Value, weight: Value, bias: Value | None = None) -> Any:
    """x @ weight.T + bias. x (..., in), weight (out, in) or (in), bias (out) -> (..., out)."""
    if weight.ndim == 1 or x.ndim == 0:
        out = matmul(x, T()(weight) if weight.ndim == 1 else weight)
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


OPERATIONS = (Addmm, Addmv, Baddbmm, Addbmm, Addr)
FUNCTIONS = (linear,)
