"""Matrix products of every rank, with the chains of nodes that PyTorch makes for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import DtypeError, ShapeError
from gradcli.ops.axes import raw, written
from gradcli.ops.conjugate import conj
from gradcli.ops.operation import Operation, Structural, Value
from gradcli.ops.promotion import scalar_type
from gradcli.ops.shape import Squeeze, UnsafeView, contiguous, reshape, unsqueeze
from gradcli.ops.structure import Expand, is_finer
from gradcli.ops.transposition import T, Transpose

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]
Pair = tuple[int, int]

NAMES = {"float64": "double", "float32": "float", "float16": "Half", "int64": "long", "int32": "int", "bool": "bool",
         "complex128": "c10::complex<double>", "complex64": "c10::complex<float>"}  # fmt: skip
"""What PyTorch calls a dtype when two of them meet in a product."""

transposed: Operation = Transpose(dim0=-2, dim1=-1)
t: Operation = T()


def adjoint(x: Value) -> Value:
    """The conjugate transpose of the last two axes."""
    return conj(transposed(x))


def same_dtype(x: Value, y: Value, text: Callable[[Any, Any], str] | None = None) -> None:
    """Products don't promote: both sides must have one dtype (RuntimeError). The numbers of a reference meet any."""
    a, b = np.asarray(raw(x)).dtype, np.asarray(raw(y)).dtype
    if a == b or is_finer(a) or is_finer(b):
        return
    if text is not None:
        raise DtypeError(text(a, b))
    raise DtypeError(
        f"expected m1 and m2 to have the same dtype, but got: {NAMES.get(a.name, a.name)} != {NAMES.get(b.name, b.name)}",
        hint="bring both to one dtype, e.g. with .double()",
    )


class Product(Structural, abstract=True):
    """A product of two tensors. A user must give both in one dtype; a replay may mix them (a complex step against real constants)."""

    def replay(self, args: Sequence[Value], decision: Any) -> Any:
        return self.batch(args, [False] * len(args))


def by_columns(shape: Pair, strides: Pair) -> bool:
    """Whether a matrix lies in memory column after column: its gradient is made so too, as PyTorch does."""
    return strides[0] == 1 and strides[1] == shape[0]


class Mm(Product):
    """Product of two matrices: out[i, j] = sum_k x[i, k] * mat2[k, j]. (m, k), (k, n) -> (m, n)."""

    saves = "mat2 mat2_sym_sizes=mat2_shape mat2_sym_strides=mat2_strides self=x self_sym_sizes=x_shape self_sym_strides=x_strides"

    def forward(self, x: Value, mat2: Value) -> Value:
        if np.ndim(x) != 2 or np.ndim(mat2) != 2:
            wrong = "self" if np.ndim(x) != 2 else "mat2"
            raise ShapeError(f"{wrong} must be a matrix", hint=f"mm takes matrices, not {list(np.shape(x))} and {list(np.shape(mat2))}")
        (m, k), (k2, n) = x.shape, mat2.shape
        if k != k2:
            raise ShapeError(f"mat1 and mat2 shapes cannot be multiplied ({m}x{k} and {k2}x{n})")
        same_dtype(x, mat2)
        return np.matmul(x, mat2)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return np.matmul(*args)

    def size(self, *args: Value) -> int:
        x, y = args
        return int(np.shape(x)[0] * np.shape(y)[-1]) if np.ndim(x) and np.ndim(y) else 0

    def work(self, *args: Value) -> int:
        return self.size(*args) * int(np.shape(args[0])[-1])

    def vjp_x(self, g: Value, mat2: Value, x_shape: Pair, x_strides: Pair) -> Value:
        if by_columns(x_shape, x_strides):
            return t(mm(conj(mat2), t(g)))
        return mm(g, conj(t(mat2)))

    def vjp_mat2(self, g: Value, x: Value, mat2_shape: Pair, mat2_strides: Pair) -> Value:
        if by_columns(mat2_shape, mat2_strides):
            return t(mm(t(g), conj(x)))
        return mm(conj(t(x)), g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 3)), rng.normal(size=(3, 2)))
        yield cls(), (rng.normal(size=(1, 3)), rng.normal(size=(3, 4)))
        yield cls(), (rng.normal(size=(3, 2)).T, rng.normal(size=(4, 3)).T)


