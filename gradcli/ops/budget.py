"""What a program may ask of the machine, asked before an operation works: set by whoever runs programs, without limits otherwise."""

from __future__ import annotations

from collections.abc import Callable


def unlimited(amount: int) -> None:
    """Outside a run nothing is limited."""


class Budget:
    """Two questions; each raises LimitError where the answer is no.

    `elements`: may an array of so many elements be made, or looked at? A view that repeats an element counts as large as it looks.
    `work`: may so many elementary operations (multiplications, terms of a series) be done at once?
    """

    __slots__ = ("elements", "work")

    def __init__(self) -> None:
        self.elements: Callable[[int], None] = unlimited
        self.work: Callable[[int], None] = unlimited


budget = Budget()
