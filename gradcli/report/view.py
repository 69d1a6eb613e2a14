"""What a text report must know of the place where it is read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class View:
    """Width in columns; may it use colour, and characters beyond ASCII; how much it should say."""

    width: int = 80
    color: bool = False
    unicode: bool = False
    verbose: bool = False
    quiet: bool = False

    @property
    def plus_minus(self) -> str:
        return "±" if self.unicode else "+-"
