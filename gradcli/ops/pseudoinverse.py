"""The pseudo-inverse and least squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops import elimination
from gradcli.ops.axes import raw
from gradcli.ops.matmul import Examples, adjoint, matmul
from gradcli.ops.matrices import column, need_matrix, row
from gradcli.ops.operation import Operation, Value
from gradcli.ops.returned import returned
from gradcli.ops.shape import squeeze


class LinalgPinv(Operation):
    """The Moore-Penrose inverse. (..., m, n) -> (..., n, m). Singular values up to `rtol` times the largest count as zero.

    Smooth where the rank does not change: with P = out and the projections P @ x and x @ P, a change dx gives
    -P dx P + P P.T dx.T (1 - x P) + (1 - P x) dx.T P.T P. Source: G. Golub, V. Pereyra, The differentiation of
    pseudo-inverses and nonlinear least squares problems whose variables separate, 1973.
    """

    refused = "biu"
    kernel_name = "linalg.pinv"
    saves = "result=out self=x"
    multiplications = 14
    analytic = False
    name = "linalg.pinv"
    rtol: float | None = None

    def forward(self, x: Value) -> Value:
        need_matrix("linalg.pinv", x)
        rtol = max(x.shape[-2:]) * np.finfo(x.dtype).eps if self.rtol is None else self.rtol
        return np.linalg.pinv(x, rtol)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    def exact(self, *args: Value, decision: Any = None) -> Value:
        (x,) = args
        turned = np.conjugate(np.swapaxes(x, -1, -2))
        if x.shape[-2] >= x.shape[-1]:
            return elimination.each(elimination.solve, (np.matmul(turned, x), turned), (2, 2))
        return np.conjugate(np.swapaxes(elimination.each(elimination.solve, (np.matmul(x, turned), x), (2, 2)), -1, -2))

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        turned, back = adjoint(out), adjoint(g)
        right = back - matmul(x, matmul(out, back))
        left = back - matmul(matmul(back, out), x)
        return matmul(right, matmul(out, turned)) + matmul(matmul(turned, out), left) - matmul(turned, matmul(g, turned))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2)):
            yield cls(), (rng.normal(size=shape),)


class MatrixRank(Operation):
    """The number of singular values above a bound. (..., m, n) -> (...), integers without gradient.

    The bound is the larger of `atol` and `rtol` times the largest singular value (default max(m, n) * eps).
    """

    refused = "biu"
    kernel_name = "linalg.svd"
    multiplications = 6
    name = "linalg.matrix_rank"
    differentiable = False
    atol: float = 0.0
    rtol: float | None = None

    def forward(self, x: Value) -> Value:
        need_matrix("linalg.matrix_rank", x)
        values = np.linalg.svd(x, compute_uv=False)
        rtol = (0.0 if self.atol else max(x.shape[-2:]) * np.finfo(x.dtype).eps) if self.rtol is None else self.rtol
        bound = np.maximum(self.atol, rtol * np.max(values, axis=-1, keepdims=True, initial=0.0))
        return np.asarray(np.count_nonzero(values > bound, axis=-1))[()]

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (np.array([[1.0, 2.0], [2.0, 4.0]]),)


class Nothing(Operation):
    """An empty tensor of the dtype of x: a result that was not asked for."""

    differentiable = False

    def forward(self, x: Value) -> Value:
        return np.zeros(0, x.dtype)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2,)),)


nothing: Operation = Nothing()
LstsqResult = returned("linalg_lstsq", "solution residuals rank singular_values")


def linalg_pinv(x: Value, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None, atol: Any = None) -> Any:
    """The Moore-Penrose inverse of a matrix, or of each of a batch."""
    cutoff = rcond if rtol is None else rtol
    return LinalgPinv(rtol=None if cutoff is None else float(raw(cutoff)))(x)


def pinverse(x: Value, rcond: float = 1e-15) -> Any:
    """The Moore-Penrose inverse."""
    return LinalgPinv(rtol=rcond)(x)


def matrix_rank(x: Value, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Any:
    """The number of singular values above a bound: an integer, without gradient."""
    need_matrix("torch.linalg.matrix_rank", x)
    atol = tol if atol is None else atol
    return MatrixRank(atol=0.0 if atol is None else float(raw(atol)), rtol=None if rtol is None else float(raw(rtol)))(x)


class LinalgLstsq(Operation):
    """The least solution X of those with least norm(x @ X - b), pinv(x) @ b, and (if `squares`) the squares of that norm, by columns.

    (..., m, n), (..., m, k) -> (..., n, k), (..., k), or nothing in its place. Smooth where the rank does not change.
    """

    refused = "biu"
    kernel_name = "linalg.lstsq"
    saves = "b self=x solution=out.0"
    multiplications = 14
    analytic = False
    name = "linalg.lstsq"
    outputs = 2
    rtol: float | None = None
    squares: bool = False

    def solved(self, x: Value, b: Value, inverse: Value) -> Any:
        solution = np.matmul(inverse, b)
        off = np.matmul(x, solution) - b
        return solution, np.add.reduce(np.real(off * np.conjugate(off)), axis=-2) if self.squares else np.zeros(0, x.dtype)

    def forward(self, x: Value, b: Value) -> Any:
        return self.solved(x, b, LinalgPinv(rtol=self.rtol).forward(x))

    def exact(self, *args: Value, decision: Any = None) -> Any:
        x, b = args
        return self.solved(x, b, LinalgPinv(rtol=self.rtol).exact(x))

    def off(self, g: Value, x: Value, b: Value, solution: Value) -> Value:
        """The gradient of the squares by x @ X."""
        return (matmul(x, solution) - b) * (row(g) * 2.0)

    def vjp_x(self, g: Value, x: Value, b: Value, out: Value) -> Value:
        op = LinalgPinv(rtol=self.rtol)
        back = op.vjp_x(matmul(g[0], adjoint(b)), x, op(x))
        return back + matmul(self.off(g[1], x, b, out[0]), adjoint(out[0])) if self.squares else back

    def vjp_b(self, g: Value, x: Value, b: Value, out: Value) -> Value:
        back = matmul(adjoint(LinalgPinv(rtol=self.rtol)(x)), g[0])
        return back - self.off(g[1], x, b, out[0]) if self.squares else back

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for shape, squares in (((4, 2), True), ((2, 3), False), ((3, 3), False)):
            yield cls(squares=squares), (rng.normal(size=shape), rng.normal(size=(shape[0], 2)))


class SingularValues(Operation):
    """The singular values, without gradient: what least squares give beside the solution. (..., m, n) -> (..., k)."""

    multiplications = 6
    differentiable = False

    def forward(self, x: Value) -> Value:
        return np.linalg.svd(x, compute_uv=False)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(3, 2)),)


DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def lstsq(x: Value, B: Value, rcond: float | None = None, *, driver: str | None = None) -> Any:
    """(solution, residuals, rank, singular_values): the solution has the least norm of those with least norm(x @ solution - B).

    Residuals are there for every driver but gelsy, which is the default, unless the rank is not full or x has no more rows
    than columns; the rank for every driver but gels; the singular values for gelsd and gelss.
    """
    need_matrix("linalg.lstsq", x)
    driver = driver or "gelsy"
    if driver not in DRIVERS:
        raise ShapeError(f"torch.linalg.lstsq: parameter `driver` should be one of ({', '.join(DRIVERS)})")
    vector = B.ndim == x.ndim - 1
    right = column(B) if vector else B
    if right.shape[-2] != x.shape[-2]:
        raise ShapeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({-1 if vector else -2})")
    rank = matrix_rank(x)
    rows, columns = x.shape[-2:]
    squares = driver != "gelsy" and rows > columns and bool(np.all(raw(rank) == columns))
    solution, residuals = LinalgLstsq(rtol=None if rcond is None else float(raw(rcond)), squares=squares)(x, right)
    return LstsqResult(
        squeeze(solution, -1) if vector else solution, residuals, nothing(rank) if driver == "gels" else rank,
        SingularValues()(x) if driver in ("gelsd", "gelss") else nothing(x),
    )  # fmt: skip


OPERATIONS = (LinalgPinv, MatrixRank, LinalgLstsq)
FUNCTIONS = (pinverse,)
SPELLINGS = {"linalg.pinv": linalg_pinv, "linalg.lstsq": lstsq, "linalg.matrix_rank": matrix_rank}
