"""What a run notes besides its values: checks, claims, assertions, warnings, overridden variables, modules."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from gradcli.engine.mode import state
from gradcli.engine.tensor import Tensor
from gradcli.errors import Fault, Span
from gradcli.interpreter.creation import tensor
from gradcli.interpreter.faults import placed
from gradcli.interpreter.values import module
from gradcli.syntax.spelling import did_you_mean

if TYPE_CHECKING:
    from gradcli.interpreter.compiler import Compiler
    from gradcli.interpreter.scope import Evaluate, Scope


class MissingImportError(Fault, ImportError):
    """A name that a module does not have."""

    kind = "import"


@dataclass
class Names:
    """The source text of the arguments of a `check` or `claim`."""

    output: str
    wrt: list[str]
    grad_outputs: str | None = None


@dataclass
class CheckCall:
    """A call of check(output, wrt=[...], grad_outputs=..., order=1)."""

    output: Any
    wrt: list[Any] | None
    grad_outputs: Any
    order: int
    span: Span
    names: Names


@dataclass
class ClaimCall:
    """A call of claim(output, leaf, value): the gradient of output for leaf, derived by hand."""

    output: Any
    leaf: Any
    value: Any
    span: Span
    names: Names


@dataclass
class AssertCall:
    """One execution of an assert; `source` is the text of its test."""

    span: Span
    holds: bool
    message: str
    source: str


class Hooks(Protocol):
    """Who takes gradients at the moment that a file asks for a check."""

    def check(self, call: CheckCall) -> None: ...

    def claim(self, call: ClaimCall) -> None: ...


class Recorder:
    """The notes of one run. `trace`: a failed assert is noted and the program goes on."""

    def __init__(self, modules: dict[str, module], replacements: dict[str, Callable[[], Any]], *, trace: bool, hooks: Hooks | None) -> None:
        self.modules = modules
        self.replacements = replacements
        self.replaced: set[str] = set()
        self.trace = trace
        self.hooks = hooks
        self.checks: list[CheckCall] = []
        self.claims: list[ClaimCall] = []
        self.asserts: list[AssertCall] = []
        self.handled: list[BaseException] = []
        """The exceptions that except clauses are handling, innermost last."""
        self.constants: dict[str, Any] = {}

    # ---- imports

    def imported(self, name: str) -> Any:
        """What a name is that only an import line at the top level binds; None when that line fails."""
        return self.constants.get(name)

    def plan_imports(self, tree: ast.Module) -> None:
        """Look up beforehand what the import lines at the top level give."""
        for statement in tree.body:
            if isinstance(statement, ast.Import):
                for alias in statement.names:
                    full = alias.name if alias.asname else alias.name.split(".")[0]
                    self.constants[alias.asname or full] = self.modules[full]
            elif isinstance(statement, ast.ImportFrom) and statement.module in self.modules:
                members = self.modules[statement.module].members
                self.constants.update({a.asname or a.name: members[a.name] for a in statement.names if a.name in members})

    def import_from(self, source: str | None, name: str, span: Span) -> Any:
        """`from source import name`."""
        members = self.modules[source or ""].members
        if name not in members:
            text = f"cannot import name '{name}' from '{source}'"
            raise placed(MissingImportError(text, hint=did_you_mean(name, members)), span)
        return members[name]

    # ---- --set NAME=EXPR

    def override(self, name: str) -> Callable[[Any], Any] | None:
        """What replaces the first value that is bound to a module-level name."""
        make = self.replacements.get(name)
        if make is None:
            return None

        def replace(original: Any) -> Any:
            if name in self.replaced:
                return original
            self.replaced.add(name)
            return like(original, make())

        return replace

    # ---- assert, check, claim

    def asserted(self, span: Span, holds: bool, message: str, source: str) -> None:
        self.asserts.append(AssertCall(span, holds, message, source))
        if not holds and not self.trace:
            raise placed(AssertionError(message) if message else AssertionError(), span)

    def check(self, call: CheckCall) -> None:
        self.checks.append(call)
        if self.hooks is not None:
            self.hooks.check(call)

    def claim(self, call: ClaimCall) -> None:
        self.claims.append(call)
        if self.hooks is not None:
            self.hooks.claim(call)

    def special(self, function: Any) -> Callable[[Compiler, ast.Call, Scope], Evaluate] | None:
        """The rule for calls of a function that sees the source text of its arguments."""
        return {CHECK: compile_check, CLAIM: compile_claim}.get(function) if isinstance(function, Targeting) else None


def like(original: Any, value: Any) -> Any:
    """The value that replaces `original`: for a tensor a leaf of the same dtype that asks for a gradient if the original did."""
    if not isinstance(original, Tensor):
        return value
    array = value.value if isinstance(value, Tensor) else tensor(value).value
    return tensor(array, dtype=original.dtype, requires_grad=original.requires_grad)


class Targeting:
    """`check` and `claim`: functions that see the source text of their arguments."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.name}() must be called by its name")

    def __repr__(self) -> str:
        return f"<built-in function {self.name}>"


