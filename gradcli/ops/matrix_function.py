"""Functions of matrices: exponential, powers, condition, covariance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops import elimination
from gradcli.ops.arithmetic import power
from gradcli.ops.axes import integer
from gradcli.ops.bounds import clamp
from gradcli.ops.budget import budget
from gradcli.ops.cholesky import identity_like
from gradcli.ops.conjugate import conj
from gradcli.ops.diagonal import diagonal
from gradcli.ops.exponential import sqrt
from gradcli.ops.extreme import amax, amin
from gradcli.ops.indexing import getitem, narrow
from gradcli.ops.joining import cat, stack
from gradcli.ops.matmul import Examples, adjoint, matmul, mm
from gradcli.ops.matrices import need_square
from gradcli.ops.operation import Operation, Value
from gradcli.ops.orthogonal import singular_values
from gradcli.ops.reduction import sum as total
from gradcli.ops.rounding import absolute
from gradcli.ops.scan import Cumprod
from gradcli.ops.shape import expand, squeeze, unsqueeze, view
from gradcli.ops.solve import inv
from gradcli.ops.transposition import T

TERMS = 20
"""Of the series of the exponential at norm 1/2: the next is below 1e-24."""
EXACT_TERMS = 90
"""The same for 130 digits."""


class LinalgMatrixExp(Operation):
    """The exponential of a square matrix, the sum of x ** k / k!. (..., n, n) -> (..., n, n).

    Gradient: the upper right block of the exponential of [[x.T, g], [0, x.T]]. Source: R. Mathias, A chain rule for
    matrix functions and applications, 1996.
    """

    refused = "biu"
    kernel_name = "linalg.matrix_exp"

    multiplications = 12
    name = "linalg.matrix_exp"

    def forward(self, x: Value) -> Value:
        need_square("linalg.matrix_exp", x)
        return elimination.each(lambda a: elimination.exponential(a, TERMS), (x,), (2,))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    def exact(self, *args: Value, decision: Any = None) -> Value:
        return elimination.each(lambda a: elimination.exponential(a, EXACT_TERMS), args, (2,))

    def vjp_x(self, g: Value, x: Value) -> Value:
        n = x.shape[-1]
        turned = adjoint(x)
        above, below = cat([turned, g], -1), cat([turned * 0.0, turned], -1)
        return getitem(self(cat([above, below], -2)), (Ellipsis, slice(None, n), slice(n, None)))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for shape in ((1, 1), (3, 3), (2, 2, 2)):
            yield cls(), (rng.normal(size=shape),)
        yield cls(), (np.array([[0.0, 9.0], [-4.0, 1.0]]),)


def matrix_exp(x: Value) -> Any:
    """The exponential of a square matrix, the sum of x ** k / k!."""
    return LinalgMatrixExp()(x)


def matrix_power(x: Value, n: int) -> Any:
    """x multiplied n times with itself; for negative n its inverse."""
    need_square("linalg.matrix_power", x)
    n = integer(n, "n")
    budget.work(2 * n.bit_length() * x.shape[-1] * math.prod(x.shape))
    if n == 0:
        return identity_like(x) + x * 0.0
    times = mm if x.ndim == 2 else matmul
    factor, out = (inv(x), None) if n < 0 else (x, None)
    n = abs(n)
    if n == 1:
        return factor
    if n == 3:
        return times(times(factor, factor), factor)
    while n:
        n, bit = divmod(n, 2)
        if bit:
            out = factor if out is None else times(out, factor)
        if n:
            factor = times(factor, factor)
    return out


def cond(x: Value, p: Any = None) -> Any:
    """norm(x) * norm(inverse(x)): for p = None or 2 the largest singular value over the smallest, for -2 the inverse ratio."""
    if p is None or p in (2, -2):
        values = singular_values(x)
        first, last = narrow(values, -1, 0, 1), narrow(values, -1, values.shape[-1] - 1, 1)
        return squeeze(last / first if p == -2 else first / last, -1)
    need_square("linalg.cond", x)
    return matrix_size(x, p) * matrix_size(inv(x), p)


def matrix_size(x: Any, p: Any) -> Any:
    """The matrix norms that a condition can be counted in: fro, nuc, 1, -1, inf, -inf."""
    if p == "fro":
        return sqrt(total(absolute(x) * absolute(x), (-2, -1)))
    if p == "nuc":
        return total(singular_values(x), -1)
    if p not in (1, -1, math.inf, -math.inf):
        raise ShapeError(f"linalg.cond got an invalid norm type: {p}")
    sums = total(absolute(x), -2 if abs(p) == 1 else -1)
    return amax(sums, -1) if p > 0 else amin(sums, -1)


def linalg_vander(x: Value, *, N: int | None = None) -> Any:
    """Powers 0 to N - 1 of each element. (..., n) -> (..., n, N); N is n unless given."""
    count = x.shape[-1] if N is None else integer(N, "N")
    if count <= 1:
        raise ShapeError("N must be greater than 1.")
    budget.elements(count * math.prod(x.shape))
    powers = Cumprod(dim=-1)(expand(unsqueeze(x, -1), (*x.shape, count - 1)))
    return cat([np.ones((*x.shape, 1), x.dtype), powers], -1)


def vander(x: Value, N: int | None = None, increasing: bool = False) -> Any:
    """Powers of each element of a vector, the highest first unless `increasing`. (n) -> (n, N)."""
    if x.ndim != 1:
        raise ShapeError("x must be a one-dimensional tensor.")
    count = x.shape[0] if N is None else integer(N, "N")
    budget.elements(count * x.shape[0])
    order = range(count) if increasing else range(count - 1, -1, -1)
    return stack([power(x, float(k)) if k else x * 0.0 + 1.0 for k in order], -1)


def cov(x: Value, *, correction: int = 1, fweights: Value | None = None, aweights: Value | None = None) -> Any:
    """The covariance of variables (rows) over observations (columns), divided by their number less `correction`."""
    if x.ndim > 2:
        raise ShapeError(f"cov(): expected input to have two or fewer dimensions but got an input with {x.ndim} dimensions")
    rows = x if x.ndim == 2 else unsqueeze(x, 0) if x.ndim == 1 else unsqueeze(unsqueeze(x, 0), 0)
    weights = fweights if aweights is None else aweights if fweights is None else fweights * aweights
    count = rows.shape[1] if weights is None else total(weights)
    mean = total(rows if weights is None else rows * weights, 1) / count
    away = rows - unsqueeze(mean, 1)
    lost = correction if aweights is None else correction * total(weights * aweights) / count
    products = mm(away, adjoint_of(away if weights is None else away * weights))
    return squeeze(products / (count - lost))


def adjoint_of(x: Any) -> Any:
    return conj(T()(x))


def linalg_diagonal(x: Value, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """A diagonal of the last two axes, as the last axis."""
    return diagonal(x, offset, dim1, dim2)


def corrcoef(x: Value) -> Any:
    """The correlation of variables (rows) over observations (columns): their covariance over both standard deviations."""
    c = cov(x)
    if c.ndim == 0:
        return c / c
    deviation = sqrt(diagonal(c))
    return clamp(c / view(deviation, (-1, 1)) / view(deviation, (1, -1)), -1, 1)


OPERATIONS = (LinalgMatrixExp,)
FUNCTIONS = (matrix_exp, matrix_power, vander, cov, corrcoef)
SPELLINGS = {
    "linalg.diagonal": linalg_diagonal, "linalg.matrix_exp": matrix_exp, "linalg.matrix_power": matrix_power, "linalg.cond": cond,
    "linalg.vander": linalg_vander,
}  # fmt: skip
