"""What operations draw at random comes from the generator that the engine seeds."""

from __future__ import annotations

import numpy as np

from gradcli.engine import Tensor
from gradcli.engine.mode import state
from gradcli.ops.catalogue import FUNCTIONS as F


def drawn(seed: int) -> list[float]:
    state.seeded(seed)
    return list(F["dropout"](Tensor(np.ones(20)), 0.5).value)


def test_dropout_follows_the_seed() -> None:
    assert drawn(1) == drawn(1) != drawn(2)
