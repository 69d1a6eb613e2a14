"""Operators, comparisons, conditions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradcli.engine.mode import state
from gradcli.errors import Span
from gradcli.interpreter.arithmetic import GROWING, bounded
from gradcli.interpreter.meter import CONTAINERS, Meter
from gradcli.interpreter.scope import Evaluate, Frame, Scope
from gradcli.interpreter.values import LazyIterator

if TYPE_CHECKING:
    from gradcli.interpreter.compiler import Compiler

UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_,
}  # fmt: skip


def binary(c: Compiler, node: ast.BinOp, scope: Scope) -> Evaluate:
    left, right = c.expression(node.left, scope), c.expression(node.right, scope)
    span, grown, highest, lowest = c.span(node), c.meter.grown, c.meter.integer_max, -c.meter.integer_max
    if isinstance(node.op, ast.Add):
        return addition(left, right, span, c.meter)
    apply = bounded(type(node.op), c.meter)

    def evaluate(frame: Frame) -> Any:
        a = left(frame)
        b = right(frame)
        state.span = span
        result = apply(a, b)
        kind = type(result)
        if kind is int:
            return result if lowest < result < highest else grown(result)
        return grown(result) if kind in GROWING else result

    return evaluate


def addition(left: Evaluate, right: Evaluate, span: Span, meter: Meter) -> Evaluate:
    """`+`, without the call that the other operators make: loops are full of it."""
    grown, highest, lowest = meter.grown, meter.integer_max, -meter.integer_max

    def evaluate(frame: Frame) -> Any:
        a = left(frame)
        b = right(frame)
        state.span = span
        result = a + b
        kind = type(result)
        if kind is int:
            return result if lowest < result < highest else grown(result)
        return grown(result) if kind in GROWING else result

    return evaluate


def unary(c: Compiler, node: ast.UnaryOp, scope: Scope) -> Evaluate:
    operand, span, apply = c.expression(node.operand, scope), c.span(node), UNARY[type(node.op)]
    if operand in c.values and type(c.values[operand]) in (int, float, complex):
        return c.constant(apply(c.values[operand]))

    def evaluate(frame: Frame) -> Any:
        value = operand(frame)
        state.span = span
        return apply(value)

    return evaluate


def boolean(c: Compiler, node: ast.BoolOp, scope: Scope) -> Evaluate:
    """`and`, `or`: the value that decides."""
    *first, last = c.expressions(node.values, scope)
    span, decides = c.span(node), isinstance(node.op, ast.Or)

    def evaluate(frame: Frame) -> Any:
        for operand in first:
            value = operand(frame)
            state.span = span
            if bool(value) is decides:
                return value
        return last(frame)

    return evaluate


def conditional(c: Compiler, node: ast.IfExp, scope: Scope) -> Evaluate:
    test, body, other = (c.expression(n, scope) for n in (node.test, node.body, node.orelse))
    span = c.span(node.test)

    def evaluate(frame: Frame) -> Any:
        value = test(frame)
        state.span = span
        return body(frame) if value else other(frame)

    return evaluate


def contains(meter: Meter) -> Callable[[Any, Any], bool]:
    """`in`, without going through a range or an iterator unboundedly."""

    def within(item: Any, container: Any) -> bool:
        if isinstance(container, (list, tuple, dict, set)):
            meter.scan(item)
            meter.scan(container)
            meter.items(len(container) >> 4)
        elif isinstance(container, range) and not isinstance(item, int):
            return isinstance(item, float) and item.is_integer() and int(item) in container
        elif isinstance(container, LazyIterator):
            return any(item is other or item == other for other in meter.consume(container))
        return item in container

    return within


def comparator(c: Compiler, op: ast.cmpop) -> Callable[[Any, Any], Any]:
    if isinstance(op, (ast.In, ast.NotIn)):
        within = contains(c.meter)
        return within if isinstance(op, ast.In) else lambda a, b: not within(a, b)
    return COMPARISONS[type(op)]


COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip


def compare(c: Compiler, node: ast.Compare, scope: Scope) -> Evaluate:
    left, span = c.expression(node.left, scope), c.span(node)
    operands = c.expressions(node.comparators, scope)
    tests = [comparator(c, op) for op in node.ops]
    test, operand, scan = tests[0], operands[0], c.meter.scan

    def single(frame: Frame) -> Any:
        a = left(frame)
        b = operand(frame)
        state.span = span
        if type(a) in CONTAINERS:
            scan(a)
            scan(b)
        return test(a, b)

    def chain(frame: Frame) -> Any:
        a = left(frame)
        result: Any = True
        for operand, test in zip(operands, tests, strict=True):
            b = operand(frame)
            state.span = span
            scan(a)
            scan(b)
            result = test(a, b)
            if not result:
                return result
            a = b
        return result

    return single if len(tests) == 1 else chain


RULES: dict[type[ast.expr], Any] = {
    ast.BinOp: binary, ast.UnaryOp: unary, ast.BoolOp: boolean, ast.IfExp: conditional, ast.Compare: compare,
}  # fmt: skip
