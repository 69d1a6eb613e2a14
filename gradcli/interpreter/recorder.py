"""What a run notes besides its values: checks, claims, assertions, warnings, overridden variables, modules."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gradcli.engine.tensor import Tensor
from gradcli.errors import Fault, LimitError, Span, UnsupportedError, UsageError
from gradcli.interpreter.attributes import TO_LIST
from gradcli.interpreter.faults import placed, program_error
from gradcli.interpreter.from_data import tensor
from gradcli.interpreter.leaves import leaf
from gradcli.interpreter.values import module
from gradcli.ops.missing import why_missing
from gradcli.syntax.spelling import did_you_mean


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
            reason = why_missing(source or "", name)
            if reason is not None:
                raise UnsupportedError(f"PyTorch has {source}.{name}, gradcli has not: {reason}", span, hint=TO_LIST)
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
            try:
                return like(original, make())
            except Exception as error:
                raise refused(name, error) from error

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


def refused(name: str, error: Exception) -> Exception:
    """What is wrong with a value of the command line, in its name: no line of the file is to blame. Limits and bugs stay what they are."""
    told = program_error(error)
    if told is None or isinstance(told, LimitError):
        return error
    return UsageError(f"--set {name}: {told.type}: {told.message}", hint=told.hint, code="G102")


def like(original: Any, value: Any) -> Any:
    """The value that replaces `original`: for a tensor a leaf of the same dtype that asks for a gradient if the original did."""
    if not isinstance(original, Tensor):
        return value
    given = value if isinstance(value, Tensor) else tensor(value)
    if given.dtype.kind == "c" and original.dtype.kind != "c":
        raise TypeError("a complex value for a real one")
    return leaf(np.array(given.value, dtype=original.dtype), original.requires_grad)
