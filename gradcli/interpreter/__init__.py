"""Tree -> run: the language's statements, values and vocabulary, within limits.

What runs programs needs the engine and numpy; it is loaded when first asked for, so that commands can read
the table of limits (their options) without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradcli.interpreter.program import Program, Run, evaluate, run_file

__all__ = ["Program", "Run", "evaluate", "run_file"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(name)
    from gradcli.interpreter import program

    return getattr(program, name)
