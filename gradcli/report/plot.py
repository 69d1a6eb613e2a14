"""The error of finite differences against their step, as inline SVG.

Coming from large steps the error of a right gradient falls with the square of the step, until rounding lets it rise:
a V. Against a wrong gradient it stays at the size of the fault, however small the step.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from gradcli.check.result import Sweep
from gradcli.report import numbertext
from gradcli.report.xml import text

WIDTH, HEIGHT = 460, 230
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 28, 44
FLOOR = 1e-17
"""An error of 0 is drawn here."""

LOWEST, HIGHEST = -17, 2
DECADES = range(-16, HIGHEST + 1, 4)


def plot(sweep: Sweep, key: str, name: str, judged: str) -> str:
    """`key` keeps the ids of several plots on a page apart; `name` is the derivative, `judged` whose it is."""
    lines = [(judged, "line", sweep.judged)]
    if sweep.symbolic is not None:
        lines.insert(0, ("symbolic", "line second", sweep.symbolic))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" class="plot"',
        f' role="img" aria-labelledby="{key}-t {key}-d">',
        f'<title id="{key}-t">{text(f"Error of central differences of {name} against their step")}</title>',
        f'<desc id="{key}-d">{text(" ".join(_said(label, sweep.steps, values) for label, _, values in lines))}</desc>',
        *_axes(sweep.steps),
        *(part for _, style, values in lines for part in _curve(sweep.steps, values, style)),
        *_legend([(label, style) for label, style, _ in lines]),
        "</svg>",
    ]
    return "\n".join(parts)


def _said(label: str, steps: np.ndarray, errors: np.ndarray) -> str:
    """The curve in words."""
    if not np.isfinite(errors).any():
        return f"Against {label}: no finite value."
    best = int(np.nanargmin(errors))
    return f"Against {label} the relative error is smallest, {numbertext.bar(errors[best])}, at the step {numbertext.bar(steps[best])}."


def _axes(steps: np.ndarray) -> Iterator[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    yield f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{bottom - TOP}" class="frame"/>'
    for decade in DECADES:
        y = _y(10.0**decade)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" class="grid"/>'
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_power(decade)}</text>'
    for decade in range(math.ceil(math.log10(steps[-1])), 1, 3):
        x = _x(10.0**decade, steps)
        yield f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}" class="grid"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{_power(decade)}</text>'
    yield f'<text x="{(LEFT + right) / 2:.1f}" y="{HEIGHT - 8}" text-anchor="middle">relative step</text>'
    middle = (TOP + bottom) / 2
    yield f'<text x="12" y="{middle:.1f}" text-anchor="middle" transform="rotate(-90 12 {middle:.1f})">relative error</text>'


def _power(decade: int) -> str:
    return "1" if decade == 0 else f"1e{decade}"


def _curve(steps: np.ndarray, errors: np.ndarray, style: str) -> Iterator[str]:
    """A polyline for each run of finite values."""
    run: list[str] = []
    for step, error in zip(steps, errors, strict=True):
        if math.isfinite(error):
            run.append(f"{_x(step, steps):.1f},{_y(error):.1f}")
        elif run:
            yield _polyline(run, style)
            run = []
    if run:
        yield _polyline(run, style)


def _polyline(points: list[str], style: str) -> str:
    return f'<polyline points="{" ".join(points)}" class="{style}"/>'


def _legend(lines: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Above the frame, where no curve is."""
    for number, (label, style) in enumerate(lines):
        x = LEFT + 150 * number
        yield f'<line x1="{x}" y1="12" x2="{x + 24}" y2="12" class="{style}"/>'
        yield f'<text x="{x + 30}" y="16">{text(f"against {label}")}</text>'


def _x(step: float, steps: np.ndarray) -> float:
    """Large steps on the left."""
    low, high = math.log10(steps[-1]), 0.0
    return LEFT + (high - math.log10(step)) / (high - low) * (WIDTH - LEFT - RIGHT)


def _y(error: float) -> float:
    exponent = min(max(math.log10(max(error, FLOOR)), LOWEST), HIGHEST)
    return TOP + (HIGHEST - exponent) / (HIGHEST - LOWEST) * (HEIGHT - TOP - BOTTOM)
