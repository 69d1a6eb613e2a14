"""What the stages after parsing work on."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gradcli.syntax.directives import Directives
from gradcli.syntax.source import Source


@dataclass(frozen=True)
class Task:
    """What a source asks for that says so itself instead of by statements: a formula, an FPCore.

    `output` is the variable to differentiate, `leaves` are the variables to differentiate it by, `point` gives, from a seed
    and the values that are chosen already, an expression for the value of each leaf.
    """

    output: str | None
    leaves: tuple[str, ...]
    point: Callable[[int, Mapping[str, str]], dict[str, str]]


@dataclass(frozen=True)
class Tree:
    """A file that is in the language."""

    module: ast.Module
    source: Source
    directives: Directives
    task: Task | None = None
