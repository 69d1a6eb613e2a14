"""Where a program finds a tensor that no variable holds by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gradcli.engine.module import Module
from gradcli.engine.tensor import Tensor


def places(name: str, value: Any) -> Iterator[tuple[str, Tensor]]:
    """Every tensor in a value, with what a program writes to reach it: `w`, `layers[0]`, `p['w']`, `blocks[1].weight`."""
    pending, seen = [(name, value)], set[int]()
    while pending:
        path, item = pending.pop()
        if isinstance(item, Tensor):
            yield path, item
        elif isinstance(item, Module):
            yield from ((path + place, inside) for place, inside in item.places())
        elif isinstance(item, (list, tuple, dict)) and id(item) not in seen:
            seen.add(id(item))
            pairs = item.items() if isinstance(item, dict) else enumerate(item)
            pending += reversed([(f"{path}[{key!r}]", part) for key, part in pairs if isinstance(part, HOLDERS)])


HOLDERS = (Tensor, Module, list, tuple, dict)


def names_of(scope: Mapping[str, Any]) -> dict[int, str]:
    """id(tensor) -> name, for the tensors of a scope: a variable before a place in another, the one bound first before its aliases."""
    names: dict[int, str] = {}
    for name, value in scope.items():
        if isinstance(value, Tensor):
            names.setdefault(id(value), name)
    for name, value in scope.items():
        for place, tensor in places(name, value):
            names.setdefault(id(tensor), place)
    return names
