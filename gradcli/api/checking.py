"""`gradcli.check(...)`: a file, or the text of one, checked from Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from gradcli.api.apart import apart
from gradcli.api.checked import Checked
from gradcli.check.file import check_file
from gradcli.check.options import CheckOptions
from gradcli.syntax.spelling import did_you_mean

TEXT = "<text>"
"""The path of a check whose program was given as text."""


def check(what: str | os.PathLike[str], *, text: str | None = None, **options: Any) -> Checked:
    """Check a file; `what` is its path, or the program itself.

    A string is a program when it has several lines, or is no file and has a `=` or a `(`; `text=` gives the program
    of a path that need not exist. The options are those of `gradcli check` (see CheckOptions): `output`, `wrt` (a name or
    several), `grad_outputs`, `order`, `seed`, `set` (a dict: name to expression, number or array), `strict`, ...

    Returns the result, whatever it is: a file that cannot be read or run has its `error`. Raises TypeError for an option that there is not.

        >>> import gradcli as gc
        >>> gc.check("x = tensor([1., 2.], requires_grad=True); y = (x * x).sum()").status
        'pass'
    """
    settings = options_of(options)
    path = os.fspath(what)
    if text is None and isinstance(what, str) and is_program(what):
        path, text = TEXT, what
    with apart():
        return Checked.of(check_file(Path(path).as_posix() if path != TEXT else path, text, settings))


def is_program(text: str) -> bool:
    return "\n" in text or (("=" in text or "(" in text) and not os.path.exists(text))


def options_of(given: Mapping[str, Any]) -> CheckOptions:
    """Keyword arguments as options: one name for several, numbers and arrays for expressions."""
    known = [field.name for field in fields(CheckOptions)]
    for name in given:
        if name not in known:
            raise TypeError(f"there is no option {name!r}: {did_you_mean(name, known) or ', '.join(known)}")
    options = dict(given)
    if "wrt" in options:
        options["wrt"] = names_of(options["wrt"])
    if "set" in options:
        options["set"] = tuple((name, expression(value)) for name, value in dict(options["set"]).items())
    if "fail_on" in options:
        options["fail_on"] = frozenset(names_of(options["fail_on"]))
    if options.get("grad_outputs") is not None:
        options["grad_outputs"] = expression(options["grad_outputs"])
    return CheckOptions(**options)


def names_of(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())


def expression(value: Any) -> str:
    """An expression of the language for a value."""
    if isinstance(value, str):
        return value
    data = np.asarray(getattr(value, "value", value))
    listed = repr(data.tolist()).replace("nan", "float('nan')").replace("inf", "float('inf')")
    return listed if data.ndim == 0 else f"tensor({listed})"
