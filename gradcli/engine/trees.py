"""Tensors in lists, tuples and dicts, as one value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError


class OrderedDict(dict[Any, Any]):
    """A dict that shows as Python's OrderedDict; every dict keeps its order."""

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other) and (not isinstance(other, OrderedDict) or list(self) == list(other))

    __hash__ = None


def tensors_of(tree: Any) -> list[Tensor]:
    """The tensors, in the order in which `rebuilt` takes what stands for them (TypeError for anything else)."""
    if isinstance(tree, Tensor):
        return [tree]
    if not isinstance(tree, (dict, list, tuple)):
        raise ArgumentError(f"expected tensors (or lists, tuples, dicts of them), but got {type(tree).__name__}")
    return [tensor for part in parts_of(tree) for tensor in tensors_of(part)]


def leaves_of(tree: Any) -> list[Any]:
    """What lists, tuples and dicts hold, tensors and others, in the order of `rebuilt`."""
    if not isinstance(tree, (dict, list, tuple)):
        return [tree]
    return [leaf for part in parts_of(tree) for leaf in leaves_of(part)]


def parts_of(tree: Any) -> list[Any]:
    return list(tree.values()) if isinstance(tree, dict) else list(tree)


def same_for_all(given: Any, tree: Any) -> list[Any] | None:
    """What is given for the leaves of a tree, where one value may stand for all of a branch; None where it does not fit the tree."""
    if not isinstance(tree, (dict, list, tuple)):
        return None if isinstance(given, (dict, list, tuple)) else [given]
    parts = parts_of(tree)
    if not isinstance(given, (dict, list, tuple)):
        return [given] * len(leaves_of(tree))
    if isinstance(given, dict) is not isinstance(tree, dict) or len(given) != len(parts):
        return None
    chosen = [given.get(key) for key in tree] if isinstance(given, dict) else list(given)
    found = [same_for_all(one, part) for one, part in zip(chosen, parts, strict=True)]
    return None if any(f is None for f in found) else [leaf for f in found if f is not None for leaf in f]


def rebuilt(tree: Any, values: Iterable[Any]) -> Any:
    """The same tree of other values."""
    return _filled(tree, iter(values))


def _filled(tree: Any, values: Iterator[Any]) -> Any:
    if isinstance(tree, dict):
        return {key: _filled(part, values) for key, part in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(_filled(part, values) for part in tree)
    return next(values)


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """The same tree with every value replaced by what the function makes of it."""
    if isinstance(tree, dict):
        return {key: mapped(function, part) for key, part in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(mapped(function, part) for part in tree)
    return function(tree)
