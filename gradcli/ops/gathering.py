"""Elements taken at, and written to, places along one axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import ArgumentError, DtypeError, ShapeError
from gradcli.ops.axes import aligned, leading, one_dim, raw
from gradcli.ops.extreme import TakeAlong
from gradcli.ops.operation import Operation, Structural, Value
from gradcli.ops.padding import ConstantPadNd
from gradcli.ops.shape import reshape
from gradcli.ops.structure import Expand, written_dtype

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]


def along(index: Value, dim: int) -> tuple[Any, ...]:
    """NumPy's index of the places that `index` means along one axis."""
    places: list[Any] = list(np.indices(index.shape, sparse=True))
    places[dim] = index
    return tuple(places)


def part(x: Value, shape: tuple[int, ...]) -> Value:
    """The first elements along each axis, as many as `shape` says."""
    return x[tuple(slice(n) for n in shape)]


class Gather(TakeAlong):
    """out[i, j] = x[i, index[i, j]] (dim = 1): index has as many axes as x, and nowhere but in `dim` more elements.

    Shapes: that of index. Gradient: g added up at index.
    """

    saves = "dim index self=x sparse_grad:False"
    name = "gather"
    node = "GatherBackward0"

    def forward(self, x: Value, index: Value) -> Value:
        if x.ndim == 0:
            return x[()] if np.ndim(index) == 0 else np.broadcast_to(x, np.shape(index)).copy()
        index, lead = aligned(index, x.ndim), x.ndim - np.ndim(index)
        shape = tuple(m if k < lead or k - x.ndim == self.dim else n for k, (m, n) in enumerate(zip(x.shape, index.shape, strict=True)))
        return np.take_along_axis(part(x, shape), index, self.dim)

    def vjp_x(self, g: Value, x: Value, index: Value) -> Value:  # type: ignore[override]
        return ScatterAdd(dim=self.dim)(np.zeros(x.shape, g.dtype), index, g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 3)), np.array([[0, 0], [2, 1]]))
        yield cls(dim=-2), (rng.normal(size=(3, 3)), np.array([[0, 2]]))


class Placed(Structural, abstract=True):
    """Base of what writes `src` to the places `index` along `dim` of x: index has as many axes as x, src at least its elements."""

    dim: int

    def write(self, out: Value, places: tuple[Any, ...], src: Value) -> None:
        raise NotImplementedError

    def forward(self, x: Value, index: Value, src: Value) -> Value:
        out = np.array(x, dtype=written_dtype(x, src), subok=True)
        if out.ndim == 0:
            self.write(out.reshape(1), (np.reshape(index, 1),), np.reshape(src, 1))
            return out[()]
        self.write(out, along(index, self.dim), part(np.asarray(src), index.shape) if np.ndim(src) else src)
        return out

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        if np.ndim(args[0]) - lead[0] == 0:
            return super().batch(args, lead, decision)
        return self.forward(*[np.array(a) for a in leading(args, lead)])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 3)), np.array([[0], [2]]), rng.normal(size=(2, 1)))
        yield cls(dim=-2), (rng.normal(size=(3, 2)), np.array([[0, 2], [1, 0]]), rng.normal(size=(2, 2)))


class Scatter(Placed):
    """out[i, index[i, j]] = src[i, j] (dim = 1). Where places repeat the last wins, and each gets a gradient, as PyTorch.

    `form` numbers PyTorch's spellings: a tensor, a number.

    Shapes: that of x.
    """

    saves = "dim index"
    form: int = 0

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.node = f"ScatterBackward{self.form}"

    def write(self, out: Value, places: tuple[Any, ...], src: Value) -> None:
        out[places] = src

    def vjp_x(self, g: Value, index: Value) -> Value:
        return Scatter(dim=self.dim, form=1)(g, index, np.zeros(index.shape, g.dtype))

    def vjp_src(self, g: Value, index: Value, src_shape: tuple[int, ...]) -> Value:
        return widened(Gather(dim=self.dim)(g, index), src_shape)


