"""The LU factorisation with row exchanges, and what is solved with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.ops import elimination
from gradcli.ops.axes import raw
from gradcli.ops.factored import Factored, exchanges
from gradcli.ops.gathering import take_along_dim
from gradcli.ops.indexing import getitem
from gradcli.ops.joining import cat
from gradcli.ops.matmul import Examples, adjoint, matmul
from gradcli.ops.matrices import eye, fitted, lifted, lower, need_matrix, upper
from gradcli.ops.operation import Operation, Value
from gradcli.ops.padding import ConstantPadNd
from gradcli.ops.returned import returned
from gradcli.ops.solve import solve_triangular
from gradcli.ops.where import where


class LinalgLuFactorEx(Factored):
    """L (unit lower triangle) and U in one matrix, with L @ U = x[order]. (..., m, n) -> (..., m, n).

    `order`, the largest entry of each column first, is the decision. Zeros on the diagonal of U have no gradient.
    Source: F. de Hoog, R. Anderssen, M. Lukas, Differentiation of matrix functionals using triangular factorization, 2011.
    """

    refused = "biu"
    kernel_name = "lu_cpu"

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


def lu_factor(x: Value, *, pivot: bool = True) -> Any:
    """(LU, pivots): the LU factorisation of x in one matrix, and the row exchanges."""
    need_matrix("linalg.lu_factor", x)
    return LuFactor(compact(x), pivots_of(x))


class LinalgLu(Factored):
    """L (unit lower triangle) and U with L @ U = x[order]. (..., m, n) -> (..., m, k), (..., k, n), k = min(m, n)."""

    refused = "biu"
    kernel_name = "lu_cpu"

    saves = "L=out.0 P=permutation U=out.1 pivot:True"
    multiplications = 1
    name = "linalg.lu"
    outputs = 2

    def decide(self, x: Value) -> Value:
        return compact.decide(x)

    def branch(self, x: Value, decision: Any = None) -> Any:
        return self.apart(compact.branch(x, decision=decision))

    def exact(self, *args: Value, decision: Any = None) -> Any:
        return self.replay(args, self.decide(*args) if decision is None else decision)

    def apart(self, packed: Value) -> Any:
        k = min(packed.shape[-2:])
        low = np.where(np.eye(packed.shape[-2], k, dtype=bool), 1.0, lower(packed[..., :, :k], strict=True))
        return low.astype(packed.dtype, copy=False), upper(packed[..., :k, :])

    def permutation(self, decision: Value) -> Value:
        return permuting(decision, np.float64)

    def vjp_x(self, g: Value, out: Value, decision: Value) -> Value:
        packed = self.together(out[0], out[1])
        return compact.vjp_x(self.together(g[0], g[1]), packed, decision)  # type: ignore[attr-defined]

    def together(self, low: Value, high: Value) -> Value:
        """Both triangles in one matrix."""
        (m, k), n = low.shape[-2:], high.shape[-1]
        low, high = lower(low, strict=True), upper(high)
        wide = ConstantPadNd(pad=(0, n - k))(low) if n > k else low
        return wide + (ConstantPadNd(pad=(0, 0, 0, m - k))(high) if m > k else high)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 3)):
            yield cls(), (rng.normal(size=shape),)


def permuting(order: Value, dtype: Any) -> Value:
    """The matrix P of an order of rows: P @ x[order] = x."""
    return np.swapaxes(np.eye(order.shape[-1], dtype=dtype)[order], -1, -2)


def lu(x: Value, *, pivot: bool = True) -> Any:
    """(P, L, U) with P @ L @ U = x."""
    need_matrix("linalg.lu", x)
    low, high = LinalgLu()(x)
    return LuResult(Permutation()(x), low, high)


class Permutation(Operation):
    """The permutation matrix of the row exchanges of an LU factorisation: a constant."""

    differentiable = False

    def forward(self, x: Value) -> Value:
        return permuting(compact.decide(x), x.dtype)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(3, 3)),)


class LinalgLuSolve(Operation):
    """X with A @ X = B (or X @ A = B), from both factors of A in one matrix and its pivots; `adjoint`: with A.T.

    (..., n, n), (..., n), (..., n, k) -> (..., n, k).
    """

    analytic = False
    saves = "LU adjoint left pivots result=out"
    name = "linalg.lu_solve"
    left: bool = True
    adjoint: bool = False

    def other(self, **settings: bool) -> LinalgLuSolve:
        return LinalgLuSolve(**(self.settings() | settings))

    def forward(self, LU: Value, pivots: Value, B: Value) -> Value:
        if not self.left:
            return adjoint(self.other(left=True, adjoint=not self.adjoint).forward(LU, pivots, adjoint(B)))
        order = ordering(np.asarray(pivots), LU.shape[-1])
        if self.adjoint:
            half = solve_triangular(adjoint(LU), B, upper=False)
            return moved(solve_triangular(adjoint(LU), half, upper=True, unitriangular=True), np.argsort(order, axis=-1))
        return solve_triangular(LU, solve_triangular(LU, moved(B, order), upper=False, unitriangular=True), upper=True)

    def exact(self, *args: Value, decision: Any = None) -> Value:
        return self.forward(*args)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(*lifted(args, lead, (2, 1, 2)))

    def vjp_B(self, g: Value, LU: Value, pivots: Value, B_shape: tuple[int, ...]) -> Value:
        return fitted(self.other(adjoint=not self.adjoint)(LU, pivots, g), B_shape)

    def vjp_LU(self, g: Value, LU: Value, pivots: Value, out: Value, LU_shape: tuple[int, ...]) -> Value:
        if not self.left:
            return self.other(left=True, adjoint=not self.adjoint).vjp_LU(adjoint(g), LU, pivots, adjoint(out), LU_shape)
        order = ordering(np.asarray(raw(pivots)), LU.shape[-1])
        if self.adjoint:
            rows = moved(out, order)
            after = solve_triangular(LU, moved(g, order), upper=False, unitriangular=True)
            before = matmul(adjoint(unit_lower(LU)), rows)
            of_high, of_low = matmul(before, adjoint(solve_triangular(LU, after, upper=True))), matmul(rows, adjoint(after))
        else:
            after = solve_triangular(adjoint(LU), g, upper=False)
            of_high = matmul(after, adjoint(out))
            before = solve_triangular(adjoint(LU), after, upper=True, unitriangular=True)
            of_low = matmul(before, adjoint(matmul(upper(LU), out)))
        return fitted(-(upper(of_high) + lower(of_low, strict=True)), LU_shape)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        a = rng.normal(size=(3, 3)) + 3 * np.eye(3)
        for left in (True, False):
            for turned in (False, True):
                yield cls(left=left, adjoint=turned), (a, np.array([2, 3, 3]), rng.normal(size=(3, 2) if left else (2, 3)))
        yield cls(), (a + np.zeros((2, 1, 1)), np.array([[1, 2, 3], [3, 3, 3]]), rng.normal(size=(2, 3, 1)))


def moved(x: Value, order: Value) -> Value:
    """The rows of x in another order."""
    return take_along_dim(x, order[..., None], -2)


def linalg_lu_solve(LU: Value, pivots: Value, B: Value, *, left: bool = True, adjoint: bool = False) -> Any:
    """The solution X of A @ X = B (or X @ A = B), from (LU, pivots) = linalg.lu_factor(A); `adjoint`: with the conjugate transpose of A."""
    return LinalgLuSolve(left=left, adjoint=adjoint)(LU, pivots, B)


def lu_solve(x: Value, LU_data: Value, LU_pivots: Value) -> Any:
    """The solution X of A @ X = x from the LU factorisation of A."""
    return linalg_lu_solve(LU_data, LU_pivots, x)


OPERATIONS = (LinalgLuFactorEx, LinalgLu, LinalgLuSolve)
FUNCTIONS = (lu_solve,)
SPELLINGS = {"linalg.lu_factor": lu_factor, "linalg.lu": lu, "linalg.lu_solve": linalg_lu_solve}
