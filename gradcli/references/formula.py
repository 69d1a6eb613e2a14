"""Numbers that know their formula: a SymPy expression beside its value at the point.

numpy's own forward of a structural operation runs on object arrays of these unchanged; elementwise operations give
their symbolic form. Comparisons and branches go by the value, so a formula holds on the branch of its point.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import sympy

from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation
from gradcli.references.estimate import NoAnswer

LARGEST = 20_000
"""Operations in one formula, written out."""

SHORT = 9
"""A float of so many digits is taken for the decimal number that it is written as."""

KNOWN = {math.pi: sympy.pi, 2 * math.pi: 2 * sympy.pi, math.pi / 2: sympy.pi / 2, math.e: sympy.E}


class Formula:
    """One number. `size` counts the operations of its formula as a tree."""

    __slots__ = ("expr", "size_", "value")
    __operation_priority__ = 1
    shape = ()
    ndim = 0
    size = 1
    dtype = np.dtype(object)

    def __init__(self, expr: Any, value: float, size: int = 1) -> None:
        if size > LARGEST:
            raise NoAnswer(f"the closed form has more than {LARGEST} operations")
        self.expr = expr
        self.value = value
        self.size_ = size

    @staticmethod
    def __operation__(op: Operation, args: tuple[Any, ...]) -> Any:
        return apply(op, args, op.decide(*map(lowered, args)) if op.decides else None)

    def __repr__(self) -> str:
        return f"Formula({self.expr})"

    def __float__(self) -> float:
        return self.value

    @property
    def real(self) -> Formula:
        """Formulas are real numbers."""
        return self

    @property
    def imag(self) -> float:
        return 0.0

    def __bool__(self) -> bool:
        return bool(self.value)

    # ---- arithmetic

    def __add__(self, other: Any) -> Any:
        return joined(self, other, lambda a, b: a + b) if numeric(other) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return joined(self, other, lambda a, b: a - b) if numeric(other) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return joined(self, other, lambda a, b: b - a) if numeric(other) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        return joined(self, other, lambda a, b: a * b) if numeric(other) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return joined(self, other, divided) if numeric(other) else NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return joined(self, other, lambda a, b: divided(b, a)) if numeric(other) else NotImplemented

    def __pow__(self, other: Any) -> Any:
        from gradcli.ops.arithmetic import power

        return power(self, other)

    def __rpow__(self, other: Any) -> Any:
        from gradcli.ops.arithmetic import power

        return power(other, self)

    def __neg__(self) -> Formula:
        return Formula(-self.expr, -self.value, self.size_ + 1)

    def __pos__(self) -> Formula:
        return self

    def __abs__(self) -> Formula:
        return self if self.value >= 0 else -self

    def conjugate(self) -> Formula:
        return self

    # ---- comparisons, by value

    def __eq__(self, other: object) -> Any:
        return self.value == float(other) if numeric(other) else NotImplemented  # type: ignore[arg-type]

    def __lt__(self, other: Any) -> Any:
        return self.value < float(other) if numeric(other) else NotImplemented

    def __le__(self, other: Any) -> Any:
        return self.value <= float(other) if numeric(other) else NotImplemented

    def __gt__(self, other: Any) -> Any:
        return self.value > float(other) if numeric(other) else NotImplemented

    def __ge__(self, other: Any) -> Any:
        return self.value >= float(other) if numeric(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)


def numeric(value: Any) -> bool:
    return isinstance(value, (Formula, int, float, np.generic))


def joined(a: Formula, b: Any, combine: Any) -> Formula:
    """The result of an arithmetic operation: on the formulas, and on the values."""
    value = combine(np.float64(a.value), np.float64(float(b)))
    return Formula(combine(a.expr, expression(b)), float(value), a.size_ + size(b) + 1)


def divided(a: Any, b: Any) -> Any:
    return a / b


def size(value: Any) -> int:
    return value.size_ if isinstance(value, Formula) else 0


def expression(value: Any) -> Any:
    """The formula of a number: a decimal number of few digits is meant exactly, pi is pi."""
    if isinstance(value, Formula):
        return value.expr
    if isinstance(value, (bool, np.bool_)):
        return sympy.Integer(int(value))
    if isinstance(value, (int, np.integer)):
        return sympy.Integer(int(value))
    return decimal(float(value))


def decimal(x: float) -> Any:
    """A float as the shortest exact number that a reader would take it for."""
    if not math.isfinite(x):
        return sympy.nan if math.isnan(x) else sympy.oo if x > 0 else -sympy.oo
    if x in KNOWN:
        return KNOWN[x]
    if x == int(x) and abs(x) < 1e15:
        return sympy.Integer(int(x))
    text = repr(x)
    if sum(c.isdigit() for c in text.partition("e")[0].replace("0.", "", 1)) <= SHORT:
        return sympy.Rational(text)
    return sympy.Float(text, 17)


def readable(expr: Any) -> Any:
    """A formula in which parameters that came as binary fractions are decimal numbers again."""
    binary = {r: decimal(float(r)) for r in expr.atoms(sympy.Rational) if r.q > 1 << 16 and r.q & (r.q - 1) == 0}
    return expr.xreplace(binary) if binary else expr


def lowered(value: Any) -> Any:
    """Formulas as their values, anything else as it is."""
    if isinstance(value, Formula):
        return np.float64(value.value)
    if isinstance(value, np.ndarray) and value.dtype.char == "O":
        return np.array([float(v) for v in value.flat], dtype=np.float64).reshape(value.shape)
    return value


def apply(op: Operation, args: tuple[Any, ...], decision: Any) -> Any:
    """Any operation over arrays of formulas. Raises NoAnswer where it has no closed form."""
    if isinstance(op, Elementwise) and type(op).exact is Operation.exact:
        return elementwise(op, args, decision)
    reason = getattr(op, "no_exact", None)
    if reason:
        raise NoAnswer(f"{op.name}: {reason}")
    try:
        return op.exact(*args, decision=decision) if op.decides else op.exact(*args)
    except (AttributeError, TypeError) as error:  # it is made for numbers that are more than formulas are
        raise NoAnswer(f"{op.name} has no symbolic form") from error


def elementwise(op: Elementwise, args: tuple[Any, ...], decision: Any) -> Any:
    """An elementwise operation, broadcast."""
    arrays = [np.asarray(a, dtype=object) if isinstance(a, Formula) else np.asarray(a) for a in args]
    choice = None if decision is None else np.asarray(decision)
    shape = np.broadcast_shapes(*(a.shape for a in arrays), *(() if choice is None else (choice.shape,)))
    columns = [np.broadcast_to(a, shape).reshape(-1) for a in arrays]
    choices = None if choice is None else np.broadcast_to(choice, shape).reshape(-1).tolist()
    out = np.empty(math.prod(shape), dtype=object)
    for k, row in enumerate(zip(*columns, strict=True)):
        out[k] = one(op, row, None if choices is None else plain(choices[k]))
    return out.reshape(shape) if shape else out[0]


def plain(choice: Any) -> Any:
    return float(choice) if isinstance(choice, Formula) else choice


def one(op: Elementwise, row: tuple[Any, ...], decision: Any) -> Formula:
    """One element."""
    truths = [isinstance(v, (bool, np.bool_)) for v in row]
    given = [
        expression(v) if not truth else bool(v) if name in op.selects else sympy.Integer(int(v))
        for name, v, truth in zip(op.arguments, row, truths)
    ]
    chosen = {} if decision is None else {"decision": decimal(decision) if isinstance(decision, float) else decision}
    try:
        expr = op.symbolic(sympy, *given, **chosen)
    except (NotImplementedError, TypeError):
        raise NoAnswer(f"{op.name} has no symbolic form") from None
    value = op.replay([v if isinstance(v, (bool, np.bool_)) else np.float64(float(v)) for v in row], decision)
    return Formula(readable(sympy.sympify(expr)), float(np.asarray(value)), 1 + sum(size(v) for v in row))
