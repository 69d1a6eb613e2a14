"""The LU factorisation with row exchanges, and what is solved with it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops import elimination
from gradcli.ops.axes import raw
from gradcli.ops.factored import Factored, exchanges
from gradcli.ops.gathering import take_along_dim
from gradcli.ops.indexing import getitem
from gradcli.ops.joining import cat
from gradcli.ops.matmul import Examples, adjoint, matmul
from gradcli.ops.matrices import eye, lower, need_matrix, upper
from gradcli.ops.operation import Operation, Value
from gradcli.ops.returned import returned
from gradcli.ops.solve import solve_triangular
from gradcli.ops.where import where


class LinalgLuFactorEx(Factored):
    """L (unit lower triangle) and U in one matrix, with L @ U = x[order]. (..., m, n) -> (..., m, n).

    `order`, the largest entry of each column first, is the decision. Zeros on the diagonal of U have no gradient.
    Source: F. de Hoog, R. Anderssen, M. Lukas, Differentiation of matrix functionals using triangular factorization, 2011.
    """

    saves = "LU=out pivot:True pivots=row_exchanges"
    multiplications = 1
    name = "lu_compact"

    def decide(self, x: Value) -> Value:
        return elimination.each(lambda a: elimination.factor(a)[1], (x,), (2,))

    def branch(self, x: Value, decision: Any = None) -> Value:
        return elimination.each(elimination.ordered, (x, decision), (2, 1))

    def exact(self, *args: Value, decision: Any = None) -> Value:
        return self.replay(args, self.decide(*args) if decision is None else decision)

    def row_exchanges(self, decision: Value, out: Value) -> Value:
        return elimination.each(lambda o: exchanges(o, min(out.shape[-2:])), (decision,), (1,)).astype(np.int32)

    def vjp_x(self, g: Value, out: Value, decision: Value) -> Value:
        m, n = out.shape[-2:]
        k = min(m, n)
        head, right, below = slice(None, k), slice(k, None), slice(k, None)
        low = unit_lower(block(out, head, head))
        high = upper(block(out, head, head))
        of_low, of_high = lower(block(g, head, head), strict=True), upper(block(g, head, head))
        rest: Any = None
        if n > m:
            rest = solve_triangular(adjoint(low), block(g, head, right), upper=True, unitriangular=True)
            of_low = lower(of_low - matmul(rest, adjoint(block(out, head, right))), strict=True)
        elif m > n:
            rest = solve_triangular(adjoint(high), block(g, below, head), upper=False, left=False)
            of_high = upper(of_high - matmul(adjoint(block(out, below, head)), rest))
        inner = lower(matmul(adjoint(low), of_low), strict=True) + upper(matmul(of_high, adjoint(high)))
        half = solve_triangular(adjoint(low), inner, upper=True, unitriangular=True)
        part = solve_triangular(adjoint(high), half, upper=False, left=False)
        if rest is not None:
            part = cat([part, rest], -1 if n > m else -2)
        return take_along_dim(part, np.argsort(decision, axis=-1)[..., None], -2)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 3)):
            yield cls(), (rng.normal(size=shape),)


class Pivots(Operation):
    """The row exchanges of an order of rows, as LAPACK counts them: row k was exchanged with row pivots[k], from 1."""

    differentiable = False

    def forward(self, x: Value) -> Value:
        order = LinalgLuFactorEx().decide(x)
        return elimination.each(lambda o: exchanges(o, min(x.shape[-2:])), (order,), (1,))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(3, 3)),)


def ordering(pivots: Value, rows: int) -> Value:
    """The order of rows that successive exchanges lead to."""

    def one(exchanged: np.ndarray) -> np.ndarray:
        now = list(range(rows))
        for k, at in enumerate(exchanged):
            now[k], now[int(at) - 1] = now[int(at) - 1], now[k]
        return np.array(now)

    return elimination.each(one, (pivots,), (1,))


def block(x: Value, rows: slice, columns: slice) -> Value:
    return x if x.shape[-2] == x.shape[-1] else getitem(x, (Ellipsis, rows, columns))


def unit_lower(x: Value) -> Value:
    """The lower triangle with ones on its diagonal."""
    return where(eye(x.shape[-1]), 1.0, lower(x, strict=True))


compact: Operation = LinalgLuFactorEx()
pivots_of: Operation = Pivots()
LuFactor = returned("linalg_lu_factor", "LU pivots")
LuResult = returned("linalg_lu", "P L U")


def lu_factor(x: Any, *, pivot: bool = True) -> Any:
    """(LU, pivots): the LU factorisation of x in one matrix, and the row exchanges."""
    need_matrix("linalg.lu_factor", x)
    return LuFactor(compact(x), pivots_of(x))


def lu(x: Any, *, pivot: bool = True) -> Any:
    """(P, L, U) with P @ L @ U = x."""
    need_matrix("linalg.lu", x)
    packed = compact(x)
    m, n = x.shape[-2:]
    k = min(m, n)
    left = getitem(packed, (Ellipsis, slice(None), slice(0, k))) if n > k else packed
    high = getitem(packed, (Ellipsis, slice(0, k), slice(None))) if m > k else packed
    low = where(np.eye(m, k, dtype=bool), 1.0, lower(left, strict=True))
    return LuResult(Permutation()(x), low, upper(high))


class Permutation(Operation):
    """The permutation matrix of the row exchanges of an LU factorisation: a constant."""

    differentiable = False

    def forward(self, x: Value) -> Value:
        order = compact.decide(x)
        return np.swapaxes(np.eye(x.shape[-2], dtype=x.dtype)[order], -1, -2)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(3, 3)),)


def linalg_lu_solve(x: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False) -> Any:
    """The solution X of A @ X = B (or X @ A = B), from (x, pivots) = linalg.lu_factor(A); `adjoint`: with the conjugate transpose of A."""
    if not left:
        return _turned(linalg_lu_solve(x, pivots, _turned(B), adjoint=not adjoint))
    order = ordering(np.asarray(raw(pivots)), x.shape[-1])
    if adjoint:
        half = solve_triangular(_turned(x), B, upper=False)
        out = solve_triangular(_turned(x), half, upper=True, unitriangular=True)
        return take_along_dim(out, np.argsort(order, axis=-1)[..., None], -2)
    rows = take_along_dim(B, order[..., None], -2)
    return solve_triangular(x, solve_triangular(x, rows, upper=False, unitriangular=True), upper=True)


_turned = adjoint


def lu_solve(x: Any, LU_data: Any, LU_pivots: Any) -> Any:
    """The solution X of A @ X = x from the LU factorisation of A."""
    return linalg_lu_solve(LU_data, LU_pivots, x)


OPERATIONS = (LinalgLuFactorEx,)
FUNCTIONS = (lu_solve,)
SPELLINGS = {"linalg.lu_factor": lu_factor, "linalg.lu": lu, "linalg.lu_solve": linalg_lu_solve}
