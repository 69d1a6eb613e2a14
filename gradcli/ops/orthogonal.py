"""Factorisations into orthogonal matrices: QR, eigenvalues of symmetric matrices, singular values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import ArgumentError, DataError, ShapeError
from gradcli.ops import elimination
from gradcli.ops.cholesky import symmetric, unread
from gradcli.ops.conjugate import is_complex
from gradcli.ops.exponential import sqrt
from gradcli.ops.indexing import getitem
from gradcli.ops.joining import cat
from gradcli.ops.matmul import Examples, adjoint, matmul
from gradcli.ops.matrices import column, diagonal_matrix, diagonal_of, eye, like, need_matrix, need_square, row, upper
from gradcli.ops.operation import Operation, Value, absent
from gradcli.ops.pseudoinverse import nothing
from gradcli.ops.returned import returned
from gradcli.ops.solve import solve_triangular
from gradcli.ops.where import where


def leading_signs(vectors: Value) -> Value:
    """Of each column the row of its largest entry (from 1) with that entry's sign: which of v and -v it is. (..., m, k) -> (..., k)."""
    rows = np.argmax(np.abs(vectors), axis=-2) if vectors.size else np.zeros(np.delete(vectors.shape, -2), np.int64)
    largest = np.take_along_axis(vectors, rows[..., None, :], axis=-2)[..., 0, :]
    return np.where(np.real(largest) < 0, -1, 1) * (rows + 1)


def flips(vectors: Value, decision: Value) -> Value:
    """+1 or -1 for each column, so that it points as the decision says. (..., m, k), (..., k) -> (..., 1, k)."""
    rows = np.broadcast_to(np.abs(decision) - 1, (*vectors.shape[:-2], vectors.shape[-1]))
    entry = np.real(np.take_along_axis(vectors, rows[..., None, :], axis=-2))
    return np.where((entry < 0) == (np.asarray(decision)[..., None, :] < 0), 1.0, -1.0)


class LinalgQr(Operation):
    """Q with orthonormal columns and upper triangular R with Q @ R = x. (..., m, n) -> (..., m, k), (..., k, n), k = min(m, n).

    The signs on the diagonal of R are a convention (LAPACK's), which references pin. `complete`: k = m; then, and
    for mode "r", there is a gradient only where m <= n. Source: S. Walter, L. Lehmann, R. Lamour, On evaluating
    higher-order derivatives of the QR decomposition, 2012.
    """

    refused = "biu"
    kernel_name = "linalg.qr"

    saves = "Q=out.0 R=out.1 mode"
    multiplications = 3
    analytic = False
    name = "linalg.qr"
    outputs = 2
    mode: str = "reduced"

    def decide(self, x: Value) -> Value:
        k = min(x.shape[-2:])
        if x.dtype == object:
            x = x.astype(float)
        r: Value = np.linalg.qr(x, mode="r")
        r = r[..., :k, :k]
        return np.where(np.real(np.diagonal(r, axis1=-2, axis2=-1)) < 0, -1, 1)

    def branch(self, x: Value, decision: Any = None) -> Any:
        q, r = np.linalg.qr(x, mode="complete" if self.mode == "complete" else "reduced")
        k = min(x.shape[-2:])
        sign = np.where(np.real(np.diagonal(r[..., :k, :k], axis1=-2, axis2=-1)) < 0, -1, 1) * decision
        sign = np.concatenate([sign, np.ones((*sign.shape[:-1], q.shape[-1] - k), sign.dtype)], axis=-1)
        return q * sign[..., None, :].astype(q.dtype), r * sign[..., :, None].astype(r.dtype)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.branch(args[0], decision=decision)

    def exact(self, *args: Value, decision: Any = None) -> Any:
        q, r = elimination.each(lambda a: elimination.orthogonal(a, sqrt), args, (2,), 2)
        sign = self.decide(args[0]) if decision is None else decision
        return q * sign[..., None, :], r * sign[..., :, None]

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        m, n = x.shape[-2:]
        if self.mode == "complete" and m > n:
            raise ShapeError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols")
        (q, r), (gq, gr) = out, g
        if m >= n:
            return square_qr(q, r, gq, gr)
        first, rest = slice(None, m), slice(m, None)
        tail = getitem(gr, (Ellipsis, slice(None), rest))
        gq = gq + matmul(matmul(q, getitem(r, (Ellipsis, slice(None), rest))), adjoint(tail))
        head = square_qr(q, getitem(r, (Ellipsis, slice(None), first)), gq, getitem(gr, (Ellipsis, slice(None), first)))
        return cat([head, matmul(q, tail)], -1)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2)):
            yield cls(), (rng.normal(size=shape),)


