"""Tables and classes: rows of an embedding, one-hot vectors, places of what is not 0."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import ArgumentError, DtypeError, RangeError, ShapeError
from gradcli.ops.axes import raw
from gradcli.ops.indexing import Select
from gradcli.ops.operation import Operation, Structural, Value
from gradcli.ops.picking import Unindex
from gradcli.ops.promotion import tensor_type
from gradcli.ops.scattering import IndexAdd
from gradcli.ops.where import where

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]


class Embedding(Structural):
    """Rows of a table: (n, d), index (...) -> (..., d). The row `padding_idx` counts as a constant: it gets no gradient."""

    saves = "indices padding_idx scale_grad_by_freq:False sparse:False weight_sym_argsize_0=weight_shape.0"
    padding_idx: int = -1

    def decide(self, weight: Value, indices: Value) -> Any:
        """The row that counts as a constant."""
        return np.array(weight[self.padding_idx]) if self.padding_idx >= 0 else None

    def branch(self, weight: Value, indices: Value, decision: Any = None) -> Value:
        out = weight[indices]
        if decision is not None and np.ndim(indices):
            out[np.asarray(indices) == self.padding_idx] = decision
        return decision if decision is not None and not np.ndim(indices) and indices == self.padding_idx else out

    def forward(self, weight: Value, indices: Value) -> Value:
        return weight[indices]

    def size(self, *args: Value) -> int:
        weight, indices = args
        return int(np.size(indices) * weight.shape[-1])

    def vjp_weight(self, g: Value, indices: Value, weight_shape: tuple[int, ...]) -> Value:
        if self.padding_idx >= 0:
            g = where(np.expand_dims(np.asarray(raw(indices)) == self.padding_idx, -1), 0.0, g)
        return Unindex(axes=(-2,), shape=weight_shape, label="EmbeddingDenseBackwardBackward0")(g, indices)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        weight, indices = args
        out = weight[:, indices]
        if decision is not None:
            out[:, np.asarray(indices) == self.padding_idx] = decision
        return out

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (rng.normal(size=(4, 2)), np.array([[0, 3], [3, 1]]))
        yield cls(padding_idx=3), (rng.normal(size=(4, 2)), np.array([[0, 3], [3, 1]]))


def embedding(x: Any, weight: Value, padding_idx: int | None = None, max_norm: Any = None, norm_type: float = 2.0) -> Any:
    """Rows of a table at indices x: (...), (n, d) -> (..., d)."""
    if x.dtype.kind not in "iu":
        raise DtypeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
            f"but got {tensor_type(x)} instead (while checking arguments for embedding)"
        )
    if weight.ndim != 2:
        raise ShapeError("'weight' must be 2-D")
    value = raw(x)
    if value.size and (value.min() < 0 or value.max() >= weight.shape[0]):
        raise RangeError("index out of range in self", hint=f"the table has {weight.shape[0]} rows")
    pad = -1 if padding_idx is None else padding_idx % weight.shape[0]
    return Embedding(padding_idx=pad)(weight, x)


class Nonzero(Operation):
    """The places of all elements that are not 0, one row each: (...) -> (k, ndim)."""

    differentiable = False

    def forward(self, x: Value) -> Value:
        return np.argwhere(x)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (np.array([[1.0, 0.0], [0.0, 2.0]]),)


class OneHot(Operation):
    """A last axis of length `classes` that is 1 at the given class and 0 elsewhere: (...) -> (..., classes)."""

    differentiable = False
    classes: int

    def forward(self, x: Value) -> Value:
        return np.asarray(np.expand_dims(x, -1) == np.arange(self.classes), dtype=np.int64)

    def size(self, *args: Value) -> int:
        return int(np.size(args[0])) * self.classes

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(classes=3), (np.array([0, 2]),)


def nonzero(x: Value, *, as_tuple: bool = False) -> Any:
    """The places of all elements that are not 0: one row each, or one index tensor an axis."""
    places = Nonzero()(x)
    return tuple(Select(dim=-1, index=k)(places) for k in range(x.ndim)) if as_tuple else places


def chosen(condition: Value, x: Value | float | None = None, y: Value | float | None = None) -> Any:
    """x where the condition holds, y elsewhere; of the condition alone the places where it does, one index tensor an axis."""
    if x is None and y is None:
        return nonzero(condition, as_tuple=True)
    for name, position, value in (("input", 2, x), ("other", 3, y)):
        if value is None:
            text = f"where(): argument '{name}' (position {position}) must be Tensor, not NoneType"
            raise ArgumentError(text, hint="give both, or neither")
    return where(condition, x, y)


def one_hot(x: Value, num_classes: int = -1) -> Any:
    """Classes as vectors of 0 and 1; without num_classes as many as the largest class asks for."""
    value = raw(x)
    if value.dtype.kind not in "iu":
        raise DtypeError("one_hot is only applicable to index tensor of type LongTensor.", hint="make it an integer tensor: .long()")
    if value.size and value.min() < 0:
        raise ShapeError("Class values must be non-negative.")
    count = int(value.max()) + 1 if num_classes == -1 and value.size else int(num_classes)
    if value.size and value.max() >= count:
        raise ShapeError("Class values must be smaller than num_classes.")
    return OneHot(classes=count)(x)


class Isin(Operation):
    """True for the elements that are among those of y."""

    differentiable = False

    def forward(self, x: Value | float, y: Value | float) -> Value:
        return np.isin(x, y)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(), (np.array([1.0, 2.0]), np.array([2.0, 3.0]))


class Bincount(Operation):
    """How often each of the integers 0, 1, ... occurs: (n) -> (classes)."""

    differentiable = False
    minlength: int = 0

    def forward(self, x: Value) -> Value:
        return np.bincount(x, minlength=self.minlength)

    def size(self, *args: Value) -> int:
        return max(int(np.max(args[0], initial=-1)) + 1, self.minlength)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(minlength=4), (np.array([0, 2, 2]),)


def bincount(x: Value, weights: Value | None = None, minlength: int = 0) -> Any:
    """How often each of the integers 0, 1, ... occurs in a vector; with weights the sum of those of each."""
    if x.ndim != 1 or x.dtype.kind not in "iu" or (raw(x).size and raw(x).min() < 0):
        raise ShapeError("bincount only supports 1-d non-negative integral inputs.")
    counts = Bincount(minlength=minlength)(x)
    return counts if weights is None else IndexAdd(dim=-1)(np.zeros(counts.shape), x, weights)


OPERATIONS = (Embedding, Nonzero, OneHot, Isin, Bincount)
FUNCTIONS = (embedding, nonzero, one_hot, bincount)
SPELLINGS = {"argwhere": nonzero, "where": chosen}
