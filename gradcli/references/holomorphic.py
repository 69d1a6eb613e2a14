"""Elementwise operations of complex numbers at 50 digits, on pairs of real ones.

A holomorphic operation is differentiated by SymPy in its complex arguments: f' = a + ib gives, by Cauchy and Riemann,
the derivatives (a, b) along the real and (-b, a) along the imaginary direction. One that is not says by `parts` what the
real and the imaginary part of its result are; SymPy differentiates those.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import mpmath
import numpy as np

from gradcli.ops.conjugate import of_pairs
from gradcli.ops.elementwise import Elementwise
from gradcli.references.estimate import NoAnswer
from gradcli.references.pair import Pair, pair
from gradcli.references.scalar import Scalar, number, result

Evaluator = Callable[..., Any]
Derived = tuple[Evaluator, tuple[Evaluator, ...]]
"""Evaluators of a value and of its partial derivatives."""

TABLE: dict[tuple[Any, ...], Any] = {}
"""Filled as operations are met: (class, parameters, decision) -> Derived, or those of the real and the imaginary part."""


def is_complex_operation(op: Elementwise, arrays: Sequence[Any]) -> bool:
    """Whether an operation works on pairs: then it does for every element, also where one is a real Scalar."""
    return op.gives_complex or any(of_pairs(a) for a in arrays if a.dtype.char == "O")


def one(op: Elementwise, row: Sequence[Any], decision: Any) -> Any:
    """One element of the result, on the tape of its arguments."""
    if type(op).parts is not Elementwise.parts:
        return by_parts(op, row)
    if not op.analytic:
        raise NoAnswer(f"{op.name} has no exact form for complex numbers")
    return by_cauchy_riemann(op, row, decision)


def known(op: Elementwise, decision: Any, make: Callable[[], Any]) -> Any:
    key = (type(op), *((type(v), v) for v in op.settings().values()), decision)
    if key not in TABLE:
        TABLE[key] = make()
    return TABLE[key]


def by_parts(op: Elementwise, row: Sequence[Any]) -> Any:
    flat = [part for v in row for part in (pair(v).real, pair(v).imag)]
    values = [number(v) for v in flat]
    made = []
    for derived in known(op, None, lambda: derive_parts(op)):
        if derived is None:
            continue
        value, partials = derived
        parents = [(v, attempt(partial, values)) for v, partial in zip(flat, partials, strict=True) if v.place >= 0]
        made.append(result(attempt(value, values), *parents))
    return Pair(*made) if len(made) == 2 else made[0]


def derive_parts(op: Elementwise) -> tuple[Derived | None, ...]:
    import sympy

    symbols = [sympy.Dummy(f"{name}_{part}", real=True) for name in op.arguments for part in ("re", "im")]
    forms = op.parts(sympy, *zip(symbols[::2], symbols[1::2], strict=True))
    return tuple(None if form is None else compiled(sympy, symbols, form) for form in forms)


def by_cauchy_riemann(op: Elementwise, row: Sequence[Any], decision: Any) -> Pair:
    pairs = [pair(v) for v in row]
    values = [mpmath.mpc(p.real.value, p.imag.value) for p in pairs]
    truths = op.selecting([bool(v) if isinstance(v, (bool, np.bool_)) else None for v in row])
    value, partials = known(op, (decision, truths), lambda: derive(op, decision, truths))
    real: list[tuple[Scalar, Any]] = []
    imag: list[tuple[Scalar, Any]] = []
    for given, p, partial in zip(row, pairs, partials, strict=True):
        if p.real.place < 0 and p.imag.place < 0:
            continue
        slope = mpmath.mpmathify(attempt(partial, values))
        real += entries(p.real, slope.real, slope.imag)
        imag += entries(p.real, slope.imag, slope.real)
        if type(given) is Pair:
            real += entries(p.imag, -slope.imag, slope.real)
            imag += entries(p.imag, slope.real, slope.imag)
    found = chopped(attempt(value, values), values)
    return Pair(result(found.real, *real), result(found.imag, *imag))


def entries(parent: Scalar, partial: Any, other: Any) -> list[tuple[Scalar, Any]]:
    """The partial derivative; the other part of the complex one comes and goes, as what the partial may be rounded by."""
    return [(parent, partial), (parent, other), (parent, -other)] if parent.place >= 0 and other else [(parent, partial)]


def chopped(value: Any, values: Sequence[Any]) -> Any:
    """A complex number without the imaginary part that rounding alone gave it: at real arguments, where most functions are real."""
    number = mpmath.mpmathify(value)
    if any(v.imag for v in values):
        return number
    return number.real if abs(number.imag) <= abs(number) * mpmath.mpf(10) ** (5 - mpmath.mp.dps) else number


def derive(op: Elementwise, decision: Any, truths: Sequence[bool | None]) -> Derived:
    import sympy

    symbols = [sympy.Dummy(name, complex=True) for name in op.arguments]
    given = [s if truth is None else truth for s, truth in zip_longest(symbols, truths)]
    form = op.symbolic(sympy, *given, **({} if decision is None else {"decision": decision}))
    return compiled(sympy, symbols, form)


def compiled(sympy: Any, symbols: Sequence[Any], form: Any) -> Derived:
    """Evaluators of an expression and its derivatives. Raises NoAnswer where SymPy has none."""
    forms = [sympy.sympify(form), *(sympy.diff(form, s) for s in symbols)]
    if any(f.has(sympy.Derivative, sympy.DiracDelta, sympy.nan, sympy.zoo, sympy.Subs) for f in forms):
        raise NoAnswer("SymPy has no derivative for complex numbers")
    first, *rest = (sympy.lambdify(symbols, f, modules="mpmath", cse=True) for f in forms)
    return first, tuple(rest)


def attempt(evaluator: Evaluator, values: Sequence[Any]) -> Any:
    """The value of an evaluator, NaN where it has none."""
    try:
        return evaluator(*values)
    except (ZeroDivisionError, ValueError, OverflowError, mpmath.libmp.NoConvergence):
        return mpmath.nan
