"""What `import gradcli as gc` gives: where each name comes from, so that naming one loads no more than it needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

MODULES = ("check", "testing")
FUNCTIONS = {"check_gradient": "gradcli.api.gradient"}


def find(name: str) -> Any:
    """`gradcli.<name>`. Raises AttributeError, with the nearest name as a hint."""
    if name in MODULES:
        return import_module(f"gradcli.{name}")
    if name in FUNCTIONS:
        return getattr(import_module(FUNCTIONS[name]), name)
    from gradcli.api.library import NAMES

    if name in NAMES:
        return NAMES[name]
    from gradcli.syntax.spelling import did_you_mean

    hint = did_you_mean(name, names())
    raise AttributeError(f"module 'gradcli' has no attribute '{name}'{f': {hint}' if hint else ''}")


def names() -> list[str]:
    """Every name that `find` knows."""
    from gradcli.api.library import NAMES

    return [*MODULES, *FUNCTIONS, *NAMES]
