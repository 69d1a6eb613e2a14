"""Gradients too large to check element by element: random directions, and bisection to the wrong element where they disagree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.references.estimate import NoAnswer

DIRECTIONS = 3
CULPRITS = 4
"""How many wrong elements are looked for one after the other."""
BARS = 10.0
ROUNDINGS = 4.5e6
"""By how many roundings (eps) of its largest term float64 may move a projection: of a long sum of products, with what cancels in it."""
FEWER = 4e2
"""The same for shorter formats, whose programs cannot be as long."""
LOOSE = 10.0
"""How much more is allowed to a gradient in such a format that cannot be had without rounding."""
WALK = 16.0
"""Roundings of each term: with the random signs of a direction they add up like the steps of a walk, as their root mean square does."""
WIDE = 1e-3
"""An error bar of this part of the largest term, or of the derivative, decides nothing."""
SAME = 1e-9
"""Relative distance of ratios that are taken to be one factor."""

Doubt = Callable[[np.ndarray], float]
"""The derivative along a direction at a point rounded anew."""
Project = Callable[[np.ndarray], tuple[float, float]]
"""The derivative along a direction, and its error bar."""


class Projection:
    """Judges a gradient by its products with directions; raises NoAnswer where these say nothing.

    `size` gives the length of a direction in every element, `eps` is the rounding of the numbers that the gradient was made
    in (of a short format, `room` times as much is allowed), `doubt` is asked for the bar of a derivative that comes without one
    and seems to be off. `wrong` collects what bisection found (flat index -> derivative); `factor` is what the whole gradient
    is off by, where it is off by one factor; `given` is the gradient with what was found put right.
    """

    def __init__(
        self,
        given: np.ndarray,
        size: np.ndarray,
        project: Project,
        eps: float = float(np.finfo(np.float64).eps),
        doubt: Doubt | None = None,
        room: float = 1.0,
    ) -> None:
        self.given = np.array(given, dtype=float)
        self.size = size
        self.project = project
        short = eps > np.finfo(np.float64).eps
        self.expected = eps * (room * FEWER if short else ROUNDINGS)
        self.walk = eps * WALK * (room if short else 1.0)
        self.doubt = doubt
        self.rng = np.random.default_rng(0)
        self.wrong: dict[int, float] = {}
        self.factor: float | None = None

    def agrees(self) -> bool:
        """Whether the gradient agrees along random directions."""
        return self.disagreement() is None

    def run(self) -> bool:
        """Whether the gradient agrees along random directions once the elements in `wrong`, or the `factor`, are put right."""
        for _ in range(CULPRITS + 1):
            direction = self.disagreement()
            if direction is None:
                return True
            if not self.wrong:
                self.factor = self.common_factor()
                if self.factor is not None:
                    self.given = self.given / self.factor
                    return True
            if len(self.wrong) == CULPRITS:
                return False
            self.find(direction)
        return False

    def disagreement(self) -> np.ndarray | None:
        """A direction along which the gradient is off; None where there is none among a few. Raises NoAnswer where that cannot be told."""
        for direction in (self.draw() for _ in range(DIRECTIONS)):
            value, bar = self.project(direction)
            if not np.isfinite(value):
                raise NoAnswer("the derivative along a direction is not finite")
            if BARS * bar > WIDE * max(float(np.abs(self.given * direction).max(initial=0.0)), abs(value)):
                raise NoAnswer("the error bar of the derivative along a direction is too wide to decide")
            if self.ratio(direction, value, bar) > 1:
                return direction
        return None

    def draw(self) -> np.ndarray:
        """A direction with every element of the size of the point's."""
        shape = self.given.shape
        drawn: np.ndarray = self.size * self.rng.uniform(0.5, 1.5, shape) * self.rng.choice([-1.0, 1.0], shape)
        return drawn

    def off(self, direction: np.ndarray) -> float:
        """How far the projection is off, in units of what error bar and rounding allow."""
        return self.ratio(direction, *self.project(direction))

    def ratio(self, direction: np.ndarray, value: float, bar: float) -> float:
        """`off` for the derivative along a direction and its bar."""
        terms = self.given * direction
        rounding = self.expected * float(np.abs(terms).max(initial=0.0)) + self.walk * float(np.linalg.norm(terms))
        difference = abs(float(terms.sum()) - value)
        if difference > rounding and self.doubt is not None:
            bar = max(bar, abs(self.doubt(direction) - value))
        return difference / (BARS * bar + rounding + 5e-324) if np.isfinite(difference) else np.inf

    def common_factor(self) -> float | None:
        """The one factor, other than 1, that the gradient is off by along every direction; None where there is none."""
        ratios = []
        for _ in range(DIRECTIONS):
            direction = self.draw()
            value, _ = self.project(direction)
            ratios.append(float((self.given * direction).sum()) / value if value else np.nan)
        spread = max(ratios) - min(ratios)
        factor, room = float(np.median(ratios)), max(SAME, self.expected) * abs(ratios[0])
        return factor if factor and spread <= room < abs(factor - 1) else None

    def find(self, direction: np.ndarray) -> None:
        """Halve the direction until one element is left, and put its derivative in place of the gradient's."""
        places = np.arange(direction.size)
        while len(places) > 1:
            first, second = np.array_split(places, 2)
            places = first if self.off(self.restricted(direction, first)) > 1 else second
        place = int(places[0])
        unit = self.restricted(direction, places)
        value, _ = self.project(unit)
        derivative = value / float(direction.reshape(-1)[place])
        self.wrong[place] = derivative
        self.given.reshape(-1)[place] = derivative

    def unit(self, index: Any) -> np.ndarray:
        """The direction of one element."""
        unit = np.zeros(self.given.shape)
        unit[index] = 1.0
        return unit

    @staticmethod
    def restricted(direction: np.ndarray, places: np.ndarray) -> np.ndarray:
        part = np.zeros(direction.size)
        part[places] = direction.reshape(-1)[places]
        return part.reshape(direction.shape)
