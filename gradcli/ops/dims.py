"""Axes as operations compute with them: counted from the end, so that leading batch axes never move them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from gradcli.errors import RangeError, ShapeError


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
    if ndim == 0:
        return ()
    negative = tuple(axis(int(d), ndim) if d >= 0 else d if isinstance(d, Written) else int(d) for d in dims)
    if len(set(negative)) < len(negative):
        raise ShapeError(f"dim {next(d for d in negative if negative.count(d) > 1) + ndim} appears multiple times in the list of dims")
    return negative
