"""Where operations draw their random numbers: a generator that the engine seeds."""

from __future__ import annotations

from typing import Any

import numpy as np


class Chance:
    """Holds the generator; a run replaces it by its own, seeded one."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(0)


chance = Chance()


def drawn(shape: tuple[int, ...]) -> Any:
    """Uniform numbers in [0, 1)."""
    return chance.generator.uniform(size=shape)
