"""What a reader can choose about a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

View = Literal["forward", "backward", "both"]
Style = Literal["plain", "card"]
Values = Literal["none", "summary", "full"]
SavedAs = Literal["none", "rows", "nodes"]

Paint = Callable[[str, str], str]
"""Gives a text the colours of a style."""


def unpainted(text: str, style: str) -> str:
    return text


WHOLE = 150
"""Up to so many nodes everything is drawn one by one."""

SUMMARY = 2000
"""Above so many nodes there is one node for each source line."""


@dataclass(frozen=True)
class Options:
    """`max_nodes` None stands for SUMMARY, or for no limit with `expand`. `up` counts levels of operands, `down` levels of consumers."""

    view: View = "both"
    style: Style = "card"
    values: Values = "summary"
    saved: SavedAs = "none"
    expand: bool = False
    max_nodes: int | None = None
    focus: tuple[str, ...] = ()
    up: int | None = None
    down: int | None = None
    only: str | None = None
    fence: bool = False
    ascii: bool = False
    width: int = 100
    paint: Paint = unpainted

    @property
    def reduced(self) -> bool:
        """Did the reader ask for a part of the graph?"""
        return bool(self.focus or self.only or self.max_nodes is not None)

    def but(self, **changes: object) -> Options:
        return replace(self, **changes)  # type: ignore[arg-type]
