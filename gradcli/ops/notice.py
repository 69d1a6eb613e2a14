"""What operations have to say to the user without failing: told where the engine puts it, once for each line of a program."""

from __future__ import annotations

import warnings
from collections.abc import Callable


class Notice:
    """Holds `tell`, which shows a warning; the engine puts its own there."""

    def __init__(self) -> None:
        self.tell: Callable[[str], None] = warnings.warn


notice = Notice()
