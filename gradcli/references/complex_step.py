"""Complex steps: f(x + ih) = f(x) + ih f'(x), so one evaluation gives a derivative without subtraction.

Only along paths whose every operation says that its numpy form is analytic; where the function itself cancels,
this does too, so nothing is called wrong on its word alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.references.difference import EPS, Program, as_float, chunks, scales, step
from gradcli.references.pair import holds_complex

STEP = 1e-30
"""Relative size of the imaginary step: nothing is subtracted, so it can be as small as it likes."""


JITTER = 8.0
"""How many roundings away the derivative is asked for again."""
SHAKE = 4.0
"""How much of what it then differs by counts as error."""


def analytic(program: Program) -> bool:
    """Whether every operation of the path can be fed complex numbers, where the program itself has none."""
    path = program.path
    if any(holds_complex(r.value) for r in (*path.inputs[0], *path.steps)):
        return False
    return all(record.op is not None and record.op.analytic for record in path.steps)


def complex_step(program: Program, elements: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The derivative by each of the (flat) elements, and its rounding: (elements, *derivative shape); None where it fails."""
    size = scales(program.point).reshape(-1)[elements] * STEP
    deltas = np.zeros((len(elements), program.point.size), dtype=complex)
    deltas[np.arange(len(elements)), elements] = 1j * size
    return along(program, deltas, size)


def along(program: Program, deltas: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The derivative along each row of `deltas` (rows, input size), which have the imaginary lengths `size`, and its error bar.

    Nothing is subtracted here, but the function may cancel inside: it is asked again a few roundings away, and what the
    two answers differ by is part of the bar.
    """
    point = program.point.reshape(-1)
    signs = np.where(np.arange(point.size) % 2, 1.0, -1.0)
    found = slopes_along(program, np.concatenate([deltas, deltas + JITTER * EPS * signs * point]), np.concatenate([size, size]))
    if found is None:
        return None
    value, rounding = found
    count = len(deltas)
    return value[:count], rounding[:count] + SHAKE * np.abs(value[count:] - value[:count])


def slopes_along(program: Program, deltas: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """`along` at one point: the derivatives, and the rounding of the last sum."""
    parts = []
    try:
        for rows in chunks(program, len(deltas)):
            out = evaluate(program, deltas[rows].reshape(-1, *program.point.shape))
            parts.append(np.imag(out))
    except (TypeError, ValueError, ArithmeticError):
        return None
    slopes = np.concatenate(parts)
    weights = 1.0 if program.weights is None else program.weights
    terms = slopes * weights
    axes = () if program.weights is None else tuple(range(1, terms.ndim))
    wide = size.reshape(-1, *(1,) * (terms.ndim - 1 - len(axes)))
    value = terms.sum(axis=axes) / wide if axes or program.weights is not None else terms / wide
    rounding = 64 * EPS * (np.abs(terms).sum(axis=axes) if axes or program.weights is not None else np.abs(terms)) / wide
    return value, rounding


def evaluate(program: Program, deltas: np.ndarray) -> np.ndarray:
    """The output at the point moved by imaginary amounts."""
    program.path.evaluations += len(deltas)
    given = [[as_complex(as_float(r.value)) + deltas for r in program.path.inputs[0]]]
    return np.asarray(program.path.replay(given, step, lambda value: as_complex(as_float(value))))


def as_complex(value: Any) -> Any:
    """Floating arrays as complex ones, so that products see one dtype."""
    return value.astype(complex) if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind == "f" else value
