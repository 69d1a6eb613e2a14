"""A tensor and a number that is no tensor to PyTorch either: what its derivative rules, and functions made of several, are written with."""

from __future__ import annotations

from gradcli.ops.arithmetic import Add, Div, Mul, Sub
from gradcli.ops.operation import Operation, Value


class AddNumber(Add):
    """x plus a number."""

    saves = ""
    node = "AddBackward1"
    listed = 1


class SubNumber(Sub):
    """x minus a number."""

    saves = ""
    node = "SubBackward1"
    listed = 1


class MulNumber(Mul):
    """x times a number."""

    saves = "other=number"
    node = "MulBackward1"
    listed = 1

    def number(self, y: Value) -> Value:
        return y


class DivNumber(Div):
    """x divided by a number."""

    saves = "other=number"
    node = "DivBackward1"
    listed = 1

    def number(self, y: Value) -> Value:
        return y


plus: Operation = AddNumber()
minus: Operation = SubNumber()
scaled: Operation = MulNumber()
divided: Operation = DivNumber()

OPERATIONS = (AddNumber, SubNumber, MulNumber, DivNumber)
