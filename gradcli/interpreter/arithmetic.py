"""Python's operators, bounded: no result that a limit forbids is ever computed."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from gradcli.engine.tensor import Tensor
from gradcli.interpreter.meter import Meter
from gradcli.interpreter.text import percent

Binary = Callable[[Any, Any], Any]

SEQUENCES = (str, list, tuple)
SCALARS = frozenset({int, float, complex, bool, Tensor})
"""Two of these never make a sequence."""

GROWING: frozenset[type] = frozenset({int, str, list, tuple})
"""The classes of results that are held against a limit afterwards."""

BINARY: dict[type[ast.operator], Binary] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.BitAnd: operator.and_,
}  # fmt: skip

INPLACE: dict[type[ast.operator], Binary] = {
    ast.Add: operator.iadd, ast.Sub: operator.isub, ast.Mult: operator.imul, ast.Div: operator.itruediv, ast.FloorDiv: operator.ifloordiv,
    ast.Mod: operator.imod, ast.Pow: operator.ipow, ast.MatMult: operator.imatmul, ast.LShift: operator.ilshift,
    ast.RShift: operator.irshift, ast.BitOr: operator.ior, ast.BitXor: operator.ixor, ast.BitAnd: operator.iand,
}  # fmt: skip


def bounded(kind: type[ast.operator], meter: Meter, *, inplace: bool = False) -> Binary:
    """The function of an operator; those that can make something huge from something small look first."""
    plain = (INPLACE if inplace else BINARY)[kind]
    guard = GUARDS.get(kind)
    return plain if guard is None else guard(meter, plain)


def multiply(meter: Meter, plain: Binary) -> Binary:
    """`*`: a sequence times a number, or two large integers."""

    def times(a: Any, b: Any) -> Any:
        if type(a) in SCALARS and type(b) in SCALARS:
            return plain(a, b)
        if isinstance(a, SEQUENCES) or isinstance(b, SEQUENCES):
            check_repeat(meter, a, b)
        return plain(a, b)

    return times


def check_repeat(meter: Meter, a: Any, b: Any) -> None:
    sequence, count = (a, b) if isinstance(a, SEQUENCES) else (b, a)
    if type(count) in (int, bool) and count > 0:
        length = len(sequence) * count
        if isinstance(sequence, str):
            meter.string(length)
        else:
            meter.items(length)


def power(meter: Meter, plain: Binary) -> Binary:
    def raised(a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int) and b > 0 and abs(a) > 1 and a.bit_length() * b > meter.limits.integer_bits + b:
            raise meter.reached("integer_bits")
        return plain(a, b)

    return raised


def shift(meter: Meter, plain: Binary) -> Binary:
    def shifted(a: Any, b: Any) -> Any:
        if isinstance(a, int) and isinstance(b, int) and a and b > meter.limits.integer_bits:
            raise meter.reached("integer_bits")
        return plain(a, b)

    return shifted


def modulo(meter: Meter, plain: Binary) -> Binary:
    def remainder(a: Any, b: Any) -> Any:
        return percent(meter, a, b) if isinstance(a, str) else plain(a, b)

    return remainder


GUARDS: dict[type[ast.operator], Callable[[Meter, Binary], Binary]] = {
    ast.Mult: multiply, ast.Pow: power, ast.LShift: shift, ast.Mod: modulo,
}  # fmt: skip
