"""Norms of vectors and matrices, and the logarithm of a sum of exponentials."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import DtypeError, ShapeError
from gradcli.ops.arithmetic import log
from gradcli.ops.axes import counted, leading, many_dims, one_dim
from gradcli.ops.conjugate import conj, squared_size
from gradcli.ops.exponential import exp, floats
from gradcli.ops.extreme import amax, amin
from gradcli.ops.operation import Operation, Value
from gradcli.ops.orthogonal import singular_values
from gradcli.ops.promotion import scalar_type
from gradcli.ops.reduction import Examples, Reduction, Sum, cast, total
from gradcli.ops.rounding import absolute, sgn
from gradcli.ops.shape import unsqueeze
from gradcli.ops.structure import SumTo, To
from gradcli.ops.transposition import movedim
from gradcli.ops.where import where


class Logsumexp(Reduction):
    """log(sum(exp(x_i))) along axes. Gradient exp(x - out), the softmax; NaN where all are -inf, as PyTorch.

    (..., n, ...) -> (..., ...).
    """

    def forward(self, x: Value) -> Value:
        top = np.max(np.real(x), axis=self.dim, keepdims=True) if np.size(x) else np.zeros(())
        top = np.where(np.isfinite(top), top, 0)
        sums = total(np.exp(x - top), axis=self.dim, keepdims=True)
        out = np.log(sums) + top
        return out if self.keepdim else np.squeeze(out, self.axes(np.ndim(x)))[()]

    def exact(self, *args: Value, decision: Any = None) -> Value:
        (x,) = args
        top = np.max(floats(x), axis=self.dim, keepdims=True) if np.size(x) else np.zeros(())
        sums = log(total(exp(x - top), axis=self.dim, keepdims=self.keepdim) + 0.0)
        return sums + (top if self.keepdim or not np.size(x) else np.squeeze(top, self.axes(np.ndim(x))))

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        return self.raised(g, x.shape) * conj(exp(x - self.raised(out, x.shape)))


def rooted(x: Value, zero: Value, exponent: float = 0.5) -> Value:
    """A root; where x is `zero`, where it has no slope, x without its slope."""
    positive = np.where(zero, 1.0, x)
    root = np.sqrt(positive) if exponent == 0.5 and positive.dtype.kind != "O" else positive**exponent
    return np.where(zero, x * 0, root)[()]


class LinalgVectorNorm(Reduction):
    """(sum |x_i|^ord)^(1/ord) along axes; ord inf and -inf are the largest and smallest |x_i|, 0 counts what is not 0.

    Conventions, PyTorch's: at x = 0 the gradient is 0; elements that tie for the largest share it equally.

    (..., n, ...) -> (..., ...).
    """

    saves = "dim keepdim ord result=out self=x"
    ord: float = 2.0
    dtype: Any = None

    def decide(self, x: Value) -> Any:
        """The signs of the elements (None of complex ones), for infinite orders which are taken, where x is not 0, and which norms are."""
        kind = np.asarray(x).dtype.kind
        sign = None if kind == "c" else np.asarray((x > 0) * 1 - (x < 0) * 1, dtype=np.int8)
        taken = None
        if abs(self.ord) == np.inf:
            a = np.abs(x) if sign is None else x * sign
            reduce: Any = np.max if self.ord > 0 else np.min
            taken = np.asarray(a == reduce(a, axis=self.dim, keepdims=True), dtype=bool)
        counted = np.asarray(x != 0, dtype=bool)
        return sign, taken, counted, ~np.any(counted, axis=self.dim, keepdims=self.keepdim)

    def branch(self, x: Value, decision: Any = None) -> Value:
        sign, taken, counted, zero = decision
        p = self.ord
        if p == 0:
            return total(np.broadcast_to(counted, np.shape(x)) * 1.0, axis=self.dim, keepdims=self.keepdim)
        if p == 2:
            return rooted(total(squared_size(x) if sign is None else x * x, axis=self.dim, keepdims=self.keepdim), zero)
        a = np.abs(x) if sign is None else x * sign
        if taken is not None:
            count = total(taken, axis=self.dim, keepdims=self.keepdim, dtype=np.int64)
            return total(np.where(taken, a, 0), axis=self.dim, keepdims=self.keepdim) / count
        if p == 1:
            return total(a, axis=self.dim, keepdims=self.keepdim)
        return rooted(total(a**p, axis=self.dim, keepdims=self.keepdim), zero & (p > 0), 1.0 / p)

    def forward(self, x: Value) -> Value:
        if abs(self.ord) == np.inf:
            reduce: Any = np.max if self.ord > 0 else np.min
            return reduce(np.abs(x), axis=self.dim, keepdims=self.keepdim)
        if self.ord == 2 and np.asarray(x).dtype.kind == "f":
            return self.scaled(x)
        return self.branch(x, decision=self.decide(x))

    def scaled(self, x: Value) -> Value:
        """The Euclidean norm; where squares overflow or vanish, of x divided by its largest element."""
        square = total(x * x, axis=self.dim, keepdims=self.keepdim)
        info = np.finfo(np.asarray(x).dtype)
        if np.all((square > info.tiny / info.eps) & (square < info.max)):
            return np.sqrt(square)
        top = np.max(np.abs(x), axis=self.dim, keepdims=True, initial=0.0)
        safe = np.where((top > 0) & np.isfinite(top), top, 1.0)
        out = safe * np.sqrt(total((x / safe) ** 2, axis=self.dim, keepdims=True))
        return out if self.keepdim else np.squeeze(out, self.axes(np.ndim(x)))[()]

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        p = self.ord
        if p == 0:
            return None
        if p == 1:
            return self.spread(g, x.shape) * sgn(x)
        norm = self.spread(out, x.shape)
        if abs(p) == np.inf:
            ties = absolute(x) == norm
            count = To(dtype=g.dtype)(Sum(dim=self.dim, keepdim=self.keepdim)(ties))
            return where(ties, self.spread(g / count, x.shape) * sgn(x), 0.0)
        safe = where(out == 0, 1.0, out)
        if p == 2:
            return self.spread(g, x.shape) * where(norm == 0, 0.0, x / norm)
        ratio = absolute(x) / self.spread(safe, x.shape)
        zero = (x == 0) | (norm == 0)
        slope = where(zero, 0.0, where(zero, 1.0, ratio) ** (p - 1)) if p < 1 or p != int(p) or p < 2 else ratio ** (p - 1)
        return self.spread(where(out == 0, 0.0, g), x.shape) * slope * sgn(x)

    def kinks(self, x: Value) -> Value | None:
        if self.ord == 1:
            return np.abs(x)
        if abs(self.ord) == np.inf:
            a = np.abs(x)
            op = amax if self.ord > 0 else amin
            return self.gap(a, op)
        return self.forward(x) if self.ord >= 1 else np.abs(x)

    def gap(self, a: Value, op: Any) -> Value:
        """How far the second largest (or smallest) element is from the first."""
        ties = np.asarray(a == op(a, self.dim, True), dtype=bool)
        rest = np.where(ties, -np.inf if self.ord > 0 else np.inf, a)
        several = total(ties, axis=self.dim, keepdims=True, dtype=np.int64) > 1
        return np.where(several, 0.0, op(a, self.dim, True) - op(rest, self.dim, True)) * op(a, self.dim, True)

    @classmethod
    def forms(cls) -> Iterable[tuple[dict[str, Any], tuple[int, ...]]]:
        for order in (2.0, 1.0, 3.0, 1.5, np.inf, -np.inf, 0.5, 0.0):
            yield {"ord": order}, (2, 3)
            yield {"ord": order, "dim": (-1,), "keepdim": True}, (2, 3)
        yield {"dim": (-2, -1)}, (2, 2, 3)


class Dist(Operation):
    """The norm of order p of x - y: (...), (...) -> (). Conventions as for vector norms: 0 at x = y."""

    p: float = 2.0

    def norm(self) -> LinalgVectorNorm:
        return LinalgVectorNorm(ord=self.p)

    def decide(self, x: Value, y: Value) -> Any:
        return self.norm().decide(x - y)

    def branch(self, x: Value, y: Value, decision: Any = None) -> Value:
        return self.norm().branch(x - y, decision=decision)

    def forward(self, x: Value, y: Value) -> Value:
        return self.norm().forward(x - y)

    def vjp_x(self, g: Value, x: Value, y: Value, out: Value) -> Value:
        part = self.norm().vjp_x(g, x - y, out)
        return None if part is None else SumTo(shape=x.shape)(part)

    def vjp_y(self, g: Value, x: Value, y: Value, out: Value) -> Value:
        part = self.norm().vjp_x(g, x - y, out)
        return None if part is None else SumTo(shape=y.shape)(-part)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        if np.shape(args[0])[lead[0] :] != np.shape(args[1])[lead[1] :]:
            return super().batch(args, lead, decision)
        x, y = leading(args, lead)
        return self.norm().batch([x - y], [True], decision)

    def kinks(self, x: Value, y: Value) -> Value | None:
        return self.norm().kinks(x - y)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for p in (2.0, 1.0, 3.0, np.inf):
            yield cls(p=p), (rng.normal(size=(2, 3)), rng.normal(size=(2, 3)))
        yield cls(), (rng.normal(size=(2, 3)), rng.normal(size=(3,)))


class Renorm(Operation):
    """x with every part at an index of `dim` whose norm of order p exceeds maxnorm scaled down to it: times maxnorm / (norm + 1e-7).

    Shapes: any, kept. Kink where a norm is maxnorm: unscaled there.
    """

    p: float
    dim: int
    maxnorm: float

    def norms(self, ndim: int) -> LinalgVectorNorm:
        """The norm of each part, the other axes kept."""
        return LinalgVectorNorm(ord=self.p, dim=tuple(d for d in range(-ndim, 0) if d != self.dim), keepdim=True)

    def decide(self, x: Value) -> Any:
        """Which parts are scaled, and the decisions of their norms."""
        op = self.norms(x.ndim)
        return np.asarray(op.forward(x) > self.maxnorm, dtype=bool), op.decide(x)

    def branch(self, x: Value, decision: Any = None) -> Value:
        scaled, inner = decision
        norm = self.norms(np.ndim(scaled)).branch(x, decision=inner)
        return x * np.where(scaled, self.maxnorm / (norm + 1e-7), 1.0)

    def forward(self, x: Value) -> Value:
        norm = self.norms(x.ndim).forward(x)
        return x * np.where(norm > self.maxnorm, self.maxnorm / (norm + 1e-7), 1.0).astype(x.dtype)

    def vjp_x(self, g: Value, x: Value) -> Value:
        op = self.norms(x.ndim)
        norm = op(x)
        scaled = norm > self.maxnorm
        factor = where(scaled, self.maxnorm / (norm + 1e-7), 1.0)
        slope = where(scaled, -self.maxnorm / (norm + 1e-7) ** 2, 0.0)
        through = op.vjp_x(Sum(dim=op.dim, keepdim=True)(g * x) * slope, x, norm)
        return g * factor if through is None else g * factor + through

    def kinks(self, x: Value) -> Value | None:
        return self.norms(x.ndim).forward(x) - self.maxnorm

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(p=2.0, dim=-2, maxnorm=1.0), (np.array([[3.0, -4.0], [0.1, 0.2]]),)
        yield cls(p=1.0, dim=-1, maxnorm=1.5), (rng.normal(size=(2, 3)),)


class Norm(LinalgVectorNorm):
    """The norm that PyTorch's older functions take along axes. (..., n, ...) -> (..., ...)."""

    saves = "dim keepdim p=ord result=out self=x"
    node = "NormBackward1"


