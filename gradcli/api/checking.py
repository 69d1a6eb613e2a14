"""`gradcli.check(...)`: a file, or the text of one, checked from Python."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from gradcli.api.apart import apart
from gradcli.api.checked import Checked
from gradcli.check.file import check_file
from gradcli.check.options import CheckOptions
from gradcli.config.key import FAILURES, METHODS, Key
from gradcli.interpreter.limits import HIGHEST_ORDER, Limits
from gradcli.syntax.spelling import did_you_mean

TEXT = "<text>"
"""The path of a check whose program was given as text."""


def check(what: str | os.PathLike[str], *, text: str | None = None, **options: Any) -> Checked:
    """Check a file; `what` is its path, or the program itself.

    A string is a program when it has several lines, or is no file and has a `=` or a `(`; `text=` gives the program
    of a path that need not exist. The options are those of `gradcli check` (see CheckOptions): `output`, `wrt` (a name or
    several), `grad_outputs`, `order`, `seed`, `set` (a dict: name to expression, number or array), `strict`, ...

    Returns the result, whatever it is: a file that cannot be read or run has its `error`. Raises TypeError for an option that there is
    not, ValueError for a value that one cannot have.

        >>> import gradcli as gc
        >>> gc.check("x = tensor([1., 2.], requires_grad=True); y = (x * x).sum()").status
        'pass'
    """
    settings = options_of(options)
    if not isinstance(what, str | os.PathLike):
        raise TypeError(f"check takes the path or the text of a program, not {type(what).__name__}")
    path = os.fspath(what)
    if text is None and isinstance(what, str) and is_program(what):
        path, text = TEXT, what
    with apart():
        return Checked.of(check_file(Path(path).as_posix() if path != TEXT else path, text, settings))


def is_program(text: str) -> bool:
    return "\n" in text or not text.strip() or (("=" in text or "(" in text) and not os.path.exists(text))


KEYS = {
    key.name: key
    for key in (
        Key("order", "order", int, minimum=1, maximum=HIGHEST_ORDER),
        Key("seed", "seed", int, 0, minimum=0),
        Key("symbolic_budget", "symbolic_budget", int, 0, minimum=0),
        Key("points", "points", int, 1, minimum=1),
        Key("rtol", "rtol", float, 0.0, minimum=0),
        Key("atol", "atol", float, 0.0, minimum=0),
        Key("max_ulps", "max_ulps", float, minimum=0),
        Key("method", "method", str, "all", choices=METHODS),
        Key("fail_on", "fail_on", str, (), many=True, choices=FAILURES),
        *(Key(name, name, bool, False) for name in ("strict", "fresh", "formulas", "sweep")),
    )
}
"""The values that options may have, as a configuration has them."""


def options_of(given: Mapping[str, Any]) -> CheckOptions:
    """Keyword arguments as options: one name for several, numbers and arrays for expressions."""
    known = [field.name for field in fields(CheckOptions)]
    for name in given:
        if name not in known:
            raise TypeError(f"there is no option {name!r}: {did_you_mean(name, known) or ', '.join(known)}")
    options = dict(given)
    for name in {"wrt", "fail_on"} & options.keys():
        options[name] = names_of(options[name], name)
    for name in KEYS.keys() & options.keys():
        options[name] = value_of(KEYS[name], options[name])
    if "fail_on" in options:
        options["fail_on"] = frozenset(options["fail_on"])
    if "set" in options:
        options["set"] = tuple((name, expression(value)) for name, value in replaced(options["set"]).items())
    if not isinstance(options.get("limits", Limits()), Limits):
        raise TypeError(f"limits takes Limits(steps=..., seconds=...) of gradcli.interpreter.limits, not {options['limits']!r}")
    if options.get("data") is not None:
        options["data"] = os.fspath(options["data"])
    if options.get("grad_outputs") is not None:
        options["grad_outputs"] = expression(options["grad_outputs"])
    return CheckOptions(**options)


def value_of(key: Key, given: Any) -> Any:
    """The value of an option. Raises ValueError for one that it cannot have."""
    if given is None and key.default is None:
        return None
    plain = given.item() if isinstance(given, np.generic) else list(given) if isinstance(given, tuple) else given
    try:
        return key.value(plain)
    except ValueError as wanted:
        raise ValueError(f"{key.name} is {given!r}, and not {wanted}") from None


def replaced(values: Any) -> Mapping[str, Any]:
    if not isinstance(values, Mapping):
        raise TypeError(f"set takes a dict, name to expression, number or array, not {values!r}")
    return values


def names_of(value: Any, option: str) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else () if value is None else (value,)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"{option} takes a name or several, not {value!r}")
    return names


def expression(value: Any) -> str:
    """An expression of the language for a value."""
    if isinstance(value, str):
        return value
    data = np.asarray(getattr(value, "value", value))
    listed = repr(data.tolist()).replace("nan", "float('nan')").replace("inf", "float('inf')")
    return listed if data.ndim == 0 else f"tensor({listed})"
