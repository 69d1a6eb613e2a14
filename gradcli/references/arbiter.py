"""The arbiter: central differences of the traced program at high precision, asked before anything is called wrong."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

from gradcli.engine.trace import Record
from gradcli.references.derived import apply
from gradcli.references.difference import as_float
from gradcli.references.estimate import NoAnswer
from gradcli.references.pair import Pair, constant, holds_complex, lifted, parts, scalars
from gradcli.references.path import Path
from gradcli.references.scalar import Scalar, number, to_float

DIGITS = 60
STEP = 20
"""The step is 10**-STEP of the element: the truncation error is of its square, the rounding error 10**(STEP - DIGITS)."""
MOST = 24
WORK = 60_000
"""Elements that are asked about at once, and scalar operations that they may cost: each takes two evaluations at high precision."""
LARGEST = 100_000
"""Scalar operations of a program that is still evaluated at high precision, element by element."""


def arbitrate(path: Path, weights: np.ndarray | None, elements: np.ndarray) -> np.ndarray:
    """The derivative of the path's output by some (flat) elements of its one input; NaN where there is no answer.

    With weights the elements count the input's; without, the Jacobian's (output elements first).
    """
    answers = np.full(len(elements), np.nan)
    scalars = path.scalars
    if scalars > LARGEST:
        return answers
    most = min(MOST, max(2, WORK // max(scalars, 1)))
    width = parts(path.inputs[0][0].value).size
    with mpmath.workdps(DIGITS):
        for k, element in enumerate(elements[:most].tolist()):
            row, column = (0, element) if weights is not None else divmod(element, width)
            try:
                plus, minus, step = (*(evaluate(path, column, sign) for sign in (1, -1)), width_of(path, column))
            except (NoAnswer, ArithmeticError, ValueError, TypeError):
                continue
            differences = [(a - b) / (2 * step) for a, b in zip(plus, minus)]
            if weights is not None:
                total = sum((d * number(w) for d, w in zip(differences, np.asarray(weights).flat)), mpmath.mpf(0))
            else:
                total = differences[row]
            answers[k] = to_float(total)
    return answers


def width_of(path: Path, element: int) -> Any:
    """The step for an element: relative to its size, absolute at zero."""
    x = number(parts(path.inputs[0][-1].value).reshape(-1)[element])
    return (abs(x) or mpmath.mpf(1)) * mpmath.mpf(10) ** -STEP


def evaluate(path: Path, element: int, sign: int) -> list[Any]:
    """The output's elements with one input element moved, at high precision."""
    moved = []
    delta = sign * width_of(path, element)
    for record in path.inputs[0]:
        value = lifted(as_float(record.value))
        move(value.reshape(-1), element, delta)
        moved.append(value)
    out = path.replay([moved], _step, lambda value: constant(as_float(value)))
    return [number(v) for v in scalars(out, holds_complex(path.output.value))]


def move(flat: np.ndarray, element: int, delta: Any) -> None:
    """Add to one real number of an array; of complex ones the real and the imaginary part count."""
    held = flat[element // 2] if isinstance(flat[0], Pair) else flat[element]
    if not isinstance(held, Pair):
        flat[element] = Scalar(held.value + delta)
    elif element % 2:
        flat[element // 2] = Pair(held.real, Scalar(held.imag.value + delta))
    else:
        flat[element // 2] = Pair(Scalar(held.real.value + delta), held.imag)


def _step(record: Record, args: list[Any]) -> Any:
    op = record.op
    assert op is not None
    reason = getattr(op, "no_exact", None)
    if reason:
        raise NoAnswer(reason)
    return apply(op, tuple(args), record.decision)
