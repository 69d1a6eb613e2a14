"""Truth over axes: all, any, how many."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.axes import many_dims
from gradcli.ops.operation import Value
from gradcli.ops.reduction import Reduction


class All(Reduction):
    """True where no element along the axes is 0."""

    differentiable = False

    def forward(self, x: Value) -> Value:
        return np.all(np.asarray(x, dtype=bool), axis=self.dim, keepdims=self.keepdim)


class Any_(Reduction):  # noqa: N801 - Any is a type here
    """True where some element along the axes is not 0."""

    name = "any"
    differentiable = False

    def forward(self, x: Value) -> Value:
        return np.any(np.asarray(x, dtype=bool), axis=self.dim, keepdims=self.keepdim)


class CountNonzero(Reduction):
    """How many elements along the axes are not 0."""

    differentiable = False

    def forward(self, x: Value) -> Value:
        return np.asarray(np.count_nonzero(x, axis=self.dim, keepdims=self.keepdim))[()]


def all(x: Value, dim: Any = None, keepdim: bool = False) -> Any:
    """True where no element, of all or along axes, is 0."""
    return All(dim=None if dim is None else many_dims(dim, x.ndim), keepdim=keepdim)(x)


def any(x: Value, dim: Any = None, keepdim: bool = False) -> Any:
    """True where some element, of all or along axes, is not 0."""
    return Any_(dim=None if dim is None else many_dims(dim, x.ndim), keepdim=keepdim)(x)


def count_nonzero(x: Value, dim: Any = None) -> Any:
    """How many elements, of all or along axes, are not 0."""
    return CountNonzero(dim=None if dim is None else many_dims(dim, x.ndim))(x)


OPERATIONS = (All, Any_, CountNonzero)
FUNCTIONS = (all, any, count_nonzero)
