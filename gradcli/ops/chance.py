"""Where operations draw their random numbers: from the generator that the engine seeds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np


class Chance:
    """Holds `source`, which gives the generator to draw from; the engine puts its own, seeded one there."""

    def __init__(self) -> None:
        self.source: Callable[[], np.random.Generator] = cache(lambda: np.random.default_rng(0))


chance = Chance()


def drawn(shape: tuple[int, ...]) -> Any:
    """Uniform numbers in [0, 1)."""
    return chance.source().uniform(size=shape)
