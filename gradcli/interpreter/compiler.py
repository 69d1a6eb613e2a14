"""The tree of a program, turned once into closures.

An expression becomes a function from a frame to its value, a statement a function from a frame to None
or a signal (break, continue, return). The rules, one a class of tree node, are in the modules that this
one collects; each is called as rule(compiler, node, scope).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from gradcli.errors import Span
from gradcli.interpreter import access, assignment, blocks, calls, comprehensions, control, definitions, displays, expressions, names
from gradcli.interpreter.meter import Meter
from gradcli.interpreter.scope import Evaluate, Execute, Scope
from gradcli.syntax.binding import bound_names
from gradcli.syntax.source import Source

Rule = Callable[["Compiler", Any, Scope], Evaluate]

EXPRESSIONS: dict[type[ast.expr], Rule] = {
    **expressions.RULES, **names.RULES, **access.RULES, **displays.RULES, **comprehensions.RULES, **calls.RULES, **definitions.LAMBDA,
}  # fmt: skip
STATEMENTS: dict[type[ast.stmt], Rule] = {**assignment.RULES, **control.RULES, **definitions.RULES, **blocks.RULES}


class Compiler:
    """What the rules need: the source, the module's variables, the vocabulary, the meter.

    `special` maps callables of the vocabulary that see their arguments' source text to rules of their own.
    """

    def __init__(
        self, module: ast.Module, source: Source, meter: Meter, vocabulary: dict[str, Any], variables: dict[str, Any], recorder: Any
    ) -> None:
        self.source = source
        self.meter = meter
        self.vocabulary = vocabulary
        self.variables = variables
        self.recorder = recorder
        counts = bound_names(module)
        self.bound = set(counts)
        self.imported = names.stable_imports(module, counts)
        self.values: dict[Evaluate, Any] = {}
        """Closures whose value is known beforehand."""

    def expression(self, node: ast.expr, scope: Scope) -> Evaluate:
        return EXPRESSIONS[type(node)](self, node, scope)

    def expressions(self, nodes: Iterable[ast.expr], scope: Scope) -> list[Evaluate]:
        return [self.expression(node, scope) for node in nodes]

    def statement(self, node: ast.stmt, scope: Scope) -> Execute:
        return STATEMENTS[type(node)](self, node, scope)

    def block(self, nodes: list[ast.stmt], scope: Scope) -> list[Execute]:
        return [self.statement(node, scope) for node in nodes]

    def span(self, node: ast.AST) -> Span:
        return self.source.span(node)

    def constant(self, value: Any) -> Evaluate:
        """The closure of a value that is known now."""

        def constant(frame: Any) -> Any:
            return value

        self.values[constant] = value
        return constant
