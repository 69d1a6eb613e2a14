"""Tensors in lists, tuples and dicts, as one value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError


def tensors_of(tree: Any) -> list[Tensor]:
    """The tensors, in the order in which `rebuilt` takes what stands for them (TypeError for anything else)."""
    if isinstance(tree, Tensor):
        return [tree]
    if not isinstance(tree, (dict, list, tuple)):
        raise ArgumentError(f"expected tensors (or lists, tuples, dicts of them), but got {type(tree).__name__}")
    return [tensor for part in (tree.values() if isinstance(tree, dict) else tree) for tensor in tensors_of(part)]


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
