"""Axes, sizes and leading batch axes: what users write, as operations count it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from gradcli.errors import ArgumentError, RangeError, ShapeError
from gradcli.ops.operation import Value


class Written(int):
    """An axis or an index in the form that operations compute with, which knows how it was `given`: PyTorch's nodes tell it so."""

    given: int | None


@cache
def written(value: int, given: int | None) -> Written:
    """A number that was given in another form."""
    made = Written(value)
    made.given = given
    return made


def axis(given: int, ndim: int) -> Written:
    """An axis that was counted from the front, counted from the end."""
    return written(given - ndim, given)


def negative_dims(dim: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Axes counted from the end, so that leading batch axes never move them; None means all.

    Raises IndexError (PyTorch's text) for an axis out of range, RuntimeError for one named twice.
    """
    if dim is None:
        return tuple(range(-ndim, 0))
    dims = tuple(dim) if isinstance(dim, (tuple, list)) else (dim,)
    span = max(ndim, 1)
    for d in dims:
        if not -span <= d < span:
            raise RangeError(f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got {d})")
    if ndim == 0 and len(dims) < 2:
        return ()
    negative = tuple(axis(int(d), span) if d >= 0 else d if isinstance(d, Written) else int(d) for d in dims)
    if len(set(negative)) < len(negative):
        raise ShapeError(f"dim {next(d for d in negative if negative.count(d) > 1) + span} appears multiple times in the list of dims")
    return negative if ndim else ()


def integer(value: Any, what: str = "an index") -> int:
    """An int from what stands for one: numbers of Python and numpy, tensors of one integer."""
    try:
        return value if type(value) is Written else operator.index(value)
    except TypeError:
        raise ArgumentError(f"{what} must be an int, not {type(value).__name__}") from None


def one_dim(dim: Any, ndim: int) -> int:
    """An axis counted from the end; of a 0-d tensor -1 stands for its only, imagined axis."""
    found = negative_dims(integer(dim, "dim"), ndim)
    return found[0] if found else written(-1, int(dim))


def many_dims(dim: Any, ndim: int) -> tuple[int, ...]:
    """Axes counted from the end; None and () stand for all."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return tuple(range(-ndim, 0))
    return negative_dims([integer(d, "dim") for d in dim] if isinstance(dim, (tuple, list)) else integer(dim, "dim"), ndim)


def counted(dims: Sequence[int], ndim: int) -> tuple[int, ...]:
    """The same axes, which PyTorch's node tells from the front."""
    return tuple(axis(d + ndim if d < 0 else d, ndim) for d in dims)


def sizes(args: Sequence[Any]) -> tuple[int, ...]:
    """Sizes given as several ints or as one sequence of them."""
    if len(args) == 1 and isinstance(args[0], (tuple, list)):
        args = args[0]
    return tuple(integer(n, "a size") for n in args)


def raw(value: Any) -> Any:
    """The numpy value of a tensor; anything else as it is."""
    return getattr(value, "value", value)


def leading(args: Sequence[Value], lead: Sequence[bool]) -> list[Value]:
    """All arguments with the leading axis that those marked in `lead` have."""
    rows = next(len(a) for a, batched in zip(args, lead, strict=True) if batched)
    return [a if batched else np.broadcast_to(a, (rows, *np.shape(a))) for a, batched in zip(args, lead, strict=True)]


def aligned(index: Any, ndim: int) -> Any:
    """An array of decisions with axes of length 1 in front, so that it fits values with a leading axis."""
    index = np.asarray(index)
    return index.reshape((1,) * (ndim - index.ndim) + index.shape)


def kept(shape: Sequence[int], dims: Sequence[int]) -> tuple[int, ...]:
    """A shape whose reduced axes have length 1."""
    out = list(shape)
    for d in dims:
        out[d] = 1
    return tuple(out)
