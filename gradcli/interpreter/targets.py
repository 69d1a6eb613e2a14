"""check(...) and claim(...): calls whose arguments' source text is kept beside their values."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradcli.engine.mode import state
from gradcli.engine.tensor import Tensor
from gradcli.errors import Span
from gradcli.interpreter.recorder import CheckCall, ClaimCall, Names
from gradcli.interpreter.scope import Evaluate, Frame, Scope

if TYPE_CHECKING:
    from gradcli.interpreter.compiler import Compiler

Values = dict[str, Any]
Nodes = dict[str, ast.expr]
Make = Callable[["Compiler", Values, Nodes, Span], None]


class Target:
    """A function that says what is to be checked. `make` gets the values and the nodes of the arguments, by name."""

    def __init__(self, name: str, parameters: tuple[str, ...], required: int, make: Make) -> None:
        self.name = name
        self.parameters = parameters
        self.required = required
        self.make = make

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.name}() must be called by its name: the report shows the text of its arguments")

    def __repr__(self) -> str:
        return f"<built-in function {self.name}>"

    def compile(self, c: Compiler, node: ast.Call, scope: Scope) -> Evaluate:
        span, wrong = c.span(node), self.misfit(node)
        nodes = {**dict(zip(self.parameters, node.args, strict=False)), **{k.arg: k.value for k in node.keywords if k.arg is not None}}
        values = {name: c.expression(argument, scope) for name, argument in nodes.items()} if wrong is None else {}

        def evaluate(frame: Frame) -> None:
            arguments = {name: value(frame) for name, value in values.items()}
            state.span = span
            if wrong is not None:
                raise TypeError(wrong)
            self.make(c, arguments, nodes, span)

        return evaluate

    def misfit(self, node: ast.Call) -> str | None:
        """What is wrong with a call, before its arguments are looked at."""
        takes = f"{self.name}() takes {', '.join(self.parameters)}"
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return f"{takes}; no stars, because the report shows their text"
        given = [*self.parameters[: len(node.args)], *[k.arg for k in node.keywords]]
        if len(node.args) > len(self.parameters) or len(set(given)) < len(given) or not set(given) <= set(self.parameters):
            return takes
        missing = [name for name in self.parameters[: self.required] if name not in given]
        return f"{self.name}() missing 1 required positional argument: '{missing[0]}'" if missing else None


def make_check(c: Compiler, values: Values, nodes: Nodes, span: Span) -> None:
    wrt, order = values.get("wrt"), values.get("order", 1)
    leaves, texts = (None, []) if wrt is None else named_items(c, wrt, nodes["wrt"])
    require_tensors("check", [values["output"], *(leaves or [])])
    if not isinstance(order, int) or isinstance(order, bool) or order < 1:
        raise ValueError(f"check(): order must be a positive integer, not {order!r}")
    weights = c.source.segment(nodes["grad_outputs"]) if "grad_outputs" in nodes else None
    names = Names(c.source.segment(nodes["output"]), texts, weights)
    c.recorder.check(CheckCall(values["output"], leaves, values.get("grad_outputs"), order, span, names))


def named_items(c: Compiler, wrt: Any, node: ast.expr) -> tuple[list[Any], list[str]]:
    """The tensors that `wrt` lists, each with its text."""
    leaves = [wrt] if isinstance(wrt, Tensor) else list(wrt)
    items = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
    texts = [c.source.segment(item) for item in items]
    return leaves, texts if len(texts) == len(leaves) else [f"{texts[0]}[{k}]" for k in range(len(leaves))]


def make_claim(c: Compiler, values: Values, nodes: Nodes, span: Span) -> None:
    require_tensors("claim", [values["output"], values["leaf"]])
    names = Names(c.source.segment(nodes["output"]), [c.source.segment(nodes["leaf"])])
    c.recorder.claim(ClaimCall(values["output"], values["leaf"], values["value"], span, names))


def require_tensors(called: str, values: list[Any]) -> None:
    for value in values:
        if not isinstance(value, Tensor):
            raise TypeError(f"{called}() takes tensors, not {type(value).__name__}")


CHECK = Target("check", ("output", "wrt", "grad_outputs", "order"), 1, make_check)
CLAIM = Target("claim", ("output", "leaf", "value"), 3, make_claim)
