"""FPCore over Python's floats: where a point may lie, and whether the output is finite there, before anything is run."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any, ClassVar

from gradcli.syntax.fpcore.core import Core, bindings
from gradcli.syntax.fpcore.reader import Atom, Expression, Form, Text
from gradcli.syntax.fpcore.words import BLOCKS, COMPARISONS, CONSTANTS, TRUTHS, digits, number

SMALLEST_NORMAL = 2.2250738585072014e-308
ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


class OutOfSteps(Exception):
    """A loop went on for too long."""


def divide(a: float, b: float) -> float:
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def power(a: float, b: float) -> float:
    return math.nan if a < 0 and not float(b).is_integer() else math.pow(a, b)


def logarithm(function: Callable[[float], float], pole: float = 0.0) -> Callable[[float], float]:
    return lambda x: -math.inf if x == pole else function(x)


def round_away(x: float) -> float:
    return math.trunc(x) + math.trunc(2 * (x - math.trunc(x)))


MATH_WORDS = (
    "fabs exp expm1 sqrt cbrt hypot sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh erf erfc lgamma ceil floor "
    "fmod remainder copysign trunc isfinite isinf isnan"
)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in MATH_WORDS.split()},
    "exp2": lambda x: 2.0**x, "log": logarithm(math.log), "log10": logarithm(math.log10), "log2": logarithm(math.log2),
    "log1p": logarithm(math.log1p, -1.0), "tgamma": math.gamma, "round": round_away, "nearbyint": round, "pow": power,
    "fmax": lambda a, b: b if math.isnan(a) else a if math.isnan(b) else max(a, b),
    "fmin": lambda a, b: b if math.isnan(a) else a if math.isnan(b) else min(a, b),
    "fdim": lambda a, b: a - b if a > b else 0.0, "fma": lambda a, b, c: a * b + c, "not": operator.not_,
    "isnormal": lambda x: math.isfinite(x) and abs(x) >= SMALLEST_NORMAL, "signbit": lambda x: math.copysign(1.0, x) < 0,
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": divide,
}  # fmt: skip


class Evaluator:
    """Evaluates within a number of steps, over all its calls together. Raises OutOfSteps past them."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def value(self, item: Expression, scope: dict[str, Any], calls: dict[str, Core]) -> Any:
        self.steps -= 1
        if self.steps < 0:
            raise OutOfSteps
        if isinstance(item, Atom):
            return self.atom(item, scope)
        if isinstance(item, Text):
            return math.nan
        head = item.head or ""
        if head in BLOCKS:
            return self.blocks[head](self, item, scope, calls)
        arguments = [self.value(part, scope, calls) for part in item.items[1:]]
        if head == "array":
            return arguments
        if head in calls:
            called = calls[head]
            return self.value(called.body, dict(zip((a.text for a in called.arguments), arguments, strict=True)), called.calls)
        return self.operation(head, arguments)

    def atom(self, atom: Atom, scope: dict[str, Any]) -> Any:
        if atom.text in scope:
            return scope[atom.text]
        if atom.text in TRUTHS:
            return TRUTHS[atom.text]
        found = CONSTANTS.get(atom.text)
        return number(atom) if found is None else found

    def operation(self, head: str, arguments: list[Any]) -> Any:
        if head in COMPARISONS:
            pairs = itertools.combinations(arguments, 2) if head == "!=" else itertools.pairwise(arguments)
            return all(ORDERS[head](a, b) for a, b in pairs)
        if head in ("and", "or"):
            return all(arguments) if head == "and" else any(arguments)
        try:
            if head == "-" and len(arguments) == 1:
                return -arguments[0]
            if head in ("+", "-", "*", "/"):
                total = arguments[0]
                for argument in arguments[1:]:
                    total = FUNCTIONS[head](total, argument)
                return total
            found = FUNCTIONS[head](*arguments)
            return found if isinstance(found, bool) else float(found)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    # ---- blocks

    def condition(self, form: Form, scope: dict[str, Any], calls: dict[str, Core]) -> Any:
        test, first, second = form.items[1:]
        return self.value(first if self.value(test, scope, calls) else second, scope, calls)

    def let(self, form: Form, scope: dict[str, Any], calls: dict[str, Core]) -> Any:
        return self.value(form.items[2], self.bound(form.items[1], 1, scope, calls, star=form.head == "let*"), calls)

    def bound(self, given: Expression, count: int, scope: dict[str, Any], calls: dict[str, Core], *, star: bool) -> dict[str, Any]:
        inner = dict(scope)
        for symbol, values, _ in bindings(given, count):
            inner[symbol] = self.value(values[0], inner if star else scope, calls)
        return inner

    def step(self, given: Expression, inner: dict[str, Any], calls: dict[str, Core], *, star: bool) -> None:
        before = inner if star else dict(inner)
        for symbol, (_, update), _ in bindings(given, 2):
            inner[symbol] = self.value(update, before, calls)

    def while_(self, form: Form, scope: dict[str, Any], calls: dict[str, Core]) -> Any:
        test, given, body = form.items[1:]
        star = form.head == "while*"
        inner = self.bound(given, 2, scope, calls, star=star)
        while self.value(test, inner, calls):
            self.step(given, inner, calls, star=star)
        return self.value(body, inner, calls)

    def for_(self, form: Form, scope: dict[str, Any], calls: dict[str, Core]) -> Any:
        indices, given, body = form.items[1:]
        star = form.head == "for*"
        names = [symbol for symbol, _, _ in bindings(indices, 1)]
        limits = [self.value(values[0], scope, calls) for _, values, _ in bindings(indices, 1)]
        if not all(abs(n) < 1e9 for n in limits):
            raise OutOfSteps
        inner = self.bound(given, 2, scope, calls, star=star)
        for place in itertools.product(*(range(int(n)) for n in limits)):
            inner.update(zip(names, map(float, place), strict=True))
            self.step(given, inner, calls, star=star)
        return self.value(body, inner, calls)

    def last(self, form: Form, scope: dict[str, Any], calls: dict[str, Core]) -> Any:
        return self.value(form.items[-1], scope, calls)

    def literal(self, form: Form, scope: dict[str, Any], calls: dict[str, Core]) -> Any:
        return digits(form)

    blocks: ClassVar[dict[str, Callable[..., Any]]] = {
        "if": condition, "let": let, "let*": let, "while": while_, "while*": while_, "for": for_, "for*": for_, "cast": last, "!": last,
        "digits": literal,
    }  # fmt: skip
