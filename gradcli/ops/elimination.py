"""Linear algebra by plain elimination, on arrays of any kind of number: what exact references run, and the LU factorisation.

Nothing here is differentiated by hand: a number that records what is done to it sees only sums, products and quotients.
Every function takes one matrix; `each` applies it over leading axes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcli.ops.conjugate import squared_size

Matrix = Any


def each(function: Callable[..., Any], args: Sequence[Matrix], cores: Sequence[int], outputs: int = 1) -> Any:
    """`function` for every index of the broadcast leading axes; each argument ends with `cores` axes of its own."""
    leads = [np.shape(a)[: np.ndim(a) - core] for a, core in zip(args, cores, strict=True)]
    lead = np.broadcast_shapes(*leads)
    full = [np.broadcast_to(a, (*lead, *np.shape(a)[np.ndim(a) - core :])) for a, core in zip(args, cores, strict=True)]
    results = [function(*(a[index] for a in full)) for index in np.ndindex(*lead)]
    parts = list(zip(*results, strict=True)) if outputs > 1 else [results]
    stacked = tuple(_stacked(list(part), lead) for part in parts)
    return stacked if outputs > 1 else stacked[0]


def _stacked(results: list[Any], lead: tuple[int, ...]) -> Any:
    """Results of one shape as one array with leading axes; a lone number stays a number."""
    if not lead:
        return results[0]
    shape = np.shape(results[0]) if results else ()
    dtype = object if any(np.asarray(r).dtype == object for r in results) else np.result_type(*results[:1] or [np.float64])
    out = np.empty((len(results), *shape), dtype=dtype)
    for k, result in enumerate(results):
        out[k] = result
    return out.reshape(*lead, *shape)


def size_of(value: Any) -> float:
    """How large a number is, to choose a pivot."""
    return abs(complex(value))


def determinant(a: Matrix) -> Any:
    """Without division, so that derivatives are right at singular matrices too.

    Source: R. S. Bird, A simple division-free algorithm for computing determinants, Inf. Proc. Letters 111 (2011).
    """
    n = len(a)
    if n == 0:
        return np.float64(1.0)
    x = a
    for _ in range(n - 1):
        below = [0.0] * n
        for i in range(n - 2, -1, -1):
            below[i] = below[i + 1] - x[i + 1, i + 1]
        upper = np.triu(np.ones((n, n), bool), 1)
        mu = np.where(upper, x, 0.0).astype(a.dtype)
        for i in range(n):
            mu[i, i] = below[i]
        x = np.matmul(mu, a)
    return x[0, 0] if n % 2 else -x[0, 0]


def factor(a: Matrix) -> tuple[Matrix, np.ndarray]:
    """Row-pivoted LU: both factors in one matrix, and the order of the rows."""
    lu = np.array(a, copy=True)
    rows, columns = lu.shape
    order = np.arange(rows)
    for k in range(min(rows, columns)):
        pivot = k + int(np.argmax([size_of(v) for v in lu[k:, k]]))
        if pivot != k:
            lu[[k, pivot]] = lu[[pivot, k]]
            order[[k, pivot]] = order[[pivot, k]]
        if size_of(lu[k, k]) == 0:
            continue
        for i in range(k + 1, rows):
            lu[i, k] = lu[i, k] / lu[k, k]
            lu[i, k + 1 :] = lu[i, k + 1 :] - lu[i, k] * lu[k, k + 1 :]
    return lu, order


def ordered(a: Matrix, order: Sequence[int]) -> Matrix:
    """LU of the rows in a given order, without looking for pivots."""
    lu = np.array(a[list(order)], copy=True)
    rows, columns = lu.shape
    for k in range(min(rows, columns)):
        for i in range(k + 1, rows):
            lu[i, k] = lu[i, k] / lu[k, k]
            lu[i, k + 1 :] = lu[i, k + 1 :] - lu[i, k] * lu[k, k + 1 :]
    return lu


def solve(a: Matrix, b: Matrix) -> Matrix:
    """x with a @ x = b, for a matrix b."""
    lu, order = factor(a)
    x = np.array(np.asarray(b)[order], dtype=np.result_type(a.dtype, np.asarray(b).dtype))
    return back(lu, forth(lu, x))


def forth(lu: Matrix, b: Matrix) -> Matrix:
    """Solve with the unit lower triangle of `lu`."""
    x = np.array(b, copy=True)
    for i in range(1, len(x)):
        x[i] = x[i] - np.matmul(lu[i, :i], x[:i])
    return x


def back(lu: Matrix, b: Matrix) -> Matrix:
    """Solve with the upper triangle of `lu`."""
    x = np.array(b, copy=True)
    for i in range(len(x) - 1, -1, -1):
        tail = x[i] - np.matmul(lu[i, i + 1 :], x[i + 1 :]) if i + 1 < len(x) else x[i]
        x[i] = tail / lu[i, i]
    return x


def inverse(a: Matrix) -> Matrix:
    return solve(a, np.eye(len(a)).astype(a.dtype))


def cholesky(a: Matrix, root: Callable[[Any], Any]) -> Matrix:
    """The lower triangle L with L @ conj(L.T) = a."""
    n = len(a)
    low = np.zeros((n, n)).astype(a.dtype)
    for j in range(n):
        rest = a[j, j]
        for k in range(j):
            rest = rest - low[j, k] * np.conjugate(low[j, k])
        low[j, j] = root(rest)
        for i in range(j + 1, n):
            value = a[i, j]
            for k in range(j):
                value = value - low[i, k] * np.conjugate(low[j, k])
            low[i, j] = value / low[j, j]
    return low


def orthogonal(a: Matrix, root: Callable[[Any], Any]) -> tuple[Matrix, Matrix]:
    """Q, R with positive diagonal by Gram and Schmidt's process over the first columns."""
    rows, columns = a.shape
    k = min(rows, columns)
    q, r = np.zeros((rows, k)).astype(a.dtype), np.zeros((k, columns)).astype(a.dtype)
    for j in range(k):
        v = a[:, j]
        for i in range(j):
            r[i, j] = np.add.reduce(np.conjugate(q[:, i]) * v)
            v = v - r[i, j] * q[:, i]
        r[j, j] = root(np.add.reduce(squared_size(v)))
        q[:, j] = v / r[j, j]
    if columns > k:
        r[:, k:] = np.matmul(np.conjugate(q.T), a[:, k:])
    return q, r


def exponential(a: Matrix, terms: int) -> Matrix:
    """e ** a by its series, scaled until the norm is below 1/2 and squared back."""
    n = len(a)
    norm = max((sum(size_of(v) for v in row) for row in a), default=0.0)
    halvings = max(0, int(np.ceil(np.log2(norm))) + 1) if 0 < norm < np.inf else 0
    x = a / 2.0**halvings
    term = np.eye(n).astype(a.dtype)
    total = term
    for k in range(1, terms):
        term = np.matmul(term, x) / k
        total = total + term
    for _ in range(halvings):
        total = np.matmul(total, total)
    return total
