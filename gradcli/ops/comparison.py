"""Comparisons and logic: truth values, never differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.elementwise import Predicate
from gradcli.ops.operation import Operation, Value


class Comparison(Predicate, abstract=True):
    """How two numbers compare."""

    compares = True


class Eq(Comparison):
    """x == y."""

    def forward(self, x: Value, y: Value | float) -> Value:
        return np.equal(x, y)


class Ne(Comparison):
    """x != y."""

    def forward(self, x: Value, y: Value | float) -> Value:
        return np.not_equal(x, y)


class Lt(Comparison):
    """x < y."""

    refused = "c"

    def forward(self, x: Value, y: Value | float) -> Value:
        return np.less(x, y)


class Le(Comparison):
    """x <= y."""

    refused = "c"

    def forward(self, x: Value, y: Value | float) -> Value:
        return np.less_equal(x, y)


class Gt(Comparison):
    """x > y."""

    refused = "c"

    def forward(self, x: Value, y: Value | float) -> Value:
        return np.greater(x, y)


class Ge(Comparison):
    """x >= y."""

    refused = "c"

    def forward(self, x: Value, y: Value | float) -> Value:
        return np.greater_equal(x, y)


class BitwiseAnd(Predicate):
    """x & y: of truth values the conjunction."""

    def forward(self, x: Value | float, y: Value | float) -> Value:
        return np.bitwise_and(x, y)


class BitwiseOr(Predicate):
    """x | y: of truth values the disjunction."""

    def forward(self, x: Value | float, y: Value | float) -> Value:
        return np.bitwise_or(x, y)


class BitwiseXor(Predicate):
    """x ^ y."""

    def forward(self, x: Value | float, y: Value | float) -> Value:
        return np.bitwise_xor(x, y)


class BitwiseNot(Predicate):
    """~x: of truth values the negation."""

    def forward(self, x: Value) -> Value:
        return np.invert(x)


class LogicalAnd(Predicate):
    """x and y, any number but 0 being true."""

    def forward(self, x: Value, y: Value) -> Value:
        return np.logical_and(x, y)


class LogicalOr(Predicate):
    """x or y, any number but 0 being true."""

    def forward(self, x: Value, y: Value) -> Value:
        return np.logical_or(x, y)


class LogicalXor(Predicate):
    """x or y but not both, any number but 0 being true."""

    def forward(self, x: Value, y: Value) -> Value:
        return np.logical_xor(x, y)


class LogicalNot(Predicate):
    """True where x is 0."""

    def forward(self, x: Value) -> Value:
        return np.logical_not(x)


class Isnan(Predicate):
    """True where x is NaN."""

    def forward(self, x: Value) -> Value:
        return np.isnan(x)


class Isinf(Predicate):
    """True where x is infinite."""

    def forward(self, x: Value) -> Value:
        return np.isinf(x)


class Isfinite(Predicate):
    """True where x is neither NaN nor infinite."""

    def forward(self, x: Value) -> Value:
        return np.isfinite(x)


eq: Operation = Eq()
ne: Operation = Ne()
lt: Operation = Lt()
le: Operation = Le()
gt: Operation = Gt()
ge: Operation = Ge()


def isclose(x: Value, other: Value, rtol: float = 1e-05, atol: float = 1e-08) -> Any:
    """True where abs(x - other) <= atol + rtol * abs(other)."""
    difference = x - other
    return (difference * (1.0 - 2.0 * (difference < 0))) <= atol + rtol * (other * (1.0 - 2.0 * (other < 0)))


OPERATIONS = (
    Eq, Ne, Lt, Le, Gt, Ge, BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot, LogicalAnd, LogicalOr, LogicalXor, LogicalNot,
    Isnan, Isinf, Isfinite,
)  # fmt: skip
FUNCTIONS = (isclose,)
SPELLINGS = {"greater": "gt", "greater_equal": "ge", "less": "lt", "less_equal": "le", "not_equal": "ne"}
