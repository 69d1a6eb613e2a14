"""In which round of which loop a node was made."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

Rounds = Sequence[tuple[int, int, int]]
"""(sequence number when it began, line of the loop, number of the round; -1 where the loop ended), as the interpreter notes them."""

Stack = tuple[tuple[int, int], ...]


class Loops:
    """Looks up the loops around a point of the execution."""

    def __init__(self, rounds: Rounds) -> None:
        self.starts: list[int] = []
        self.stacks: list[Stack] = []
        stack: list[tuple[int, int]] = []
        for sequence, line, number in rounds:
            self._turn(stack, line, number)
            self.starts.append(sequence)
            self.stacks.append(tuple(stack))

    @staticmethod
    def _turn(stack: list[tuple[int, int]], line: int, number: int) -> None:
        """Begin a round, or end a loop; a loop that was left by `return` ends with the next turn of one around it."""
        if number != 0:
            while stack and stack[-1][0] != line:
                stack.pop()
            if stack:
                stack.pop()
        if number >= 0:
            stack.append((line, number))

    def at(self, sequence: int) -> Stack:
        """The stack of a node: rounds that began before it was made."""
        place = bisect_left(self.starts, sequence) - 1
        return self.stacks[place] if place >= 0 else ()
