"""The parts of a file that can pass or fail each for itself, found without running it: gradients, asserts, user Functions.

Two processes that look at a file find the same parts, in the same order, and neither needs numpy for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from gradcli.errors import GradcliError, SourceErrors
from gradcli.interpreter.limits import Limits
from gradcli.syntax import fpcore
from gradcli.syntax.directives import read_directives
from gradcli.syntax.parser import parse
from gradcli.syntax.source import Source

LONGEST = 40
OWN_CALLS = ("check", "claim")
PASSES = ("backward", "grad")


@dataclass(frozen=True)
class Part:
    """`kind` is target, assert, function, expect or file; `name` says what it is, with the line where that is known."""

    kind: str
    name: str
    line: int


def parts_of(source: Source, limits: Limits) -> list[Part]:
    """The parts of a file; of one that is not in the language the one part `file`, which cannot but fail."""
    try:
        found = expectation(source)
        if any(part.name.startswith("expect error") for part in found):
            return found
        if source.is_fpcore:
            return unique([*(core(item) for item in fpcore.core_trees(source, limits.nesting)), *found])
        module = parse(source, nesting=limits.nesting, file_size=limits.file_size).module
    except GradcliError as error:
        first = error.errors[0] if isinstance(error, SourceErrors) else error
        span = getattr(first, "span", None)
        line = span.line if span is not None else 1
        return [Part("file", f"file:{line}", line)]
    return unique([*targets(module), *functions(module), *asserts(module), *found])


def expectation(source: Source) -> list[Part]:
    directives, _ = read_directives(source)
    if directives.expect is None:
        return []
    return [Part("expect", f"expect {directives.expect}:{directives.expect_line or 1}", directives.expect_line or 1)]


def targets(module: ast.Module) -> list[Part]:
    """What the file says to check, else its backward passes, else its last variable."""
    found = list(calls(module))
    chosen = [item for item in found if name_of(item) in OWN_CALLS and isinstance(item.func, ast.Name)]
    chosen = chosen or [item for item in found if name_of(item) in PASSES]
    if chosen:
        lines = {item.lineno: item for item in reversed(chosen)}
        return [Part("target", f"{short(lines[line])}:{line}", line) for line in sorted(lines)]
    last = next((s for s in reversed(module.body) if isinstance(s, (ast.Assign, ast.AugAssign, ast.AnnAssign))), None)
    line = last.lineno if last is not None else 1
    return [Part("target", f"output:{line}", line)]


def calls(node: ast.AST) -> Iterator[ast.Call]:
    """Every call outside class statements, whose backward is that of a Function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield child
        if not isinstance(child, ast.ClassDef):
            yield from calls(child)


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def short(call: ast.Call) -> str:
    """`check(loss)`, `loss.backward()`: the call with its first argument."""
    name = ast.unparse(call.func)
    first = ast.unparse(call.args[0]) if call.args and name_of(call) != "backward" else ""
    text = " ".join(f"{name}({first})".split()).replace("::", ":")
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def functions(module: ast.Module) -> list[Part]:
    """The classes that have a backward."""
    classes = [node for node in ast.walk(module) if isinstance(node, ast.ClassDef)]
    defined = [node for node in classes if any(isinstance(s, ast.FunctionDef) and s.name == "backward" for s in node.body)]
    return [Part("function", f"{node.name}.backward:{node.lineno}", node.lineno) for node in defined]


def asserts(module: ast.Module) -> list[Part]:
    lines = sorted({node.lineno for node in ast.walk(module) if isinstance(node, ast.Assert)})
    return [Part("assert", f"assert:{line}", line) for line in lines]


def core(item: object) -> Part:
    """One FPCore, whose target has the line of its output."""
    if isinstance(item, fpcore.BadCore):
        return Part("target", f"{item.name}:{item.line}", item.line)
    line = getattr(item.module.body[-1], "lineno", 1)  # type: ignore[attr-defined]
    return Part("target", f"{item.task.output}:{line}", line)  # type: ignore[attr-defined]


def unique(parts: list[Part]) -> list[Part]:
    """No two parts of one name and line."""
    return list(dict.fromkeys(parts))