class ScatterAdd(Placed):
    """out[i, index[i, j]] += src[i, j] (dim = 1): what falls on one place is added up. Shapes: that of x. Gradient of src: g at index."""

    saves = "dim index"

    def write(self, out: Value, places: tuple[Any, ...], src: Value) -> None:
        np.add.at(out, places, src)

    def vjp_x(self, g: Value) -> Value:
        return g

    def vjp_src(self, g: Value, index: Value, src_shape: tuple[int, ...]) -> Value:
        return widened(Gather(dim=self.dim)(g, index), src_shape)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield from super().examples(rng)
        yield cls(dim=-1), (rng.normal(size=(3,)), np.array([0, 2, 0]), rng.normal(size=(4,)))


def widened(g: Value, shape: tuple[int, ...]) -> Value:
    """A gradient for the first elements along each axis, as one for all: zeros for the rest."""
    if g.shape == shape:
        return g
    return ConstantPadNd(pad=tuple(k for n, m in zip(reversed(shape), reversed(g.shape), strict=True) for k in (0, n - m)))(g)


def check_index(name: str, x: Any, dim: int, index: Any, src: Any = None, *, exact: bool = False) -> None:
    """PyTorch's errors for indices of the wrong dtype, rank, size or range."""
    value = raw(index)
    if not hasattr(value, "dtype"):
        raise ArgumentError(f"{name}(): argument 'index' must be Tensor, not {type(index).__name__}")
    if value.dtype.kind not in "iu":
        raise DtypeError(f"{name}(): Expected dtype int32/int64 for index", hint="make it an integer tensor: .long()")
    if max(value.ndim, 1) != max(x.ndim, 1):
        raise ShapeError(
            f"Index tensor must have the same number of dimensions as {'self' if src is not None else 'input'} tensor",
            hint=f"the index has shape {list(value.shape)}, the tensor {list(x.shape)}",
        )
    size = x.shape[dim] if x.ndim else 1
    for k in range(-value.ndim, 0):
        if x.ndim and k != dim and value.shape[k] > x.shape[k]:
            raise ShapeError(
                f"Size does not match at dimension {k + value.ndim} expected index {list(value.shape)} to be no larger than "
                f"self {list(x.shape)} apart from dimension {dim + x.ndim}"
            )
        if np.ndim(raw(src)) == value.ndim and src is not None and value.shape[k] > src.shape[k]:
            raise ShapeError(
                f"Expected index {list(value.shape)} to be no larger than self {list(x.shape)} apart from dimension {dim + x.ndim} "
                f"and to be no larger size than src {list(src.shape)}"
            )
    wrong = value[(value < 0) | (value >= size)]
    if wrong.size:
        raise ShapeError(f"index {int(wrong.flat[0])} is out of bounds for dimension {dim + max(x.ndim, 1)} with size {size}")


def gather(x: Value, dim: int, index: Value, *, sparse_grad: bool = False) -> Any:
    """Along an axis the elements at `index`, which has as many axes as x: out[i, j] = x[i, index[i, j]] for dim = 1."""
    axis = one_dim(dim, x.ndim)
    check_index("gather", x, axis, index)
    return Gather(dim=axis)(x, index)


def scatter_add(x: Value, dim: int, index: Value, src: Value) -> Any:
    """x with `src` added at `index` along an axis."""
    axis = one_dim(dim, x.ndim)
    check_index("scatter_add", x, axis, index, src)
    return ScatterAdd(dim=axis)(x, index, src)


def take_along_dim(x: Value, indices: Value, dim: int | None = None) -> Any:
    """The elements at `indices` along an axis, x and indices broadcast along the others; without an axis, of all in row-major order."""
    if dim is None:
        return gather(reshape(x, -1), 0, reshape(indices, -1))
    axis = one_dim(dim, x.ndim)
    shape = list(np.broadcast_shapes(*[tuple(1 if k - x.ndim == axis else n for k, n in enumerate(s)) for s in (x.shape, indices.shape)]))
    shape[axis] = x.shape[axis]
    wide = tuple(indices.shape[axis] if k - x.ndim == axis else n for k, n in enumerate(shape))
    index = np.broadcast_to(raw(indices), wide)
    index = np.where(index < 0, index + x.shape[axis], index)
    return gather(Expand(shape=tuple(shape))(x), dim, index)


OPERATIONS = (Gather, Scatter, ScatterAdd)
FUNCTIONS = (gather, scatter_add, take_along_dim)
