"""The Cholesky factor of a positive definite matrix, and what is solved with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops import elimination
from gradcli.ops.exponential import sqrt
from gradcli.ops.matmul import Examples, adjoint, matmul
from gradcli.ops.matrices import LinAlgError, eye, fitted, lifted, lower, need_matrix, need_square, place
from gradcli.ops.matrices import upper as high
from gradcli.ops.operation import Operation, Value
from gradcli.ops.solve import solve_triangular
from gradcli.ops.where import where


class LinalgCholeskyEx(Operation):
    """The lower triangle L with L @ L.T = x (`upper`: its transpose). (..., n, n) -> (..., n, n).

    Only one triangle of x is read, but the gradient is that of (x + x.T) / 2, symmetric, as PyTorch's; so references
    move (x + x.T) / 2 too. LinAlgError unless x is positive definite. Source: I. Murray, Differentiation of the
    Cholesky decomposition, arXiv:1602.07527, eq. 10.
    """

    refused = "biu"
    kernel_name = "linalg.cholesky"
    one_triangle = True

    saves = "L=out upper"
    multiplications = 1
    analytic = False
    name = "linalg.cholesky"
    upper: bool = False

    def forward(self, x: Value) -> Value:
        need_square("linalg.cholesky", x)
        source = np.conjugate(np.swapaxes(x, -1, -2)) if self.upper else x
        try:
            low = np.linalg.cholesky(source)
        except np.linalg.LinAlgError:
            number, order = failing_minor(source)
            raise LinAlgError(
                f"linalg.cholesky{place(x, number)}: The factorization could not be completed because the input is not "
                f"positive-definite (the leading minor of order {order} is not positive-definite)."
            ) from None
        return np.conjugate(np.swapaxes(low, -1, -2)) if self.upper else low

    def decide(self, x: Value) -> Value:
        return unread(x, self.upper)

    def branch(self, x: Value, decision: Any = None) -> Value:
        return self.forward(symmetric(x) + decision)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.branch(args[0], decision=decision)

    def exact(self, *args: Value, decision: Any = None) -> Value:
        low = elimination.each(lambda a: elimination.cholesky(a, sqrt), (symmetric(args[0]) + decision,), (2,))
        return np.conjugate(np.swapaxes(low, -1, -2)) if self.upper else low

    def vjp_x(self, g: Value, out: Value) -> Value:
        low, g = (adjoint(out), adjoint(g)) if self.upper else (out, g)
        inner = lower(matmul(adjoint(low), lower(g)))
        halved = where(eye(low.shape[-1]), inner * 0.5, inner)
        middle = solve_triangular(adjoint(low), halved + adjoint(halved), upper=True)
        return solve_triangular(low, middle, upper=False, left=False) * 0.5

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for shape in ((2, 2), (3, 3), (2, 2, 2)):
            root = rng.normal(size=shape)
            for up in (False, True):
                yield cls(upper=up), (root @ np.swapaxes(root, -1, -2) + 2 * np.eye(shape[-1]),)


def symmetric(x: Value) -> Value:
    """(x + x.T) / 2."""
    return (x + np.conjugate(np.swapaxes(x, -1, -2))) * 0.5 if np.ndim(x) > 1 else x


def unread(x: Value, upper: bool) -> Value:
    """What reading one triangle alone adds to (x + x.T) / 2: 0 where x is symmetric."""
    if np.ndim(x) < 2:
        return np.zeros(())
    half = np.triu(x, 1) if upper else np.tril(x, -1)
    diagonal = np.where(eye(x.shape[-1]), np.real(x), 0.0)
    return half + np.conjugate(np.swapaxes(half, -1, -2)) + diagonal - symmetric(x)


def failing_minor(x: Value) -> tuple[int, int]:
    """The number of the first matrix of a batch that is not positive definite, and the order of its first minor that is not."""
    for number, index in enumerate(np.ndindex(*x.shape[:-2])):
        for order in range(1, x.shape[-1] + 1):
            try:
                np.linalg.cholesky(x[index][:order, :order])
            except np.linalg.LinAlgError:
                return number, order
    return 0, x.shape[-1]


def cholesky(x: Value, *, upper: bool = False) -> Any:
    """The Cholesky factor of a symmetric positive definite matrix, lower unless `upper`."""
    return LinalgCholeskyEx(upper=upper)(x)


def old_cholesky(x: Value, upper: bool = False) -> Any:
    """The Cholesky factor of a symmetric positive definite matrix, lower unless `upper`: the older spelling of linalg.cholesky."""
    op = LinalgCholeskyEx(upper=upper)
    op.node = "CholeskyBackward0"
    return op(x)


class CholeskySolve(Operation):
    """X with A @ X = x, for A = L @ L.T (`upper`: L.T @ L). (..., n, k), (..., n, n) -> (..., n, k).

    One triangle of L is read, but the gradient is that of a full factor, as PyTorch's; so references move a full one.
    """

    refused = "biu"
    kernel_name = "cholesky_solve_cpu"

    saves = "input2=L result=out self=x upper"
    analytic = False
    upper: bool = False

    def forward(self, x: Value, L: Value) -> Value:
        low = np.conjugate(np.swapaxes(L, -1, -2)) if self.upper else L
        high = np.conjugate(np.swapaxes(low, -1, -2))
        return solve_triangular(high, solve_triangular(low, x, upper=False), upper=True)

    def decide(self, x: Value, L: Value) -> Value:
        return outside(L, self.upper)

    def branch(self, x: Value, L: Value, decision: Any = None) -> Value:
        return np.linalg.solve(squared(L + decision, self.upper), x)

    def exact(self, *args: Value, decision: Any = None) -> Value:
        x, L = args
        return elimination.each(elimination.solve, (squared(L + decision, self.upper), x), (2, 2))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.replay(lifted(args, lead, (2, 2)), decision)

    def vjp_x(self, g: Value, L: Value, x_shape: tuple[int, ...]) -> Value:
        return fitted(self(g, L), x_shape)

    def vjp_L(self, g: Value, x: Value, L: Value, out: Value, L_shape: tuple[int, ...]) -> Value:
        product = matmul(self(g, L), adjoint(out))
        both = product + adjoint(product)
        return fitted(-(matmul(high(L), both) if self.upper else matmul(both, lower(L))), L_shape)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for up in (False, True):
            yield cls(upper=up), (rng.normal(size=(3, 2)), triangle(rng.normal(size=(3, 3)) + 3 * np.eye(3), up))
        yield cls(), (rng.normal(size=(2, 1)), triangle(rng.normal(size=(2, 2, 2)) + 3 * np.eye(2), False))


class CholeskyInverse(Operation):
    """The inverse of A = x @ x.T (`upper`: x.T @ x). (..., n, n) -> (..., n, n).

    One triangle of x is read, but the gradient is that of a full factor, as PyTorch's; so references move a full one.
    """

    refused = "biu"
    kernel_name = "cholesky_inverse_out_cpu"

    saves = "result=out self=x upper"
    analytic = False
    upper: bool = False

    def forward(self, x: Value) -> Value:
        low = np.conjugate(np.swapaxes(x, -1, -2)) if self.upper else x
        back = solve_triangular(low, np.broadcast_to(np.eye(x.shape[-1], dtype=x.dtype), x.shape), upper=False)
        return np.matmul(np.conjugate(np.swapaxes(back, -1, -2)), back)

    def decide(self, x: Value) -> Value:
        return outside(x, self.upper)

    def branch(self, x: Value, decision: Any = None) -> Value:
        return np.linalg.inv(squared(x + decision, self.upper))

    def exact(self, *args: Value, decision: Any = None) -> Value:
        return elimination.each(elimination.inverse, (squared(args[0] + decision, self.upper),), (2,))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.branch(args[0], decision=decision)

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        both = matmul(out, matmul(g + adjoint(g), out))
        return -(matmul(high(x), both) if self.upper else matmul(both, lower(x)))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for up in (False, True):
            yield cls(upper=up), (triangle(rng.normal(size=(3, 3)) + 3 * np.eye(3), up),)


def triangle(x: Value, upper: bool) -> Value:
    return np.triu(x) if upper else np.tril(x)


def outside(x: Value, upper: bool) -> Value:
    """What taking one triangle alone adds to x: 0 where the rest is 0."""
    return triangle(x, upper) - x


def squared(x: Value, upper: bool) -> Value:
    """The matrix whose Cholesky factor is x."""
    turned = np.conjugate(np.swapaxes(x, -1, -2))
    return np.matmul(turned, x) if upper else np.matmul(x, turned)


def cholesky_inverse(x: Value, upper: bool = False) -> Any:
    """The inverse of the matrix whose Cholesky factor is x."""
    need_square("cholesky_inverse", x)
    return CholeskyInverse(upper=upper)(x)


def cholesky_solve(x: Value, L: Value, upper: bool = False) -> Any:
    """The solution X of A @ X = x, where L is the Cholesky factor of A."""
    need_square("cholesky_solve", L)
    need_matrix("cholesky_solve", x)
    if x.shape[-2] != L.shape[-1]:
        raise ShapeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {L.shape[-1]} by {L.shape[-1]} "
            f"but each b matrix is {x.shape[-2]} by {x.shape[-1]}"
        )
    return CholeskySolve(upper=upper)(x, L)


def identity_like(x: Any) -> Any:
    """The identity matrix in the dtype and the storage of x: a constant."""
    return where(eye(x.shape[-1]), np.ones(x.shape[-2:], x.dtype), np.zeros(x.shape[-2:], x.dtype))


OPERATIONS = (LinalgCholeskyEx, CholeskySolve, CholeskyInverse)
FUNCTIONS = (cholesky_inverse, cholesky_solve)
SPELLINGS: dict[str, Any] = {"linalg.cholesky": cholesky, "cholesky": old_cholesky}
