"""Largest and smallest elements: which one is taken is a decision, what it gives is smooth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import RangeError, ShapeError
from gradcli.ops.axes import aligned, many_dims, one_dim, raw
from gradcli.ops.bounds import maximum, minimum
from gradcli.ops.operation import Operation, Value
from gradcli.ops.reduction import Examples, Reduction, Sum, total
from gradcli.ops.returned import VALUES, returned
from gradcli.ops.shape import reshape, unsqueeze
from gradcli.ops.structure import To
from gradcli.ops.where import MaskedFill


class Amax(Reduction):
    """The largest element. Elements that tie share the gradient equally, as PyTorch. (..., n, ...) -> (..., ...)."""

    refused = "c"
    lowest = False

    def pick(self, x: Value, keepdim: bool) -> Value:
        reduce: Any = np.minimum.reduce if self.lowest else np.maximum.reduce
        return reduce(x, axis=self.dim, keepdims=keepdim)

    def forward(self, x: Value) -> Value:
        return self.pick(x, self.keepdim)

    def decide(self, x: Value) -> Any:
        return np.asarray(x == self.pick(x, True), dtype=bool)

    def branch(self, x: Value, decision: Any = None) -> Value:
        """The mean of the elements that tied."""
        count = total(decision, axis=self.dim, keepdims=self.keepdim, dtype=np.int64)
        mask = aligned(decision, np.ndim(x))
        return total(np.where(mask, x, 0), axis=self.dim, keepdims=self.keepdim) / count

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        """Where the result is NaN nothing is equal to it, and g / 0 * 0 is NaN everywhere, as in PyTorch."""
        ties = x == self.spread(out, x.shape)
        count = To(dtype=g.dtype)(Sum(dim=self.dim, keepdim=self.keepdim)(ties))
        return self.spread(g / count, x.shape) * To(dtype=g.dtype)(ties)

    def kinks(self, x: Value) -> Value | None:
        """How far the second is from the first."""
        rest = np.where(self.decide(x), -np.inf if not self.lowest else np.inf, x)
        gap = self.pick(x, True) - self.pick(rest, True)
        tied = total(self.decide(x), axis=self.dim, keepdims=True, dtype=np.int64) > 1
        return np.where(tied, 0.0, gap)


class Amin(Amax):
    """The smallest element. Elements that tie share the gradient equally, as PyTorch. (..., n, ...) -> (..., ...)."""

    refused = "c"
    lowest = True


class MaxAll(Amax):
    """The largest of all elements. Elements that tie (or are NaN) share the gradient equally, as PyTorch. (...) -> ()."""

    saves = "result=out self=x"
    refused = "c"
    node = "MaxBackward1"

    def decide(self, x: Value) -> Any:
        top = self.pick(x, True)
        return np.asarray((x == top) | ((x != x) & (top != top)), dtype=bool)

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        ties = (x == out) | ((x != x) & (out != out))
        return MaskedFill(form=1)(np.zeros(x.shape, g.dtype), raw(ties), g / To(dtype=g.dtype)(Sum()(ties)))

    @classmethod
    def forms(cls) -> Iterable[tuple[dict[str, Any], tuple[int, ...]]]:
        yield {}, (2, 3)
        yield {}, ()


class MinAll(MaxAll):
    """The smallest of all elements. Elements that tie (or are NaN) share the gradient equally, as PyTorch. (...) -> ()."""

    refused = "c"
    node = "MinBackward1"
    lowest = True


class TakeAlong(Operation):
    """The elements of x at `index` along `dim`; index has as many axes as x. (..., n, ...), (..., m, ...) -> (..., m, ...)."""

    name = "take_at"
    node = "GatherBackward0"
    dim: int

    def forward(self, x: Value, index: Value) -> Value:
        return np.take_along_axis(x, aligned(index, x.ndim), self.dim)

    def vjp_x(self, g: Value, index: Value, x_shape: tuple[int, ...]) -> Value:
        return PutAlong(dim=self.dim, shape=x_shape)(g, index)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(*args)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 3)), np.array([[0, 0], [2, 1]]))


class PutAlong(Operation):
    """Zeros of `shape` to which g is added at `index` along `dim`: the transpose of taking."""

    dim: int
    shape: tuple[int, ...]
    label: str = "ScatterBackward0"

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.node = self.label

    def forward(self, g: Value, index: Value) -> Value:
        out = np.zeros(self.shape, g.dtype)
        places: list[Any] = list(np.indices(np.shape(index), sparse=True))
        places[self.dim] = index
        np.add.at(out, tuple(places), g)
        return out

    def vjp_g(self, g: Value, index: Value) -> Value:
        return TakeAlong(dim=self.dim)(g, index)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        g, index = args
        wide = PutAlong(dim=self.dim, shape=(len(g), *self.shape))
        return wide.forward(g, np.broadcast_to(aligned(index, g.ndim), g.shape))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1, shape=(2, 3)), (rng.normal(size=(2, 2)), np.array([[0, 0], [2, 1]]))


class MaxDim(Operation):
    """The largest element along `dim` and where it is: the index taken, the first of those that tie, gets the whole gradient.

    (..., n, ...) -> (..., ...) twice.
    """

    saves = "dim indices=place keepdim self_sym_sizes=x_shape"
    refused = "c"
    node = "MaxBackward0"
    outputs = 2
    lowest = False
    dim: int
    keepdim: bool = False

    def decide(self, x: Value) -> Any:
        choose: Any = np.argmin if self.lowest else np.argmax
        return choose(x, axis=self.dim, keepdims=True)

    def branch(self, x: Value, decision: Any = None) -> Any:
        values = np.take_along_axis(x, aligned(decision, np.ndim(x)), self.dim)
        return (values, decision) if self.keepdim else (values.squeeze(self.dim)[()], decision.squeeze(self.dim)[()])

    def place(self, decision: Value) -> Value:
        """Where the element was, in the shape of the result."""
        return decision if self.keepdim else decision.squeeze(self.dim)

    def vjp_x(self, g: Value, decision: Value, x_shape: tuple[int, ...]) -> Value:
        values = g[0] if self.keepdim else unsqueeze(g[0], self.dim + len(x_shape))
        return PutAlong(dim=self.dim, shape=x_shape)(values, decision)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        values, indices = self.branch(args[0], decision=decision)
        return values, np.broadcast_to(indices, values.shape)

    def kinks(self, x: Value) -> Value | None:
        return Amin(dim=(self.dim,)).kinks(x) if self.lowest else Amax(dim=(self.dim,)).kinks(x)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim=-1), (rng.normal(size=(2, 3)),)
        yield cls(dim=-2, keepdim=True), (rng.normal(size=(2, 3)),)


class MinDim(MaxDim):
    """The smallest element along `dim` and where it is: the index taken, the first of those that tie, gets the whole gradient.

    (..., n, ...) -> (..., ...) twice.
    """

    refused = "c"
    node = "MinBackward0"
    lowest = True


class Aminmax(Operation):
    """The smallest and the largest element, of all or along `dim`; ties share equally. (..., n, ...) -> (..., ...) twice."""

    saves = "dim=dim.0 keepdim max=out.1 min=out.0 self=x"
    refused = "c"
    outputs = 2
    dim: tuple[int, ...] | None = None
    keepdim: bool = False

    def decide(self, x: Value) -> Any:
        return tuple(op.decide(x) for op in self.pair())

    def pair(self) -> tuple[Amin, Amax]:
        return Amin(dim=self.dim, keepdim=self.keepdim), Amax(dim=self.dim, keepdim=self.keepdim)

    def forward(self, x: Value) -> Any:
        return tuple(op.forward(x) for op in self.pair())

    def branch(self, x: Value, decision: Any = None) -> Any:
        return tuple(op.branch(x, decision=d) for op, d in zip(self.pair(), decision, strict=True))

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        low, high = self.pair()
        return low.vjp_x(g[0], x, out[0]) + high.vjp_x(g[1], x, out[1])

    def kinks(self, x: Value) -> Value | None:
        gaps: list[Any] = [np.abs(np.asarray(op.kinks(x))) for op in self.pair()]
        return np.minimum(*gaps)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 3)),)
        yield cls(dim=(-1,), keepdim=True), (rng.normal(size=(2, 3)),)


class Argmax(Operation):
    """Where the largest element is: the first of those that tie. Along `dim`, or in row-major order of all."""

    refused = "c"
    differentiable = False
    lowest = False
    dim: int | None = None
    keepdim: bool = False

    def forward(self, x: Value) -> Value:
        choose: Any = np.argmin if self.lowest else np.argmax
        return choose(x, axis=self.dim, keepdims=self.keepdim)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 3)),)
        yield cls(dim=-1), (rng.normal(size=(2, 3)),)


class Argmin(Argmax):
    """Where the smallest element is: the first of those that tie. Along `dim`, or in row-major order of all."""

    refused = "c"
    lowest = True


def need_elements(name: str, x: Any, dim: Any) -> None:
    """An extreme of nothing does not exist (IndexError along an axis, RuntimeError of all, as PyTorch)."""
    if 0 not in x.shape:
        return
    if dim is None and name.startswith("arg"):
        raise RangeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
    if dim is None:
        raise ShapeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument."
        )
    for d in many_dims(dim, x.ndim):
        if x.shape[d] == 0:
            raise RangeError(f"{name}(): Expected reduction dim {d + x.ndim} to have non-zero size.")


def max(x: Value, dim: Any = None, keepdim: bool = False) -> Any:
    """The largest of all elements (ties share the gradient), or with `dim` the pair (values, indices) along it
    (the index taken gets the gradient); with a tensor as second argument the larger of each pair."""
    return _extreme("max", MaxAll, MaxDim, x, dim, keepdim)


def min(x: Value, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest of all elements (ties share the gradient), or with `dim` the pair (values, indices) along it
    (the index taken gets the gradient); with a tensor as second argument the smaller of each pair."""
    return _extreme("min", MinAll, MinDim, x, dim, keepdim)


