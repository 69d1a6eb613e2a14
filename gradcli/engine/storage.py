"""Other storage for the numbers of a whole run: its leaves, and the constants that it writes them into."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

MOST = 8
"""Attempts at a run: each knows more constants that are written into."""

Change = Callable[[Any], Any]


def same(value: Any) -> Any:
    return value


@dataclass
class Storage:
    """`lift` puts a value into other storage, `move` another value into the place of a leaf.

    A constant stays as the program made and rounded it, unless finer numbers are written into it: then every constant made
    in the same place of the program is lifted, and the run must be started again.
    """

    lift: Change = same
    move: Change = same
    places: set[Any] = field(default_factory=set)
    made: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    grown: bool = False

    def attempts(self) -> Iterator[None]:
        """One round for each attempt; there is another where the last one met a constant that it should have lifted."""
        for _ in range(MOST):
            self.made, self.grown = {}, False
            yield
            if not self.grown:
                return

    def leaf(self, value: Any) -> Any:
        return self.lift(self.move(value))

    def constant(self, tensor: Any, place: Any) -> None:
        """A new constant, made in a place of the program."""
        if place in self.places:
            tensor.value = self.lift(tensor.value)
        else:
            self.made[id(tensor)] = tensor, place

    def overwritten(self, tensor: Any) -> None:
        """A tensor cannot hold what is written into it."""
        _, place = self.made.get(id(tensor), (None, None))
        if place is not None:
            self.places.add(place)
            self.grown = True
