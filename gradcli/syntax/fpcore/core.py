"""One `(FPCore name? (argument ...) :property value ... body)`, and a walk that finds its mistakes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gradcli.errors import SourceError, SourceErrors, Span
from gradcli.syntax.fpcore.reader import Atom, Expression, Form, Text, unsupported, wrong
from gradcli.syntax.fpcore.words import ARITY, BLOCKS, CONSTANTS, TENSORS, TRUTHS, VARIADIC, WORDS, number
from gradcli.syntax.spelling import did_you_mean

Binding = tuple[str, tuple[Expression, ...], Span]
"""A bound name, the expressions beside it, its place."""


@dataclass(frozen=True)
class Core:
    """A benchmark. `symbol` is what other cores call it by."""

    name: str
    symbol: str | None
    arguments: tuple[Atom, ...]
    properties: dict[str, Expression]
    body: Expression
    form: Form
    calls: dict[str, Core] = field(default_factory=dict)
    """The cores that stand before it in the file, and itself, by their symbols."""

    @property
    def pre(self) -> Expression | None:
        """The precondition on the arguments."""
        return self.properties.get(":pre")


def label(form: Expression, index: int) -> tuple[str, str | None]:
    """What a core is called in reports, and by other cores, as far as that can be told of a form that may be wrong."""
    items = form.items if isinstance(form, Form) else ()
    symbol = items[1].text if len(items) > 1 and isinstance(items[1], Atom) else None
    pairs = itertools.pairwise(items)
    named = [value.text for key, value in pairs if isinstance(key, Atom) and key.text == ":name" and isinstance(value, Text)]
    return (named[0] if named and named[0] else symbol or f"core {index}"), symbol


def core(form: Expression, index: int, known: dict[str, Core]) -> Core:
    """The core that a form states. Raises SourceErrors for a form that is none, or whose body is wrong."""
    if not isinstance(form, Form) or form.head != "FPCore":
        raise wrong("expected (FPCore (arguments) body)", form.span, "everything in the file stands in an FPCore")
    name, symbol = label(form, index)
    rest = list(form.items[2 if symbol is not None else 1 :])
    if not rest or not isinstance(rest[0], Form):
        raise wrong("an FPCore begins with the list of its arguments", form.span, "write (FPCore (x y) body)")
    arguments = tuple(argument(item) for item in rest[0].items)
    properties, body = split_properties(rest[1:], form)
    made = Core(name, symbol, arguments, properties, body, form, dict(known))
    if symbol is not None:
        made.calls[symbol] = made
    scope = frozenset(a.text for a in arguments)
    faults = list(mistakes(body, scope, made.calls, results(body)))
    if made.pre is not None:
        faults += mistakes(made.pre, scope, made.calls)
    if faults:
        raise SourceErrors(sorted(faults, key=lambda e: e.span or form.span))
    return made


def argument(item: Expression) -> Atom:
    """The symbol of an argument, which may be annotated: `x`, `(! :precision binary32 x)`."""
    if isinstance(item, Form) and item.head == "!":
        item = item.items[-1]
    if isinstance(item, Form):
        raise unsupported("an array as an argument of an FPCore is not supported", item.span, "give each element its own argument")
    if not isinstance(item, Atom) or number(item) is not None:
        raise wrong("the name of an argument is a symbol", item.span)
    return item


def split_properties(items: list[Expression], form: Form) -> tuple[dict[str, Expression], Expression]:
    """The properties, and the one expression after them."""
    properties: dict[str, Expression] = {}
    while items and isinstance(items[0], Atom) and items[0].text.startswith(":"):
        if len(items) < 2:
            raise wrong(f"the property {items[0].text} has no value", items[0].span)
        properties[items[0].text] = items[1]
        items = items[2:]
    if len(items) != 1:
        raise wrong(f"an FPCore has one body, not {len(items)}", items[1].span if items else form.span, "is a bracket in the wrong place?")
    return properties, items[0]


def results(body: Expression) -> frozenset[int]:
    """The forms (by id) whose value is the value of the body, or an element of it: there an array may stand."""
    found, pending = set(), [body]
    while pending:
        item = pending.pop()
        if isinstance(item, Form):
            found.add(id(item))
            head = item.head or ""
            if head == "if":
                pending.extend(item.items[2:])
            elif head == "array":
                pending.extend(item.items[1:])
            elif head in BLOCKS:
                pending.append(item.items[-1])
    return frozenset(found)


def mistakes(
    expression: Expression, scope: frozenset[str], calls: dict[str, Core], arrays: frozenset[int] = frozenset()
) -> Iterator[SourceError]:
    """Everything in an expression that is not FPCore, or that is not taken; `arrays` may be arrays."""
    pending = [(expression, scope)]
    while pending:
        item, known = pending.pop()
        if isinstance(item, Atom):
            yield from unknown_symbol(item, known)
        elif isinstance(item, Text):
            yield fault("a string is no number", item.span)
        else:
            try:
                if item.head == "array" and id(item) in arrays and len(item.items) > 1:
                    pending.extend((part, known) for part in item.items[1:])
                else:
                    pending.extend(parts(item, known, calls))
            except SourceErrors as error:
                yield from error.errors


def unknown_symbol(atom: Atom, known: frozenset[str]) -> Iterator[SourceError]:
    if atom.text not in known and atom.text not in CONSTANTS and atom.text not in TRUTHS and number(atom) is None:
        hint = did_you_mean(atom.text, [*known, *CONSTANTS])
        yield SourceError(f"name '{atom.text}' is not defined", atom.span, hint=hint, type="NameError")


def fault(message: str, span: Span) -> SourceError:
    return SourceError(message, span, type="SyntaxError")


def parts(form: Form, known: frozenset[str], calls: dict[str, Core]) -> list[tuple[Expression, frozenset[str]]]:
    """The expressions in a form, each with the names that it sees."""
    head, rest = form.head, form.items[1:]
    if head is None:
        raise wrong("expected an operation after the bracket", form.span)
    if head in BLOCKS:
        return block_parts(form, known)
    if head in TENSORS:
        hint = "write a .grad file with torch's own tensors; (array ...) may be the result of an FPCore"
        raise unsupported(f"{head}: tensors and arrays of FPCore are not supported", form.span, hint)
    if head in calls:
        require(len(rest) == len(calls[head].arguments), form, f"{head} takes {len(calls[head].arguments)} arguments, not {len(rest)}")
    elif head in ARITY:
        require(len(rest) == ARITY[head], form, f"{head} takes {ARITY[head]} argument{'s' * (ARITY[head] > 1)}, not {len(rest)}")
    elif head in VARIADIC:
        require(bool(rest) or head in ("and", "or"), form, f"{head} takes at least one argument")
    else:
        raise unsupported(f"unknown operation '{head}'", form.items[0].span, did_you_mean(head, [*WORDS, *calls]))
    return [(item, known) for item in rest]


def require(holds: bool, form: Form, message: str) -> None:
    if not holds:
        raise wrong(message, form.span)


def block_parts(form: Form, known: frozenset[str]) -> list[tuple[Expression, frozenset[str]]]:
    head, rest = form.head or "", form.items[1:]
    if head == "digits":
        return []
    if head in ("cast", "!"):
        require(bool(rest) and (head == "!" or len(rest) == 1), form, f"{head} takes one expression")
        return [(rest[-1], known)]
    if head == "if":
        require(len(rest) == 3, form, f"if takes a condition and two expressions, not {len(rest)}")
        return [(item, known) for item in rest]
    if head.startswith("let"):
        require(len(rest) == 2, form, f"{head} takes bindings and one body")
        inner, found = bound(bindings(rest[0], 1), known, star=head == "let*")
        return [*found, (rest[1], inner)]
    require(len(rest) == 3, form, f"{head} takes {'a condition' if head.startswith('while') else 'dimensions'}, bindings and one body")
    return loop_parts(head, rest, known)


def loop_parts(head: str, rest: tuple[Expression, ...], known: frozenset[str]) -> list[tuple[Expression, frozenset[str]]]:
    star, around = head.endswith("*"), known
    found: list[tuple[Expression, frozenset[str]]] = []
    if head.startswith("for"):
        around, found = bound(bindings(rest[0], 1), known, star=False)
    steps = bindings(rest[1], 2)
    inner, starts = bound([(name, values[:1], span) for name, values, span in steps], known, star=star)
    inner |= around
    test = [(rest[0], inner)] if head.startswith("while") else []
    return [*found, *starts, *test, *((values[1], inner) for _, values, _ in steps), (rest[2], inner)]


def bound(given: Iterable[Binding], known: frozenset[str], *, star: bool) -> tuple[frozenset[str], list[tuple[Expression, frozenset[str]]]]:
    """The names after some bindings, and the bound expressions with the names that they see."""
    inner, found = known, []
    for name, values, _ in given:
        found += [(value, inner if star else known) for value in values]
        inner |= {name}
    return inner, found


def bindings(item: Expression, count: int) -> list[Binding]:
    """`([x e] ...)`, each name with `count` expressions."""
    if not isinstance(item, Form):
        raise wrong("expected a list of bindings: ([x expression] ...)", item.span)
    return [binding(part, count) for part in item.items]


def binding(part: Expression, count: int) -> Binding:
    if not isinstance(part, Form) or len(part.items) != count + 1 or not isinstance(part.items[0], Atom):
        shape = "[name expression]" if count == 1 else "[name start update]"
        raise wrong(f"expected a binding: {shape}", part.span)
    return part.items[0].text, part.items[1:], part.span
