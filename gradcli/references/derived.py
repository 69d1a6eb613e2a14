"""What SymPy derives for each elementwise operation: its value and its partial derivatives at 50 digits.

The expression comes from the operation's `symbolic`, the derivatives from SymPy alone. Everything that
SymPy compiles here is built from symbols of our own making.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import mpmath
import numpy as np

from gradcli.ops.arithmetic import Add, Div, Mul, Neg, Rsub, Sub
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation
from gradcli.references import derivatives, holomorphic
from gradcli.references.estimate import NoAnswer
from gradcli.references.pair import Pair
from gradcli.references.precise import PRECISE
from gradcli.references.scalar import Scalar, lift, lowered, number, result

Evaluator = Callable[..., Any]


class Derived(NamedTuple):
    """Evaluators over mpmath numbers: the value, and one partial derivative an argument (None where SymPy has none)."""

    value: Evaluator | None
    partials: tuple[Evaluator | None, ...]


TABLE: dict[tuple[Any, ...], Derived] = {}
"""Filled as operations are met: (class, parameters, decision, kind of numbers) -> Derived."""


def derive(op: Elementwise, decision: Any, truths: tuple[bool | None, ...] = (), numbers: Any = PRECISE) -> Derived:
    """The evaluators of an operation on one of its branches. Floating decisions (a floor) are arguments, others part of the key.

    `truths` has the truth value of each argument that is one (a mask), None for numbers. `numbers` holds the functions that
    evaluate: those of `references.precise`, or those of `references.arrays`.
    """
    floating = isinstance(decision, float)
    truths = op.selecting(truths)
    key = (type(op), *(_hashable(v) for v in op.settings().values()), None if floating else decision, floating, truths, id(numbers))
    found = TABLE.get(key)
    if found is None:
        found = TABLE[key] = stored(op, decision, truths, numbers) or _derive(op, decision, truths, numbers)
    return found


def _hashable(value: Any) -> Any:
    return (type(value), value) if not isinstance(value, np.ndarray) else value.tobytes()


def expression(op: Elementwise, decision: Any, sympy: Any, truths: tuple[bool | None, ...] = ()) -> tuple[Any, list[Any], Any]:
    """The SymPy expression of an operation, its real symbols, and the symbol of a floating decision."""
    symbols = [sympy.Dummy(name, real=True) for name in op.arguments]
    given = [symbol if truth is None else truth for symbol, truth in zip_longest(symbols, truths)]
    if decision is None:
        return op.symbolic(sympy, *given), symbols, None
    chosen = sympy.Dummy("decision", real=True) if isinstance(decision, float) else decision
    return op.symbolic(sympy, *given, decision=chosen), symbols, chosen if isinstance(decision, float) else None


class Forms(NamedTuple):
    """The SymPy expressions of an operation: its arguments (the last for a floating decision), value, partial derivatives.

    None where SymPy's answer is no expression (a Derivative left over, NaN).
    """

    arguments: list[Any]
    value: Any
    partials: tuple[Any, ...]


def forms(op: Elementwise, decision: Any, truths: tuple[bool | None, ...]) -> Forms:
    import sympy

    form, symbols, extra = expression(op, decision, sympy, truths)

    def answer(expr: Any) -> Any:
        expr = sympy.sympify(expr)
        return None if expr.has(sympy.Derivative, sympy.DiracDelta, sympy.nan, sympy.zoo, sympy.Subs) else expr

    partials = tuple(answer(sympy.powsimp(sympy.diff(form, symbol))) for symbol in symbols)  # y * x**(y - 1), not y * x**y / x
    return Forms([*symbols, sympy.Dummy("unused") if extra is None else extra], answer(form), partials)


def cancels(expr: Any) -> bool:
    """Whether the terms of an expression may cancel: it adds functions."""
    import sympy

    return bool(expr.has(sympy.Add) and expr.has(sympy.Function))


def _derive(op: Elementwise, decision: Any, truths: tuple[bool | None, ...], numbers: Any) -> Derived:
    import sympy

    derived = forms(op, decision, truths)
    modules = [vars(numbers), "mpmath"]

    def evaluator(expr: Any) -> Evaluator | None:
        if expr is None:
            return None
        evaluate: Evaluator = sympy.lambdify(derived.arguments, expr, modules=modules, cse=True)
        return steadied(evaluate) if numbers is PRECISE and cancels(expr) else evaluate

    return Derived(evaluator(derived.value), tuple(map(evaluator, derived.partials)))


def stored(op: Elementwise, decision: Any, truths: tuple[bool | None, ...], numbers: Any) -> Derived | None:
    """The evaluators as the package ships them, so that a check need not import SymPy; None for what is not in the table."""
    found = None if afresh.asked or not current() else derivatives.TABLE.get(title(op, decision, truths))
    if found is None:
        return None

    def evaluator(function: Evaluator | None) -> Evaluator | None:
        if function is None:
            return None
        evaluate = partial(function, numbers)
        return steadied(evaluate) if numbers is PRECISE and function in derivatives.CANCELLING else evaluate

    return Derived(evaluator(found[0]), tuple(map(evaluator, found[1:])))


class Afresh:
    """`with afresh:` derives everything anew instead of taking it from the shipped table."""

    asked = False

    def __enter__(self) -> None:
        self.asked = True
        TABLE.clear()

    def __exit__(self, *exception: object) -> None:
        self.asked = False


afresh = Afresh()


@cache
def current() -> bool:
    """Whether the shipped table was made by the SymPy that is installed.

    Read from SymPy's own file: `importlib.metadata` takes a tenth of the check of a small file to import and to ask.
    """
    found = find_spec("sympy")
    if found is None or found.origin is None:
        return False
    release = Path(found.origin).with_name("release.py")
    return release.is_file() and f'__version__ = "{derivatives.SYMPY}"' in release.read_text("utf-8").splitlines()


def title(op: Elementwise, decision: Any, truths: tuple[bool | None, ...]) -> str:
    """The key of a derivation in the shipped table."""
    chosen = "float" if isinstance(decision, float) else decision
    settings = ", ".join(f"{name}={value!r}" for name, value in op.settings().items())
    return f"{type(op).__module__.rpartition('.')[2]}.{type(op).__name__}({settings}) {chosen} {truths}"


LARGEST = 16384
"""Powers of two past which a number is infinite, as for extended precision: the next exp would take ages."""
FAINT = mpmath.mpf(10) ** -25
"""A value this small may be what is left of a cancellation."""
TAIL_DIGITS = 400
"""Digits at which 1 + erf(x) is more than 0 as far as float64 goes."""


def steadied(evaluate: Evaluator) -> Evaluator:
    """An evaluator that looks again, with many more digits, where its terms may have cancelled: in the tail of 1 + erf(x)."""

    def evaluator(*args: Any) -> Any:
        try:
            value = evaluate(*args)
            if FAINT < abs(value) < mpmath.inf:
                return value
        except (ZeroDivisionError, ValueError):
            pass
        with mpmath.workdps(max(TAIL_DIGITS, mpmath.mp.dps)):
            return evaluate(*args)

    return evaluator


TRUTHS = frozenset({bool, np.bool_})
NUMBERS = frozenset({float, int, np.float64})

ARITHMETIC = frozenset({Add, Sub, Rsub, Mul, Div, Neg})


def apply(op: Operation, args: tuple[Any, ...], decision: Any) -> Any:
    """Apply any operation to arrays of Scalars: elementwise ones by their symbolic form, others by their exact form.

    What Scalars do themselves (+ - * /) is their own arithmetic. Comparisons and the like are made in float64, as the
    decisions are.
    """
    if not op.differentiable:
        return op.forward(*map(lowered, args))
    if type(op) in ARITHMETIC:
        return op.forward(*args)
    if isinstance(op, Elementwise) and type(op).exact is Operation.exact:
        return elementwise(op, args, decision)
    try:
        out = op.exact(*args, decision=decision) if op.decides else op.exact(*args)
    except ZeroDivisionError:  # of Python's numbers: a mean of nothing
        raise NoAnswer(f"{op.name} divides by 0") from None
    return tuple(map(speaking, out)) if isinstance(out, tuple) else speaking(out)


def speaking(out: Any) -> Any:
    """An object array that holds plain numbers alone (all of a selection were constants) as one of Scalars, so that operations know it."""
    plain = isinstance(out, np.ndarray) and out.dtype.char == "O" and out.size and all(type(v) in NUMBERS for v in out.flat)
    return lift(out) if plain else out


def elementwise(op: Elementwise, args: tuple[Any, ...], decision: Any = None) -> Any:
    """Apply an operation to broadcast arrays of Scalars; the result is an object array, or a Scalar for 0-d."""
    if decision is None and not op.gives_complex and all(type(a) is Scalar or type(a) in NUMBERS for a in args):
        return one(op, args, None)
    arrays = [np.asarray(a, dtype=object) if isinstance(a, (Scalar, Pair)) else np.asarray(a) for a in args]
    choice = None if decision is None else np.asarray(decision)
    shape = np.broadcast_shapes(*(a.shape for a in arrays), *(() if choice is None else (choice.shape,)))
    out = np.empty(shape, dtype=object)
    flat = out.reshape(-1)
    columns = [np.broadcast_to(a, shape).reshape(-1) for a in arrays]
    choices = None if choice is None else np.broadcast_to(choice, shape).reshape(-1).tolist()
    single = holomorphic.one if holomorphic.is_complex_operation(op, arrays) else one
    for k, row in enumerate(zip(*columns)):
        flat[k] = single(op, row, None if choices is None else _plain(choices[k]))
    return out.reshape(shape) if shape else flat[0]


def _plain(choice: Any) -> Any:
    return float(choice) if isinstance(choice, Scalar) else choice


def one(op: Elementwise, row: tuple[Any, ...], decision: Any) -> Any:
    """One element: the value, and on the tape the partial derivatives by those arguments that are on it.

    Where the value is NaN (acosh below 1) there is no derivative, whatever its formula gives.
    """
    truths = tuple([bool(v) if type(v) in TRUTHS else None for v in row])
    derived = derive(op, decision, truths if True in truths or False in truths else ())
    values = [number(v) for v in row]
    extra = number(decision) if isinstance(decision, float) else None
    value = None if derived.value is None else attempt(derived.value, values, extra)
    if value is None or any(map(mpmath.isnan, values)):
        value = number(np.asarray(op.replay([float(v) for v in values], decision)).item())
    parents = []
    for slope_of, argument in zip(derived.partials, row):
        if type(argument) is Scalar and argument.place >= 0:
            slope = None if slope_of is None or mpmath.isnan(value) else attempt(slope_of, values, extra)
            parents.append((argument, mpmath.nan if slope is None else slope))
    return result(value, *parents)


def attempt(evaluate: Evaluator, values: list[Any], extra: Any) -> Any:
    """The value of an evaluator; None where it has none among the real numbers (a pole, a branch cut)."""
    try:
        value = evaluate(*values, extra)
    except (ZeroDivisionError, ValueError, OverflowError, TypeError, mpmath.libmp.NoConvergence):
        return None  # TypeError: mpmath's Bessel functions of infinity and NaN
    if isinstance(value, mpmath.mpc):
        return value.real if value.imag == 0 else None
    if isinstance(value, (int, float)):
        value = mpmath.mpf(value)
    if mpmath.isnan(value):
        return None
    return value if mpmath.mag(value) <= LARGEST else mpmath.sign(value) * mpmath.inf
