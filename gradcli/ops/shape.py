"""Shapes: windows onto the same memory in another shape."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops.axes import many_dims, one_dim, raw, sizes
from gradcli.ops.layout import dense
from gradcli.ops.operation import Operation, Structural, Value, View
from gradcli.ops.structure import Expand

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]


class ViewAs(View):
    """The same elements in row-major order in another shape: (...) -> shape."""

    saves = "self_sym_sizes=x_shape"
    name = "view_as_shape"
    node = "ViewBackward0"
    shape: tuple[int, ...]

    def forward(self, x: Value) -> Value:
        return np.reshape(x, self.shape)

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        return reshape(g, x_shape)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return np.reshape(args[0], (len(args[0]), *self.shape))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(shape=(3, 2)), (rng.normal(size=(2, 3)),)
        yield cls(shape=()), (rng.normal(size=(1,)),)


class UnsafeView(ViewAs):
    """The same elements in another shape, of a tensor that nobody else sees: (...) -> shape."""

    saves = "self_sym_sizes=x_shape"
    view = False
    node = "UnsafeViewBackward0"


class ReshapeAlias(ViewAs):
    """The same elements in another shape, of a tensor that does not lie in memory in one piece: (...) -> shape."""


class Clone(Structural):
    """A copy in memory of its own, row by row unless `kept`: then in the order of x, if that has no gaps. Shapes: any, kept."""

    kept: bool = False

    def forward(self, x: Value) -> Value:
        return np.array(x, subok=True)[()] if np.ndim(x) == 0 else np.array(x, order="K" if self.kept and dense(x) else "C", subok=True)

    def vjp_x(self, g: Value) -> Value:
        return g

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return args[0]

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 3)),)


class Alias(View):
    """The whole tensor as a view: x[...]. Shapes: any, kept."""

    def forward(self, x: Value) -> Value:
        return x.view()

    def vjp_x(self, g: Value) -> Value:
        return g

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return args[0].view()

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 3)),)


SQUEEZE_SAVES = ("", "dim=dim.0 ", "dim ", "", "dim=dim.0 ")
"""What the nodes of the spellings save besides the shape."""


class Squeeze(View):
    """Without the axes `dim`, all of length 1. `form` numbers PyTorch's spellings: none, one axis, several, 4 for one axis in place.

    (..., 1, ...) -> (..., ...).
    """

    dim: tuple[int, ...]
    form: int = 1

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.node = f"SqueezeBackward{self.form}"
        self.view = self.form < 4
        self.saves = SQUEEZE_SAVES[self.form] + "self_sym_sizes=x_shape"

    def forward(self, x: Value) -> Value:
        return np.squeeze(x, self.dim)

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        return raised(g, self.dim, len(x_shape))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=(-2,)), (rng.normal(size=(2, 1, 3)),)
        yield cls(dim=(-1, -3), form=0), (rng.normal(size=(1, 2, 1)),)


def raised(x: Value, dims: Sequence[int], ndim: int) -> Value:
    """x with axes of length 1 at the places that `dims` have among `ndim` axes."""
    for d in sorted(d + ndim for d in dims):
        x = unsqueeze(x, d)
    return x


class Unsqueeze(View):
    """With a new axis of length 1 at `dim`, counted from the end of the result. (..., ...) -> (..., 1, ...)."""

    dim: int

    def forward(self, x: Value) -> Value:
        return np.expand_dims(x, self.dim)

    def vjp_x(self, g: Value) -> Value:
        return Squeeze(dim=(self.dim,))(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 3)),)
        yield cls(dim=-3), (rng.normal(size=(2, 3)),)


def fill_in(shape: Sequence[int], count: int) -> tuple[int, ...]:
    """A shape whose -1 stands for what `count` elements leave over; RuntimeError when they do not fit."""
    known = math.prod(n for n in shape if n != -1)
    free = [k for k, n in enumerate(shape) if n == -1]
    if len(free) > 1:
        raise ShapeError("only one dimension can be inferred")
    if any(n < -1 for n in shape):
        raise ShapeError(f"invalid shape dimension {next(n for n in shape if n < -1)}")
    fits = known and count % known == 0 if free else known == count
    if not fits:
        raise ShapeError(f"shape '{list(shape)}' is invalid for input of size {count}")
    return tuple(count // known if n == -1 else int(n) for n in shape)


def _is_whole(value: Any) -> bool:
    """Whether the elements lie in memory in one piece, in their order."""
    return not isinstance(value, np.ndarray) or value.size < 2 or bool(value.flags.c_contiguous)


def _is_window(x: Any, shape: tuple[int, ...]) -> bool:
    """Whether the elements of x can be shown in `shape` without copying."""
    value = raw(x)
    return _is_whole(value) or np.may_share_memory(np.reshape(value, shape), value)


def view(x: Value, *shape: Any) -> Any:
    """x in another shape without copying; one size may be -1.

    Raises RuntimeError when the sizes do not fit, or the memory of x is not laid out for it.
    """
    if len(shape) == 1 and isinstance(shape[0], (np.dtype, type)):
        return x.to(shape[0])
    wanted = fill_in(sizes(shape), math.prod(x.shape))
    if not _is_window(x, wanted):
        raise ShapeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return ViewAs(shape=wanted)(x)


def reshape(x: Value, *shape: Any) -> Any:
    """x in another shape, copied only where it must be; one size may be -1."""
    wanted = fill_in(sizes(shape), math.prod(x.shape))
    if _is_window(x, wanted):
        return (ViewAs if _is_whole(raw(x)) else ReshapeAlias)(shape=wanted)(x)
    return UnsafeView(shape=wanted)(Clone()(x))


def reshape_as(x: Value, other: Value) -> Any:
    """x in the shape of other."""
    return reshape(x, other.shape)


def view_as(x: Value, other: Value) -> Any:
    """x in the shape of other, without copying."""
    return view(x, other.shape)


def flatten(x: Value, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The axes start_dim to end_dim as one; a 0-d x becomes 1-d."""
    if x.ndim == 0:
        return reshape(x, 1)
    start, end = one_dim(start_dim, x.ndim) + x.ndim, one_dim(end_dim, x.ndim) + x.ndim
    if start > end:
        raise ShapeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end:
        return x
    return reshape(x, (*x.shape[:start], math.prod(x.shape[start : end + 1]), *x.shape[end + 1 :]))


