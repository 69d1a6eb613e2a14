"""What Python's operators mean on tensors: the operation, and the node, that PyTorch takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.ops import arithmetic, comparison
from gradcli.ops.arithmetic import Exponential, Power, Rsub, add, div, mul, neg, reciprocal, sub
from gradcli.ops.operation import Operation

NUMBERS = (bool, int, float, complex, np.ndarray, np.generic)


def _binary(op: Operation) -> Callable[[Any, Any], Any]:
    """An operator whose operand is a tensor or a number."""

    def operator(self: Any, other: Any) -> Any:
        if type(other) is not type(self) and not isinstance(other, NUMBERS):
            return NotImplemented
        return self.__operation__(op, (self, other))

    return operator


def _reflected(op: Operation) -> Callable[[Any, Any], Any]:
    """An operator whose left operand is a number."""

    def operator(self: Any, other: Any) -> Any:
        if not isinstance(other, NUMBERS):
            return NotImplemented
        return self.__operation__(op, (other, self))

    return operator


def _number(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) and not isinstance(value, np.generic)


class Operators:
    """The operator methods of a value with `__operation__`."""

    __slots__ = ()
    __array_ufunc__ = None

    __add__ = _binary(add)
    __radd__ = __add__
    __sub__ = _binary(sub)
    __mul__ = _binary(mul)
    __rmul__ = __mul__
    __truediv__ = _binary(div)
    __eq__ = _binary(comparison.eq)
    __ne__ = _binary(comparison.ne)
    __lt__ = _binary(comparison.lt)
    __le__ = _binary(comparison.le)
    __gt__ = _binary(comparison.gt)
    __ge__ = _binary(comparison.ge)
    __and__ = _binary(comparison.BitwiseAnd())
    __rand__ = __and__
    __or__ = _binary(comparison.BitwiseOr())
    __ror__ = __or__
    __xor__ = _binary(comparison.BitwiseXor())
    __rxor__ = __xor__
    __hash__ = object.__hash__

    def __rsub__(self, other: Any) -> Any:
        if _number(other):
            return self.__operation__(Rsub(y=other), (self,))  # type: ignore[attr-defined]
        return _reflected(sub)(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        if not isinstance(other, NUMBERS):
            return NotImplemented
        return reciprocal(self) * other

    def __pow__(self, other: Any) -> Any:
        if _number(other):
            return self.__operation__(Power(exponent=other), (self,))  # type: ignore[attr-defined]
        return _binary(arithmetic.Pow())(self, other)

    def __rpow__(self, other: Any) -> Any:
        if _number(other):
            return self.__operation__(Exponential(base=other), (self,))  # type: ignore[attr-defined]
        return _reflected(arithmetic.Pow())(self, other)

    def __neg__(self) -> Any:
        return neg(self)

    def __pos__(self) -> Any:
        return self

    def __invert__(self) -> Any:
        return comparison.BitwiseNot()(self)
