"""Trees for the FPCores of a file: one for each, and one for all of them together."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from gradcli.errors import GradcliError, SourceError, SourceErrors, UsageError
from gradcli.syntax.directives import Directives, read_directives
from gradcli.syntax.fpcore.core import Core, core, label
from gradcli.syntax.fpcore.reader import Atom, Expression, Form, read, unsupported
from gradcli.syntax.fpcore.sampling import NoPoint, find_point
from gradcli.syntax.fpcore.translate import Name, Names, Translator
from gradcli.syntax.source import Source
from gradcli.syntax.tree import Task, Tree


@dataclass(frozen=True)
class BadCore:
    """A core from which no tree can be made."""

    name: str
    line: int
    error: GradcliError


@contextmanager
def deep(nesting: int) -> Iterator[None]:
    """Room on Python's stack for the nesting that is allowed; its frames take none of C's."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, 1000 + 20 * nesting))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def core_trees(source: Source, nesting: int) -> list[Tree | BadCore]:
    """A tree for each core, with the definitions that it calls; what is wrong with one core is told of that core alone.

    Raises SourceErrors where the brackets of the file do not pair, and for comments that steer and cannot be understood.
    """
    found: list[Tree | BadCore] = []
    directives, faults = read_directives(source)
    if faults:
        raise SourceErrors(faults)
    with deep(nesting):
        for item in cores(source, nesting):
            if isinstance(item, BadCore):
                found.append(item)
                continue
            try:
                found.append(tree([item], source, directives, printing=False))
            except SourceErrors as error:
                found.append(BadCore(item.name, item.form.span.line, error))
    return found


def whole_tree(source: Source, nesting: int) -> Tree:
    """All the cores of a file as one program, which prints the value of each. Raises SourceErrors with everything that is wrong."""
    with deep(nesting):
        found = cores(source, nesting)
        directives, faults = read_directives(source)
        wrong = [item.error for item in found if isinstance(item, BadCore)]
        faults += [part for error in wrong for part in (error.errors if isinstance(error, SourceErrors) else ())]
        if faults:
            raise SourceErrors(faults)
        return tree([item for item in found if isinstance(item, Core)], source, directives, printing=True)


def cores(source: Source, nesting: int) -> list[Core | BadCore]:
    """The cores of a file in their order, each under a name of its own."""
    found: list[Core | BadCore] = []
    known: dict[str, Core] = {}
    names: set[str] = set()
    forms = read(source, nesting)
    if not forms:
        raise UsageError(f"{source.path}: the file has no FPCore", hint="write one, e.g. (FPCore (x) (sin x))", code="G103")
    for index, form in enumerate(forms, 1):
        name, symbol = label(form, index)
        unique = name if name not in names else f"{name} ({index})"
        names.add(unique)
        try:
            made = core(form, index, known)
        except SourceErrors as error:
            found.append(BadCore(unique, form.span.line, error))
            continue
        found.append(Core(unique, made.symbol, made.arguments, made.properties, made.body, made.form, made.calls))
        if symbol is not None:
            known[symbol] = made
    return found


def tree(chosen: list[Core], source: Source, directives: Directives, *, printing: bool) -> Tree:
    """The program of some cores: the defs that they call, then for each its leaves, its statements, its output."""
    program = Program(source, chosen)
    for number in range(len(chosen)):
        program.add(number, printing=printing)
    leaves = tuple(leaf for _, arguments in program.arguments for leaf in arguments.values())
    task = Task(program.outputs[-1] if len(chosen) == 1 else None, leaves, program.point)
    return Tree(ast.Module(program.body, []), source, directives, task)


