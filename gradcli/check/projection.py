"""Gradients too large to check element by element: random directions, and bisection to the wrong element where they disagree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

DIRECTIONS = 3
CULPRITS = 4
"""How many wrong elements are looked for one after the other."""
BARS = 10.0
EXPECTED = 1e-9
"""Part of the summed size of the terms by which float64 rounding may move a projection."""

Project = Callable[[np.ndarray], tuple[float, float]]
"""The derivative along a direction, and its error bar."""


class Projection:
    """Judges a gradient by its products with directions; `wrong` collects what bisection found, `settled` says whether the rest agrees."""

    def __init__(self, given: np.ndarray, size: np.ndarray, project: Project, seed: int = 0) -> None:
        self.given = np.array(given, dtype=float)
        self.size = size
        self.project = project
        self.rng = np.random.default_rng(seed)
        self.wrong: dict[int, float] = {}
        self.evaluations = 0

    def run(self) -> bool:
        """Whether the gradient, apart from the elements in `wrong` (flat index -> derivative), agrees along random directions."""
        for _ in range(CULPRITS + 1):
            direction = next((d for d in (self.draw() for _ in range(DIRECTIONS)) if self.off(d) > 1), None)
            if direction is None:
                return True
            if len(self.wrong) == CULPRITS:
                return False
            self.find(direction)
        return False

    def draw(self) -> np.ndarray:
        """A direction with every element of the size of the point's."""
        shape = self.given.shape
        drawn: np.ndarray = self.size * self.rng.uniform(0.5, 1.5, shape) * self.rng.choice([-1.0, 1.0], shape)
        return drawn

    def off(self, direction: np.ndarray) -> float:
        """How far the projection is off, in units of what error bar and rounding allow."""
        value, bar = self.project(direction)
        self.evaluations += 1
        terms = self.given * direction
        allowed = BARS * bar + EXPECTED * float(np.abs(terms).max(initial=0.0)) + 1e-15 * float(np.abs(terms).sum()) + 5e-324
        difference = abs(float(terms.sum()) - value)
        return difference / allowed if np.isfinite(difference) else np.inf

    def find(self, direction: np.ndarray) -> None:
        """Halve the direction until one element is left, and put its derivative in place of the gradient's."""
        places = np.arange(direction.size)
        while len(places) > 1:
            halves = np.array_split(places, 2)
            places = max(halves, key=lambda half: self.off(self.restricted(direction, half)))
        place = int(places[0])
        unit = self.restricted(direction, places)
        value, _ = self.project(unit)
        derivative = value / float(direction.reshape(-1)[place])
        self.wrong[place] = derivative
        self.given.reshape(-1)[place] = derivative

    @staticmethod
    def restricted(direction: np.ndarray, places: np.ndarray) -> np.ndarray:
        part = np.zeros(direction.size)
        part[places] = direction.reshape(-1)[places]
        return part.reshape(direction.shape)