CHECK, CLAIM = Targeting("check"), Targeting("claim")


def compile_check(c: Compiler, node: ast.Call, scope: Scope) -> Evaluate:
    return compile_target(c, node, scope, ("output", "wrt", "grad_outputs", "order"), make_check)


def compile_claim(c: Compiler, node: ast.Call, scope: Scope) -> Evaluate:
    return compile_target(c, node, scope, ("output", "leaf", "value"), make_claim)


def compile_target(c: Compiler, node: ast.Call, scope: Scope, names: tuple[str, ...], make: Callable[..., None]) -> Evaluate:
    """Evaluate the arguments by name, then hand them over with their source text."""
    span, given = c.span(node), arguments_by_name(c, node, names)
    values = {name: c.expression(argument, scope) for name, argument in given.items()}

    def evaluate(frame: Any) -> None:
        arguments = {name: value(frame) for name, value in values.items()}
        state.span = span
        make(c, given, arguments, span)

    return evaluate


def arguments_by_name(c: Compiler, node: ast.Call, names: tuple[str, ...]) -> dict[str, ast.expr]:
    called = c.source.segment(node.func)
    if len(node.args) > len(names) or any(isinstance(a, ast.Starred) for a in node.args):
        raise_late = f"{called}() takes {', '.join(names)}"
        return {"": ast.Constant(raise_late)}
    given = dict(zip(names, node.args, strict=False))
    for keyword in node.keywords:
        given[keyword.arg or "**"] = keyword.value
    return given


def refuse_unknown(called: str, given: dict[str, ast.expr], names: tuple[str, ...], required: tuple[str, ...]) -> None:
    for name in given:
        if name not in names:
            raise TypeError(f"{called}() got an unexpected argument '{name}'; it takes {', '.join(names)}")
    for name in required:
        if name not in given:
            raise TypeError(f"{called}() missing 1 required positional argument: '{name}'")


def make_check(c: Compiler, given: dict[str, ast.expr], values: dict[str, Any], span: Span) -> None:
    refuse_unknown("check", given, ("output", "wrt", "grad_outputs", "order"), ("output",))
    wrt, texts = values.get("wrt"), []
    if wrt is not None:
        node = given["wrt"]
        single = isinstance(wrt, Tensor)
        items = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
        texts = [c.source.segment(item) for item in items]
        wrt = [wrt] if single else list(wrt)
        texts += [f"wrt[{k}]" for k in range(len(texts), len(wrt))]
    order = values.get("order", 1)
    require_tensors("check", [values["output"], *(wrt or [])])
    if not isinstance(order, int) or isinstance(order, bool) or order < 1:
        raise ValueError(f"check(): order must be a positive integer, not {order!r}")
    weights = given.get("grad_outputs")
    names = Names(c.source.segment(given["output"]), texts, None if weights is None else c.source.segment(weights))
    c.recorder.check(CheckCall(values["output"], wrt, values.get("grad_outputs"), order, span, names))


def make_claim(c: Compiler, given: dict[str, ast.expr], values: dict[str, Any], span: Span) -> None:
    refuse_unknown("claim", given, ("output", "leaf", "value"), ("output", "leaf", "value"))
    require_tensors("claim", [values["output"], values["leaf"]])
    names = Names(c.source.segment(given["output"]), [c.source.segment(given["leaf"])])
    c.recorder.claim(ClaimCall(values["output"], values["leaf"], values["value"], span, names))


def require_tensors(called: str, values: list[Any]) -> None:
    for value in values:
        if not isinstance(value, Tensor):
            raise TypeError(f"{called}() takes tensors, not {type(value).__name__}")


