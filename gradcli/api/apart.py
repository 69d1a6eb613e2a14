"""Programs that run beside the tensors of whoever uses gradcli from Python."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from gradcli.engine.mode import State, state
from gradcli.engine.printing import Printing

ALONE = threading.RLock()
"""The engine has one state per process: checks in several threads take turns."""


@contextmanager
def apart() -> Iterator[None]:
    """The engine as a fresh program finds it; afterwards its modes, its random numbers and its printing are as they were before."""
    with ALONE:
        before = {slot: getattr(state, slot) for slot in State.__slots__}
        options = Printing.options
        state.reset()
        try:
            with np.errstate(all="ignore"):
                yield
        finally:
            Printing.options = options
            for slot, value in before.items():
                setattr(state, slot, value)
