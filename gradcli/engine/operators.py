"""What Python's operators mean on tensors: the operation, and the node, that PyTorch takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.ops import arithmetic, comparison
from gradcli.ops.arithmetic import Exponential, Power, Rsub, add, div, mul, neg, reciprocal, sub
from gradcli.ops.numbered import divided, minus, plus, scaled
from gradcli.ops.operation import Operation

NUMBERS = (bool, int, float, complex, np.ndarray, np.generic)


def _binary(op: Operation, in_rules: Operation | None = None) -> Callable[[Any, Any], Any]:
    """An operator whose operand is a tensor or a number; with a number, rules have `in_rules`."""

    def operator(self: Any, other: Any) -> Any:
        if type(other) is not type(self):
            if not isinstance(other, NUMBERS):
                return op(self, other) if isinstance(other, Operators) else NotImplemented
            if in_rules is not None and state.ruling and _number(other):
                return self.__operation__(in_rules, (self, other))
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


def _method(name: str) -> Callable[[Any, Any], Any]:
    """An operator that is a function of the catalogue."""

    def operator(self: Any, other: Any) -> Any:
        if not isinstance(other, (Operators, *NUMBERS)):
            return NotImplemented
        return self.method(self, name)(other)

    return operator


def _reflected_method(name: str) -> Callable[[Any, Any], Any]:
    """The same with a number on the left."""

    def operator(self: Any, other: Any) -> Any:
        if not isinstance(other, NUMBERS):
            return NotImplemented
        return self.method(type(self)(np.asarray(other)[()]), name)(self)

    return operator


class Operators:
    """The operator methods of a value with `__operation__`; `method(value, name)` gives its methods."""

    __slots__ = ()
    __array_ufunc__ = None

    __add__ = _binary(add, plus)
    __radd__ = __add__
    __sub__ = _binary(sub, minus)
    __mul__ = _binary(mul, scaled)
    __rmul__ = __mul__
    __truediv__ = _binary(div, divided)
    __floordiv__ = _method("floor_divide")
    __rfloordiv__ = _reflected_method("floor_divide")
    __mod__ = _method("remainder")
    __rmod__ = _reflected_method("remainder")
    __matmul__ = _method("matmul")
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

    __iadd__ = _method("add_")
    __isub__ = _method("sub_")
    __imul__ = _method("mul_")
    __itruediv__ = _method("div_")
    __ifloordiv__ = _method("floor_divide_")
    __imod__ = _method("remainder_")
    __ipow__ = _method("pow_")
    __iand__ = _method("bitwise_and_")
    __ior__ = _method("bitwise_or_")
    __ixor__ = _method("bitwise_xor_")

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

    def __abs__(self) -> Any:
        return self.method(self, "abs")()  # type: ignore[attr-defined]

    def __invert__(self) -> Any:
        return comparison.BitwiseNot()(self)
