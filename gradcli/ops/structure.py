"""Shapes and dtypes: the operations that undo broadcasting, and casts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.ops.operation import Operation, Structural, Value


class SumTo(Structural):
    """The sum over the axes along which `shape` was broadcast: the transpose of Expand. (…) -> shape."""

    node = "SumBackward1"
    shape: tuple[int, ...]

    def forward(self, x: Value) -> Value:
        x = np.asarray(x)
        extra = x.ndim - len(self.shape)
        axes = tuple(range(extra)) + tuple(
            k + extra for k, n in enumerate(self.shape) if n == 1 and x.shape[k + extra] != 1
        )
        return np.add.reduce(x, axis=axes, keepdims=True).reshape(self.shape)[()] if axes else x

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        rows = len(args[0])
        padded = SumTo(shape=(rows, *(1,) * (args[0].ndim - 1 - len(self.shape)), *self.shape))
        return padded.forward(args[0]).reshape(rows, *self.shape)

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        return Expand(shape=x_shape)(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        yield cls(shape=(3,)), (rng.normal(size=(2, 3)),)
        yield cls(shape=(1, 3)), (rng.normal(size=(4, 2, 3)),)
        yield cls(shape=()), (rng.normal(size=(2, 3)),)


class Expand(Structural):
    """Repeats along axes of length 1 and new leading axes without copying. (…) -> shape."""

    view = True
    shape: tuple[int, ...]

    def forward(self, x: Value) -> Value:
        view = np.broadcast_to(x, self.shape)
        return view if view.ndim else view[()]

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        (x,) = args
        missing = len(self.shape) - (x.ndim - 1)
        return np.broadcast_to(x.reshape(len(x), *(1,) * missing, *x.shape[1:]), (len(x), *self.shape))

    def vjp_x(self, g: Value, x_shape: tuple[int, ...]) -> Value:
        return SumTo(shape=x_shape)(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        yield cls(shape=(2, 3)), (rng.normal(size=(3,)),)
        yield cls(shape=(4, 2, 3)), (rng.normal(size=(1, 3)),)
        yield cls(shape=(2, 2)), (rng.normal(size=()),)


class To(Structural):
    """A cast to `dtype`; the gradient is cast back. Complex to real keeps the real part."""

    node = "ToCopyBackward0"
    dtype: Any

    def forward(self, x: Value) -> Value:
        x = np.asarray(x)
        if x.dtype.kind == "O":
            return x
        if x.dtype.kind == "c" and np.dtype(self.dtype).kind != "c":
            x = x.real
        return x.astype(self.dtype)[()]

    def vjp_x(self, g: Value, x_dtype: Any) -> Value:
        return g if g.dtype == x_dtype else To(dtype=x_dtype)(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        yield cls(dtype=np.float64), (rng.normal(size=(2, 3)),)


class Copy(Structural):
    """y in place of x, broadcast to the shape of x: what `copy_` and an assignment to a slice write."""

    node = "CopyBackwards"

    def forward(self, x: Value, y: Value) -> Value:
        return np.broadcast_to(np.asarray(y).astype(x.dtype, copy=False) if x.dtype.kind != "O" else y, np.shape(x)).copy()

    def vjp_x(self, g: Value) -> Value:
        return None

    def vjp_y(self, g: Value, y_shape: tuple[int, ...], y_dtype: Any) -> Value:
        g = SumTo(shape=y_shape)(g) if g.shape != y_shape else g
        return g if g.dtype == y_dtype else To(dtype=y_dtype)(g)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        yield cls(), (rng.normal(size=(2, 3)), rng.normal(size=(3,)))


OPERATIONS = (Expand, Copy)
