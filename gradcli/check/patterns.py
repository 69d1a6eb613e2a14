"""What a wrong gradient looks like next to the right one, in words.

Every text goes on after the name of a gradient: "d loss/d W" + " is right up to a factor of 2: the mean over 2 rows is missing".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.trace import Record

CLOSE = 1e-6


class Pattern(NamedTuple):
    """`kind` is a stable word."""

    kind: str
    text: str


class Count(NamedTuple):
    """A number that a program divides by, and what it counts ("mean over 2 rows")."""

    number: float
    what: str


@dataclass
class Context:
    """What else is known where a gradient is wrong.

    `counts` are the numbers that the program divides by, `sums` those of the terms that it adds up, `values` the arrays at
    hand by name (arguments, results), `others` the right gradients of the other arguments by name, `along(weights)` the
    right gradient for another upstream gradient, and `upstream` the one that was used.
    """

    counts: Sequence[Count] = ()
    sums: Sequence[Count] = ()
    values: Sequence[tuple[str, np.ndarray]] = ()
    others: Sequence[tuple[str, np.ndarray]] = ()
    upstream: np.ndarray | None = None
    along: Callable[[np.ndarray], np.ndarray | None] | None = None


def recognise(given: np.ndarray, expected: np.ndarray, context: Context | None = None) -> Pattern:
    """The first pattern that explains the whole difference, else where it is largest."""
    context = context or Context()
    with np.errstate(all="ignore"):
        if np.iscomplexobj(given) or np.iscomplexobj(expected):
            return of_complex(np.asarray(given), np.asarray(expected))
        for pattern in explanations(np.asarray(given, dtype=float), np.asarray(expected, dtype=float), context):
            if pattern is not None:
                return pattern
    return largest(given, expected)


def explanations(given: np.ndarray, expected: np.ndarray, context: Context) -> Iterator[Pattern | None]:
    yield broken(given, expected)
    yield vanished(given, expected)
    yield slight(given, expected)
    yield scaled(given, expected, context)
    yield swapped(given, context)
    yield from moved(given, expected)
    yield from upstream(given, context)
    yield from multiplied(given, expected, context)
    yield unmasked(given, expected)
    yield some(given, expected)
    yield shifted(given, expected)


def of_complex(given: np.ndarray, expected: np.ndarray) -> Pattern:
    """What a wrong complex gradient looks like."""
    found = vanished(given, expected)
    if found is not None:
        return found
    if close(given, expected.conj()):
        return Pattern("conjugate", "is the complex conjugate of the right one: the gradient is dL/dRe + i dL/dIm")
    use = (expected != 0) & np.isfinite(expected) & np.isfinite(given)
    factors = given[use] / expected[use]
    if factors.size and close(given, factors[0] * expected):
        return Pattern("factor", "has the wrong sign" if close(given, -expected) else f"is right up to a factor of {factors[0]:.6g}")
    return largest(given, expected)


def close(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(np.allclose(a, b, rtol=CLOSE, atol=1e-12 * float(np.max(np.abs(b), initial=0.0))))


def broken(given: np.ndarray, expected: np.ndarray) -> Pattern | None:
    """NaN or infinite where there is a derivative, and right elsewhere."""
    lost = ~np.isfinite(given) & np.isfinite(expected)
    if not lost.any() or not close(np.where(lost, 0.0, given), np.where(lost, 0.0, expected)):
        return None
    word = "NaN" if np.isnan(given[lost]).any() else "infinite"
    return Pattern("nan", f"is {word} {where(lost)}, where there is a derivative")


def vanished(given: np.ndarray, expected: np.ndarray) -> Pattern | None:
    """Zero where there is something."""
    return Pattern("zero", "is 0, but the output depends on it") if not given.any() and expected.any() else None


def slight(given: np.ndarray, expected: np.ndarray) -> Pattern | None:
    """Right but for a small part of it, which no other pattern can be told by."""
    use = np.isfinite(expected) & np.isfinite(given) & (expected != 0)
    if not use.any() or not close(given, expected):
        return None
    parts = np.where(use, given / np.where(use, expected, 1.0) - 1, 0.0)
    typical = float(np.median(parts[use]))
    if typical and np.allclose(parts[use], typical, rtol=1e-2, atol=1e-14):
        return Pattern("factor", f"is right up to a factor of 1 {'-' if typical < 0 else '+'} {abs(typical):.3g}")
    worst = np.unravel_index(np.argmax(np.abs(parts)), parts.shape)
    at = f", at {[int(i) for i in worst]}" if parts.ndim else ""
    return Pattern("slight", f"is off by up to {abs(parts[worst]):.2g} of itself{at}: a constant or a small term is not exact")


def constant_factor(given: np.ndarray, expected: np.ndarray) -> float | None:
    """The factor between two arrays, where one and the same takes all elements of the one to the other."""
    use = (expected != 0) & np.isfinite(expected) & np.isfinite(given)
    if not use.any():
        return None
    factor = float(np.median(given[use] / expected[use]))
    return factor if factor and abs(factor - 1) > CLOSE and close(expected * factor, given) else None


def scaled(given: np.ndarray, expected: np.ndarray, context: Context) -> Pattern | None:
    """Right up to a sign or a factor; a factor with a meaning is named by it."""
    factor = constant_factor(given, expected)
    if factor is None:
        return None
    if abs(factor + 1) <= CLOSE:
        return Pattern("sign", "has the wrong sign")
    sign = " and the sign" if factor < 0 else ""
    return Pattern("factor", f"is right up to a factor of {number(abs(factor))}{sign}{meaning(abs(factor), context)}")


def number(value: float) -> str:
    """A factor as people write it: 2, 0.5, 1/3, 1.0001."""
    inverse = 1 / value
    if value < 1 and abs(inverse - round(inverse)) < 1e-9 * inverse and round(inverse) not in (1, 2, 4, 5, 10):
        return f"1/{round(inverse)}"
    return f"{value:.6g}"


def meaning(factor: float, context: Context) -> str:
    """What a factor stands for: a mean that was forgotten, or taken twice, a sum taken for a mean, a power rule."""
    for count in context.counts:
        if matches(factor, count.number):
            return f": the {count.what} is missing"
    for count in context.counts:
        if matches(factor, 1 / count.number):
            return f": the {count.what} is taken once too often"
    for count in context.sums:
        if matches(factor, 1 / count.number):
            return f": it is the mean, not the {count.what}"
    if matches(factor, 0.5):
        return ": a factor of 2, as from a square, is missing"
    if matches(factor, 2.0):
        return ": it is twice the derivative"
    return ""


def matches(factor: float, number: float) -> bool:
    return number not in (0, 1) and abs(factor - number) <= CLOSE * number


def swapped(given: np.ndarray, context: Context) -> Pattern | None:
    """The gradient of another argument."""
    for name, other in context.others:
        if other.shape == given.shape and other.any() and close(given, other):
            return Pattern("swapped", f"is that of {name}: the two are swapped")
    return None


def moved(given: np.ndarray, expected: np.ndarray) -> Iterator[Pattern | None]:
    """The right numbers in the wrong places."""
    if given.size < 2:
        return
    if given.ndim >= 2 and given.shape[-1] == given.shape[-2]:
        turned = np.swapaxes(expected, -1, -2)
        if close(given, turned):
            yield Pattern("transpose", "is transposed")
        if close(given, -turned):
            yield Pattern("transpose", "is transposed and has the wrong sign")
        factor = constant_factor(given, turned)
        if factor is not None:
            yield Pattern("transpose", f"is transposed, and off by a factor of {number(factor)}")
    for axis in range(given.ndim):
        along = "" if given.ndim == 1 else f" along axis {axis}"
        if close(given, np.flip(expected, axis)):
            yield Pattern("moved", f"is in reverse order{along}")
        for shift in (1, -1):
            if close(given, np.roll(expected, shift, axis)):
                yield Pattern("moved", f"is shifted by one element{along}")
    if given.size > 2 and len(np.unique(expected)) > 2 and close(np.sort(given, axis=None), np.sort(expected, axis=None)):
        yield Pattern("moved", "has the right numbers in the wrong places: an axis or an index is mixed up")


def multiplied(given: np.ndarray, expected: np.ndarray, context: Context) -> Iterator[Pattern | None]:
    """The derivative times something at hand: a factor too much, one missing, one in the place of another."""
    use = (expected != 0) & np.isfinite(given) & np.isfinite(expected)
    if use.sum() < 2 or not use.all():
        return
    ratio = given / expected
    known = [(name, np.broadcast_to(v, given.shape)) for name, v in context.values if fits(v, given.shape)]
    varied = [(name, v) for name, v in known if np.ptp(v) > 0]
    for name, v in varied:
        if close(ratio, v):
            yield Pattern("factor", f"is {name} times the derivative: a division by {name} is missing")
        if close(ratio * v, np.ones(v.shape)):
            yield Pattern("factor", f"lacks a factor: times {name} it is the derivative")
        if close(ratio, -v) or close(ratio * v, -np.ones(v.shape)):
            yield Pattern("factor", f"has a factor {name} too much or too little, and the wrong sign")
    for name, v in varied:
        for other, w in varied:
            if name != other and close(ratio * w, v):
                yield Pattern("factor", f"has {name} where {other} belongs, or the inverse")


def fits(value: np.ndarray, shape: tuple[int, ...]) -> bool:
    """Whether an array can stand beside every element of a gradient."""
    try:
        return value.dtype.kind == "f" and np.broadcast_shapes(value.shape, shape) == shape
    except ValueError:
        return False


def upstream(given: np.ndarray, context: Context) -> Iterator[Pattern | None]:
    """The right gradient of another upstream gradient: ignored, or not all of it summed."""
    if context.along is None or context.upstream is None:
        return
    weights = context.upstream
    ones = context.along(np.ones(weights.shape))
    if ones is not None and close(given, ones):
        yield Pattern("upstream", "ignores grad_output: it is right only for ones")
    for axis in range(weights.ndim):
        yield from partial_sums(given, weights, axis, context)


def partial_sums(given: np.ndarray, weights: np.ndarray, axis: int, context: Context) -> Iterator[Pattern | None]:
    """What sums only one slice of the output, or takes one slice for all."""
    assert context.along is not None
    length = weights.shape[axis]
    if length < 2:
        return
    for k in (0, length - 1):
        chosen = np.zeros(weights.shape)
        index = (slice(None),) * axis + (k,)
        chosen[index] = weights[index]
        part = context.along(chosen)
        if part is not None and part.any() and close(given, part):
            yield Pattern("broadcast", f"lacks the sum over axis {axis} of the output, {length} long: only number {k} counts")
    spread = np.broadcast_to(weights.sum(axis=axis, keepdims=True), weights.shape)
    whole = context.along(spread)
    if whole is not None and close(given, whole):
        yield Pattern("axis", f"sums grad_output over axis {axis}, which the output keeps apart")


def unmasked(given: np.ndarray, expected: np.ndarray) -> Pattern | None:
    """Not zero where the derivative is, and right elsewhere."""
    extra = (expected == 0) & (given != 0)
    if extra.any() and expected.any() and close(np.where(extra, 0.0, given), expected):
        return Pattern("mask", f"lacks a mask: it is not 0 {where(extra)}, where the derivative is")
    cut = (expected != 0) & (given == 0)
    if cut.any() and given.any() and close(np.where(cut, expected, given), expected):
        return Pattern("mask", f"is masked too much: it is 0 {where(cut)}, where the derivative is not")
    return None


def where(mask: np.ndarray) -> str:
    """The place of one element, or how many."""
    places = np.argwhere(mask)
    first = [int(i) for i in places[0]]
    return f"at {first}" if len(places) == 1 else f"in {len(places)} of {mask.size} elements"


def some(given: np.ndarray, expected: np.ndarray) -> Pattern | None:
    """Right in most elements; what the others have in common."""
    wrong = ~np.isclose(given, expected, rtol=CLOSE, atol=0, equal_nan=True)
    count = int(wrong.sum())
    if not 0 < count < given.size:
        return None
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    factor = constant_factor(given[wrong], expected[wrong])
    how = ""
    if factor is not None and count > 1:
        how = ", with the wrong sign" if abs(factor + 1) <= CLOSE else f", {number(factor)} times the derivative"
    at = f"at {list(first)}" if count == 1 else f"first at {list(first)}"
    figures = f"{given[first]:.6g} instead of {expected[first]:.6g}"
    return Pattern("elements", f"is wrong in {count} of {given.size} elements{how}, {at}: {figures}")


def shifted(given: np.ndarray, expected: np.ndarray) -> Pattern | None:
    """Off by the same number everywhere: a term is missing, or too much."""
    off = given - expected
    if off.size > 1 and np.isfinite(off).all() and close(off, np.full(off.shape, off.reshape(-1)[0])):
        return Pattern("term", f"is off by {off.reshape(-1)[0]:.6g} in every element: a term is missing, or too much")
    return None


def largest(given: np.ndarray, expected: np.ndarray) -> Pattern:
    """Nothing in particular."""
    if not np.size(given):
        return Pattern("other", "is wrong")
    off = np.where(np.isfinite(given) & np.isfinite(expected), np.abs(given - expected), -1.0)
    place = tuple(int(i) for i in np.unravel_index(int(np.argmax(off)), np.shape(given)))
    at = f", at {list(place)}" if place else ""
    return Pattern("other", f"is wrong: {given[place]:.6g} instead of {expected[place]:.6g}{at}")


# ---- the numbers of a program

MEANS = frozenset({"mean", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "nll_loss", "cross_entropy"})


def counts_of(records: Sequence[Record]) -> tuple[list[Count], list[Count]]:
    """The numbers that operations divide by, and the numbers of terms that they add up."""
    means: dict[float, Count] = {}
    sums: dict[float, Count] = {}
    for record in records:
        if record.op is None or not record.inputs:
            continue
        before = np.shape(value_of(record.inputs[0]))
        if record.op.name in MEANS or record.op.name == "sum":
            table, word = (sums, "sum") if record.op.name == "sum" else (means, "mean")
            share = max(1, int(np.prod(before))) // max(1, int(np.size(record.value)))
            table.setdefault(share, Count(share, f"{word} over {share} {unit(record, len(before))}"))
        elif record.op.name in ("div", "mul"):
            note_division(record, records, means)
    return list(means.values()), list(sums.values())


def note_division(record: Record, records: Sequence[Record], means: dict[float, Count]) -> None:
    """A division by a constant: by the length of an axis it is a mean."""
    other = record.inputs[-1]
    if isinstance(other, Record) or np.size(other) != 1:
        return
    constant = abs(float(np.asarray(other, dtype=float).reshape(-1)[0])) if np.asarray(other).dtype.kind in "fiu" else 0.0
    if record.op is not None and record.op.name == "mul" and constant:
        constant = 1 / constant
    if constant in (0.0, 1.0) or not np.isfinite(constant):
        return
    shape = next((np.shape(r.value) for r in records if any(abs(constant - n) < 1e-9 for n in np.shape(r.value))), None)
    if shape is None:
        means.setdefault(constant, Count(constant, f"division by {constant:.6g}"))
    else:
        axis = next(k for k, n in enumerate(shape) if abs(constant - n) < 1e-9)
        means.setdefault(constant, Count(constant, f"mean over {constant:.6g} {axis_name(axis, len(shape))}"))


def value_of(argument: Any) -> Any:
    return argument.value if isinstance(argument, Record) else argument


def unit(record: Record, rank: int) -> str:
    """What a reduction counts: rows, columns, or elements."""
    dims = getattr(record.op, "dim", None)
    return axis_name(dims[0] % rank, rank) if isinstance(dims, tuple) and len(dims) == 1 and rank > 1 else "elements"


def axis_name(axis: int, rank: int) -> str:
    if rank == 1:
        return "elements"
    return ("rows", "columns")[axis] if rank == 2 else f"entries of axis {axis}"
