"""Sums, products and moments over axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from gradcli.errors import DtypeError, ShapeError
from gradcli.ops.axes import axis, many_dims, sizes
from gradcli.ops.conjugate import conj
from gradcli.ops.operation import Operation, Value
from gradcli.ops.promotion import scalar_type
from gradcli.ops.scan import product_of_others
from gradcli.ops.shape import ViewAs, raised, reshape
from gradcli.ops.structure import Expand, SumTo, To
from gradcli.ops.where import where

Dims = tuple[int, ...] | None
Examples = Iterable[tuple[Operation, tuple[Value, ...]]]

total: Any = np.add.reduce
product: Any = np.multiply.reduce


class Reduction(Operation, abstract=True):
    """One number from all elements (`dim` None), or one along the axes `dim`, which `keepdim` leaves with length 1.

    `dim_node` is PyTorch's name of the node when axes are given; `both_save` what the nodes save without and with axes.
    """

    row_major = True
    dim: Dims = None
    keepdim: bool = False
    dim_node = ""
    both_save: ClassVar[tuple[str, str] | None] = None

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        if self.dim is not None and self.dim_node:
            self.node = self.dim_node
        if self.both_save is not None:
            self.saves = self.both_save[self.dim is not None]

    def axes(self, ndim: int) -> tuple[int, ...]:
        return tuple(range(-ndim, 0)) if self.dim is None else self.dim

    def count(self, shape: tuple[int, ...]) -> int:
        """How many elements make one number."""
        return math.prod(shape[d] for d in self.axes(len(shape)))

    def along(self, dim: tuple[int, ...]) -> Operation:
        """The same reduction along given axes."""
        return type(self)(**{**self.settings(), "dim": dim})

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        (x,) = args
        op = self if self.dim is not None else self.along(tuple(range(1 - x.ndim, 0)))
        return op.replay([x], decision)

    def raised(self, g: Value, shape: tuple[int, ...]) -> Value:
        """What has the shape of the result, with the reduced axes as axes of length 1 (without any, where all are reduced)."""
        gone = self.dim is not None and not self.keepdim and len(g.shape) != len(shape)
        return raised(g, self.dim or (), len(shape)) if gone else g

    def spread(self, g: Value, shape: tuple[int, ...]) -> Value:
        """What has the shape of the result, repeated over the reduced axes."""
        return Expand(shape=tuple(shape))(self.raised(g, shape))

    def keeping(self) -> Operation:
        """The same reduction with the reduced axes kept."""
        return type(self)(**{**self.settings(), "keepdim": True})

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        for settings, shape in cls.forms():
            yield cls(**settings), (rng.uniform(0.3, 2.0, shape) * rng.choice([-1.0, 1.0], shape),)

    @classmethod
    def forms(cls) -> Iterable[tuple[dict[str, Any], tuple[int, ...]]]:
        """Parameters and shapes for the tests."""
        yield {}, (2, 3)
        yield {}, ()
        yield {"dim": (-1,)}, (2, 3)
        yield {"dim": (-2,), "keepdim": True}, (2, 3)
        yield {"dim": (-3, -1)}, (2, 2, 3)


class Sum(Reduction):
    """The sum: sum x_i. The empty sum is 0. (..., n, ...) -> (..., ...)."""

    dim_node = "SumBackward1"
    both_save = ("self_sym_sizes=x_shape", "dim keepdim self_sym_sizes=x_shape")

    def forward(self, x: Value) -> Value:
        return total(x, axis=self.dim, keepdims=self.keepdim)

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        return self.spread(g, x_shape)


class Mean(Reduction):
    """The mean: sum x_i / n. NaN over nothing. (..., n, ...) -> (..., ...)."""

    dim_node = "MeanBackward1"
    both_save = ("self_sym_numel=number self_sym_sizes=x_shape", "dim keepdim self_sym_numel=number self_sym_sizes=x_shape")

    def number(self, x_shape: tuple[int, ...]) -> int:
        """Of all elements."""
        return math.prod(x_shape)

    def forward(self, x: Value) -> Value:
        return np.true_divide(total(x, axis=self.dim, keepdims=self.keepdim), self.count(np.shape(x)))

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        return self.spread(g, x_shape) / self.count(x_shape)


class Nansum(Reduction):
    """The sum of what is not NaN. (..., n, ...) -> (..., ...). Gradient: 0 where x is NaN."""

    node = "NansumBackward0"

    def decide(self, x: Value) -> Any:
        return ~np.isnan(x) if np.asarray(x).dtype.kind in "fc" else np.asarray(x == x, dtype=bool)

    def branch(self, x: Value, decision: Any = None) -> Value:
        return total(np.where(decision, x, 0), axis=self.dim, keepdims=self.keepdim)

    def vjp_x(self, g: Value, x: Value) -> Value:
        return where(x == x, self.spread(g, x.shape), 0.0)


class Prod(Reduction):
    """The product of all elements; the empty product is 1. The derivative, the product of the others, holds at zeros too.

    (..., n, ...) -> (..., ...).
    """

    both_save = ("result=out self=x", "dim=dim.0 keepdim result=out self=x")

    def forward(self, x: Value) -> Value:
        return product(x, axis=self.dim, keepdims=self.keepdim)

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.node = "ProdBackward0" if self.dim is None else "ProdBackward1"

    def vjp_x(self, g: Value, x: Value, out: Value) -> Value:
        if self.dim is None:
            others = reshape(product_of_others(reshape(x, -1), -1), x.shape)
        else:
            others = product_of_others(x, self.dim[0]) if self.dim else 1.0 + 0.0 * x
        return self.spread(g, x.shape) * conj(others)

    @classmethod
    def forms(cls) -> Iterable[tuple[dict[str, Any], tuple[int, ...]]]:
        yield {}, (2, 3)
        yield {}, ()
        yield {"dim": (-1,)}, (2, 3)
        yield {"dim": (-2,), "keepdim": True}, (2, 3)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield from super().examples(rng)
        yield cls(), (np.array([2.0, 0.0, 3.0]),)
        yield cls(dim=(-1,)), (np.array([[2.0, 0.0, 0.0], [1.0, 2.0, 3.0]]),)


def need_floating(name: str, x: Any) -> None:
    """RuntimeError, as PyTorch, where a mean or a variance of integers is asked for."""
    if x.dtype.kind in "biu":
        raise DtypeError(
            f"{name}(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {scalar_type(x)}",
            hint="make it floating first: .double()",
        )


def dims_or_all(dim: Any, ndim: int) -> Dims:
    return None if dim is None else many_dims(dim, ndim)


def cast(x: Any, dtype: Any) -> Any:
    return x if dtype is None or x.dtype == dtype else To(dtype=np.dtype(dtype))(x)


def sum(x: Value, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The sum over all elements, or along `dim` (an axis, several, or None). (..., n, ...) -> (..., ...)."""
    return Sum(dim=dims_or_all(dim, x.ndim), keepdim=keepdim)(cast(x, dtype))


