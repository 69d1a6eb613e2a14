"""Transpositions: windows onto the same memory with the axes in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops.axes import many_dims, one_dim, sizes
from gradcli.ops.notice import notice
from gradcli.ops.operation import Value, View
from gradcli.ops.shape import Examples


class Transpose(View):
    """Two axes swapped: (..., n, ..., m, ...) -> (..., m, ..., n, ...)."""

    dim0: int
    dim1: int

    def forward(self, x: Value) -> Value:
        return np.swapaxes(x, self.dim0, self.dim1) if np.ndim(x) else x.view()

    def vjp_x(self, g: Value) -> Value:
        return self(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dim0=-1, dim1=-2), (rng.normal(size=(2, 3)),)
        yield cls(dim0=-3, dim1=-1), (rng.normal(size=(2, 3, 2)),)


class T(View):
    """The transpose of a matrix: (n, m) -> (m, n); vectors and numbers stay."""

    name = "t"

    def forward(self, x: Value) -> Value:
        return x.view() if x.ndim < 2 else np.swapaxes(x, -1, -2)

    def vjp_x(self, g: Value) -> Value:
        return self(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return args[0] if args[0].ndim < 3 else np.swapaxes(args[0], -1, -2)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(2, 3)),)
        yield cls(), (rng.normal(size=(3,)),)


class Permute(View):
    """The axes in another order: axis k of the result is axis dims[k] of x. (n_0, n_1, ...) -> (n_dims[0], n_dims[1], ...)."""

    dims: tuple[int, ...]

    def forward(self, x: Value) -> Value:
        return np.transpose(x, self.dims)

    def vjp_x(self, g: Value) -> Value:
        count = len(self.dims)
        back = [0] * count
        for k, d in enumerate(self.dims):
            back[d] = k - count
        return Permute(dims=tuple(back))(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return np.transpose(args[0], (0, *self.dims))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(dims=(-1, -3, -2)), (rng.normal(size=(2, 3, 4)),)


def transpose(x: Value, dim0: Any = None, dim1: Any = None) -> Any:
    """Two axes swapped. NumPy's spellings work too: no axes reverse them all, a tuple permutes them."""
    if dim1 is None:
        return permute(x, tuple(range(x.ndim))[::-1] if dim0 is None else dim0)
    return Transpose(dim0=one_dim(dim0, x.ndim), dim1=one_dim(dim1, x.ndim))(x)


def t(x: Value) -> Any:
    """The transpose of a matrix; RuntimeError above two axes."""
    if x.ndim > 2:
        raise ShapeError(f"t() expects a tensor with <= 2 dimensions, but self is {x.ndim}D")
    return T()(x)


def permute(x: Value, *dims: Any) -> Any:
    """The axes in another order: axis k of the result is axis dims[k] of x."""
    order = sizes(dims)
    if len(order) != x.ndim:
        raise ShapeError(
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering "
            f"of dimensions i.e. input.dim() = {x.ndim} is not equal to len(dims) = {len(order)}"
        )
    if len({d % x.ndim for d in order if -x.ndim <= d < x.ndim}) < sum(-x.ndim <= d < x.ndim for d in order):
        raise ShapeError("permute(): duplicate dims are not allowed.")
    return Permute(dims=many_dims(order, x.ndim))(x)


def movedim(x: Value, source: Any, destination: Any) -> Any:
    """Axes moved to other places, the rest in their order."""
    one = not isinstance(source, (tuple, list))
    old, new = ([source], [destination]) if one else (source, destination)
    if len(old) != len(new):
        raise ShapeError(
            f"movedim: Invalid source or destination dims: source ({list(old)} dims) should contain the same number "
            f"of dims as destination ({list(new)} dims)"
        )
    n = x.ndim
    order = [d for d in range(n) if d not in [one_dim(s, n) + n for s in old]]
    for to, source_dim in sorted((one_dim(d, n) + n, one_dim(s, n) + n) for s, d in zip(old, new, strict=True)):
        order.insert(to, source_dim)
    return permute(x, order)


def reverse_axes(x: Any) -> Any:
    """x.T: all axes in reverse order."""
    if x.ndim == 0:
        notice.tell("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
    elif x.ndim != 2:
        notice.tell(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an error in a "
            "future release. Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse "
            "the dimensions of a tensor."
        )
    return permute(x, tuple(range(x.ndim))[::-1]) if x.ndim else x


def matrix_transpose(x: Value) -> Any:
    """x.mT: the last two axes swapped."""
    if x.ndim < 2:
        raise ShapeError(f"tensor.mT is only supported on matrices or batches of matrices. Got {x.ndim}-D tensor.")
    return Transpose(dim0=-2, dim1=-1)(x)


OPERATIONS = (Transpose, T, Permute)
FUNCTIONS = (transpose, t, permute, movedim, reverse_axes, matrix_transpose)
SPELLINGS = {"swapaxes": transpose, "swapdims": transpose, "moveaxis": movedim, "adjoint": matrix_transpose}