class Program:
    """A program that grows core by core."""

    def __init__(self, source: Source, chosen: list[Core]) -> None:
        self.names = Names()
        self.functions: dict[int, str] = {}
        self.translator = Translator(source, self.names, self.functions)
        self.make = self.translator.make
        self.body = self.translator.block
        self.points: dict[tuple[object, ...], dict[str, float] | NoPoint] = {}
        # The arguments first, then the outputs: they are to have their own names.
        self.arguments = [(item, {a.text: self.names.fresh(a.text) for a in item.arguments}) for item in chosen]
        """Each core, with the variable of each of its arguments."""
        self.outputs = [self.output(item, leaves, alone=len(chosen) == 1) for item, leaves in self.arguments]
        for item in chosen:
            for called in calls(item.body, item.calls):
                self.define(called)

    def output(self, item: Core, leaves: dict[str, str], *, alone: bool) -> str:
        """The variable of a core's value. Bound last, the only one of a program may have a name of the vocabulary."""
        return item.name if alone and item.name not in leaves.values() else self.names.fresh(item.name)

    def define(self, called: Core) -> None:
        """A def for a core that is called, after those for the cores that it calls."""
        if id(called.form) in self.functions:
            return
        self.functions[id(called.form)] = self.names.fresh(called.symbol or called.name)
        for inner in calls(called.body, called.calls):
            self.define(inner)
        translator, span = self.translator, called.form.span
        translator.calls = called.calls
        parameters = [self.names.fresh(a.text) for a in called.arguments]
        scope = {a.text: Name(p, "real") for a, p in zip(called.arguments, parameters, strict=True)}
        with translator.inside() as body:
            value = translator.translate(called.body, scope)
            body.append(self.make.at(ast.Return(translator.real(value)), called.body.span))
        self.body.append(self.make.function(self.functions[id(called.form)], parameters, body, span))

    def add(self, number: int, *, printing: bool) -> None:
        """The leaves of a core, its statements, and its output under its name."""
        make, translator, (item, leaves) = self.make, self.translator, self.arguments[number]
        translator.calls, scope = item.calls, {}
        for argument in item.arguments:
            name = leaves[argument.text]
            start = make.call("tensor", [make.number(float("nan"), argument.span)], argument.span, requires_grad=self.true(argument))
            self.body.append(make.assign([name], [start], argument.span))
            scope[argument.text] = Name(name, "real")
        value = translator.translate(item.body, scope)
        if value.kind == "bool" and not printing:
            raise unsupported("the value of this FPCore is a truth value: it has no derivative", item.body.span)
        output, span = self.outputs[number], item.body.span
        node = value.node if value.kind == "bool" else translator.real(value)
        self.body.append(make.assign([output], [node], span))
        if printing:
            title = make.at(ast.Constant(f"{item.name} ="), span)
            value_of = make.name(output, span)
            if value.kind != "bool":
                value_of = make.at(ast.Call(make.at(ast.Attribute(value_of, "tolist", ast.Load()), span), [], []), span)
            self.body.append(make.at(ast.Expr(make.call("print", [title, value_of], span)), span))

    def true(self, argument: Atom) -> ast.expr:
        return self.make.at(ast.Constant(True), argument.span)

    def point(self, seed: int, given: Mapping[str, str]) -> dict[str, str]:
        """A value for every leaf. Among several cores one without a point has none (its leaves are nan); alone it raises NoPoint."""
        found = dict(given)
        for item, leaves in self.arguments:
            fixed = {symbol: value for symbol, name in leaves.items() if (value := literal(given.get(name))) is not None}
            chosen = self.sampled(item, seed, fixed)
            if isinstance(chosen, NoPoint):
                if len(self.arguments) == 1:
                    raise chosen
                continue
            found |= {leaves[symbol]: repr(value) for symbol, value in chosen.items() if leaves[symbol] not in given}
        return found

    def sampled(self, item: Core, seed: int, fixed: dict[str, float]) -> dict[str, float] | NoPoint:
        """The point of one core, looked for once: a check runs its program several times."""
        key = (id(item), seed, tuple(fixed.items()))
        if key not in self.points:
            try:
                self.points[key] = find_point(item, seed, fixed)
            except NoPoint as error:
                self.points[key] = error
        return self.points[key]


def literal(text: str | None) -> float | None:
    """The number that an expression is; None for any other expression."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def calls(expression: Expression, known: dict[str, Core]) -> list[Core]:
    """The cores that an expression calls."""
    found: dict[int, Core] = {}
    pending = [expression]
    while pending:
        item = pending.pop()
        if isinstance(item, Form):
            if item.head in known:
                found[id(known[item.head].form)] = known[item.head]
            pending.extend(item.items)
    return list(found.values())


__all__ = ["BadCore", "SourceError", "core_trees", "whole_tree"]
