"""if, while, for, break, continue, pass, expression statements, assert, raise."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from gradcli.engine.mode import state
from gradcli.interpreter.assignment import store
from gradcli.interpreter.faults import placed
from gradcli.interpreter.iteration import iterate
from gradcli.interpreter.kinds import exception_from
from gradcli.interpreter.scope import Evaluate, Execute, Frame, Scope
from gradcli.interpreter.signals import BREAK, CONTINUE, leaves
from gradcli.interpreter.text import text

if TYPE_CHECKING:
    from gradcli.engine.trace import Tracer
    from gradcli.interpreter.compiler import Compiler


def run_block(statements: list[Execute], frame: Frame) -> Any:
    """Run statements until one gives a signal."""
    for statement in statements:
        signal = statement(frame)
        if signal is not None:
            return signal
    return None


def expression_statement(c: Compiler, node: ast.Expr, scope: Scope) -> Execute:
    value = c.expression(node.value, scope)

    def execute(frame: Frame) -> None:
        value(frame)

    return execute


def if_(c: Compiler, node: ast.If, scope: Scope) -> Execute:
    test, span = c.expression(node.test, scope), c.span(node.test)
    body, orelse = c.block(node.body, scope), c.block(node.orelse, scope)

    def execute(frame: Frame) -> Any:
        value = test(frame)
        state.span = span
        for statement in body if value else orelse:
            signal = statement(frame)
            if signal is not None:
                return signal
        return None

    return execute


def rounds(c: Compiler, test: Evaluate, span: Any, cost: int) -> Any:
    """The rounds of a while loop, counted."""
    meter = c.meter

    def generate(frame: Frame) -> Iterator[None]:
        while True:
            value = test(frame)
            state.span = span
            if not value:
                return
            meter.steps += cost
            if meter.steps > meter.alarm:
                meter.pause()
            yield None

    return generate


def noted(items: Iterable[Any], line: int) -> Iterable[Any]:
    """The rounds of a loop; a tracer is told where each begins."""
    return items if state.tracer is None else turning(state.tracer, items, line)


def turning(tracer: Tracer, items: Iterable[Any], line: int) -> Iterator[Any]:
    try:
        for number, item in enumerate(items):
            tracer.turn(line, number)
            yield item
    finally:
        tracer.turn(line, -1)


def while_(c: Compiler, node: ast.While, scope: Scope) -> Execute:
    test = c.expression(node.test, scope)
    body, orelse = c.block(node.body, scope), c.block(node.orelse, scope)
    passes, line = rounds(c, test, c.span(node.test), 1 + len(body)), node.lineno

    def execute(frame: Frame) -> Any:
        for _ in noted(passes(frame), line):
            for statement in body:
                signal = statement(frame)
                if signal is not None:
                    break
            else:
                continue
            if signal is not CONTINUE:
                return None if signal is BREAK else signal
        return run_block(orelse, frame)

    return execute


def for_(c: Compiler, node: ast.For, scope: Scope) -> Execute:
    items, put, span = c.expression(node.iter, scope), store(c, node.target, scope), c.span(node.iter)
    body, orelse = c.block(node.body, scope), c.block(node.orelse, scope)
    meter, cost, line = c.meter, 1 + len(body), node.lineno

    def straight(frame: Frame) -> Any:
        values = items(frame)
        state.span = span
        for value in noted(iterate(values), line):
            meter.steps += cost
            if meter.steps > meter.alarm:
                meter.pause()
            put(frame, value)
            for statement in body:
                statement(frame)
        return run_block(orelse, frame)

    def general(frame: Frame) -> Any:
        values = items(frame)
        state.span = span
        for value in noted(iterate(values), line):
            meter.steps += cost
            if meter.steps > meter.alarm:
                meter.pause()
            put(frame, value)
            signal = run_block(body, frame)
            if signal is not None and signal is not CONTINUE:
                return None if signal is BREAK else signal
        return run_block(orelse, frame)

    return general if leaves(node.body) else straight


def break_(c: Compiler, node: ast.Break, scope: Scope) -> Execute:
    return lambda frame: BREAK


def continue_(c: Compiler, node: ast.Continue, scope: Scope) -> Execute:
    return lambda frame: CONTINUE


def pass_(c: Compiler, node: ast.Pass, scope: Scope) -> Execute:
    return lambda frame: None


def assert_(c: Compiler, node: ast.Assert, scope: Scope) -> Execute:
    """An assertion: the recorder may note a failed one and go on."""
    test, span, meter = c.expression(node.test, scope), c.span(node), c.meter
    message = None if node.msg is None else c.expression(node.msg, scope)
    recorder, source = c.recorder, c.source.segment(node.test)

    def execute(frame: Frame) -> None:
        value = test(frame)
        state.span = span
        holds = bool(value)
        said = "" if holds or message is None else text(meter, message(frame))
        recorder.asserted(span, holds, said, source)

    return execute


def raise_(c: Compiler, node: ast.Raise, scope: Scope) -> Execute:
    span = c.span(node)
    if node.exc is None:
        return lambda frame: reraise(c, span)
    value = c.expression(node.exc, scope)

    def execute(frame: Frame) -> None:
        given = value(frame)
        state.span = span
        raise placed(exception_from(given), span)

    return execute


def reraise(c: Compiler, span: Any) -> None:
    handled = c.recorder.handled
    if not handled:
        raise placed(RuntimeError("No active exception to reraise"), span)
    raise handled[-1]


RULES: dict[type[ast.stmt], Any] = {
    ast.Expr: expression_statement, ast.If: if_, ast.While: while_, ast.For: for_, ast.Break: break_, ast.Continue: continue_,
    ast.Pass: pass_, ast.Assert: assert_, ast.Raise: raise_,
}  # fmt: skip
