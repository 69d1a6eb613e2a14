"""FPCore expressions as expressions and statements of the language.

FPCore nests blocks where Python has statements, so translating an expression may first add statements to the
current block. Real values are tensors throughout, literals become tensors wherever Python would compute with
two of them: 1/0 is infinite, as in FPCore. Words of the vocabulary that stand in the result are never used as
names of variables.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple

from gradcli.errors import Span
from gradcli.syntax.fpcore.composed import compose
from gradcli.syntax.fpcore.core import Binding, Core, bindings
from gradcli.syntax.fpcore.nodes import Nodes
from gradcli.syntax.fpcore.reader import Atom, Expression, Form
from gradcli.syntax.fpcore.words import BLOCKS, COMPARISONS, CONSTANTS, TESTS, TRUTHS, digits, number
from gradcli.syntax.source import Source

Kind = Literal["number", "real", "bool"]

FUNCTIONS = {
    "fabs": "absolute", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log10": "log10", "log2": "log2", "log1p": "log1p",
    "sqrt": "sqrt", "cbrt": "cbrt", "hypot": "hypot", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos",
    "atan": "atan", "atan2": "atan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh", "acosh": "acosh",
    "atanh": "atanh", "erf": "erf", "erfc": "erfc", "lgamma": "lgamma", "ceil": "ceil", "floor": "floor", "fmod": "fmod", "fmax": "fmax",
    "fmin": "fmin", "copysign": "copysign", "trunc": "trunc", "nearbyint": "round", "isfinite": "isfinite", "isinf": "isinf",
    "isnan": "isnan",
}  # fmt: skip
"""What PyTorch has under some name; the rest is put together from these."""
WORDS = frozenset({*FUNCTIONS.values(), "tensor", "stack", "relu", "where", "range", "int", "float", "print", "True", "False", "None"})
OPERATORS: dict[str, Callable[[], ast.operator]] = {"+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "pow": ast.Pow}
ORDERS: dict[str, Callable[[], ast.cmpop]] = {
    "<": ast.Lt, ">": ast.Gt, "<=": ast.LtE, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq,
}  # fmt: skip


class Value(NamedTuple):
    """An expression, and whether Python has a float, a tensor or a truth value there."""

    node: ast.expr
    kind: Kind


class Name(NamedTuple):
    python: str
    kind: Kind


class Names:
    """Names for variables: those of the source where they are free, with a number behind where not."""

    def __init__(self) -> None:
        self.taken = set(WORDS)

    def fresh(self, wanted: str) -> str:
        name, count = wanted, 1
        while name in self.taken:
            count += 1
            name = f"{wanted}_{count}"
        self.taken.add(name)
        return name


Scope = dict[str, Name]


class Translator:
    """Translates expressions into one growing block of statements."""

    def __init__(self, source: Source, names: Names, functions: dict[int, str]) -> None:
        self.make = Nodes(source)
        self.place = source.span
        self.names = names
        self.functions = functions
        """The def that stands for each core that is called, by the id of its form."""
        self.calls: dict[str, Core] = {}
        self.block: list[ast.stmt] = []

    @contextmanager
    def inside(self) -> Iterator[list[ast.stmt]]:
        """A block of its own."""
        outer, self.block = self.block, []
        try:
            yield self.block
        finally:
            self.block = outer

    # ---- expressions

    def translate(self, item: Expression, scope: Scope) -> Value:
        if isinstance(item, Atom):
            return self.atom(item, scope)
        assert isinstance(item, Form)
        head = item.head or ""
        if head in BLOCKS:
            return BLOCK_RULES[head](self, item, scope)
        arguments = [self.translate(part, scope) for part in item.items[1:]]
        if head == "array":
            parts = self.make.at(ast.List(self.reals(arguments), ast.Load()), item.span)
            return Value(self.make.call("stack", [parts], item.span), "real")
        if head in self.calls:
            return Value(self.make.call(self.functions[id(self.calls[head].form)], self.reals(arguments), item.span), "real")
        if head in COMPARISONS:
            return self.comparison(head, arguments, item.span)
        if head in ("and", "or"):
            return self.logical(head, arguments, item.span)
        if head == "not":
            return Value(self.make.at(ast.UnaryOp(ast.Not(), arguments[0].node), item.span), "bool")
        return self.operation(head, arguments, item.span)

    def atom(self, atom: Atom, scope: Scope) -> Value:
        if atom.text in scope:
            name = scope[atom.text]
            return Value(self.make.name(name.python, atom.span), name.kind)
        if atom.text in TRUTHS:
            return Value(self.make.at(ast.Constant(TRUTHS[atom.text]), atom.span), "bool")
        value = CONSTANTS.get(atom.text)
        found = number(atom) if value is None else value
        assert found is not None
        return Value(self.make.number(found, atom.span), "number")

    def real(self, value: Value) -> ast.expr:
        """The value as a tensor."""
        if value.kind == "real":
            return value.node
        span = self.place(value.node)
        number = value.node if value.kind == "number" else self.make.call("float", [value.node], span)
        return self.make.call("tensor", [number], span)

    def reals(self, values: Sequence[Value]) -> list[ast.expr]:
        return [self.real(value) for value in values]

    def comparison(self, head: str, arguments: list[Value], span: Span) -> Value:
        nodes = [a.node for a in arguments]
        if len(nodes) < 2:
            return Value(self.make.at(ast.Constant(True), span), "bool")
        if head == "!=" and len(nodes) > 2:
            held = [self.make.name(self.hold(node, "t"), self.place(node)) for node in nodes]
            pairs: list[ast.expr] = [
                self.make.at(ast.Compare(a, [ast.NotEq()], [b]), span) for k, a in enumerate(held) for b in held[k + 1 :]
            ]
            return Value(self.make.at(ast.BoolOp(ast.And(), pairs), span), "bool")
        return Value(self.make.at(ast.Compare(nodes[0], [ORDERS[head]() for _ in nodes[1:]], nodes[1:]), span), "bool")

    def logical(self, head: str, arguments: list[Value], span: Span) -> Value:
        if len(arguments) < 2:
            return arguments[0] if arguments else Value(self.make.at(ast.Constant(head == "and"), span), "bool")
        op = ast.And() if head == "and" else ast.Or()
        return Value(self.make.at(ast.BoolOp(op, [a.node for a in arguments]), span), "bool")

    def operation(self, head: str, arguments: list[Value], span: Span) -> Value:
        if head == "-" and len(arguments) == 1:
            kind: Kind = "number" if arguments[0].kind == "number" else "real"
            return Value(self.make.at(ast.UnaryOp(ast.USub(), arguments[0].node), span), kind)
        if head in OPERATORS:
            return self.fold(OPERATORS[head], arguments, span)
        nodes = self.reals(arguments)
        kind = "bool" if head in TESTS else "real"
        if head in FUNCTIONS:
            return Value(self.make.call(FUNCTIONS[head], nodes, span), kind)
        node = compose(head, self.make, [self.held(node, "t") for node in nodes], span)
        return Value(node, kind)

    def fold(self, op: Callable[[], ast.operator], arguments: list[Value], span: Span) -> Value:
        """`a - b - c`; of two literals one becomes a tensor."""
        first, *rest = arguments
        node = self.real(first) if all(a.kind != "real" for a in arguments[:2]) else first.node
        for argument in rest:
            node = self.make.binary(op(), node, argument.node if argument.kind != "bool" else self.real(argument), span)
        return Value(node, "real")

    def hold(self, node: ast.expr, wanted: str) -> str:
        """The name of a new variable that has the value."""
        name = self.names.fresh(wanted)
        self.block.append(self.make.assign([name], [node], self.place(node)))
        return name

    def held(self, node: ast.expr, wanted: str) -> Callable[[], ast.expr]:
        """The value, to be used several times."""
        name = node.id if isinstance(node, ast.Name) else self.hold(node, wanted)
        return lambda: self.make.name(name, self.place(node))

    def stored(self, value: Value) -> tuple[ast.expr, Kind]:
        """What a variable gets: literals become tensors, so that nothing ever computes with Python's floats."""
        return (value.node, "bool") if value.kind == "bool" else (self.real(value), "real")

    # ---- blocks

    def condition(self, form: Form, scope: Scope) -> Value:
        test, first, second = form.items[1:]
        asked = self.translate(test, scope).node
        with self.inside() as then:
            yes = self.translate(first, scope)
        with self.inside() as otherwise:
            no = self.translate(second, scope)
        kind: Kind = "bool" if yes.kind == no.kind == "bool" else "real"
        a, b = (v.node if kind == "bool" else self.real(v) for v in (yes, no))
        if not then and not otherwise:
            return Value(self.make.at(ast.IfExp(asked, a, b), form.span), kind)
        name = self.names.fresh("t")
        then.append(self.make.assign([name], [a], self.place(a)))
        otherwise.append(self.make.assign([name], [b], self.place(b)))
        self.block.append(self.make.at(ast.If(asked, then, otherwise), form.span))
        return Value(self.make.name(name, form.span), kind)

    def let(self, form: Form, scope: Scope) -> Value:
        inner = self.bind(bindings(form.items[1], 1), scope, star=form.head == "let*")
        return self.translate(form.items[2], inner)

    def bind(self, given: list[Binding], scope: Scope, *, star: bool) -> Scope:
        """New variables, in a scope of their own."""
        inner = dict(scope)
        for symbol, values, span in given:
            node, kind = self.stored(self.translate(values[0], inner if star else scope))
            name = self.names.fresh(symbol)
            self.block.append(self.make.assign([name], [node], span))
            inner[symbol] = Name(name, kind)
        return inner

    def while_(self, form: Form, scope: Scope) -> Value:
        test, given, body = form.items[1:]
        star, steps = form.head == "while*", bindings(given, 2)
        inner = self.bind(starts(steps), scope, star=star)
        with self.inside() as before:
            asked = self.translate(test, inner).node
        with self.inside() as after:
            self.update(steps, inner, star=star)
        if before:
            leave: list[ast.stmt] = [self.make.at(ast.Break(), self.place(asked))]
            stop = self.make.at(ast.UnaryOp(ast.Not(), asked), self.place(asked))
            after[:0] = [*before, self.make.at(ast.If(stop, leave, []), self.place(asked))]
            asked = self.make.at(ast.Constant(True), self.place(asked))
        self.block.append(self.make.at(ast.While(asked, after or [self.make.at(ast.Pass(), form.span)], []), form.span))
        return self.translate(body, inner)

    def update(self, steps: list[Binding], scope: Scope, *, star: bool) -> None:
        """The end of a round: the variables one after the other, or all at once."""
        names, values = [], []
        for symbol, (_, step), span in steps:
            node, _ = self.stored(self.translate(step, scope))
            if star:
                self.block.append(self.make.assign([scope[symbol].python], [node], span))
            else:
                names.append(scope[symbol].python)
                values.append(node)
        if names:
            self.block.append(self.make.assign(names, values, steps[0][2]))

    def for_(self, form: Form, scope: Scope) -> Value:
        indices, given, body = form.items[1:]
        star, steps = form.head == "for*", bindings(given, 2)
        limits = [(symbol, self.hold(self.count(values[0], scope), "n"), span) for symbol, values, span in bindings(indices, 1)]
        inner = self.bind(starts(steps), scope, star=star)
        result = dict(inner)
        around: list[tuple[str, str, Span]] = []
        with self.inside() as round_:
            for symbol, limit, span in limits:
                k, name = self.names.fresh("k"), self.names.fresh(symbol)
                count = self.make.call("float", [self.make.name(k, span)], span)
                round_.append(self.make.assign([name], [self.make.call("tensor", [count], span)], span))
                inner[symbol] = Name(name, "real")
                around.append((k, limit, span))
            self.update(steps, inner, star=star)
        statements = round_
        for k, limit, span in reversed(around):
            target, limits_ = self.make.at(ast.Name(k, ast.Store()), span), self.make.call("range", [self.make.name(limit, span)], span)
            statements = [self.make.at(ast.For(target, limits_, statements, []), span)]
        self.block += statements
        return self.translate(body, result)

    def count(self, item: Expression, scope: Scope) -> ast.expr:
        return self.make.call("int", [self.translate(item, scope).node], item.span)

    def last(self, form: Form, scope: Scope) -> Value:
        """`cast` and `!`: precisions are not followed, everything is computed with doubles."""
        return self.translate(form.items[-1], scope)

    def literal(self, form: Form, scope: Scope) -> Value:
        return Value(self.make.number(digits(form), form.span), "number")


def starts(steps: list[Binding]) -> list[Binding]:
    return [(symbol, values[:1], span) for symbol, values, span in steps]


BLOCK_RULES: dict[str, Callable[[Translator, Form, Scope], Value]] = {
    "if": Translator.condition, "let": Translator.let, "let*": Translator.let, "while": Translator.while_, "while*": Translator.while_,
    "for": Translator.for_, "for*": Translator.for_, "cast": Translator.last, "!": Translator.last, "digits": Translator.literal,
}  # fmt: skip
