"""A point at which an FPCore may be checked: its precondition holds, its output is finite."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from typing import Any

from gradcli.errors import GradcliError, Span
from gradcli.syntax.fpcore.core import Core
from gradcli.syntax.fpcore.evaluate import Evaluator, OutOfSteps
from gradcli.syntax.fpcore.reader import Atom, Expression, Form
from gradcli.syntax.fpcore.words import COMPARISONS

TRIES = 3000
STEPS = 1_200_000
"""Steps of evaluation that all tries together may take."""
STEPS_EACH = 300_000
DIGITS = 5
"""A point has so many significant digits, so that it can be read and pasted."""
Interval = tuple[float, float]
EVERYTHING: Interval = (-math.inf, math.inf)


class NoPoint(GradcliError):
    """No point was found."""

    code = "G111"

    def __init__(self, core: Core, reason: str) -> None:
        super().__init__(f"{core.name}: no point to check at: {reason}", hint="give one with --set NAME=VALUE")
        self.reason = reason
        self.span: Span | None = core.form.span


def find_point(core: Core, seed: int, given: Mapping[str, float]) -> dict[str, float]:
    """A value for each argument, those that are `given` kept. The same for the same seed. Raises NoPoint."""
    names = [a.text for a in core.arguments]
    free = [name for name in names if name not in given]
    if not free:
        return dict(given)
    rng = random.Random(f"{seed} {core.name}")
    ranges = intervals(core.pre, Evaluator(STEPS_EACH))
    steps, outside, slow = STEPS, 0, 0
    for attempt in range(TRIES):
        point = {**given, **{name: drawn(rng, ranges.get(name, EVERYTHING), attempt) for name in free}}
        if attempt == 0:
            point |= {name: value for name, value in example(core).items() if name in free}
        evaluator = Evaluator(min(STEPS_EACH, steps))
        try:
            if not holds(core, point, evaluator):
                outside += 1
            elif finite(core, point, evaluator):
                return point
        except (OutOfSteps, RecursionError):
            slow += 1
        steps -= STEPS_EACH - max(evaluator.steps, 0) if steps >= STEPS_EACH else steps
        if steps <= 0:
            break
    raise NoPoint(core, reason(attempt + 1, outside, slow))


def example(core: Core) -> dict[str, float]:
    """The point that the property :example states: ([x 1] [y 2])."""
    stated = core.properties.get(":example")
    pairs = [p.items for p in stated.items if isinstance(p, Form) and len(p.items) == 2] if isinstance(stated, Form) else []
    values = {name.text: constant(value, Evaluator(STEPS_EACH)) for name, value in pairs if isinstance(name, Atom)}
    return {name: value for name, value in values.items() if value is not None}


def reason(tries: int, outside: int, slow: int) -> str:
    """What became of the tries."""
    parts = [(outside, "do not meet :pre"), (tries - outside - slow, "give no finite output"), (slow, "take too many steps")]
    return f"of {tries} points tried " + ", ".join(f"{count} {what}" for count, what in parts if count)


def holds(core: Core, point: dict[str, float], evaluator: Evaluator) -> bool:
    return core.pre is None or bool(evaluator.value(core.pre, dict(point), core.calls))


def finite(core: Core, point: dict[str, float], evaluator: Evaluator) -> bool:
    return all_finite(evaluator.value(core.body, dict(point), core.calls))


def all_finite(value: Any) -> bool:
    return all(map(all_finite, value)) if isinstance(value, list) else isinstance(value, bool) or math.isfinite(value)


def drawn(rng: random.Random, interval: Interval, attempt: int) -> float:
    """A number of few digits in an interval; later attempts look farther out."""
    low, high = interval
    reach = 10.0 ** min(attempt // 50, 12)
    if low == high:
        return low
    if attempt % 2 and (low <= 0 <= high or min(abs(low), abs(high)) * 100 < max(abs(low), abs(high))):
        value = logarithmic(rng, low, high, reach)
    else:
        near, far = window(low, high, 3 * reach)
        value = rng.uniform(near, far)
    return shortened(value, low, high)


def shortened(value: float, low: float, high: float) -> float:
    """The number with as few digits as the width of its interval allows."""
    for digits in (DIGITS, 8, 12):
        short = float(f"{value:.{digits}g}")
        if low < short < high and abs(short - value) <= 1e-3 * (high - low):
            return short
    return value


def window(low: float, high: float, reach: float) -> Interval:
    """The part of an interval within reach: of 0, or of its finite end."""
    if math.isinf(low) and math.isinf(high):
        return -reach, reach
    if math.isinf(high):
        return low, max(low, 0.0) + max(reach, abs(low) * reach * 1e-2)
    if math.isinf(low):
        return min(high, 0.0) - max(reach, abs(high) * reach * 1e-2), high
    return low, high


def logarithmic(rng: random.Random, low: float, high: float, reach: float) -> float:
    """A number whose size is uniform on a logarithmic scale."""
    signs = [sign for sign, most in ((1.0, high), (-1.0, -low)) if most > 0]
    sign = rng.choice(signs) if signs else 1.0
    least, most = (low, high) if sign > 0 else (-high, -low)
    most = min(most, 10.0 * reach) if least < 10.0 * reach else min(most, least * 1e3)
    least = max(least, min(1e-3 / reach, most * 1e-3))
    return sign * math.exp(rng.uniform(math.log(least), math.log(most))) if least < most else sign * least


# ---- bounds that a precondition states


def intervals(pre: Expression | None, evaluator: Evaluator) -> dict[str, Interval]:
    """The interval of each argument as far as simple comparisons state it."""
    found: dict[str, Interval] = {}
    for name, low, high in bounds(pre, evaluator):
        before = found.get(name, EVERYTHING)
        found[name] = max(before[0], low), min(before[1], high)
    return {name: (low, high) if low <= high else EVERYTHING for name, (low, high) in found.items()}


def bounds(item: Expression | None, evaluator: Evaluator) -> Iterator[tuple[str, float, float]]:
    if not isinstance(item, Form):
        return
    if item.head == "and":
        for part in item.items[1:]:
            yield from bounds(part, evaluator)
    elif item.head in COMPARISONS and item.head != "!=":
        parts = item.items[1:]
        values = [constant(part, evaluator) for part in parts]
        if item.head in (">", ">="):
            parts, values = parts[::-1], values[::-1]
        for k, part in enumerate(parts):
            if isinstance(part, Atom) and values[k] is None:
                below = [v for v in values[:k] if v is not None]
                above = [v for v in values[k + 1 :] if v is not None]
                if item.head == "==":
                    below = above = below + above
                yield part.text, max(below, default=-math.inf), min(above, default=math.inf)


def constant(item: Expression, evaluator: Evaluator) -> float | None:
    """The value of an expression without variables."""
    try:
        value = evaluator.value(item, {}, {})
        return None if value is None else float(value)
    except (KeyError, TypeError, OutOfSteps):
        return None