def mean(x: Value, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The mean over all elements, or along `dim`; NaN over nothing. RuntimeError for integers."""
    x = cast(x, dtype)
    need_floating("mean", x)
    return Mean(dim=dims_or_all(dim, x.ndim), keepdim=keepdim)(x)


def nansum(x: Value, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The sum of what is not NaN."""
    return Nansum(dim=dims_or_all(dim, x.ndim), keepdim=keepdim)(cast(x, dtype))


def nanmean(x: Value, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The mean of what is not NaN."""
    x = cast(x, dtype)
    count = Sum(dim=dims_or_all(dim, x.ndim), keepdim=keepdim)(To(dtype=x.dtype)(x == x))
    return nansum(x, dim, keepdim) / count


def prod(x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """The product of all elements, or along `dim`; several axes as in NumPy."""
    x = cast(x, dtype)
    if dim is None:
        return Prod(keepdim=keepdim)(x)
    if not isinstance(dim, (tuple, list)):
        return Prod(dim=many_dims(dim, x.ndim), keepdim=keepdim)(x)
    dims = many_dims(dim, x.ndim)
    for d in dims:
        x = Prod(dim=(d,), keepdim=True)(x)
    return x if keepdim else reshape(x, tuple(n for k, n in enumerate(x.shape) if k - x.ndim not in dims))


def summed_to(op: SumTo, x: Value) -> Value:
    """Summed over the axes that go, kept with length 1, and brought to the shape: the nodes that PyTorch makes."""
    axes = op.axes(x.shape)
    if not op.shape and x.ndim:
        return Sum()(x)
    if axes:
        x = Sum(dim=tuple(axis(d, x.ndim) for d in axes), keepdim=True)(x)
    return ViewAs(shape=op.shape)(x) if len(op.shape) < x.ndim else x


SumTo.steps = summed_to


def sum_to_size(x: Value, *size: Any) -> Any:
    """The sum over the axes along which the given shape would be expanded to that of x."""
    shape = sizes(size)
    if len(shape) > x.ndim or any(n not in (1, m) for n, m in zip(shape[::-1], x.shape[::-1], strict=False)):
        raise ShapeError(f"size {{{list(shape)}}} is not expandable to size {{{list(x.shape)}}}.")
    return SumTo(shape=shape)(x)


OPERATIONS = (Sum, Mean, Nansum, Prod)
FUNCTIONS = (sum, mean, nansum, nanmean, prod, sum_to_size)
