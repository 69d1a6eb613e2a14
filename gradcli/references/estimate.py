"""What a reference says about a derivative."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass
class Estimate:
    """A derivative as an independent reference sees it.

    `value` has the shape of the gradient (for a Jacobian: output shape + leaf shape); NaN where the reference
    has no answer. `error` bounds the distance from the true value, element by element. `method` is the word
    that reports show.
    """

    value: np.ndarray
    error: np.ndarray
    method: str


class NoAnswer(Exception):
    """This reference cannot speak about this target; the text says why."""