class Mv(Product):
    """Matrix times vector: out[i] = sum_k x[i, k] * vec[k]. (m, k), (k) -> (m)."""

    def forward(self, x: Value, vec: Value) -> Value:
        if np.ndim(x) != 2 or np.ndim(vec) != 1:
            raise ShapeError(f"vector + matrix @ vector expected, got 1, {np.ndim(x)}, {np.ndim(vec)}")
        m, k = x.shape
        if k != len(vec):
            raise ShapeError(f"size mismatch, got input ({m}), mat ({m}x{k}), vec ({len(vec)})")
        same_dtype(x, vec)
        return np.matmul(x, vec)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        x, vec = args
        return np.matmul(x, vec[..., None])[..., 0]

    def vjp_x(self, g: Value, vec: Value) -> Value:
        return reshape(g, (-1, 1)) * conj(vec)

    def vjp_vec(self, g: Value, x: Value) -> Value:
        return mv(conj(t(x)), g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 3)), rng.normal(size=(3,)))


class Dot(Product):
    """Inner product of two vectors: sum_k x[k] * tensor[k]. (k), (k) -> ()."""

    refused = "b"
    kernel_name = "dot"

    def forward(self, x: Value, tensor: Value) -> Value:
        check_vectors(x, tensor)
        return np.dot(x, tensor) if x.dtype.kind != "O" else np.asarray(np.add.reduce(x * tensor))[()]

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return np.asarray(np.einsum("...k,...k->...", *args))[()]

    def vjp_x(self, g: Value, tensor: Value) -> Value:
        return g * conj(tensor)

    def vjp_tensor(self, g: Value, x: Value) -> Value:
        return g * conj(x)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(3,)), rng.normal(size=(3,)))


class Vdot(Product):
    """Inner product of two vectors, the first conjugated: sum_k conj(x[k]) * y[k]. (k), (k) -> ()."""

    row_major = True
    refused = "b"
    kernel_name = "dot"

    analytic = False

    def forward(self, x: Value, y: Value) -> Value:
        check_vectors(x, y)
        return np.vdot(x, y) if x.dtype.kind != "O" else np.asarray(np.add.reduce(x * y))[()]

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return np.asarray(np.einsum("...k,...k->...", np.conjugate(args[0]), args[1]))[()]

    def vjp_x(self, g: Value, y: Value) -> Value:
        return conj(g) * y

    def vjp_y(self, g: Value, x: Value) -> Value:
        return g * x

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(3,)), rng.normal(size=(3,)))


def check_vectors(x: Value, y: Value) -> None:
    """What `dot` and `vdot` ask of their arguments (RuntimeError)."""
    if np.ndim(x) != 1 or np.ndim(y) != 1:
        raise ShapeError(f"1D tensors expected, but got {np.ndim(x)}D and {np.ndim(y)}D tensors", hint="use matmul for other ranks")
    if len(x) != len(y):
        raise ShapeError(
            f"inconsistent tensor size, expected tensor [{len(x)}] and src [{len(y)}] to have the same number of elements, "
            f"but got {len(x)} and {len(y)} elements respectively"
        )
    same_dtype(x, y, lambda a, b: f"dot : expected both vectors to have same dtype, but found {scalar_type(a)} and {scalar_type(b)}")


class Bmm(Product):
    """Product of matrices, one for each leading index: out[b] = x[b] @ mat2[b]. (b, m, k), (b, k, n) -> (b, m, n)."""

    def forward(self, x: Value, mat2: Value) -> Value:
        if np.ndim(x) != 3 or np.ndim(mat2) != 3:
            raise ShapeError(f"batch{1 if np.ndim(x) != 3 else 2} must be a 3D tensor")
        (b, _, k), other = x.shape, mat2.shape
        if other[:2] != (b, k):
            got = f"[{other[0]}, {other[1]}]"
            raise ShapeError(f"Expected size for first two dimensions of batch2 tensor to be: [{b}, {k}] but got: {got}.")
        same_dtype(x, mat2)
        return np.matmul(x, mat2)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return np.matmul(*args)

    def size(self, *args: Value) -> int:
        x, y = args
        return int(np.prod(np.shape(x)[:2])) * int(np.shape(y)[-1]) if np.ndim(x) == 3 and np.ndim(y) else 0

    def work(self, *args: Value) -> int:
        return self.size(*args) * int(np.shape(args[0])[-1])

    def vjp_x(self, g: Value, mat2: Value) -> Value:
        return bmm(g, adjoint(mat2))

    def vjp_mat2(self, g: Value, x: Value) -> Value:
        return bmm(adjoint(x), g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 2, 3)), rng.normal(size=(2, 3, 2)))


