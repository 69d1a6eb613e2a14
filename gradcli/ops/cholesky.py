"""The Cholesky factor of a positive definite matrix, and what is solved with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.ops import elimination
from gradcli.ops.exponential import sqrt
from gradcli.ops.matmul import Examples, adjoint, matmul
from gradcli.ops.matrices import LinAlgError, eye, lower, need_square, place
from gradcli.ops.operation import Operation, Value
from gradcli.ops.solve import solve_triangular
from gradcli.ops.where import where


class LinalgCholeskyEx(Operation):
    """The lower triangle L with L @ L.T = x (`upper`: its transpose). (..., n, n) -> (..., n, n).

    Only one triangle of x is read, but the gradient is that of (x + x.T) / 2, symmetric, as PyTorch's; so references
    move (x + x.T) / 2 too. LinAlgError unless x is positive definite. Source: I. Murray, Differentiation of the
    Cholesky decomposition, arXiv:1602.07527, eq. 10.
    """

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
            for high in (False, True):
                yield cls(upper=high), (root @ np.swapaxes(root, -1, -2) + 2 * np.eye(shape[-1]),)


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


def cholesky(x: Any, *, upper: bool = False) -> Any:
    """The Cholesky factor of a symmetric positive definite matrix, lower unless `upper`."""
    return LinalgCholeskyEx(upper=upper)(x)


def cholesky_inverse(x: Any, upper: bool = False) -> Any:
    """The inverse of the matrix whose Cholesky factor is x."""
    need_square("cholesky_inverse", x)
    back = solve_triangular(x, identity_like(x), upper=upper)
    return matmul(back, adjoint(back)) if upper else matmul(adjoint(back), back)


def cholesky_solve(x: Any, L: Any, upper: bool = False) -> Any:
    """The solution X of A @ X = x, where L is the Cholesky factor of A."""
    need_square("cholesky_solve", L)
    first, second = (adjoint(L), L) if upper else (L, adjoint(L))
    return solve_triangular(second, solve_triangular(first, x, upper=False), upper=True)


def identity_like(x: Any) -> Any:
    """The identity matrix in the dtype and the storage of x: a constant."""
    return where(eye(x.shape[-1]), np.ones(x.shape[-2:], x.dtype), np.zeros(x.shape[-2:], x.dtype))


OPERATIONS = (LinalgCholeskyEx,)
FUNCTIONS = (cholesky, cholesky_inverse, cholesky_solve)
SPELLINGS = {"linalg.cholesky": cholesky}
