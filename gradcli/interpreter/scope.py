"""Where names live, decided before anything runs, by Python's rules.

A function call has a frame: a list of [frame around it, value returned, variables...]. A variable of an
outer function is reached by going out a known number of frames, so closures see the variable itself, as
in Python. Module-level variables live in a dict.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from gradcli.interpreter.values import UNBOUND
from gradcli.syntax.binding import scope_names

Frame = list[Any]
Evaluate = Callable[[Frame], Any]
Execute = Callable[[Frame], Any]
Store = Callable[[Frame, Any], None]

OUTER, RESULT, FIRST = 0, 1, 2
"""Positions in a frame: the frame around it, the value that `return` gave, the first variable."""


class Scope:
    """The variables of a function, comprehension, class body or module (`parent` None, no slots)."""

    def __init__(self, kind: str, parent: Scope | None, names: Iterable[str] = ()) -> None:
        self.kind = kind
        self.parent = parent
        self.slots = {name: FIRST + k for k, name in enumerate(names)}

    @property
    def size(self) -> int:
        return len(self.slots)

    def find(self, name: str) -> tuple[int, int] | None:
        """How many frames out a variable is, and its position there; None for a module-level name."""
        scope: Scope | None = self
        hops = 0
        while scope is not None and scope.kind != "module":
            if name in scope.slots:
                return hops, scope.slots[name]
            scope = scope.parent
            hops += 1
        return None

    def visible(self) -> list[str]:
        """The names of this scope and of those around it."""
        names: list[str] = []
        scope: Scope | None = self
        while scope is not None:
            names.extend(scope.slots)
            scope = scope.parent
        return names

    def inner(self, kind: str, names: Iterable[str]) -> Scope:
        """A scope for a function or comprehension written in this one; it does not see the variables of a class."""
        return Scope(kind, self.parent if self.kind == "class" else self, names)

    def link(self) -> Evaluate:
        """How a frame of this scope gives the frame that an inner scope hangs from."""
        if self.kind == "class":
            return lambda frame: frame[OUTER]
        return lambda frame: frame


def argument_names(arguments: ast.arguments) -> list[str]:
    """The parameters in the order of the frame: positional, keyword-only, *args, **kwargs."""
    plain = [a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]]
    return [*plain, *(a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None)]


def function_scope(outer: Scope, arguments: ast.arguments, body: list[ast.stmt] | list[ast.expr]) -> Scope:
    names = argument_names(arguments)
    return outer.inner("function", [*names, *(n for n in scope_names(body) if n not in names)])


def blank(count: int) -> tuple[Any, ...]:
    """Variables that are not bound yet."""
    return (UNBOUND,) * count
