"""What a check found, as JSON and back without a loss: how workers answer, and what the cache keeps.

No pickle: an entry of the cache may come from anywhere, and reading it must not run anything. A value is encoded as
itself, or as an object with one key, which says what it is.
"""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any

from gradcli import errors
from gradcli.check import result as results
from gradcli.check.options import CheckOptions
from gradcli.errors import GradcliError, SourceErrors, Span
from gradcli.interpreter.limits import Limits
from gradcli.syntax.formula import FormulaSource
from gradcli.syntax.source import Source

CLASSES: dict[str, Any] = {
    **{name: item for name, item in vars(results).items() if dataclasses.is_dataclass(item)},
    **{item.__name__: item for item in (CheckOptions, Limits)},
}
SOURCES: dict[str, Any] = {item.__name__: item for item in (Source, FormulaSource)}
ERRORS: dict[str, Any] = {name: item for name, item in vars(errors).items() if isinstance(item, type) and issubclass(item, GradcliError)}
EXCEPTIONS: dict[str, Any] = {name: item for name, item in vars(builtins).items() if isinstance(item, type) and issubclass(item, Exception)}
FIELDS = {item: tuple(field.name for field in dataclasses.fields(item)) for item in (*CLASSES.values(), *SOURCES.values())}
PLAIN = frozenset({type(None), bool, int, float, str})


def encode(value: Any) -> Any:
    """The value as JSON data. Raises TypeError for what cannot be."""
    for kind in type(value).__mro__:
        if kind in PLAIN:
            return value
        if kind in ENCODERS:
            return ENCODERS[kind](value)
        if kind.__module__ == "numpy":
            return arrays().encoded(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _record(value: Any) -> Any:
    return {type(value).__name__: {name: encode(getattr(value, name)) for name in FIELDS[type(value)]}}


@cache
def arrays() -> Any:
    """What knows NumPy's kinds; a process that only hears of files that passed needs none of them."""
    from gradcli.batch import arrays

    return arrays


def _error(error: GradcliError) -> Any:
    """The class, the message, and all that it was given beside, not what was marked on it on its way; of the causes only their class."""
    name = next(cls.__name__ for cls in type(error).__mro__ if cls.__name__ in ERRORS)
    told = {name: getattr(error, name) for name in ("code", "type", "kind") if hasattr(error, name)}
    given = {name: value for name, value in {**told, **vars(error)}.items() if not name.startswith("_")}
    kept = {name: encode(value) for name, value in given.items() if name not in ("message", "cause", "errors")}
    cause = error.__cause__ or getattr(error, "cause", None)
    inner = [_error(item) for item in error.errors] if isinstance(error, SourceErrors) else []
    return {"error": [name, error.message, kept, errors.builtin_name(cause) if cause else None, inner]}


def encode_source(source: Source) -> Any:
    """A source as a whole; inside a result it only stands for itself, since who asks has it."""
    return [type(source).__name__, {name: encode(getattr(source, name)) for name in FIELDS[type(source)]}]


def decode_source(data: Any) -> Source:
    name, inner = data
    source: Source = SOURCES[name](**{field: decode(value) for field, value in inner.items()})
    return source


ENCODERS: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys(CLASSES.values(), _record),
    list: lambda items: [encode(item) for item in items],
    Span: lambda span: {"span": list(span)},
    tuple: lambda items: {"tuple": [encode(item) for item in items]},
    frozenset: lambda items: {"set": sorted(map(encode, items))},
    dict: lambda items: {"dict": [[encode(key), encode(value)] for key, value in items.items()]},
    complex: lambda number: {"complex": [number.real, number.imag]},
    GradcliError: _error,
    Source: lambda source: {"source": source.path},
}


def decode(data: Any, source: Source | None = None) -> Any:
    """The value again; `source` is the source of the file. Raises ValueError, TypeError or KeyError for what was never encoded here."""
    if type(data) is list:
        return [decode(item, source) for item in data]
    if type(data) is not dict:
        return data
    ((kind, inner),) = data.items()
    if kind in CLASSES:
        return CLASSES[kind](**{name: decode(value, source) for name, value in inner.items()})
    if kind == "source":
        return source
    return DECODERS[kind](inner)


def _decoded_error(inner: Any) -> GradcliError:
    name, message, kept, cause, several = inner
    error: GradcliError = ERRORS[name].__new__(ERRORS[name])
    error.args = (message,)
    error.message = message
    for attribute, value in kept.items():
        setattr(error, attribute, decode(value))
    if cause is not None:
        error.__cause__ = EXCEPTIONS[cause]()
    if several:
        error.errors = [_decoded_error(item["error"]) for item in several]  # type: ignore[attr-defined]
    return error


DECODERS: dict[str, Callable[[Any], Any]] = {
    "span": lambda inner: Span(*inner),
    "tuple": lambda inner: tuple(decode(inner)),
    "set": lambda inner: frozenset(decode(inner)),
    "dict": lambda inner: {decode(key): decode(value) for key, value in inner},
    "complex": lambda inner: complex(*inner),
    "array": lambda inner: arrays().array(inner),
    "scalar": lambda inner: arrays().array(inner)[()],
    "objects": lambda inner: arrays().objects(inner),
    "error": _decoded_error,
}
