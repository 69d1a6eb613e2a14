"""Python's builtin functions and types, bounded; what a bare name means when Python has it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterator
from typing import Any

from gradcli.engine.tensor import Tensor
from gradcli.interpreter.arithmetic import bounded
from gradcli.interpreter.attributes import MISSING, look_up, missing_attribute
from gradcli.interpreter.iteration import iterate, lazy
from gradcli.interpreter.kinds import EXCEPTIONS, add_kind, is_instance, is_subclass, kind_of
from gradcli.interpreter.meter import Meter
from gradcli.interpreter.text import formatted, representation, text
from gradcli.interpreter.values import Kind
from gradcli.syntax.constructs import is_dunder

MODULAR_WORK = 100_000_000
"""Bits of the exponent times bits of the modulus that `pow` takes: about a tenth of a second."""


class Builtins:
    """The builtins of one run: methods with Python's names, reading the run's meter."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.raise_to = bounded(ast.Pow, meter)

    # ---- gone through to the end

    def sum(self, iterable: Any, /, start: Any = 0) -> Any:
        if isinstance(start, str):
            raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
        if type(start) in (list, tuple):
            return self.concatenate(iterable, start)
        return self.meter.grown(builtins.sum(self.meter.consume(iterable), start))

    def concatenate(self, iterable: Any, start: Any) -> Any:
        total = start
        for item in self.meter.consume(iterable):
            total = self.meter.grown(total + item)
        return total

    def min(self, *args: Any, **kwargs: Any) -> Any:
        return builtins.min(*self.bounded_first(args), **kwargs)

    def max(self, *args: Any, **kwargs: Any) -> Any:
        return builtins.max(*self.bounded_first(args), **kwargs)

    def bounded_first(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        self.meter.scan(args)
        return (self.meter.consume(args[0]),) if len(args) == 1 else args

    def all(self, iterable: Any, /) -> bool:
        return builtins.all(self.meter.consume(iterable))

    def any(self, iterable: Any, /) -> bool:
        return builtins.any(self.meter.consume(iterable))

    def sorted(self, iterable: Any, /, *, key: Any = None, reverse: Any = False) -> list[Any]:
        self.meter.scan(iterable)
        return builtins.sorted(self.meter.consume(iterable), key=key, reverse=reverse)

    def len(self, value: Any, /) -> int:
        return builtins.len(value)

    def next(self, iterator: Any, /, *default: Any) -> Any:
        if not hasattr(type(iterator), "__next__"):
            raise TypeError(f"'{type(iterator).__name__}' object is not an iterator")
        self.meter.spend(1)
        return builtins.next(iterator, *default)

    # ---- lazy

    def zip(self, *iterables: Any, strict: bool = False) -> Any:
        return lazy(self.meter, "zip", iter(builtins.zip(*map(iterate, iterables), strict=strict)), *iterables)

    def enumerate(self, iterable: Any, start: int = 0) -> Any:
        return lazy(self.meter, "enumerate", iter(builtins.enumerate(iterate(iterable), start)), iterable)

    def map(self, function: Any, /, *iterables: Any) -> Any:
        return lazy(self.meter, "map", iter(builtins.map(function, *map(iterate, iterables))), *iterables)

    def filter(self, function: Any, iterable: Any, /) -> Any:
        return lazy(self.meter, "filter", self.selected(function, iterate(iterable)), iterable)

    def selected(self, function: Any, items: Iterator[Any]) -> Iterator[Any]:
        for item in items:
            self.meter.spend(1)
            if item if function is None else function(item):
                yield item

    def reversed(self, sequence: Any, /) -> Any:
        return lazy(self.meter, "reversed", iter(builtins.reversed(sequence)), sequence)

    def iter(self, iterable: Any, /) -> Any:
        return lazy(self.meter, "iterator", iterate(iterable), iterable)

    # ---- numbers

    def abs(self, value: Any, /) -> Any:
        return builtins.abs(value)

    def pow(self, base: Any, exp: Any, mod: Any = None) -> Any:
        if mod is None:
            return self.meter.grown(self.raise_to(base, exp))
        if isinstance(exp, int) and isinstance(mod, int) and exp.bit_length() * mod.bit_length() > MODULAR_WORK:
            raise self.meter.reached("integer_bits")
        return builtins.pow(base, exp, mod)

    def round(self, number: Any, ndigits: Any = None) -> Any:
        if isinstance(number, Tensor):
            method = look_up(number, "round")
            return method() if ndigits is None else method(decimals=ndigits)
        if isinstance(ndigits, int):
            ndigits = builtins.max(builtins.min(ndigits, 10_000), -10_000)
        return builtins.round(number) if ndigits is None else builtins.round(number, ndigits)

    def divmod(self, a: Any, b: Any, /) -> Any:
        return builtins.divmod(a, b)

    def bin(self, number: Any, /) -> str:
        return builtins.bin(number)

    def hex(self, number: Any, /) -> str:
        return builtins.hex(number)

    def chr(self, code: Any, /) -> str:
        return builtins.chr(code)

    def ord(self, character: Any, /) -> int:
        return builtins.ord(character)

    # ---- about values

    def isinstance(self, value: Any, kinds: Any, /) -> bool:
        self.meter.scan(kinds)
        return is_instance(value, kinds)

    def issubclass(self, kind: Any, kinds: Any, /) -> bool:
        self.meter.scan(kinds)
        return is_subclass(kind, kinds)

    def callable(self, value: Any, /) -> bool:
        return builtins.callable(value)

    def id(self, value: Any, /) -> int:
        return builtins.id(value)

    def hash(self, value: Any, /) -> int:
        self.meter.scan(value)
        return builtins.hash(value)

    def repr(self, value: Any, /) -> str:
        return representation(self.meter, value)

    def format(self, value: Any, spec: str = "", /) -> str:
        return formatted(self.meter, value, spec)

    def hasattr(self, value: Any, name: str, /) -> bool:
        return self.attribute(value, name) is not MISSING

    def getattr(self, value: Any, name: str, /, *default: Any) -> Any:
        found = self.attribute(value, name)
        if found is not MISSING:
            return found
        if default:
            return default[0]
        raise missing_attribute(value, name)

    def attribute(self, value: Any, name: Any) -> Any:
        if not isinstance(name, str):
            raise TypeError("attribute name must be string")
        return MISSING if is_dunder(name) and name != "__name__" else look_up(value, name)

    # ---- types

    def make_int(self, value: Any = 0, /, *base: Any) -> int:
        return self.meter.integer(builtins.int(value, *base))

    def make_str(self, value: Any = "", /) -> str:
        return text(self.meter, value)

    def make_list(self, iterable: Any = (), /) -> list[Any]:
        return list(self.meter.consume(iterable))

    def make_tuple(self, iterable: Any = (), /) -> tuple[Any, ...]:
        return tuple(self.meter.consume(iterable))

    def make_set(self, iterable: Any = (), /) -> set[Any]:
        items = list(self.meter.consume(iterable))
        self.meter.scan(items)
        return set(items)

    def make_dict(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        if not args:
            return dict(**kwargs)
        pairs = args[0] if isinstance(args[0], dict) else [tuple(self.meter.consume(pair)) for pair in self.meter.consume(args[0])]
        self.meter.scan(pairs)
        return dict(pairs, **kwargs)

    def make_type(self, *args: Any) -> Kind:
        if len(args) != 1:
            raise TypeError("type() takes 1 argument: classes are made with class F(Function)")
        return kind_of(args[0])


FUNCTION_NAMES = (
    "sum", "min", "max", "all", "any", "sorted", "len", "next", "zip", "enumerate", "map", "filter", "reversed", "iter", "abs", "pow",
    "round", "divmod", "bin", "hex", "chr", "ord", "isinstance", "issubclass", "callable", "id", "hash", "repr", "format", "hasattr",
    "getattr",
)  # fmt: skip


def kinds(b: Builtins) -> dict[str, Kind]:
    """The types of Python as values."""
    makers: dict[type, Callable[..., Any]] = {
        float: float, bool: bool, complex: complex, range: range, slice: slice, int: b.make_int, str: b.make_str, list: b.make_list,
        tuple: b.make_tuple, set: b.make_set, dict: b.make_dict,
    }  # fmt: skip
    made = {cls.__name__: add_kind(cls, Kind(cls.__name__, (cls,), make)) for cls, make in makers.items()}
    made["dict"].members["fromkeys"] = lambda keys, value=None: b.make_dict([(key, value) for key in b.meter.consume(keys)])
    return made


def staticmethod_(function: Callable[..., Any]) -> Callable[..., Any]:
    """@staticmethod: the functions of a class are static here anyway."""
    return function


def builtin_vocabulary(meter: Meter, printer: Callable[..., None]) -> dict[str, Any]:
    """The builtins of a run, by name."""
    b = Builtins(meter)
    functions = {name: getattr(b, name) for name in FUNCTION_NAMES}
    others = {"print": printer, "type": Kind("type", (Kind, type), b.make_type), "staticmethod": staticmethod_, "Ellipsis": ...}
    return {**functions, **EXCEPTIONS, **kinds(b), **others}
