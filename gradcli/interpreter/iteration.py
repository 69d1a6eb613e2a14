"""Going through values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradcli.interpreter.meter import Meter
from gradcli.interpreter.values import LazyIterator

DEEPEST = 50
"""How many lazy iterators may lie inside each other: each takes stack of C when it is asked for an item."""


def iterate(value: Any) -> Iterator[Any]:
    """An iterator over a value; TypeError where Python has none."""
    return value.items if type(value) is LazyIterator else iter(value)


def lazy(meter: Meter, kind: str, items: Iterator[Any], *sources: Any) -> LazyIterator:
    """A lazy iterator made from others."""
    depth = 1 + max((source.depth for source in sources if type(source) is LazyIterator), default=0)
    if depth > DEEPEST:
        raise meter.reached("nesting")
    return LazyIterator(kind, items, depth)
