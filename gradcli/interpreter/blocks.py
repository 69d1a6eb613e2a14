"""with and try."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from gradcli.engine.mode import state
from gradcli.interpreter.assignment import store
from gradcli.interpreter.control import run_block
from gradcli.interpreter.faults import is_told, placed, trail
from gradcli.interpreter.kinds import exception_classes
from gradcli.interpreter.names import store_name
from gradcli.interpreter.scope import Evaluate, Execute, Frame, Scope
from gradcli.interpreter.values import UNBOUND

if TYPE_CHECKING:
    from gradcli.interpreter.compiler import Compiler


def with_(c: Compiler, node: ast.With, scope: Scope) -> Execute:
    body = c.block(node.body, scope)

    def run(frame: Frame) -> Any:
        return run_block(body, frame)

    inside: Execute = run
    for item in reversed(node.items):
        inside = with_item(c, item, inside, scope)
    return inside


def with_item(c: Compiler, item: ast.withitem, inside: Execute, scope: Scope) -> Execute:
    manager, span = c.expression(item.context_expr, scope), c.span(item.context_expr)
    put = None if item.optional_vars is None else store(c, item.optional_vars, scope)

    def run(frame: Frame) -> Any:
        value = manager(frame)
        state.span = span
        with value as entered:
            if put is not None:
                put(frame, entered)
            return inside(frame)

    return run


class Handler:
    """One except clause."""

    def __init__(self, c: Compiler, node: ast.ExceptHandler, scope: Scope) -> None:
        self.classes: Evaluate | None = None if node.type is None else c.expression(node.type, scope)
        self.span = c.span(node if node.type is None else node.type)
        self.body = c.block(node.body, scope)
        self.put = None if node.name is None else store_name(c, node.name, scope)
        self.name = node.name
        self.variables = c.variables if node.name is not None and scope.find(node.name) is None else None
        self.handled = c.recorder.handled

    def takes(self, error: BaseException, frame: Frame) -> bool:
        if self.classes is None:
            return True
        wanted = self.classes(frame)
        classes = exception_classes(wanted)
        if classes is None:
            raise placed(TypeError("catching classes that do not inherit from BaseException is not allowed"), self.span)
        return isinstance(error, classes)

    def run(self, error: BaseException, frame: Frame) -> Any:
        self.handled.append(error)
        if self.put is not None:
            self.put(frame, error)
        try:
            return run_block(self.body, frame)
        finally:
            self.handled.pop()
            self.forget(frame)

    def forget(self, frame: Frame) -> None:
        """Python unbinds the name of an except clause at its end."""
        if self.variables is not None:
            self.variables.pop(self.name or "", None)
        elif self.put is not None:
            self.put(frame, UNBOUND)


def try_(c: Compiler, node: ast.Try, scope: Scope) -> Execute:
    body, orelse, final = c.block(node.body, scope), c.block(node.orelse, scope), c.block(node.finalbody, scope)
    handlers = [Handler(c, handler, scope) for handler in node.handlers]

    def attempt(frame: Frame) -> Any:
        try:
            signal = run_block(body, frame)
        except Exception as error:
            trail(error, None)
            if not is_told(error):
                raise
            handler = next((h for h in handlers if h.takes(error, frame)), None)
            if handler is None:
                raise
            return handler.run(error, frame)
        return signal if signal is not None else run_block(orelse, frame)

    def guarded(frame: Frame) -> Any:
        try:
            signal = attempt(frame)
        except Exception as error:
            trail(error, None)
            after = run_block(final, frame) if is_told(error) else None
            if after is not None:
                return after
            raise
        after = run_block(final, frame)
        return signal if after is None else after

    return guarded if final else attempt


RULES: dict[type[ast.stmt], Any] = {ast.With: with_, ast.Try: try_}