def _extreme(name: str, whole: type[Operation], along: type[Operation], x: Any, dim: Any, keepdim: bool) -> Any:
    if hasattr(dim, "dtype"):
        return (maximum if name == "max" else minimum)(x, dim)
    need_elements(name, x, dim)
    if dim is None:
        return whole()(x)
    d = one_dim(dim, x.ndim)
    if x.ndim == 0:
        values, indices = along(dim=d)(reshape(x, 1))
        return returned(name, VALUES)(values, indices)
    return returned(name, VALUES)(*along(dim=d, keepdim=keepdim)(x))


def as_given(dim: Any) -> dict[str, Any]:
    """What a node is told of axes that were not given."""
    return {} if dim not in (None, (), []) else {"dim": ()}


def amax(x: Value, dim: Any = None, keepdim: bool = False) -> Any:
    """The largest element, of all or along axes; elements that tie share the gradient equally."""
    need_elements("amax", x, dim)
    return Amax(dim=many_dims(dim, x.ndim), keepdim=keepdim).telling(**as_given(dim))(x)


def amin(x: Value, dim: Any = None, keepdim: bool = False) -> Any:
    """The smallest element, of all or along axes; elements that tie share the gradient equally."""
    need_elements("amin", x, dim)
    return Amin(dim=many_dims(dim, x.ndim), keepdim=keepdim).telling(**as_given(dim))(x)


def aminmax(x: Value, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The pair (min, max) of all elements, or along an axis; ties share equally."""
    need_elements("aminmax", x, dim)
    op = Aminmax(dim=None if dim is None else many_dims(dim, x.ndim), keepdim=keepdim)
    return returned("aminmax", "min max")(*op(x))


def argmax(x: Value, dim: int | None = None, keepdim: bool = False) -> Any:
    """Where the largest element is, of all in row-major order or along an axis."""
    need_elements("argmax", x, dim)
    return Argmax(dim=None if dim is None or x.ndim == 0 else one_dim(dim, x.ndim), keepdim=keepdim and x.ndim > 0)(x)


def argmin(x: Value, dim: int | None = None, keepdim: bool = False) -> Any:
    """Where the smallest element is, of all in row-major order or along an axis."""
    need_elements("argmin", x, dim)
    return Argmin(dim=None if dim is None or x.ndim == 0 else one_dim(dim, x.ndim), keepdim=keepdim and x.ndim > 0)(x)


OPERATIONS = (Amax, Amin, MaxAll, MinAll, MaxDim, MinDim, Aminmax, Argmax, Argmin, TakeAlong, PutAlong)
FUNCTIONS = (max, min, amax, amin, aminmax, argmax, argmin)
