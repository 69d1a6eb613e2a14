"""Elementwise operations of complex numbers: PyTorch's convention, the gradient g of a real loss with d loss = Re sum(conj(g) dz)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.engine import Tensor, grad
from gradcli.ops.catalogue import FUNCTIONS as F

UNARY = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "square", "reciprocal", "neg", "sigmoid", "sin", "cos", "tan",
    "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "abs", "sgn",
)  # fmt: skip
BINARY = ("add", "sub", "rsub", "mul", "div", "pow")


def points(rng: np.random.Generator) -> Any:
    return rng.uniform(0.3, 0.9, 3) + 1j * rng.uniform(0.2, 0.8, 3)


def inner(a: Any, b: Any) -> float:
    return float(np.sum(np.conj(a) * b).real)


@pytest.mark.parametrize("name", UNARY + BINARY)
def test_first_and_second_derivative(name: str) -> None:
    rng = np.random.default_rng(3)
    values = [points(rng) for _ in range(1 if name in UNARY else 2)]
    steps = [rng.normal(size=3) + 1j * rng.normal(size=3) for _ in values]
    g, w = [np.asarray(rng.normal(size=3) + 1j * rng.normal(size=3)) for _ in range(2)]

    def gradient(shift: float, create_graph: bool = False) -> tuple[Any, Any, list[Any]]:
        leaves = [Tensor(v + shift * s, True) for v, s in zip(values, steps, strict=True)]
        out = F[name](*leaves)
        cotangent = g.real if out.dtype.kind == "f" else g
        parts = grad(out, leaves, Tensor(cotangent), create_graph=create_graph)
        return inner(cotangent, out.value), parts, leaves

    def difference(function: Any) -> float:
        slopes = [(function(h) - function(-h)) / (2 * h) for h in (1e-3, 5e-4)]
        return float(4 * slopes[1] - slopes[0]) / 3

    _, parts, leaves = gradient(0.0, create_graph=True)
    first = sum(inner(part.value, s) for part, s in zip(parts, steps, strict=True))
    assert first == pytest.approx(difference(lambda h: gradient(h)[0]), rel=1e-7)

    asking = [part for part in parts if part.requires_grad]
    if not asking:
        return
    second = grad(asking, leaves, [Tensor(w)] * len(asking), materialize_grads=True)
    along = sum(inner(part.value, s) for part, s in zip(second, steps, strict=True))
    assert along == pytest.approx(difference(lambda h: sum(inner(w, p.value) for p in gradient(h)[1])), rel=1e-6, abs=1e-9)
