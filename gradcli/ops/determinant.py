"""Determinants and their logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.ops import elimination
from gradcli.ops.arithmetic import log
from gradcli.ops.axes import raw
from gradcli.ops.conjugate import conj, is_complex, of_pairs
from gradcli.ops.factored import Factored
from gradcli.ops.indexing import getitem
from gradcli.ops.matmul import Examples, adjoint
from gradcli.ops.matrices import need_square, spread
from gradcli.ops.operation import Operation, Value
from gradcli.ops.returned import returned
from gradcli.ops.rounding import absolute
from gradcli.ops.solve import inv
from gradcli.ops.where import where

STEPWISE = 32
"""Up to this size elimination goes step by step."""
SMALL = 4
"""Up to this size the adjugate is always made of minors: right at every matrix, and cheap."""
WORST_CONDITION = 1e6
"""Beyond this condition the inverse has lost too many digits to give the adjugate."""


class Det(Factored):
    """The determinant. (..., n, n) -> (...).

    Gradient: g times the transposed adjugate, which exists at singular matrices too, where det * inverse does not:
    entry (i, j) is the determinant without row i and column j, with alternating sign.
    """

    refused = "biu"
    kernel_name = "linalg.det"

    saves = "A=x LU pivots result=out"
    multiplications = 1
    name = "linalg.det"
    node = "LinalgDetBackward0"
    keeps_all = True

    def forward(self, x: Value) -> Value:
        need_square("linalg.det", x)
        return product_of_pivots(np.asarray(x))[()]

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    def exact(self, *args: Value, decision: Any = None) -> Value:
        return elimination.each(elimination.determinant, args, (2,))

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        if x.shape[-1] <= SMALL or badly_conditioned(raw(x)):
            return spread(g) * conj(cofactors(x))
        return spread(g * conj(out)) * adjoint(inv(x))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for shape in ((1, 1), (2, 2), (3, 3), (2, 2, 2), (5, 5)):
            yield cls(), (rng.normal(size=shape) + np.eye(shape[-1]),)
        yield cls(), (np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, -1.0, 2.0]]),)


def product_of_pivots(x: np.ndarray) -> np.ndarray:
    """The product of the pivots of Gaussian elimination. (..., n, n) -> (...).

    NumPy's own determinant is the exponential of a logarithm: that of [[3.0]] is not 3. Only where elimination in
    single steps would take long is it taken.
    """
    n = x.shape[-1]
    if not x.size or n > STEPWISE:
        return np.asarray(np.linalg.det(x))
    a = x.reshape(-1, n, n).astype(np.result_type(x, np.float32))
    matrices, product = np.arange(len(a)), np.ones(len(a), a.dtype)
    for k in range(n):
        chosen = k + np.argmax(np.abs(a[:, k:, k]), axis=1)
        row = a[matrices, chosen]
        a[matrices, chosen] = a[:, k]
        pivot = row[:, k]
        product *= np.where(chosen == k, pivot, -pivot)
        below = a[:, k + 1 :, k] / np.where(pivot == 0, 1, pivot)[:, None]
        a[:, k + 1 :] -= below[:, :, None] * row[:, None, :]
    return product.reshape(x.shape[:-2])


def badly_conditioned(x: Value) -> bool:
    """Whether some matrix is so nearly singular that its inverse should not be used."""
    if x.dtype == object:
        return False
    return bool(np.any(~(np.linalg.cond(x) < WORST_CONDITION)))


def cofactors(x: Value) -> Value:
    """The transposed adjugate: signed determinants of all minors. (..., n, n) -> (..., n, n)."""
    n = x.shape[-1]
    if n < 2:
        return np.ones(x.shape, x.dtype)
    others = np.array([[k for k in range(n) if k != i] for i in range(n)])
    rows, columns = others[:, None, :, None], others[None, :, None, :]
    shape = (n, n, n - 1, n - 1)
    minors = getitem(x, (Ellipsis, np.broadcast_to(rows, shape), np.broadcast_to(columns, shape)))
    odd = np.add.outer(np.arange(n), np.arange(n)) % 2 == 1
    return where(odd, 0.0 - det(minors), det(minors))


class LinalgSlogdet(Factored):
    """The sign of the determinant and the logarithm of its absolute value. (..., n, n) -> (...), (...).

    Gradient of the logarithm: g times the inverse, transposed; infinite or NaN at a singular matrix (0, -inf), as PyTorch.
    """

    refused = "biu"
    kernel_name = "linalg.slogdet"

    saves = "A=x LU pivots sign=out.0"
    multiplications = 1
    analytic = False
    name = "linalg.slogdet"
    node = "LinalgSlogdetBackward0"
    outputs = 2

    def forward(self, x: Value) -> Value:
        need_square("linalg.slogdet", x)
        sign, size = np.linalg.slogdet(x)
        return np.asarray(sign)[()], np.asarray(size)[()]

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    def exact(self, *args: Value, decision: Any = None) -> Value:
        d = det(args[0])
        if of_pairs(d):
            size = absolute(d)
            return d / size, log(size)
        sign = np.where(np.asarray(d > 0, dtype=bool), 1.0, -1.0)[()]
        return sign, log(d * sign)

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        of_sign, of_size = g
        if is_complex(x):
            of_size = of_size - 1j * imaginary(conj(of_sign) * out[0])
        return spread(of_size) * (singular_inverse(adjoint(raw(x))) if np.any(raw(out[1]) == -np.inf) else adjoint(inv(x)))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for shape in ((2, 2), (3, 3), (2, 2, 2)):
            yield cls(), (rng.normal(size=shape) + 2 * np.eye(shape[-1]),)
        yield cls(), (np.array([[1.0, 2.0], [3.0, -1.0]]),)


def singular_inverse(x: Value) -> Value:
    """The inverse by elimination that divides by pivots which are 0: infinite, or NaN, where it does not exist."""
    n = x.shape[-1]
    out = np.empty_like(x)
    for index in np.ndindex(*x.shape[:-2]):
        rows, right = x[index].copy(), np.eye(n, dtype=x.dtype)
        for k in range(n):
            swap = [k, k + int(np.argmax(np.abs(rows[k:, k])))]
            rows[swap], right[swap] = rows[swap[::-1]], right[swap[::-1]]
            factors = rows[k + 1 :, k] / rows[k, k] if rows[k, k] != 0 else rows[k + 1 :, k]
            rows[k + 1 :] -= np.outer(factors, rows[k])
            right[k + 1 :] -= np.outer(factors, right[k])
        for k in reversed(range(n)):
            right[k] /= rows[k, k]
            right[:k] -= np.outer(rows[:k, k], right[k])
        out[index] = right
    return out


def imaginary(z: Value) -> Value:
    return (z - conj(z)) * -0.5j


det: Operation = Det()
_slogdet: Operation = LinalgSlogdet()


def determinant(x: Value) -> Any:
    """The determinant of a square matrix, or of each of a batch."""
    return det(x)


def slogdet(x: Value) -> Any:
    """(sign, logabsdet) with det(x) = sign * exp(logabsdet), which neither overflows nor underflows."""
    return returned("slogdet", "sign logabsdet")(*_slogdet(x))


def linalg_slogdet(x: Value) -> Any:
    """(sign, logabsdet) with det(x) = sign * exp(logabsdet), which neither overflows nor underflows."""
    return returned("linalg_slogdet", "sign logabsdet")(*_slogdet(x))


def logdet(x: Value) -> Any:
    """log(det(x)): -inf at determinant 0, NaN below."""
    sign, size = _slogdet(x)
    if is_complex(x):
        return size + log(sign)
    return where(raw(sign) == -1, np.nan, size)


OPERATIONS = (Det, LinalgSlogdet)
FUNCTIONS = (slogdet, logdet)
SPELLINGS = {"det": determinant, "linalg.det": determinant, "linalg.slogdet": linalg_slogdet}
