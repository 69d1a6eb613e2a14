"""The larger, the smaller, and what lies between bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import ShapeError
from gradcli.ops.elementwise import Elementwise, rational
from gradcli.ops.operation import Operation, Value
from gradcli.ops.where import masked, where


class Extremum(Elementwise, abstract=True):
    """One of two by comparison. Where they are equal each has half the gradient, as PyTorch."""

    keeps_all = True

    def above(self, x: Value, y: Value) -> Value:
        """Whether x is taken before y."""
        return x > y

    def decide(self, x: Value, y: Value) -> Value:
        """1 where x is taken, -1 where y is, 0 where they tie."""
        return self.above(x, y) * 1 - self.above(y, x) * 1

    def branch(self, x: Value, y: Value, decision: Any = None) -> Value:
        return np.where(decision > 0, x, np.where(decision < 0, y, x / 2 + y / 2))[()]

    def vjp_x(self, g: Value, x: Value, y: Value) -> Value:
        return masked(where(x == y, g / 2, g), self.above(y, x))

    def vjp_y(self, g: Value, x: Value, y: Value) -> Value:
        return self.vjp_x(g, y, x)

    def symbolic(self, sympy: Any, x: Any, y: Any, decision: int) -> Any:
        return (x if decision > 0 else y) if decision else (x + y) / 2

    def kinks(self, x: Value, y: Value) -> Value:
        return x - y


class Maximum(Extremum):
    """The larger of x and y; NaN where either is. Where they are equal each has half the gradient, as PyTorch."""

    refused = "c"

    def forward(self, x: Value, y: Value) -> Value:
        return np.maximum(x, y)


class Minimum(Extremum):
    """The smaller of x and y; NaN where either is. Where they are equal each has half the gradient, as PyTorch."""

    refused = "c"

    def forward(self, x: Value, y: Value) -> Value:
        return np.minimum(x, y)

    def above(self, x: Value, y: Value) -> Value:
        return x < y


class ClampMinTensor(Maximum):
    """x, at least y, which has the gradient where x is less; x has it where both are equal, as PyTorch."""

    saves = "min=y self=x"
    name = "clamp_min"
    node = "ClampMinBackward1"

    def decide(self, x: Value, y: Value) -> Value:
        """1 where x is taken, -1 where y is."""
        return 1 - 2 * self.above(y, x)

    def vjp_x(self, g: Value, x: Value, y: Value) -> Value:
        return where((x == y) | self.above(x, y), g, 0.0)

    def vjp_y(self, g: Value, x: Value, y: Value) -> Value:
        return where(self.above(y, x), g, 0.0)


class ClampMaxTensor(ClampMinTensor):
    """x, at most y, which has the gradient where x is greater; x has it where both are equal, as PyTorch."""

    saves = "max=y self=x"
    name = "clamp_max"
    node = "ClampMaxBackward1"

    def forward(self, x: Value, y: Value) -> Value:
        return np.minimum(x, y)

    def above(self, x: Value, y: Value) -> Value:
        return x < y


class Fmax(Extremum):
    """The larger of x and y, the other where one is NaN. Where they are equal x has the gradient, as PyTorch."""

    refused = "c"

    def forward(self, x: Value, y: Value) -> Value:
        return np.fmax(x, y)

    def first(self, x: Value, y: Value) -> Value:
        return x >= y

    def decide(self, x: Value, y: Value) -> Value:
        """1 where x is taken, -1 where y is."""
        return 2 * (self.first(x, y) | np.isnan(y)) - 1

    def vjp_x(self, g: Value, x: Value, y: Value) -> Value:
        return masked(g, ~(self.first(x, y) | (y != y)))

    def vjp_y(self, g: Value, x: Value, y: Value) -> Value:
        return masked(g, self.first(x, y) | (y != y))


class Fmin(Fmax):
    """The smaller of x and y, the other where one is NaN. Where they are equal x has the gradient, as PyTorch."""

    refused = "c"

    def forward(self, x: Value, y: Value) -> Value:
        return np.fmin(x, y)

    def first(self, x: Value, y: Value) -> Value:
        return x <= y


class Clamp(Elementwise):
    """x held within the numbers `min` and `max` (either may be missing); `max` everywhere when min > max.

    Kinks at the bounds, where the derivative is 1, as PyTorch.
    """

    refused = "c"
    node = "ClampBackward1"
    min: float | None = None
    max: float | None = None

    def bounds(self) -> tuple[float, float]:
        return -np.inf if self.min is None else self.min, np.inf if self.max is None else self.max

    def forward(self, x: Value) -> Value:
        if self.min is not None:
            x = np.maximum(x, self.min)
        return np.minimum(x, self.max) if self.max is not None else x

    def decide(self, x: Value) -> Value:
        """1 where `max` is taken, -1 where `min` is, 0 between."""
        low, high = self.bounds()
        beyond = (x > high) | (low > high)
        return beyond * 1 - ((x < low) & ~beyond) * 1

    def branch(self, x: Value, decision: Any = None) -> Value:
        low, high = self.bounds()
        return np.where(decision > 0, high, np.where(decision < 0, low, x))[()]

    def d_x(self, x: Value) -> Value:
        if self.min is None:
            return x <= self.max
        return x >= self.min if self.max is None else (x >= self.min) & (x <= self.max)

    def symbolic(self, sympy: Any, x: Any, decision: int) -> Any:
        return rational(sympy, self.bounds()[decision > 0]) if decision else x

    def kinks(self, x: Value) -> Value:
        low, high = self.bounds()
        return np.minimum(np.abs(x - low), np.abs(x - high))

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(min=-0.5, max=0.8), cls(min=0.1), cls(max=0.3), cls(min=1.0, max=-1.0)]


class ClampMin(Clamp):
    """x, at least the number `min`. Kink there, where the derivative is 1, as PyTorch."""

    saves = "min self=x"
    refused = "c"
    node = "ClampMinBackward0"

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(min=0.1)]


class ClampMax(Clamp):
    """x, at most the number `max`. Kink there, where the derivative is 1, as PyTorch."""

    saves = "max self=x"
    refused = "c"
    node = "ClampMaxBackward0"

    @classmethod
    def variants(cls) -> list[Operation]:
        return [cls(max=0.3)]


class ClampTensor(Elementwise):
    """x held within the tensors `min` and `max`; `max` where min > max. At a bound the gradient goes to x, as PyTorch."""

    refused = "c"
    name = "clamp"
    node = "ClampBackward0"
    keeps_all = True
    domain = ((-2.0, 2.0), (-1.0, -0.2), (0.2, 1.0))

    def forward(self, x: Value, min: Value, max: Value) -> Value:
        return np.minimum(np.maximum(x, min), max)

    def decide(self, x: Value, min: Value, max: Value) -> Value:
        """1 where `max` is taken, -1 where `min` is, 0 between."""
        beyond = (x > max) | (min > max)
        return beyond * 1 - ((x < min) & np.logical_not(beyond)) * 1

    def branch(self, x: Value, min: Value, max: Value, decision: Any = None) -> Value:
        return np.where(decision == 0, x, np.where(decision < 0, min, max))[()]

    def d_x(self, x: Value, min: Value, max: Value) -> Value:
        return (x >= min) & (x <= max)

    def d_min(self, x: Value, min: Value, max: Value) -> Value:
        return (x < min) & (min < max)

    def d_max(self, x: Value, min: Value, max: Value) -> Value:
        return (x > max) | (max < min)

    def symbolic(self, sympy: Any, x: Any, min: Any, max: Any, decision: int) -> Any:
        return (max if decision > 0 else min) if decision else x

    def kinks(self, x: Value, min: Value, max: Value) -> Value:
        return np.minimum(np.abs(x - min), np.abs(x - max))


maximum: Operation = Maximum()
minimum: Operation = Minimum()


def number(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float))


def clamp(x: Value, min: Value | float | None = None, max: Value | float | None = None) -> Value:
    """x held within `min` and `max`, numbers or tensors; one of them may be missing."""
    if min is None and max is None:
        raise ShapeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if number(min) and number(max):
        return Clamp(min=min, max=max)(x)
    told = {name: None for name, bound in (("min", min), ("max", max)) if bound is None}
    least, most = extremes(np.dtype(x.dtype))
    return ClampTensor().telling(**told)(x, least if min is None else min, most if max is None else max)


def extremes(dtype: np.dtype) -> tuple[float, float]:
    """What bounds nothing of a dtype."""
    if dtype.kind == "b":
        return False, True
    return (np.iinfo(dtype).min, np.iinfo(dtype).max) if dtype.kind in "iu" else (-np.inf, np.inf)


def clamp_min(x: Value, min: Value | float) -> Value:
    """x, at least `min`, a number or a tensor."""
    return ClampMin(min=min)(x) if number(min) else ClampMinTensor()(x, min)


def clamp_max(x: Value, max: Value | float) -> Value:
    """x, at most `max`, a number or a tensor."""
    return ClampMax(max=max)(x) if number(max) else ClampMaxTensor()(x, max)


OPERATIONS = (Maximum, Minimum, ClampMinTensor, ClampMaxTensor, Fmax, Fmin, Clamp, ClampMin, ClampMax, ClampTensor)
FUNCTIONS = (clamp, clamp_min, clamp_max)
SPELLINGS = {"clip": clamp}
