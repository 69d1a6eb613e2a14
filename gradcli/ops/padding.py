"""Elements added around a tensor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.errors import MissingRuleError, ShapeError
from gradcli.ops.axes import sizes
from gradcli.ops.indexing import Slice
from gradcli.ops.operation import Operation, Structural, Value
from gradcli.ops.picking import Unindex

Examples = Iterable[tuple[Operation, tuple[Value, ...]]]


class ConstantPadNd(Structural):
    """`value` around x: `pad` has a pair (before, after) for each axis, the last axis first; negative numbers cut off.

    (..., n) -> (..., before + n + after).
    """

    saves = "pad"
    pad: tuple[int, ...]
    value: float = 0.0

    def forward(self, x: Value) -> Value:
        pairs = list(zip(self.pad[::2], self.pad[1::2], strict=True))
        wide = [(0, 0)] * (x.ndim - len(pairs)) + [(max(a, 0), max(b, 0)) for a, b in reversed(pairs)]
        out: Any = np.pad(x, wide, constant_values=self.value)
        cut = [slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(reversed(pairs), out.shape[x.ndim - len(pairs) :], strict=True)]
        return out[(..., *cut)]

    def vjp_x(self, g: Value) -> Value:
        return ConstantPadNd(pad=tuple(-n for n in self.pad))(g)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    def size(self, *args: Value) -> int:
        shape = list(args[0].shape)
        for k, (a, b) in enumerate(zip(self.pad[::2], self.pad[1::2], strict=True)):
            shape[-1 - k] += max(a, 0) + max(b, 0)
        return int(np.prod(shape))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(pad=(1, 2), value=3.0), (rng.normal(size=(2, 3)),)
        yield cls(pad=(-1, 2, 1, -1)), (rng.normal(size=(2, 3)),)


class Taken(Operation, abstract=True):
    """Base of what pads with elements of x itself: along each axis takes them at the indices that `source` gives.

    `pad` has a pair (before, after) for each axis, the last axis first.
    """

    pad: tuple[int, ...]
    node_name = ""

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.node = self.node_name.format(len(self.pad) // 2)
        self.derivative = self.node.replace("Backward", "BackwardBackward") if "Pad" in self.node else ""

    def source(self, n: int, before: int, after: int) -> Any:
        raise NotImplementedError

    def places(self, shape: Sequence[int]) -> list[tuple[int, Any]]:
        """For each padded axis, counted from the end, the indices taken."""
        pairs = zip(self.pad[::2], self.pad[1::2], strict=True)
        return [(-1 - k, self.source(shape[-1 - k], *pair)) for k, pair in enumerate(pairs) if pair != (0, 0)]

    def forward(self, x: Value) -> Value:
        for axis, index in self.places(x.shape):
            x = np.take(x, index, axis)
        return x

    def vjp_x(self, g: Value, x: Value) -> Value:
        shape = list(g.shape)
        for axis, index in self.places(x.shape):
            shape[axis] = x.shape[axis]
            g = Unindex(axes=(axis,), shape=tuple(shape))(g, index)
        return g

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        return self.forward(args[0])

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Examples:
        yield cls(pad=(2, 1)), (rng.normal(size=(2, 3)),)
        yield cls(pad=(0, 2, 1, 0)), (rng.normal(size=(2, 3)),)


class ReflectionPad(Taken):
    """Each axis continued as in a mirror that stands on its last element. (..., n) -> (..., before + n + after)."""

    saves = "padding=pad self=x"
    node_name = "ReflectionPad{}DBackward0"

    def source(self, n: int, before: int, after: int) -> Any:
        return (n - 1) - np.abs((n - 1) - np.abs(np.arange(-before, n + after)))


class ReplicationPad(Taken):
    """Each axis continued by its first and last element. (..., n) -> (..., before + n + after)."""

    saves = "padding=pad self=x"
    node_name = "ReplicationPad{}DBackward0"

    def source(self, n: int, before: int, after: int) -> Any:
        return np.clip(np.arange(-before, n + after), 0, n - 1)


class CircularPad(Taken):
    """Each axis continued from its other end. (..., n) -> (..., before + n + after)."""

    node_name = "CopySlices"

    def source(self, n: int, before: int, after: int) -> Any:
        return np.arange(-before, n + after) % n


MODES: dict[str, type[Taken]] = {"reflect": ReflectionPad, "replicate": ReplicationPad, "circular": CircularPad}


def pad(x: Value, pad: Any, mode: str = "constant", value: float | None = None) -> Any:
    """x with elements added around: `pad` is (left, right, top, bottom, ...), the last axis first; negative numbers cut off.

    mode "constant" adds `value` (0), "reflect" mirrors, "replicate" repeats the edge, "circular" wraps around.
    """
    amounts = sizes((pad,))
    if len(amounts) % 2:
        raise ShapeError("Padding length must be divisible by 2", hint="give a pair (before, after) for each axis, the last axis first")
    if len(amounts) // 2 > x.ndim:
        raise ShapeError(
            "Padding length should be less than or equal to two times the input dimension "
            f"but got padding length {len(amounts)} and input of dimension {x.ndim}"
        )
    if mode == "constant":
        return ConstantPadNd(pad=amounts, value=0.0 if value is None else value)(x)
    if mode not in MODES:
        raise MissingRuleError(f"Unrecognised padding mode {mode}")
    for k, (before, after) in enumerate(zip(amounts[::2], amounts[1::2], strict=True)):
        n = x.shape[-1 - k]
        if mode == "reflect" and max(before, after) >= n:
            raise ShapeError(
                "Argument #4: Padding size should be less than the corresponding input dimension, "
                f"but got: padding ({before}, {after}) at dimension {x.ndim - 1 - k} of input {list(x.shape)}"
            )
        if mode == "circular" and max(before, after) > n:
            raise ShapeError("Padding value causes wrapping around more than once.")
        if before < 0 or after < 0:
            x = Slice(dim=-1 - k, start=max(-before, 0), stop=n - max(-after, 0), step=1)(x)
    return MODES[mode](pad=tuple(max(n, 0) for n in amounts))(x)


OPERATIONS = (ConstantPadNd, ReflectionPad, ReplicationPad, CircularPad)
FUNCTIONS = (pad,)
