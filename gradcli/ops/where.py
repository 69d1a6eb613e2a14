"""Selection by a mask, which other rules are written with."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation, Value


class Where(Elementwise):
    """x where the condition holds, y elsewhere; broadcasts all three. Smooth in x and y; the condition is a constant."""

    def forward(self, condition: Value, x: Value, y: Value) -> Value:
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


where: Operation = Where()

OPERATIONS = (Where,)