def square_qr(q: Value, r: Value, gq: Value, gr: Value) -> Value:
    """The gradient for x = Q @ R with R square."""
    m = upper(matmul(gr, adjoint(r)) - matmul(adjoint(q), gq))
    above, on = upper(m, strict=True), where(eye(r.shape[-1]), m, 0.0)
    both = above + adjoint(above) + ((on + adjoint(on)) * 0.5 if is_complex(on) else on)
    return solve_triangular(adjoint(r), gq + matmul(q, both), upper=False, left=False)


def apart(values: Value) -> Value:
    """1 / (v[j] - v[i]) at (i, j), 0 on the diagonal; infinite for equal values, whose vectors have no derivative."""
    same = eye(values.shape[-1])
    return where(same, 0.0, 1.0 / where(same, 1.0, row(values) - column(values)))


class LinalgEigh(Operation):
    """Eigenvalues, ascending, and orthonormal eigenvectors (columns) of a symmetric matrix. (..., n, n) -> (..., n), (..., n, n).

    One triangle is read (`UPLO`); the gradient is that of (x + x.T) / 2, which references move. The sign of an
    eigenvector is LAPACK's, and pinned. Equal eigenvalues have a gradient, their eigenvectors have none (NaN, as
    PyTorch). Source: M. Giles, Collected matrix derivative results, 2008, 3.1.
    """

    refused = "biu"
    kernel_name = "linalg_eigh_cpu"

    saves = "eigenvalues=out.0 eigenvectors=out.1"
    multiplications = 6
    analytic = False
    name = "linalg.eigh"
    one_triangle = True
    no_exact = "eigenvalues have no elimination form"
    outputs = 2
    UPLO: Any = "L"

    def forward(self, x: Value) -> Any:
        need_square("linalg.eigh", x)
        values, vectors = np.linalg.eigh(x, self.UPLO)
        return values, vectors

    def decide(self, x: Value) -> Any:
        """The signs of the eigenvectors, and what reading one triangle adds."""
        return leading_signs(self.forward(x)[1]), unread(x, self.UPLO == "U")

    def branch(self, x: Value, decision: Any = None) -> Any:
        signs, skew = decision
        values, vectors = np.linalg.eigh(symmetric(x) + skew)
        return values, vectors if is_complex(vectors) else (vectors * flips(vectors, signs)).astype(vectors.dtype)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.branch(args[0], decision=decision)

    def vjp_x(self, g: Value, out: Value) -> Value:
        (values, vectors), (of_values, of_vectors) = out, g
        if absent(of_vectors):
            return matmul(vectors * like(row(of_values), vectors), adjoint(vectors))
        turn = matmul(adjoint(vectors), of_vectors)
        inner = diagonal_matrix(of_values) + (turn - adjoint(turn)) * 0.5 * apart(values)
        return matmul(vectors, matmul(like(inner, vectors), adjoint(vectors)))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for shape in ((2, 2), (3, 3), (2, 2, 2)):
            x = rng.normal(size=shape)
            yield cls(), ((x + np.swapaxes(x, -1, -2)) / 2 + np.diag(np.arange(shape[-1])),)
        yield cls(UPLO="U"), (np.array([[1.0, 0.3], [0.3, -2.0]]),)


