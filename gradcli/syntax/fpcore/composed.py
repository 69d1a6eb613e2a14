"""The operations of FPCore that PyTorch has not under any name, put together from those that it has."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from gradcli.errors import Span
from gradcli.syntax.fpcore.nodes import Nodes

SMALLEST_NORMAL = 2.2250738585072014e-308
Parts = Sequence[Callable[[], ast.expr]]
"""The arguments; each gives a fresh node at every call."""


class Composer:
    """Short names for the nodes of one operation, all of them at its place."""

    def __init__(self, make: Nodes, span: Span) -> None:
        self.make = make
        self.span = span

    def call(self, function: str, *arguments: ast.expr) -> ast.expr:
        return self.make.call(function, list(arguments), self.span)

    def number(self, value: float) -> ast.expr:
        return self.make.number(value, self.span)

    def add(self, a: ast.expr, b: ast.expr) -> ast.expr:
        return self.make.binary(ast.Add(), a, b, self.span)

    def subtract(self, a: ast.expr, b: ast.expr) -> ast.expr:
        return self.make.binary(ast.Sub(), a, b, self.span)

    def multiply(self, a: ast.expr, b: ast.expr) -> ast.expr:
        return self.make.binary(ast.Mult(), a, b, self.span)

    def divide(self, a: ast.expr, b: ast.expr) -> ast.expr:
        return self.make.binary(ast.Div(), a, b, self.span)

    def compare(self, a: ast.expr, op: ast.cmpop, b: ast.expr) -> ast.expr:
        return self.make.at(ast.Compare(a, [op], [b]), self.span)

    def choose(self, test: ast.expr, a: ast.expr, b: ast.expr) -> ast.expr:
        return self.make.at(ast.IfExp(test, a, b), self.span)


def fma(c: Composer, x: Parts) -> ast.expr:
    """x*y + z, rounded twice: its derivatives are those of the exact one."""
    return c.add(c.multiply(x[0](), x[1]()), x[2]())


def fdim(c: Composer, x: Parts) -> ast.expr:
    """max(x - y, 0)."""
    return c.call("relu", c.subtract(x[0](), x[1]()))


def round_(c: Composer, x: Parts) -> ast.expr:
    """Halves away from zero: trunc(x) + trunc(2 * (x - trunc(x))), every step of which is exact."""
    rest = c.subtract(x[0](), c.call("trunc", x[0]()))
    return c.add(c.call("trunc", x[0]()), c.call("trunc", c.multiply(c.number(2.0), rest)))


def remainder(c: Composer, x: Parts) -> ast.expr:
    """x - n*y with n nearest to x/y, of two the even one. The remainder by 2*y is exact, and leaves to n what is odd or even in it."""
    twice = c.multiply(c.number(2.0), x[1]())
    nearest = c.call("round", c.divide(c.call("fmod", x[0](), twice), x[1]()))
    return c.subtract(c.call("fmod", x[0](), twice), c.multiply(nearest, x[1]()))


def tgamma(c: Composer, x: Parts) -> ast.expr:
    """exp(lgamma(x)), with the sign of the gamma function: below 0 it is that of (-1)**floor(x)."""
    half = c.divide(c.call("floor", x[0]()), c.number(2.0))
    even = c.compare(c.call("trunc", half), ast.Eq(), c.divide(c.call("floor", x[0]()), c.number(2.0)))
    positive = c.make.at(ast.BoolOp(ast.Or(), [c.compare(x[0](), ast.Gt(), c.number(0.0)), even]), c.span)
    size = c.call("exp", c.call("lgamma", x[0]()))
    return c.multiply(c.choose(positive, c.number(1.0), c.number(-1.0)), size)


def isnormal(c: Composer, x: Parts) -> ast.expr:
    large = c.compare(c.call("absolute", x[0]()), ast.GtE(), c.number(SMALLEST_NORMAL))
    return c.make.at(ast.BoolOp(ast.And(), [c.call("isfinite", x[0]()), large]), c.span)


def signbit(c: Composer, x: Parts) -> ast.expr:
    return c.compare(c.call("copysign", c.call("tensor", c.number(1.0)), x[0]()), ast.Lt(), c.number(0.0))


COMPOSED: dict[str, Callable[[Composer, Parts], ast.expr]] = {
    "fma": fma, "fdim": fdim, "round": round_, "remainder": remainder, "tgamma": tgamma, "isnormal": isnormal, "signbit": signbit,
}  # fmt: skip


def compose(head: str, make: Nodes, arguments: Parts, span: Span) -> ast.expr:
    """The operation at some place, over its arguments."""
    return COMPOSED[head](Composer(make, span), arguments)
