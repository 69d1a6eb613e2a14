"""def, lambda, return, class F(Function), and import lines."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradcli.engine.function import Function
from gradcli.engine.mode import state
from gradcli.interpreter.faults import placed, trail
from gradcli.interpreter.names import store_name
from gradcli.interpreter.scope import RESULT, Evaluate, Execute, Frame, Scope, blank, function_scope
from gradcli.interpreter.signals import RETURN
from gradcli.interpreter.signature import Signature
from gradcli.interpreter.values import UNBOUND
from gradcli.syntax.binding import scope_names

if TYPE_CHECKING:
    from gradcli.interpreter.compiler import Compiler


def builder(c: Compiler, name: str, arguments: ast.arguments, scope: Scope, inner: Scope, body: list[Execute], value: Any) -> Evaluate:
    """A closure that makes the function each time its definition runs.

    The function runs the statements of `body`, then gives `value` (None: what `return` left in the frame).
    """
    signature = Signature(name, arguments)
    defaults = signature.defaults(c, scope)
    link, cost = scope.link(), 1 + len(body)
    count, rest = signature.count, blank(inner.size - signature.size)
    meter, limit = c.meter, c.meter.limits.recursion
    simple = signature.simple

    def make(frame: Frame) -> Callable[..., Any]:
        outer, given = link(frame), defaults(frame)

        def function(*args: Any, **kwargs: Any) -> Any:
            caller = state.span
            if kwargs or not simple or len(args) != count:
                args = signature.bind(args, kwargs, given)
            meter.steps += cost
            if meter.steps > meter.alarm:
                meter.pause()
            if meter.depth >= limit:
                raise meter.reached("recursion")
            meter.depth += 1
            local = [outer, None, *args, *rest]
            try:
                for statement in body:
                    if statement(local) is not None:
                        return local[RESULT]
                return None if value is None else value(local)
            except Exception as error:
                trail(error, caller)
                raise
            finally:
                meter.depth -= 1
                state.span = caller

        function.__name__ = function.__qualname__ = name
        return function

    return make


def lambda_(c: Compiler, node: ast.Lambda, scope: Scope) -> Evaluate:
    inner = function_scope(scope, node.args, [node.body])
    return builder(c, "<lambda>", node.args, scope, inner, [], c.expression(node.body, inner))


def def_(c: Compiler, node: ast.FunctionDef, scope: Scope) -> Execute:
    inner = function_scope(scope, node.args, node.body)
    statements, value = node.body, None
    if isinstance(statements[-1], ast.Return) and statements[-1].value is not None:
        value = c.expression(statements[-1].value, inner)
        statements = statements[:-1]
    make = builder(c, node.name, node.args, scope, inner, c.block(statements, inner), value)
    decorators = [(c.expression(d, scope), c.span(d)) for d in node.decorator_list]
    put = store_name(c, node.name, scope)

    def execute(frame: Frame) -> None:
        wrappers = [(decorator(frame), span) for decorator, span in decorators]
        function = make(frame)
        for wrapper, span in reversed(wrappers):
            state.span = span
            function = wrapper(function)
        put(frame, function)

    return execute


def return_(c: Compiler, node: ast.Return, scope: Scope) -> Execute:
    value = c.constant(None) if node.value is None else c.expression(node.value, scope)

    def execute(frame: Frame) -> Any:
        frame[RESULT] = value(frame)
        return RETURN

    return execute


def class_(c: Compiler, node: ast.ClassDef, scope: Scope) -> Execute:
    """`class F(Function)`: the body's names become members of a class that the engine knows."""
    base, span, link = c.expression(node.bases[0], scope), c.span(node.bases[0]), scope.link()
    names = scope_names(node.body)
    inner = Scope("class", scope.parent if scope.kind == "class" else scope, names)
    body, put, place = c.block(node.body, inner), store_name(c, node.name, scope), c.span(node)

    def execute(frame: Frame) -> None:
        parent = base(frame)
        if not (isinstance(parent, type) and issubclass(parent, Function)):
            text = f"class {node.name} can only derive from torch.autograd.Function"
            raise placed(TypeError(text), span)
        local: Frame = [link(frame), None, *blank(inner.size)]
        for statement in body:
            statement(local)
        members = {name: local[slot] for name, slot in inner.slots.items() if local[slot] is not UNBOUND}
        put(frame, function_class(node.name, parent, members, place))

    return execute


def function_class(name: str, parent: type[Function], members: dict[str, Any], span: Any) -> type[Function]:
    """The class of a user Function; its functions are static whether or not it says so, as PyTorch calls them."""
    body = {key: staticmethod(value) if callable(value) and not isinstance(value, type) else value for key, value in members.items()}
    return type(name, (parent,), {**body, "span": span, "__module__": "__main__"})


def import_(c: Compiler, node: ast.Import, scope: Scope) -> Execute:
    stores = [(alias, store_name(c, alias.asname or alias.name.split(".")[0], scope)) for alias in node.names]

    def execute(frame: Frame) -> None:
        for alias, put in stores:
            put(frame, c.recorder.modules[alias.name if alias.asname else alias.name.split(".")[0]])

    return execute


def import_from(c: Compiler, node: ast.ImportFrom, scope: Scope) -> Execute:
    if node.module == "__future__":
        return lambda frame: None
    stores = [(alias.name, store_name(c, alias.asname or alias.name, scope), c.span(alias)) for alias in node.names]

    def execute(frame: Frame) -> None:
        for name, put, span in stores:
            put(frame, c.recorder.import_from(node.module, name, span))

    return execute


LAMBDA: dict[type[ast.expr], Any] = {ast.Lambda: lambda_}

RULES: dict[type[ast.stmt], Any] = {
    ast.FunctionDef: def_, ast.Return: return_, ast.ClassDef: class_, ast.Import: import_, ast.ImportFrom: import_from,
}  # fmt: skip