class LinalgSvd(Operation):
    """U, S, Vh with U @ diag(S) @ Vh = x, S descending. (..., m, n) -> (..., m, k), (..., k), (..., k, n), k = min(m, n).

    `full_matrices`: U and Vh square; the added columns are arbitrary and have no gradient. Signs are LAPACK's, and
    pinned. Equal singular values have a gradient, their vectors have none (NaN, as PyTorch).
    Source: J. Townsend, Differentiating the singular value decomposition, 2016.
    """

    refused = "biu"
    kernel_name = "linalg.svd"

    saves = "S=out.1 S_sym_argsize_minus_1=rank U=out.0 Vh=out.2 full_matrices"
    multiplications = 12
    analytic = False
    name = "linalg.svd"
    no_exact = "singular values have no elimination form"
    outputs = 3
    full_matrices: bool = True

    def rank(self, x_shape: tuple[int, ...]) -> int:
        """How many singular values there are."""
        return min(x_shape[-2:])

    def decide(self, x: Value) -> Value:
        need_matrix("linalg.svd", x)
        return leading_signs(np.linalg.svd(x, full_matrices=False)[0])

    def branch(self, x: Value, decision: Any = None) -> Any:
        u, s, vh = np.linalg.svd(x, full_matrices=self.full_matrices)
        if is_complex(x):
            return u, s, vh
        k = s.shape[-1]
        sign = flips(u[..., :k], decision).astype(u.dtype)
        u, vh = np.array(u), np.array(vh)
        u[..., :k] *= sign
        vh[..., :k, :] *= np.swapaxes(sign, -1, -2)
        return u, s, vh

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.branch(args[0], decision=decision)

    def vjp_x(self, g: Value, x_shape: tuple[int, ...], out: Value) -> Value:
        (u, s, vh), (gu, gs, gvh) = out, g
        m, n = x_shape[-2:]
        k = min(m, n)
        if self.full_matrices:
            u, gu = (getitem(t, (Ellipsis, slice(None, k))) for t in (u, gu))
            vh, gvh = (getitem(t, (Ellipsis, slice(None, k), slice(None))) for t in (vh, gvh))
        if absent(gu) and absent(gvh):
            return matmul(u * like(row(gs), u), vh)
        v, gv = adjoint(vh), adjoint(gvh)
        of_u, of_v, gaps = matmul(adjoint(u), gu), matmul(vh, gv), apart(s * s)
        inner = (of_u - adjoint(of_u)) * gaps * row(s) + column(s) * ((of_v - adjoint(of_v)) * gaps) + diagonal_matrix(gs)
        rest = 1.0 / s
        if is_complex(u):
            inner = inner + diagonal_matrix(phases(of_u) * rest)
        out_x = matmul(u, matmul(inner, vh))
        if m > k:
            out_x = out_x + matmul((gu - matmul(u, of_u)) * row(rest), vh)
        if n > k:
            out_x = out_x + matmul(u, adjoint((gv - matmul(v, of_v)) * row(rest)))
        return out_x

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2)):
            yield cls(full_matrices=False), (rng.normal(size=shape),)


def phases(turn: Value) -> Value:
    """The imaginary diagonal of a matrix: what the phases of complex vectors contribute."""
    return diagonal_of(turn - adjoint(turn)) * 0.5


QrResult = returned("linalg_qr", "Q R")
EighResult = returned("linalg_eigh", "eigenvalues eigenvectors")
SvdResult = returned("linalg_svd", "U S Vh")
SvdOlder = returned("svd", "U S V")


def qr(x: Value, mode: str = "reduced") -> Any:
    """Q with orthonormal columns and upper triangular R with Q @ R = x. Modes: reduced, complete, r (R alone)."""
    if mode not in ("reduced", "complete", "r"):
        raise DataError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    need_matrix("linalg.qr", x)
    q, r = LinalgQr(mode=mode)(x)
    return QrResult(nothing(x) if mode == "r" else q, r)


def eigh(x: Value, UPLO: str = "L") -> Any:
    """Eigenvalues, ascending, and eigenvectors of a symmetric matrix, of which one triangle is read."""
    return EighResult(*_eigh(x, UPLO))


def eigvalsh(x: Value, UPLO: str = "L") -> Any:
    """The eigenvalues, ascending, of a symmetric matrix, of which one triangle is read."""
    return _eigh(x, UPLO)[0]


def _eigh(x: Any, UPLO: str) -> Any:
    if not isinstance(UPLO, str):
        raise ArgumentError(f"linalg_eigh(): argument 'UPLO' must be str, not {type(UPLO).__name__}")
    if UPLO.upper() not in ("L", "U"):
        raise DataError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    need_square("linalg.eigh", x)
    return LinalgEigh(UPLO=UPLO.upper())(x)


def linalg_svd(x: Value, full_matrices: bool = True) -> Any:
    """U, S, Vh with U @ diag(S) @ Vh = x."""
    need_matrix("linalg.svd", x)
    return SvdResult(*LinalgSvd(full_matrices=bool(full_matrices))(x))


def svd(x: Value, some: bool = True, compute_uv: bool = True) -> Any:
    """U, S, V with U @ diag(S) @ V.T = x: the older spelling of linalg.svd, V not transposed."""
    u, s, vh = linalg_svd(x, not some)
    return SvdOlder(u, s, adjoint(vh))


def singular_values(x: Value) -> Any:
    """The singular values, descending. (..., m, n) -> (..., min(m, n))."""
    need_matrix("linalg.svdvals", x)
    return LinalgSvd(full_matrices=False)(x)[1]


OPERATIONS = (LinalgQr, LinalgEigh, LinalgSvd)
FUNCTIONS = (qr, svd)
SPELLINGS = {
    "linalg.qr": qr, "linalg.eigh": eigh, "linalg.eigvalsh": eigvalsh, "linalg.svd": linalg_svd, "linalg.svdvals": singular_values,
}  # fmt: skip
