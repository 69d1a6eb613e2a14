"""What `grad` and `backward` found, as text or JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.errors import UsageError
from gradcli.report import encode
from gradcli.report.formats import choice_hint
from gradcli.report.text import paint
from gradcli.report.view import View


@dataclass(frozen=True)
class Gradients:
    """`command` is "grad" or "backward"; `grads` in the order asked for, None where nothing reached the leaf."""

    command: str
    path: str
    output: str
    grad_outputs: np.ndarray | None
    order: int
    grads: dict[str, np.ndarray | None]


def json_document(found: Gradients, view: View) -> str:
    data: dict[str, Any] = {
        "schema": f"gradcli.{found.command}/1",
        "path": found.path,
        "output": found.output,
        "grad_outputs": encode.array(found.grad_outputs),
        "order": found.order,
        "grads": {name: encode.array(value) for name, value in found.grads.items()},
    }
    return encode.document(data) + "\n"


def text(found: Gradients, view: View) -> str:
    """One gradient after the other, every digit of it; past 1000 elements the middle is left out unless verbose."""
    return "".join(_one(_name(found, leaf), value, view) for leaf, value in found.grads.items())


def _name(found: Gradients, leaf: str) -> str:
    if found.command == "backward":
        return f"{leaf}.grad"
    power = "" if found.order == 1 else f"^{found.order}"
    return f"d{power} {found.output} / d {leaf}{power}"


def _one(name: str, value: np.ndarray | None, view: View) -> str:
    head = f"{name} = "
    shown = f"{paint(name, 'heading') if view.color else name} = "
    if value is None:
        return f"{shown}None\n"
    threshold = np.asarray(value).size + 1 if view.verbose else 1000
    body = np.array2string(
        np.asarray(value), separator=", ", floatmode="unique", threshold=threshold, max_line_width=view.width - 2, prefix=head
    )
    return f"{shown}{body}\n"


FORMATS: dict[str, Callable[[Gradients, View], str]] = {"text": text, "json": json_document}


def writer(format: str) -> Callable[[Gradients, View], str]:
    """The function that writes a format; UsageError where there is none."""
    if format not in FORMATS:
        raise UsageError(f"no format {format!r}", hint=choice_hint(format, list(FORMATS)))
    return FORMATS[format]