mm: Operation = Mm()
mv: Operation = Mv()
dot: Operation = Dot()
bmm: Operation = Bmm()
squeeze_first: Operation = Squeeze(dim=(written(-2, 0),), form=4)


def matmul(x: Value, y: Value) -> Any:
    """The product x @ y.

    Two vectors give their inner product (), two matrices their product, matrix and vector a vector; of more
    axes the last two hold matrices and the leading ones broadcast. RuntimeError when the shapes do not fit.
    """
    a, b = np.ndim(x), np.ndim(y)
    if not a or not b:
        raise ShapeError(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D", hint="use * for numbers")
    if type(x) is np.ndarray and type(y) is np.ndarray:
        return np.matmul(x, y)
    if a <= 2 and b <= 2:
        if a == 2:
            return mm(x, y) if b == 2 else mv(x, y)
        return dot(x, y) if b == 1 else squeeze_first(mm(unsqueeze(x, 0), y))
    return _folded(x, y) if _folds(x, y) else _batched(x, y)


def _folds(x: Any, y: Any) -> bool:
    """Whether PyTorch folds the batch into the rows of one matrix product (`should_fold` in its LinearAlgebra.cpp)."""
    smaller = y if x.ndim >= y.ndim else x
    if smaller.ndim > 2:
        return False
    return bool(getattr(smaller, "requires_grad", False)) or x.ndim != 2


def _folded(x: Any, y: Any) -> Any:
    """A batch of matrices times one matrix or vector, as a single product."""
    swap = y.ndim > x.ndim
    large, small = (transposed(y), T()(x) if x.ndim == 2 else x) if swap else (x, y)
    lead = large.shape[:-1]
    rows = reshape(large, (int(np.prod(lead)), large.shape[-1]))
    if small.ndim == 1:
        return UnsafeView(shape=lead)(mv(rows, small))
    out = UnsafeView(shape=(*lead, small.shape[-1]))(mm(rows, small))
    return contiguous(transposed(out)) if swap else out


def _batched(x: Any, y: Any) -> Any:
    """Leading axes broadcast against each other and flattened into one."""
    n, k = (x.shape[-2] if x.ndim > 1 else 1), x.shape[-1]
    rows, p = (y.shape[-2], y.shape[-1]) if y.ndim > 1 else (y.shape[0], 1)
    lead = broadcast_lead(x.shape[:-2], y.shape[:-2])
    count = int(np.prod(lead))
    left = reshape(Expand(shape=(*lead, n, k))(x), (count, n, k))
    if y.ndim == 1:
        right = unsqueeze(reshape(Expand(shape=(*lead, rows))(y), (count, rows)), 2)
    else:
        right = reshape(Expand(shape=(*lead, rows, p))(y), (count, rows, p))
    shape = (*lead, *((n,) if x.ndim > 1 else ()), *((p,) if y.ndim > 1 else ()))
    return UnsafeView(shape=shape)(bmm(left, right))


def broadcast_lead(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The broadcast shape of leading axes; RuntimeError (PyTorch's text) when they do not fit."""
    for k in range(1, min(len(a), len(b)) + 1):
        if a[-k] != b[-k] and 1 not in (a[-k], b[-k]):
            axis = max(len(a), len(b)) - k
            raise ShapeError(f"The size of tensor a ({a[-k]}) must match the size of tensor b ({b[-k]}) at non-singleton dimension {axis}")
    return np.broadcast_shapes(a, b)


def outer(x: Value, vec2: Value) -> Any:
    """out[i, j] = x[i] * vec2[j]. (m), (n) -> (m, n)."""
    for value in (x, vec2):
        if np.ndim(value) != 1:
            raise ShapeError(f"outer: Expected 1-D argument {'self' if value is x else 'vec2'}, but got {np.ndim(value)}-D")
    return reshape(x, (x.shape[0], 1)) * vec2


OPERATIONS = (Mm, Mv, Dot, Vdot, Bmm)
FUNCTIONS = (matmul, outer)
SPELLINGS = {"ger": outer, "linalg.matmul": matmul}
