"""The parameters of a function of the program, and how a call fills them, with Python's messages."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradcli.interpreter.scope import Evaluate, Frame, Scope, argument_names

if TYPE_CHECKING:
    from gradcli.interpreter.compiler import Compiler

NOTHING = object()


class Signature:
    """Names in the order of the frame: positional, keyword-only, *args, **kwargs."""

    def __init__(self, name: str, arguments: ast.arguments) -> None:
        self.name = name
        self.arguments = arguments
        self.positional = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
        self.only_positional = {a.arg for a in arguments.posonlyargs}
        self.keyword_only = [a.arg for a in arguments.kwonlyargs]
        self.count = len(self.positional)
        self.size = len(argument_names(arguments))
        self.simple = self.size == self.count

    def defaults(self, c: Compiler, scope: Scope) -> Callable[[Frame], dict[str, Any]]:
        """A closure that evaluates the defaults, when the definition runs."""
        a = self.arguments
        pairs: list[tuple[str, Evaluate]] = []
        if a.defaults:
            pairs += zip(self.positional[-len(a.defaults) :], c.expressions(a.defaults, scope), strict=True)
        only = zip(self.keyword_only, a.kw_defaults, strict=True)
        pairs += [(name, c.expression(node, scope)) for name, node in only if node is not None]
        return lambda frame: {name: value(frame) for name, value in pairs}

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any], defaults: dict[str, Any]) -> tuple[Any, ...]:
        """The values of the parameters in the order of the frame; TypeError when the call does not fit."""
        values = dict(zip(self.positional, args, strict=False))
        if len(args) > self.count and self.arguments.vararg is None:
            raise self.too_many(len(args), defaults)
        extra = self.keywords(values, kwargs)
        names = [*self.positional, *self.keyword_only]
        self.refuse_missing([n for n in self.positional if n not in values and n not in defaults], "positional")
        self.refuse_missing([n for n in self.keyword_only if n not in values and n not in defaults], "keyword-only")
        filled = [values[n] if n in values else defaults[n] for n in names]
        if self.arguments.vararg is not None:
            filled.append(tuple(args[self.count :]))
        if self.arguments.kwarg is not None:
            filled.append(extra)
        return tuple(filled)

    def keywords(self, values: dict[str, Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Enter the keyword arguments; those that no parameter has are what **kwargs gets."""
        extra = {}
        for name, value in kwargs.items():
            known = name in self.keyword_only or (name in self.positional and name not in self.only_positional)
            if known and name in values:
                raise TypeError(f"{self.name}() got multiple values for argument '{name}'")
            if known:
                values[name] = value
            elif self.arguments.kwarg is not None:
                extra[name] = value
            else:
                raise TypeError(f"{self.name}() got an unexpected keyword argument '{name}'")
        return extra

    def too_many(self, given: int, defaults: dict[str, Any]) -> TypeError:
        optional = sum(name in defaults for name in self.positional)
        takes = f"from {self.count - optional} to {self.count}" if optional else f"{self.count}"
        plural = "" if self.count == 1 and not optional else "s"
        were = "was" if given == 1 else "were"
        return TypeError(f"{self.name}() takes {takes} positional argument{plural} but {given} {were} given")

    def refuse_missing(self, names: list[str], what: str) -> None:
        if not names:
            return
        quoted = [f"'{n}'" for n in names]
        if len(quoted) > 1:
            quoted[-1] = "and " + quoted[-1]
        listed = (", " if len(quoted) > 2 else " ").join(quoted)
        plural = "s" if len(names) > 1 else ""
        raise TypeError(f"{self.name}() missing {len(names)} required {what} argument{plural}: {listed}")