def ravel(x: Value) -> Any:
    """All elements in one axis."""
    return reshape(x, -1)


def unflatten(x: Value, dim: int, sizes: Any) -> Any:
    """One axis split into several; one size may be -1."""
    d = one_dim(dim, x.ndim) + x.ndim
    parts = list(sizes)
    known = math.prod(n for n in parts if n != -1)
    if (known != x.shape[d] if -1 not in parts else not known or x.shape[d] % known) or not parts:
        raise ShapeError(f"unflatten: Provided sizes {parts} don't multiply up to the size of dim {d} ({x.shape[d]}) in the input tensor")
    return view(x, (*x.shape[:d], *fill_in(parts, x.shape[d]), *x.shape[d + 1 :]))


def squeeze(x: Value, dim: Any = None) -> Any:
    """Without axes of length 1: all of them, or those of `dim`."""
    form = 0 if dim is None else 2 if isinstance(dim, (tuple, list)) else 1
    dims = tuple(range(-x.ndim, 0)) if dim is None else many_dims(dim, x.ndim) if dim != () else ()
    return Squeeze(dim=tuple(d for d in dims if x.shape[d] == 1), form=form)(x)


def unsqueeze(x: Value, dim: int) -> Any:
    """With a new axis of length 1 at `dim`."""
    return Unsqueeze(dim=one_dim(dim, x.ndim + 1))(x)


def expand(x: Value, *size: Any) -> Any:
    """Repeated along axes of length 1, and along new leading axes, without copying; -1 keeps a size."""
    wanted = sizes(size)
    missing = len(wanted) - x.ndim
    if missing < 0:
        raise ShapeError(
            f"expand({'torch.DoubleTensor'}{{{list(x.shape)}}}, size={list(wanted)}): the number of sizes provided ({len(wanted)}) "
            f"must be greater or equal to the number of dimensions in the tensor ({x.ndim})"
        )
    full = []
    for k, n in enumerate(wanted):
        old = x.shape[k - missing] if k >= missing else 1
        if n == -1 and k < missing:
            raise ShapeError(f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {k}")
        if old not in (1, n) and n != -1:
            raise ShapeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({old}) at non-singleton dimension {k}.  "
                f"Target sizes: {list(wanted)}.  Tensor sizes: {list(x.shape)}"
            )
        full.append(old if n == -1 else n)
    return Expand(shape=tuple(full))(x)


def expand_as(x: Value, other: Value) -> Any:
    """x expanded to the shape of other."""
    return expand(x, other.shape)


def broadcast_to(x: Value, *size: Any) -> Any:
    """x expanded to a shape."""
    return expand(x, *size)


def in_place(op: Operation, node: str) -> Operation:
    """The form of a view that PyTorch applies in place to what nobody else sees: a node of another name, and no view."""
    op.node, op.view = node, False
    return op


def clone(x: Value) -> Any:
    """A copy in memory of its own, through which gradients flow."""
    return Clone(kept=True)(x)


def contiguous(x: Value) -> Any:
    """x itself when its memory is in row-major order, else a copy."""
    value = raw(x)
    return x if not isinstance(value, np.ndarray) or value.flags.c_contiguous else Clone()(x)


OPERATIONS = (ViewAs, UnsafeView, ReshapeAlias, Clone, Alias, Squeeze, Unsqueeze)
FUNCTIONS = (
    view, reshape, reshape_as, view_as, flatten, ravel, unflatten, squeeze, unsqueeze, expand, expand_as, broadcast_to, clone, contiguous,
)  # fmt: skip
SPELLINGS = {"expand_dims": unsqueeze}
