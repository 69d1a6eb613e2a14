"""What a run has used up, held against its limits."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.trees import OrderedDict
from gradcli.errors import LimitError
from gradcli.interpreter.limits import Limits
from gradcli.interpreter.values import LazyIterator

CONTAINERS = frozenset({list, tuple, dict, set, OrderedDict})
SMALL = 64
"""Sizes below this cost nothing beyond the step itself."""


class Meter:
    """Counts steps, calls and elements. `alarm` is the step at which to look up: the limit, or at once when time is over."""

    __slots__ = ("alarm", "depth", "expired", "held", "integer_max", "limits", "printed", "steps")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.steps = 0
        self.depth = 0
        self.held = 0
        self.printed = 0
        self.expired = False
        self.alarm = limits.steps
        self.integer_max = 1 << limits.integer_bits

    # ---- time

    def expire(self) -> None:
        self.expired, self.alarm = True, -1

    def pause(self) -> None:
        """The alarm step was passed: say which limit was reached."""
        raise self.reached("seconds" if self.expired else "steps")

    def reached(self, name: str) -> LimitError:
        return self.limits.reached(name, state.span)

    def spend(self, steps: int) -> None:
        """Count work that one step of the program causes."""
        self.steps += steps
        if self.steps > self.alarm:
            self.pause()

    # ---- tensors

    def charge(self, elements: int) -> None:
        """Called before elements are allocated; what was freed since is found out when the limit seems reached."""
        if elements > self.limits.tensor_elements:
            raise self.reached("tensor_elements")
        self.held += elements
        if self.held > self.limits.elements:
            self.held = elements + live_elements()
            if self.held > self.limits.elements:
                raise self.reached("elements")
        self.steps += elements >> 12
        if self.steps > self.alarm:
            self.pause()

    def look(self, elements: int) -> None:
        """An array of so many elements is about to be gone through, or made in parts."""
        if elements > self.limits.tensor_elements:
            raise self.reached("tensor_elements")

    def work(self, operations: int) -> None:
        """So many elementary operations are about to be done by one operation."""
        if operations > self.limits.work:
            raise self.reached("work")
        self.spend(operations >> 14)

    # ---- Python's own values

    def integer(self, value: int) -> int:
        if not -self.integer_max < value < self.integer_max:
            raise self.reached("integer_bits")
        return value

    def string(self, length: int) -> None:
        """A string of this length is about to be made, or was."""
        if length > self.limits.string_length:
            raise self.reached("string_length")
        if length > SMALL:
            self.spend(length >> 3)

    def items(self, count: int) -> None:
        """So many items of a list are about to be made, or were."""
        if count > SMALL:
            self.spend(count)

    def grown(self, value: Any) -> Any:
        """A value that an operation made, when it is within the limits."""
        kind = type(value)
        if kind is int:
            return self.integer(value)
        if kind is str:
            self.string(len(value))
        elif kind is list or kind is tuple:
            self.items(len(value))
        return value

    def consume(self, value: Any) -> Iterable[Any]:
        """An iterable that may be gone through to its end: its length is counted before, or each item as it comes."""
        if type(value) is LazyIterator:
            return self.counted(value.items)
        if isinstance(value, (list, tuple, dict, set, str, range)):
            if type(value) is range and (value.stop - value.start) // value.step > self.limits.steps:
                raise self.reached("steps")
            self.items(len(value))
        iterator: Iterable[Any] = iter(value)
        return iterator

    def counted(self, items: Iterator[Any]) -> Iterator[Any]:
        for item in items:
            self.steps += 1
            if self.steps > self.alarm:
                self.pause()
            yield item

    def scan(self, value: Any) -> None:
        """Refuse a container whose comparison or hash would go too deep or visit too much (a list that holds itself)."""
        if type(value) not in CONTAINERS or not value:
            return
        level: list[Any] = [value]
        for _ in range(self.limits.nesting):
            self.spend(len(level))
            level = [item for container in level for item in parts(container) if type(item) in CONTAINERS and item]
            if not level:
                return
        raise self.reached("nesting")


def parts(container: Any) -> Iterator[Any]:
    yield from container
    if isinstance(container, dict):
        yield from container.values()


def live_elements() -> int:
    """The elements of all arrays that are alive, in tensors or kept by graph nodes and traces; shared memory counts once."""
    gc.collect()
    sizes: dict[int, int] = {}
    for thing in gc.get_objects():
        for part in gc.get_referents(thing):
            if type(part) is np.ndarray:
                count_array(part, sizes)
            elif type(part) is tuple and not gc.is_tracked(part):  # a tuple of arrays alone is not among the objects
                for item in part:
                    if type(item) is np.ndarray:
                        count_array(item, sizes)
    return sum(sizes.values())


def count_array(array: np.ndarray, sizes: dict[int, int]) -> None:
    while type(array.base) is np.ndarray:
        array = array.base
    sizes[id(array)] = array.size


PYTHON_FRAMES = 200_000
"""Python's own recursion limit during a run: the interpreter's frames need no stack of C, and user calls have a limit of their own."""


def python_recursion() -> int:
    """The recursion limit to set during a run."""
    return max(sys.getrecursionlimit(), PYTHON_FRAMES)
