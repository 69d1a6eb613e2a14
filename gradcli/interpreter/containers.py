"""The methods of strings, lists, dicts, sets and tuples, bounded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.trees import OrderedDict
from gradcli.interpreter.attributes import MISSING, Table
from gradcli.interpreter.meter import Meter
from gradcli.interpreter.text import format_method

STRING_METHODS = (
    "capitalize", "casefold", "count", "endswith", "find", "index", "isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier",
    "islower", "isnumeric", "isspace", "istitle", "isupper", "lower", "lstrip", "partition", "removeprefix", "removesuffix", "rfind",
    "rindex", "rpartition", "rsplit", "rstrip", "split", "splitlines", "startswith", "strip", "swapcase", "title", "upper",
)  # fmt: skip
"""Those that give nothing longer than what they take."""

SET_METHODS = ("union", "intersection", "difference", "update", "issubset", "issuperset", "copy")
PADDING = ("center", "ljust", "rjust", "zfill")


def container_tables(meter: Meter) -> dict[type, Table]:
    """The tables of a run."""
    return {
        str: Table("str", methods=string_methods(meter)),
        list: Table("list", methods=list_methods(meter)),
        tuple: Table("tuple", methods={"count": searching(meter, tuple.count), "index": searching(meter, tuple.index)}, other=named_field),
        dict: Table("dict", methods=dict_methods(meter)),
        set: Table("set", methods=set_methods(meter)),
        int: Table("int", {"real": lambda v: v, "imag": lambda v: 0}, {"bit_length": int.bit_length, "conjugate": int.conjugate}),
        float: Table("float", {"real": lambda v: v, "imag": lambda v: 0.0}, {"is_integer": float.is_integer, "conjugate": float.conjugate}),
        complex: Table("complex", {"real": lambda v: v.real, "imag": lambda v: v.imag}, {"conjugate": complex.conjugate}),
        slice: Table("slice", {"start": lambda s: s.start, "stop": lambda s: s.stop, "step": lambda s: s.step}),
        range: Table("range", {"start": lambda r: r.start, "stop": lambda r: r.stop, "step": lambda r: r.step}),
    }  # fmt: skip


def named_field(value: tuple[Any, ...], name: str) -> Any:
    """A field of a named result: `x.max(0).values`."""
    fields: tuple[str, ...] = getattr(value, "_fields", ())
    return value[fields.index(name)] if name in fields else MISSING


def string_methods(meter: Meter) -> dict[str, Callable[..., Any]]:
    def shorter(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(text: str, *args: Any) -> Any:
            meter.string(len(text))
            return method(text, *args)

        return call

    def padded(method: Callable[..., str]) -> Callable[..., str]:
        def call(text: str, width: int, *fill: Any) -> str:
            if isinstance(width, int):
                meter.string(width)
            return method(text, width, *fill)

        return call

    def replace(text: str, old: str, new: str, count: int = -1) -> str:
        if isinstance(old, str) and isinstance(new, str):
            meter.string(len(text) + text.count(old) * max(len(new) - len(old), 0))
        return text.replace(old, new, count)

    def join(text: str, parts: Any) -> str:
        items = list(meter.consume(parts))
        meter.string(sum(len(item) for item in items if isinstance(item, str)) + len(text) * len(items))
        return text.join(items)

    def format_(text: str, *args: Any, **kwargs: Any) -> str:
        return format_method(meter, text, *args, **kwargs)

    return {
        **{name: shorter(getattr(str, name)) for name in STRING_METHODS},
        **{name: padded(getattr(str, name)) for name in PADDING},
        "replace": replace,
        "join": join,
        "format": format_,
    }


def searching(meter: Meter, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that compares the items with a value."""

    def call(container: Any, *args: Any) -> Any:
        meter.scan(container)
        meter.scan(list(args))
        meter.items(len(container) >> 4)
        return method(container, *args)

    return call


def list_methods(meter: Meter) -> dict[str, Callable[..., Any]]:
    def extend(items: list[Any], more: Any) -> None:
        items.extend(list(meter.consume(more)))

    def copy(items: list[Any]) -> list[Any]:
        meter.items(len(items))
        return items.copy()

    def insert(items: list[Any], index: int, value: Any) -> None:
        meter.items(len(items) >> 4)
        items.insert(index, value)

    def pop(items: list[Any], index: int = -1) -> Any:
        meter.items(len(items) >> 4 if index != -1 else 0)
        return items.pop(index)

    def sort(items: list[Any], *, key: Any = None, reverse: Any = False) -> None:
        meter.scan(items)
        meter.items(len(items))
        items.sort(key=key, reverse=reverse)

    def reverse(items: list[Any]) -> None:
        meter.items(len(items))
        items.reverse()

    return {
        "append": list.append, "extend": extend, "copy": copy, "insert": insert, "pop": pop, "sort": sort, "reverse": reverse,
        "clear": list.clear, "count": searching(meter, list.count), "index": searching(meter, list.index),
        "remove": searching(meter, list.remove),
    }  # fmt: skip


class DictView(list[Any]):
    """What keys(), values() and items() give: the items as they are now, which print as Python's views do."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({super().__repr__()})"


VIEWS: dict[str, type[DictView]] = {name: type(f"dict_{name}", (DictView,), {}) for name in ("keys", "values", "items")}
ORDERED_VIEWS: dict[str, type[DictView]] = {name: type(f"odict_{name}", (DictView,), {}) for name in VIEWS}


def dict_methods(meter: Meter) -> dict[str, Callable[..., Any]]:
    def keyed(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(table: dict[Any, Any], key: Any, *default: Any) -> Any:
            meter.scan(key)
            return method(table, key, *default)

        return call

    def listed(method: Callable[..., Any]) -> Callable[..., Any]:
        """keys, values, items: as lists, so that nothing lazy is left behind."""
        plain, ordered = VIEWS[method.__name__], ORDERED_VIEWS[method.__name__]

        def call(table: dict[Any, Any]) -> list[Any]:
            meter.items(len(table))
            return (ordered if type(table) is OrderedDict else plain)(method(table))

        return call

    def update(table: dict[Any, Any], *others: Any, **more: Any) -> None:
        for other in others:
            pairs = other if isinstance(other, dict) else [tuple(meter.consume(pair)) for pair in meter.consume(other)]
            meter.scan(pairs)
            meter.items(len(pairs))
            table.update(pairs)
        table.update(more)

    def copy(table: dict[Any, Any]) -> dict[Any, Any]:
        meter.items(len(table))
        return type(table)(table)

    return {
        **{name: keyed(getattr(dict, name)) for name in ("get", "pop", "setdefault")},
        **{name: listed(getattr(dict, name)) for name in ("keys", "values", "items")},
        "update": update,
        "copy": copy,
        "clear": dict.clear,
        "popitem": dict.popitem,
    }


def set_methods(meter: Meter) -> dict[str, Callable[..., Any]]:
    def one(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(items: set[Any], value: Any) -> Any:
            meter.scan(value)
            return method(items, value)

        return call

    def several(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(items: set[Any], *others: Any) -> Any:
            lists = [list(meter.consume(other)) for other in others]
            meter.scan(lists)
            meter.items(len(items))
            return method(items, *lists)

        return call

    return {
        **{name: one(getattr(set, name)) for name in ("add", "discard", "remove")},
        **{name: several(getattr(set, name)) for name in SET_METHODS},
        "clear": set.clear,
        "pop": set.pop,
    }
