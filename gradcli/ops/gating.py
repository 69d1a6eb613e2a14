"""The gated linear unit: one half of an axis opens the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops.axes import negative_dims
from gradcli.ops.exponential import sigmoid
from gradcli.ops.indexing import Slice
from gradcli.ops.joining import Cat
from gradcli.ops.operation import Operation, Value


class Glu(Operation):
    """a * sigmoid(b) for the first half a and the second half b of the axis `dim`: (..., 2n, ...) -> (..., n, ...)."""

    derivative = "GluBackwardBackward0"
    refused = "biuc"
    kernel_name = "glu_cpu"
    dim: int = -1

    def halves(self, x: Value) -> tuple[Value, Value]:
        n = x.shape[self.dim] // 2
        return Slice(dim=self.dim, start=0, stop=n)(x), Slice(dim=self.dim, start=n, stop=2 * n)(x)

    def forward(self, x: Value) -> Value:
        a, b = self.halves(x)
        return a * sigmoid(b)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    def vjp_x(self, g: Value, x: Value) -> Value:
        a, b = self.halves(x)
        gate = sigmoid(b)
        return Cat(dim=self.dim)(g * gate, g * a * gate * sigmoid(-b))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        yield cls(dim=-1), (rng.normal(size=(2, 4)),)
        yield cls(dim=-2), (rng.normal(size=(4, 3)),)


def glu(x: Value, dim: int = -1) -> Value:
    """a * sigmoid(b) for both halves of the axis `dim`, whose length must be even."""
    if x.ndim == 0:
        raise ShapeError("glu does not support 0-dimensional tensors")
    (axis,) = negative_dims(dim, x.ndim)
    if x.shape[axis] % 2:
        raise ShapeError(f"Halving dimension must be even, but dimension {dim % x.ndim} is size {x.shape[axis]}")
    return Glu(dim=axis)(x)


OPERATIONS = (Glu,)
FUNCTIONS = (glu,)
