"""Selection by a mask, which other rules are written with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation, Value


class Where(Elementwise):
    """x where the condition holds, y elsewhere; broadcasts all three. Smooth in x and y; the condition is a constant."""

    def forward(self, condition: Value, x: Value | float, y: Value | float) -> Value:
        out: Value = np.where(condition, x, y)
        return out[()]

    def vjp_x(self, g: Value, condition: Value) -> Value:
        return where(condition, g, 0.0)

    def vjp_y(self, g: Value, condition: Value) -> Value:
        return where(condition, 0.0, g)

    def exact(self, *args: Value, decision: Any = None) -> Value:
        condition, x, y = args
        out: Value = np.where(np.asarray(condition, dtype=bool), x, y)
        return out[()]

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Any:
        mask = rng.uniform(size=(2, 3)) > 0.5
        yield cls(), (mask, rng.normal(size=(2, 3)), rng.normal(size=(2, 3)))
        yield cls(), (mask, rng.normal(size=(3,)), rng.normal(size=()))


class MaskedFill(Elementwise):
    """value where the mask holds, x elsewhere. The mask is a constant. `form` numbers PyTorch's spellings: a number, a tensor."""

    row_major = True
    saves = "mask"
    selects = ("mask",)
    form: int = 0

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        self.node = f"MaskedFillBackward{self.form}"

    def forward(self, x: Value, mask: Value, value: Value) -> Value:
        shape = np.broadcast_shapes(np.shape(x), np.shape(mask))
        dtype = None if np.asarray(value).dtype.kind in "cO" else np.asarray(x).dtype
        return np.asarray(np.where(mask, value, np.broadcast_to(x, shape)), dtype=dtype)[()]

    def vjp_x(self, g: Value, mask: Value) -> Value:
        return MaskedFill()(g, mask, 0.0)

    def vjp_value(self, g: Value, mask: Value) -> Value:
        return where(mask, g, 0.0)

    def symbolic(self, sympy: Any, x: Any, mask: Any, value: Any, **decision: Any) -> Any:
        return value if mask else x

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        mask = rng.uniform(size=(2, 3)) > 0.5
        yield cls(), (rng.normal(size=(2, 3)), mask, rng.normal(size=()))


where: Operation = Where()
masked_fill: Operation = MaskedFill()


def masked(x: Value, mask: Value) -> Value:
    """x with 0 where the mask holds."""
    return masked_fill(x, mask, 0.0)


OPERATIONS = (Where,)
