"""The backward pass of functions of straight pieces, which PyTorch keeps in the graph of their argument."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradcli.ops.axes import raw
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation, Structural, Value
from gradcli.ops.where import where


class InGraph(Structural):
    """g itself, in the graph of x, by which its derivative is 0. Shapes: any two; that of g."""

    def forward(self, g: Value, x: Value) -> Value:
        return +g

    def vjp_g(self, g: Value) -> Value:
        return g

    def vjp_x(self, g: Value, x: Value) -> Value:
        return x * 0.0

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        g, x = args
        return g if lead[0] else np.broadcast_to(g, (len(x), *np.shape(g)))

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        yield cls(), (rng.normal(size=(2, 3)), rng.normal(size=(2,)))


class Straight(Elementwise):
    """g times the slope of a function `of` straight pieces at x; a slope True or False selects. By x its derivative is 0."""

    of: str = "Threshold"

    @property
    def node(self) -> str:  # type: ignore[override]
        return f"{self.of}BackwardBackward0"

    def forward(self, g: Value, x: Value, slope: Value) -> Value:
        if np.asarray(slope).dtype.kind == "b":
            out = where.forward(slope, g, 0.0)
        else:
            out = g * (slope.astype(np.float32) if getattr(g, "dtype", None) == np.float32 else slope)
        return out if np.ndim(out) >= np.ndim(x) else np.broadcast_to(out, np.broadcast_shapes(np.shape(out), np.shape(x)))

    def vjp_g(self, g: Value, x: Value, slope: Value) -> Value:
        return self(g, x, slope)

    def vjp_x(self, g: Value) -> Value:
        return np.zeros(g.shape, g.dtype)

    def symbolic(self, sympy: Any, g: Any, x: Any, slope: Any) -> Any:
        return (g if slope else sympy.Integer(0)) if isinstance(slope, bool) else g * slope

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        for shape in ((), (2, 3)):
            g, x = rng.normal(size=shape), rng.normal(size=shape)
            yield cls(), (g, x, x > 0)
            yield cls(of="LeakyRelu"), (g, x, np.where(x > 0, 1.0, 0.1))


def straight(of: str, g: Value, x: Value, slope: Any) -> Value:
    """g times `slope(x)`, in the graph of x."""
    return Straight(of=of)(g, x, slope(raw(x)))
