"""Values as text: str, repr, format specs, `str.format`, `%`; bounded, and blind to attributes."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradcli.engine.tensor import Tensor
from gradcli.engine.trees import OrderedDict
from gradcli.errors import builtin_name
from gradcli.interpreter.arrays import ArrayType, ndarray
from gradcli.interpreter.meter import Meter
from gradcli.interpreter.values import Size
from gradcli.ops.devices import Device
from gradcli.ops.structure import rounded

BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    dict: ("{", "}"),
    OrderedDict: ("OrderedDict([", "])"),
}
NUMBERS = (int, float, complex, str)
SHORTER = frozenset({ndarray, ArrayType, Device})
"""Kinds of values whose `str` is another than their `repr`."""


def text(meter: Meter, value: Any) -> str:
    """`str(value)`."""
    kind = type(value)
    if kind is str:
        return str(value)
    if kind in SHORTER:
        shown = str(value)
        meter.string(len(shown))
        return shown
    if isinstance(value, BaseException):
        meter.scan(value.args)
        return str(value)
    return representation(meter, value)


def representation(meter: Meter, value: Any) -> str:
    """`repr(value)`: containers item by item, so that neither depth nor size can run away."""
    if type(value) not in BRACKETS:
        return plain(meter, value)
    return nested(meter, value, 0, set())


def plain(meter: Meter, value: Any) -> str:
    if isinstance(value, np.dtype):
        return f"torch.{value.name}"
    if isinstance(value, BaseException):
        return f"{builtin_name(value)}({', '.join([representation(meter, arg) for arg in value.args])})"
    result = repr(value)
    meter.string(len(result))
    return result


def nested(meter: Meter, value: Any, depth: int, around: set[int]) -> str:
    kind = type(value)
    if kind not in BRACKETS:
        return plain(meter, value)
    opening, closing = BRACKETS[kind]
    if id(value) in around:
        return f"{opening}...{closing}"
    if not value and kind in (set, OrderedDict):
        return f"{kind.__name__}()"
    if depth > meter.limits.nesting:
        raise meter.reached("nesting")
    around.add(id(value))
    meter.spend(len(value))
    if kind is dict:
        inner = [f"{nested(meter, k, depth + 1, around)}: {nested(meter, v, depth + 1, around)}" for k, v in value.items()]
    else:
        inner = [nested(meter, item, depth + 1, around) for item in (value.items() if kind is OrderedDict else value)]
    around.discard(id(value))
    joined = ", ".join(inner) + ("," if kind is tuple and len(inner) == 1 else "")
    meter.string(len(joined))
    return f"{opening}{joined}{closing}"


CONVERSIONS: dict[str, Callable[[Meter, Any], str]] = {
    "s": text,
    "r": representation,
    "a": lambda meter, value: representation(meter, value).encode("ascii", "backslashreplace").decode(),
}


def formatted(meter: Meter, value: Any, spec: str) -> str:
    """`format(value, spec)`, the widths of the spec held against the limit first."""
    check_widths(meter, spec)
    if isinstance(value, Tensor) and value.ndim == 0:
        value = rounded(value.value).item()
    if isinstance(value, NUMBERS):
        return format(value, spec)
    if spec:
        raise TypeError(f"unsupported format string passed to {shown_class(value)}.__format__")
    return text(meter, value)


def shown_class(value: Any) -> str:
    return "torch.Size" if type(value) is Size else type(value).__name__


def check_widths(meter: Meter, spec: str) -> None:
    for digits in re.findall(r"\d+", spec):
        meter.string(int(digits) if len(digits) < 20 else 10**20)


def format_method(meter: Meter, template: str, *args: Any, **kwargs: Any) -> str:
    """`template.format(...)`: positions, names, conversions and specs; no attribute and no index."""
    made, _ = expand(meter, template, args, kwargs, 0, 2)
    return made


def expand(
    meter: Meter, template: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], automatic: int | None, depth: int
) -> tuple[str, int | None]:
    """One level of a template; `automatic` numbers the empty fields, None once a field was numbered by hand."""
    if depth < 0:
        raise ValueError("Max string recursion exceeded")
    parts: list[str] = []
    for literal, name, spec, conversion in string.Formatter().parse(template):
        parts.append(literal)
        if name is None:
            continue
        value, automatic = field(name, args, kwargs, automatic)
        detail, automatic = expand(meter, spec or "", args, kwargs, automatic, depth - 1)
        if conversion:
            if conversion not in CONVERSIONS:
                raise ValueError(f"Unknown conversion specifier {conversion!r}")
            value = CONVERSIONS[conversion](meter, value)
        parts.append(formatted(meter, value, detail))
        meter.spend(1)
    made = "".join(parts)
    meter.string(len(made))
    return made, automatic


def field(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], automatic: int | None) -> tuple[Any, int | None]:
    """The argument that a field names."""
    if "." in name or "[" in name:
        raise ValueError(f"the field {name!r} looks inside its argument: pass the attribute or item itself")
    if name.isdigit() or not name:
        if not name and automatic is None:
            raise ValueError("cannot switch from manual field specification to automatic field numbering")
        if name and automatic:
            raise ValueError("cannot switch from automatic field numbering to manual field specification")
        position = int(name[:9]) if name else automatic or 0
        if position >= len(args):
            raise IndexError(f"Replacement index {position} out of range for positional args tuple")
        return args[position], None if name else position + 1
    if name not in kwargs:
        raise KeyError(name)
    return kwargs[name], automatic


FIELD = re.compile(r"%(?:\((?P<key>[^)]*)\))?(?P<flags>[-+ #0]*)(?P<width>\*|\d*)(?:\.(?P<precision>\*|\d*))?[hlL]?(?P<kind>.)?", re.DOTALL)


def percent(meter: Meter, template: str, values: Any) -> str:
    """`template % values`."""
    if type(values) not in (tuple, dict):
        values = (values,)
    for match in FIELD.finditer(template):
        if "*" in (match["width"], match["precision"]):
            raise ValueError("a width of * is not in the language: write the number, or an f-string")
        check_widths(meter, f"{match['width']} {match['precision'] or ''}")
        meter.spend(1)
    shown = wrap_all(meter, values)
    made: str = template % shown
    meter.string(len(made))
    return made


def wrap_all(meter: Meter, values: Any) -> Any:
    if isinstance(values, dict):
        return {key: wrap(meter, value) for key, value in values.items()}
    return tuple(wrap(meter, value) for value in values)


def wrap(meter: Meter, value: Any) -> Any:
    """What `%` may convert by itself: numbers, strings and tensors; other values come as their text."""
    return value if isinstance(value, (*NUMBERS, Tensor)) else Shown(meter, value)


class Shown:
    """Stands for a value in `%s` and `%r`, so that its text is ours."""

    def __init__(self, meter: Meter, value: Any) -> None:
        self.meter = meter
        self.value = value

    def __str__(self) -> str:
        return text(self.meter, self.value)

    def __repr__(self) -> str:
        return representation(self.meter, self.value)
