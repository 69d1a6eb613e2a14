"""List, set and dict comprehensions, and generator expressions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gradcli.engine.mode import state
from gradcli.interpreter.assignment import store
from gradcli.interpreter.iteration import iterate, lazy
from gradcli.interpreter.scope import Evaluate, Frame, Scope, blank
from gradcli.syntax.binding import scope_names

if TYPE_CHECKING:
    from gradcli.interpreter.compiler import Compiler

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def walk(c: Compiler, node: Comprehension, outer: Scope) -> tuple[Scope, Evaluate, Any]:
    """The scope of a comprehension, its first iterable, and a function that walks its frame through all combinations."""
    scope = outer.inner("comprehension", scope_names([g.target for g in node.generators]))
    first = c.expression(node.generators[0].iter, outer)
    meter = c.meter
    levels = []
    for k, generator in enumerate(node.generators):
        inner = first if k == 0 else c.expression(generator.iter, scope)
        tests = [(c.expression(test, scope), c.span(test)) for test in generator.ifs]
        levels.append((inner, store(c, generator.target, scope), tests, c.span(generator.iter)))

    def steps(frame: Frame, level: int, values: Iterator[Any]) -> Iterator[None]:
        _, assign, tests, _ = levels[level]
        for value in values:
            meter.steps += 1
            if meter.steps > meter.alarm:
                meter.pause()
            assign(frame, value)
            if not tests or every(frame, tests):
                if level + 1 == len(levels):
                    yield
                else:
                    further = levels[level + 1]
                    items = further[0](frame)
                    state.span = further[3]
                    yield from steps(frame, level + 1, iterate(items))

    return scope, first, steps


def passes(frame: Frame, test: Evaluate, span: Any) -> bool:
    value = test(frame)
    state.span = span
    return bool(value)


def every(frame: Frame, tests: list[Any]) -> bool:
    return all(passes(frame, *test) for test in tests)


def comprehension(c: Compiler, node: Comprehension, outer: Scope) -> Evaluate:
    scope, first, steps = walk(c, node, outer)
    link, variables, span = outer.link(), blank(scope.size), c.span(node.generators[0].iter)
    gather = GATHER[type(node)](c, node, scope)

    def evaluate(frame: Frame) -> Any:
        items = first(frame)
        state.span = span
        values = iterate(items)
        inner = [link(frame), None, *variables]
        return gather(inner, steps(inner, 0, values), items)

    return evaluate


def gather_list(c: Compiler, node: Any, scope: Scope) -> Any:
    element = c.expression(node.elt, scope)
    return lambda frame, steps, source: [element(frame) for _ in steps]


def gather_set(c: Compiler, node: Any, scope: Scope) -> Any:
    element, scan = c.expression(node.elt, scope), c.meter.scan

    def gather(frame: Frame, steps: Iterator[None], source: Any) -> Any:
        made = set()
        for _ in steps:
            value = element(frame)
            scan(value)
            made.add(value)
        return made

    return gather


def gather_dict(c: Compiler, node: Any, scope: Scope) -> Any:
    key, value, scan = c.expression(node.key, scope), c.expression(node.value, scope), c.meter.scan

    def gather(frame: Frame, steps: Iterator[None], source: Any) -> Any:
        made = {}
        for _ in steps:
            k = key(frame)
            scan(k)
            made[k] = value(frame)
        return made

    return gather


def gather_lazily(c: Compiler, node: Any, scope: Scope) -> Any:
    element, meter = c.expression(node.elt, scope), c.meter
    return lambda frame, steps, source: lazy(meter, "generator", (element(frame) for _ in steps), source)


GATHER: dict[type[ast.expr], Any] = {
    ast.ListComp: gather_list, ast.SetComp: gather_set, ast.DictComp: gather_dict, ast.GeneratorExp: gather_lazily,
}  # fmt: skip

RULES: dict[type[ast.expr], Any] = dict.fromkeys(GATHER, comprehension)
