"""What tutorials import from Python's library besides math: OrderedDict, partial and reduce, and the names of annotations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.trees import OrderedDict
from gradcli.interpreter.kinds import add_kind
from gradcli.interpreter.meter import Meter
from gradcli.interpreter.values import Kind, module

ANNOTATIONS = (
    "Any", "Callable", "Dict", "Generic", "Iterable", "Iterator", "List", "Literal", "Mapping", "NamedTuple", "NoReturn", "Optional",
    "Sequence", "Set", "Tuple", "Type", "TypeVar", "Union",
)  # fmt: skip
"""Annotations are never evaluated, so that these need only be there to be imported."""


def standard_modules(meter: Meter, make_dict: Callable[..., dict[Any, Any]]) -> dict[str, module]:
    """The modules of a run; what goes through values counts on its meter."""

    def ordered(*args: Any, **kwargs: Any) -> OrderedDict:
        return OrderedDict(make_dict(*args, **kwargs))

    def reduce(function: Callable[..., Any], iterable: Any, /, *initial: Any) -> Any:
        items = iter([*initial[:1], *meter.consume(iterable)])
        try:
            value = next(items)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
        for item in items:
            value = function(value, item)
        return value

    kind = add_kind(OrderedDict, Kind("collections.OrderedDict", (OrderedDict,), ordered))
    return {
        "collections": module("collections", {"OrderedDict": kind}),
        "functools": module("functools", {"partial": partial, "reduce": reduce}),
        "typing": module("typing", {name: Kind(f"typing.{name}") for name in ANNOTATIONS}),
    }


def partial(func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """The function with its first arguments given."""
    if not callable(func):
        raise TypeError("the first argument must be callable")

    def call(*more: Any, **others: Any) -> Any:
        return func(*args, *more, **{**kwargs, **others})

    call.__name__ = f"functools.partial({getattr(func, '__name__', func)}, ...)"
    return call