def need_float(name: str, x: Any) -> None:
    if x.dtype.kind in "biu":
        raise DtypeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {scalar_type(x)}",
            hint="make it floating first: .double()",
        )


def logsumexp(x: Value, dim: Any, keepdim: bool = False) -> Any:
    """log(sum(exp(x))) along axes, without overflow."""
    x = To(dtype=np.float64)(x) if x.dtype.kind in "biu" else x
    return Logsumexp(dim=many_dims(dim, x.ndim), keepdim=keepdim)(x)


def vector_norm(x: Value, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of any order of all elements as one vector, or of the vectors along axes."""
    need_float("linalg.vector_norm", x)
    x = cast(x, dtype)
    dims = None if dim is None and not keepdim else many_dims(dim, x.ndim)
    if (ord < 0 or ord == np.inf) and not math.prod(x.shape[d] for d in (range(x.ndim) if dims is None else dims)):
        order = "inf" if ord == np.inf else f"{ord:g}"
        raise ShapeError(
            f"linalg.vector_norm cannot compute the {order} norm on an empty tensor because the operation does not have an identity"
        )
    return LinalgVectorNorm(ord=ord, dim=dims, keepdim=keepdim)(x)


def matrix_norm(x: Value, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The norm of matrices: "fro", 1 and -1 (columns), inf and -inf (rows), 2, -2 and "nuc" (singular values)."""
    need_float("linalg.matrix_norm", x)
    if x.ndim < 2:
        raise ShapeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    x = cast(x, dtype)
    row, column = counted(many_dims(tuple(dim), x.ndim), x.ndim)
    if ord == "fro":
        return vector_norm(x, 2, (row, column), keepdim)
    if ord in (1, -1, np.inf, -np.inf):
        first, second = (row, column) if abs(ord) == 1 else (column, row)
        sums = vector_norm(x, 1.0, first, keepdim)
        (last,) = counted((second + (not keepdim and second < first),), sums.ndim)
        return (amax if ord > 0 else amin)(sums, last, keepdim)
    if ord not in (2, -2, "nuc"):
        raise ShapeError(f"linalg.matrix_norm: Order {ord} not supported.")
    values = singular_values(movedim(x, (row, column), (-2, -1)))
    out = Sum(dim=(-1,))(values) if ord == "nuc" else (amax if ord == 2 else amin)(values, -1)
    return unsqueeze_both(out, row, column, x.ndim) if keepdim else out


def unsqueeze_both(x: Any, row: int, column: int, ndim: int) -> Any:
    for d in sorted((row + ndim, column + ndim)):
        x = unsqueeze(x, d)
    return x


def norm(x: Value, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """torch.norm: the norm of order p of all elements, or of the vectors along axes; "fro" is 2, "nuc" of matrices."""
    x = cast(x, dtype)
    need_float("linalg.vector_norm", x)
    if p == "nuc":
        return matrix_norm(x, "nuc", (-2, -1) if dim is None else dim, keepdim)
    if isinstance(p, str) and p != "fro":
        raise ShapeError(f"Only supports 'fro' and 'nuc' for string norms, got {p}")
    return vector_norm(x, 2 if p == "fro" or p is None else p, dim, keepdim)


def linalg_norm(x: Value, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """torch.linalg.norm: a vector norm of all elements without an order; else of vectors, or of matrices where x (or dim) has two axes."""
    dims = None if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
    if ord is None:
        return vector_norm(x, 2.0, dim, keepdim, dtype=dtype)
    if isinstance(ord, str) or (len(dims) == 2 if dims is not None else x.ndim == 2):
        if dims is None and x.ndim != 2:
            raise ShapeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D.")
        return matrix_norm(x, ord, (-2, -1) if dims is None else tuple(dims), keepdim, dtype=dtype)
    if dims is None and x.ndim != 1:
        raise ShapeError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {x.ndim}D.")
    return vector_norm(x, ord, dim, keepdim, dtype=dtype)


def dist(x: Value, other: Value, p: float = 2) -> Any:
    """The norm of order p of x - other."""
    return Dist(p=p)(x, other)


def renorm(x: Value, p: float, dim: int, maxnorm: float) -> Any:
    """x with every part along an axis scaled down to a norm of at most maxnorm."""
    need_float("renorm", x)
    return Renorm(p=p, dim=one_dim(dim, x.ndim), maxnorm=maxnorm)(x)


OPERATIONS = (Logsumexp, LinalgVectorNorm, Dist, Renorm)
FUNCTIONS = (logsumexp, norm, dist, renorm)
SPELLINGS = {"linalg.vector_norm": vector_norm, "linalg.matrix_norm": matrix_norm, "linalg.norm": linalg_norm}
