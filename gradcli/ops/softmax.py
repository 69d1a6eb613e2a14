"""Softmax and its logarithm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.ops.arithmetic import log
from gradcli.ops.axes import negative_dims
from gradcli.ops.conjugate import conj
from gradcli.ops.exponential import exp, floats
from gradcli.ops.notice import notice
from gradcli.ops.operation import Operation, Value
from gradcli.ops.structure import SumTo, To


def total(x: Value, dim: tuple[int, ...]) -> Value:
    """The sum along the axes `dim`, which stay with length 1."""
    shape = list(x.shape)
    for d in dim:
        shape[d] = 1
    return SumTo(shape=tuple(shape))(x)


def shifted(x: Value, dim: tuple[int, ...]) -> Value:
    """x less its largest value along `dim`: no exponential of it overflows. An axis of -inf alone stays as it is (PyTorch: NaN)."""
    if not np.size(x):
        return x
    return x - np.max(np.real(x), axis=dim, keepdims=True)


def lowered(x: Value, dim: tuple[int, ...]) -> Value:
    """`shifted` of any storage: what is taken off is a constant."""
    return x - np.max(floats(x), axis=dim, keepdims=True) if np.size(x) else x


class Softmax(Operation):
    """exp(x) / sum(exp(x)) along `dim`: positive, with sum 1.

    Shapes: any, kept. Gradient: out * (g - sum(g * out)), from d out_i / d x_j = out_i * (delta_ij - out_j).
    """

    row_major = True
    refused = "biu"
    kernel_name = "softmax_lastdim_kernel_impl"

    saves = "dim=dim.0 result=out"
    derivative = "SoftmaxBackwardDataBackward0"
    dim: tuple[int, ...]

    def forward(self, x: Value) -> Value:
        e = np.exp(shifted(x, self.dim))
        return np.asarray(e / np.add.reduce(e, axis=self.dim, keepdims=True))[()]

    def exact(self, *args: Value, decision: Any = None) -> Value:
        e = exp(lowered(args[0], self.dim))
        return e / np.add.reduce(e, axis=self.dim, keepdims=True)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    def vjp_x(self, g: Value, out: Value) -> Value:
        out = conj(out)
        weighted = g * out
        return weighted - out * total(weighted, self.dim)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        for dim in (-1, -2):
            yield cls(dim=(dim,)), (rng.normal(size=(2, 3)),)


class SafeSoftmax(Softmax):
    """`Softmax` that gives 0 where all of x is -inf: the weights of attention, of which a mask left none. Shapes: any, kept."""

    node = "SafeSoftmaxBackward0"

    def forward(self, x: Value) -> Value:
        empty = np.all(np.asarray(x == -np.inf, dtype=bool), axis=self.dim, keepdims=True)
        return np.where(empty, 0.0, super().forward(np.where(empty, 0.0, x)))[()] if np.any(empty) else super().forward(x)


class LogSoftmax(Operation):
    """x - log(sum(exp(x))) along `dim`, without overflow.

    Shapes: any, kept. Gradient: g - softmax(x) * sum(g).
    """

    row_major = True
    refused = "biu"
    kernel_name = "log_softmax_lastdim_kernel_impl"

    saves = "dim=dim.0 result=out"
    derivative = "LogSoftmaxBackwardDataBackward0"
    dim: tuple[int, ...]

    def forward(self, x: Value) -> Value:
        y = shifted(x, self.dim)
        return np.asarray(y - np.log(np.add.reduce(np.exp(y), axis=self.dim, keepdims=True)))[()]

    def exact(self, *args: Value, decision: Any = None) -> Value:
        x = lowered(args[0], self.dim)
        return x - log(np.add.reduce(exp(x), axis=self.dim, keepdims=True))

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    def vjp_x(self, g: Value, out: Value) -> Value:
        return g - conj(exp(out)) * total(g, self.dim)

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        for dim in (-1, -2):
            yield cls(dim=(dim,)), (rng.normal(size=(2, 3)),)


def implicit_dim(ndim: int) -> int:
    """The axis that PyTorch takes for dim=None: 0 for ranks 0, 1 and 3, else 1."""
    return 0 if ndim in (0, 1, 3) else 1


def _dim(x: Any, dim: int | None, name: str) -> tuple[int, ...]:
    if dim is None:
        notice.tell(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")
    return negative_dims(implicit_dim(x.ndim) if dim is None else dim, x.ndim)


def softmax(x: Value, dim: int | None = None, dtype: Any = None) -> Any:
    """exp(x) / sum(exp(x)) along `dim`. Without dim: axis 0 for ranks 0, 1 and 3, else axis 1, as PyTorch."""
    return Softmax(dim=_dim(x, dim, "softmax"))(_cast(x, dtype))


def log_softmax(x: Value, dim: int | None = None, dtype: Any = None) -> Any:
    """log(softmax(x)) along `dim`, right also where softmax underflows."""
    return LogSoftmax(dim=_dim(x, dim, "log_softmax"))(_cast(x, dtype))


def softmin(x: Any, dim: int | None = None, dtype: Any = None) -> Any:
    """softmax(-x) along `dim`."""
    return Softmax(dim=_dim(x, dim, "softmin"))(_cast(-x, dtype))


def _cast(x: Any, dtype: Any) -> Any:
    return x if dtype is None or x.dtype == dtype else To(dtype=np.dtype(dtype))(x)


OPERATIONS = (Softmax, LogSoftmax)
FUNCTIONS = (softmax, log_softmax, softmin)
SPELLINGS = {"special.softmax": softmax, "special.log_softmax": log_softmax}
