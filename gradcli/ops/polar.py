"""Complex numbers from their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import DtypeError
from gradcli.ops.conjugate import conj
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation, Value
from gradcli.ops.structure import To


class Complex(Elementwise):
    """real + i * imag. The gradients are the real and the imaginary part of g."""

    refused = "biu"
    saves = "imag real"
    inplace = False
    gives_complex = True

    def forward(self, real: Value, imag: Value) -> Value:
        return np.asarray(real + 1j * np.asarray(imag), dtype=np.result_type(np.asarray(real), np.complex64))[()]

    def vjp_real(self, g: Value, real: Value) -> Value:
        return To(dtype=real.dtype)(g)

    def vjp_imag(self, g: Value, imag: Value) -> Value:
        return To(dtype=imag.dtype)(g * -1j)

    def symbolic(self, sympy: Any, real: Any, imag: Any, **decision: Any) -> Any:
        return real + sympy.I * imag

    def parts(self, sympy: Any, *args: tuple[Any, Any]) -> tuple[Any, Any]:
        (real, _), (imag, _) = args
        return real, imag


class Polar(Elementwise):
    """abs * exp(i * angle)."""

    refused = "biu"
    saves = "result=out"
    inplace = False
    gives_complex = True

    def forward(self, abs: Value, angle: Value) -> Value:
        return np.asarray(abs * np.exp(1j * np.asarray(angle)), dtype=np.result_type(np.asarray(abs), np.complex64))[()]

    def vjp_abs(self, g: Value, angle: Value, abs_dtype: Any) -> Value:
        return To(dtype=abs_dtype)(g * conj(polar(np.ones((), abs_dtype)[()], angle)))

    def vjp_angle(self, g: Value, out: Value, angle_dtype: Any) -> Value:
        return To(dtype=angle_dtype)(g * conj(out) * -1j)

    def symbolic(self, sympy: Any, abs: Any, angle: Any, **decision: Any) -> Any:
        return abs * sympy.exp(sympy.I * angle)

    def parts(self, sympy: Any, *args: tuple[Any, Any]) -> tuple[Any, Any]:
        (abs, _), (angle, _) = args
        return abs * sympy.cos(angle), abs * sympy.sin(angle)


polar: Operation = Polar()


def complex_(real: Value, imag: Value) -> Any:
    """real + i * imag, of two real tensors of one dtype."""
    for part in (real, imag):
        if part.dtype.kind not in "fO":
            raise DtypeError(f"Expected both inputs to be Half, Float or Double tensors but got {part.dtype.name}")
    return Complex()(real, imag)


OPERATIONS = (Complex, Polar)
FUNCTIONS = (complex_,)
