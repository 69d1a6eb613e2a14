"""Numbers of 50 digits that know their place on a tape: what the per-node symbolic reference computes with.

numpy's own forward of a structural operation (matmul, cumsum, indexing) runs on object arrays of these
unchanged; elementwise operations go through `references.derived`, whose derivatives are SymPy's.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

from gradcli.ops.operation import Operation

DIGITS = 50
ZERO, ONE = mpf(0), mpf(1)


class BudgetExceeded(Exception):
    """The tape grew past its budget."""


class Tape:
    """For each number, in order of creation, its (parent's place, partial derivative) pairs and its size as a float."""

    def __init__(self, budget: int) -> None:
        self.entries: list[tuple[Any, ...]] = []
        self.values: list[float] = []
        self.budget = budget

    def add(self, value: Any, parents: tuple[Any, ...]) -> int:
        """The place of a new number. Raises BudgetExceeded."""
        if len(self.entries) >= self.budget:
            raise BudgetExceeded
        self.entries.append(parents)
        self.values.append(to_float(value))
        return len(self.entries) - 1

    def sweep(self, seeds: Iterable[tuple[int, Any]]) -> tuple[list[Any], list[Any]]:
        """The derivative of the seeded sum by every number, in one walk down the tape; and the same with all terms positive.

        An edge whose adjoint is exactly 0 is skipped, so that 0 * inf never arises where nothing selects it. The second
        list (floats) bounds the size of what cancels in the first.
        """
        adjoint: list[Any] = [ZERO] * len(self.entries)
        gross = [0.0] * len(self.entries)
        for place, weight in seeds:
            adjoint[place] += weight
            gross[place] += abs(to_float(weight))
        entries = self.entries
        for place in range(len(entries) - 1, -1, -1):
            a = adjoint[place]
            size = gross[place]
            if a or size:
                for parent, partial in entries[place]:
                    if a:
                        adjoint[parent] += a * partial
                    gross[parent] += size * abs(to_float(partial))
        return adjoint, gross


def number(value: Any) -> Any:
    """An mpf that is exactly the given real number."""
    if isinstance(value, Scalar):
        return value.value
    if isinstance(value, (mpmath.mpf, mpmath.mpc)):
        return value
    if isinstance(value, np.complexfloating):
        raise TypeError("a complex number is no real one")
    return mpf(int(value)) if isinstance(value, (int, np.integer, np.bool_)) else mpf(float(value))


class Scalar:
    """A number; `place` is its place on the tape, or -1 for a constant. Arithmetic follows IEEE: 1/0 is inf."""

    __slots__ = ("place", "tape", "value")
    __operation_priority__ = 1
    shape = ()
    ndim = 0
    size = 1
    dtype = np.dtype(object)

    def __init__(self, value: Any, tape: Tape | None = None, parents: tuple[Any, ...] | None = None) -> None:
        self.value = value
        self.tape = tape
        self.place = -1 if tape is None or parents is None else tape.add(value, parents)

    @staticmethod
    def __operation__(op: Operation, args: tuple[Any, ...]) -> Any:
        from gradcli.references.derived import apply

        return apply(op, args, op.decide(*map(lowered, args)) if op.decides else None)

    def __repr__(self) -> str:
        return f"Scalar({mpmath.nstr(self.value, 17)})"

    def __float__(self) -> float:
        return to_float(self.value)

    def __bool__(self) -> bool:
        return bool(self.value != 0)

    # ---- arithmetic

    def __add__(self, other: Any) -> Any:
        if not _numeric(other):
            return complexly(operator.add, self, other)
        return result(self.value + number(other), (self, ONE), (other, ONE))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if not _numeric(other):
            return complexly(operator.sub, self, other)
        return result(self.value - number(other), (self, ONE), (other, -ONE))

    def __rsub__(self, other: Any) -> Any:
        if not _numeric(other):
            return complexly(operator.sub, other, self)
        return result(number(other) - self.value, (self, -ONE))

    def __mul__(self, other: Any) -> Any:
        if not _numeric(other):
            return complexly(operator.mul, self, other)
        y = number(other)
        return result(self.value * y, (self, y), (other, self.value))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if not _numeric(other):
            return complexly(operator.truediv, self, other)
        y = number(other)
        q = divide(self.value, y)
        return result(q, (self, divide(ONE, y)), (other, -divide(q, y)))

    def __rtruediv__(self, other: Any) -> Any:
        if not _numeric(other):
            return complexly(operator.truediv, other, self)
        q = divide(number(other), self.value)
        return result(q, (self, -divide(q, self.value)))

    def __neg__(self) -> Any:
        return result(-self.value, (self, -ONE))

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self if self.value >= 0 else -self

    def __pow__(self, other: Any) -> Any:
        from gradcli.ops.arithmetic import power

        return power(self, other)

    def __rpow__(self, other: Any) -> Any:
        from gradcli.ops.arithmetic import power

        return power(other, self)

    def conjugate(self) -> Any:
        return self

    @property
    def real(self) -> Any:
        return self

    @property
    def imag(self) -> Any:
        return Scalar(ZERO)

    # ---- comparisons, by value

    def __eq__(self, other: object) -> Any:
        return bool(self.value == number(other)) if _numeric(other) else NotImplemented

    def __ne__(self, other: object) -> Any:
        return bool(self.value != number(other)) if _numeric(other) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        return bool(self.value < number(other)) if _numeric(other) else NotImplemented

    def __le__(self, other: Any) -> Any:
        return bool(self.value <= number(other)) if _numeric(other) else NotImplemented

    def __gt__(self, other: Any) -> Any:
        return bool(self.value > number(other)) if _numeric(other) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        return bool(self.value >= number(other)) if _numeric(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)


def complexly(function: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    """The arithmetic of pairs, where one of two numbers is complex."""
    from gradcli.references.pair import pair

    if not isinstance(x, complex | mpmath.mpc) and not isinstance(y, complex | mpmath.mpc):
        return NotImplemented
    return function(pair(x), pair(y))


def _numeric(value: Any) -> bool:
    return isinstance(value, (Scalar, int, float, np.generic, mpmath.mpf)) and not isinstance(value, np.complexfloating)


def result(value: Any, *parents: tuple[Any, Any]) -> Scalar:
    """A number from those parents that are on a tape, each with its partial derivative."""
    taped = tuple([(p.place, partial) for p, partial in parents if type(p) is Scalar and p.place >= 0])
    if not taped:
        return Scalar(value)
    tape = next(p.tape for p, _ in parents if type(p) is Scalar and p.place >= 0)
    return Scalar(value, tape, taped)


def divide(x: Any, y: Any) -> Any:
    """x / y as IEEE has it, with an unsigned zero."""
    if y == 0:
        return mpmath.nan if x == 0 or mpmath.isnan(x) else (mpmath.inf if x > 0 else -mpmath.inf)
    return x / y


def to_float(value: Any) -> float:
    """The nearest float64; out of range gives inf or 0."""
    if isinstance(value, mpmath.mpc):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def lift(array: Any, tape: Tape | None = None) -> Any:
    """Numbers as an object array of Scalars (of the same shape), each a variable of the tape when one is given."""
    source = np.asarray(array)
    out = np.empty(source.shape, dtype=object)
    flat = out.reshape(-1)
    for k, value in enumerate(source.flat):
        flat[k] = Scalar(number(value), tape, None if tape is None else ())
    return out.reshape(source.shape)


def lower(array: Any) -> np.ndarray:
    """Scalars rounded to float64."""
    source = np.asarray(array, dtype=object)
    return np.array([float(v) for v in source.flat], dtype=np.float64).reshape(source.shape)


def lowered(value: Any) -> Any:
    """Scalars rounded to float64, anything else as it is."""
    if isinstance(value, Scalar):
        return np.float64(float(value))
    return lower(value) if isinstance(value, np.ndarray) and value.dtype.char == "O" else value
