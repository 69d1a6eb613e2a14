"""Running a program: tree in, values out."""

from __future__ import annotations

import ast
import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.printing import Options, Printing
from gradcli.engine.storage import Storage
from gradcli.engine.trace import Tracer
from gradcli.errors import ProgramError, SourceErrors, UsageError
from gradcli.interpreter.attributes import add_tables
from gradcli.interpreter.clock import Clock, OutOfTime
from gradcli.interpreter.compiler import Compiler
from gradcli.interpreter.containers import container_tables
from gradcli.interpreter.faults import program_error
from gradcli.interpreter.limits import Limits
from gradcli.interpreter.meter import Meter, python_recursion
from gradcli.interpreter.printing import Printer, Writable
from gradcli.interpreter.recorder import AssertCall, CheckCall, ClaimCall, Hooks, Recorder
from gradcli.interpreter.scope import Scope
from gradcli.interpreter.tensor_table import ENGINE_TABLES
from gradcli.interpreter.vocabulary import Vocabulary, build_vocabulary
from gradcli.interpreter.warner import ProgramWarning, Warner
from gradcli.ops.budget import budget
from gradcli.syntax.parser import parse, parse_expression
from gradcli.syntax.source import Source
from gradcli.syntax.spelling import did_you_mean
from gradcli.syntax.tree import Tree


@dataclass
class Run:
    """What a run left: its variables in the order of their last binding, its text, its notes, and the error that ended it."""

    tree: Tree
    scope: dict[str, Any]
    output: str = ""
    checks: list[CheckCall] = field(default_factory=list)
    claims: list[ClaimCall] = field(default_factory=list)
    asserts: list[AssertCall] = field(default_factory=list)
    warnings: list[ProgramWarning] = field(default_factory=list)
    error: ProgramError | None = None
    tracer: Tracer | None = None
    limits: Limits = field(default_factory=Limits)
    seed: int = 0
    data: str | None = None
    """The folder that load(...) reads from."""

    def evaluate(self, text: str) -> Any:
        """The value of an expression of the language over the run's variables, given on the command line."""
        return evaluate(text, self.scope, limits=self.limits, data=self.data)


@dataclass(frozen=True)
class Program:
    """A checked tree with what a run of it needs; it can be run again, with other leaf values or another seed."""

    tree: Tree
    limits: Limits = field(default_factory=Limits)

    def run(
        self,
        *,
        seed: int = 0,
        overrides: Mapping[str, str] | None = None,
        trace: bool = False,
        stdout: Writable | None = None,
        stderr: Writable | None = None,
        hooks: Hooks | None = None,
        data: str | None = None,
        tracer: Tracer | None = None,
        storage: Storage | None = None,
    ) -> Run:
        """Run from the start.

        seed       of the random generator
        overrides  NAME -> expression: what the first top-level assignment to NAME binds instead
        trace      record the operations for the references, and go on after a failed assert
        stdout     where printed text goes as it comes; it is collected in any case
        hooks      called at each check(...) and claim(...) of the file
        data       the folder that load(...) reads from; by default that of the file
        tracer     what records when `trace` is set; by default a new Tracer
        storage    where the numbers of the whole run are kept

        An error of the program is in the result; UsageError for an override that is none.
        """
        task, values = self.tree.task, overrides or {}
        session = Session(self, seed, values if task is None else task.point(seed, values), trace, stdout, stderr, hooks, data)
        session.tracer, session.storage = (tracer or Tracer()) if trace else None, storage
        return session.run()


class Session:
    """One run."""

    def __init__(
        self,
        program: Program,
        seed: int,
        overrides: Mapping[str, str],
        trace: bool,
        stdout: Writable | None,
        stderr: Writable | None,
        hooks: Hooks | None,
        data: str | None,
    ) -> None:
        self.tree, self.limits, self.seed, self.trace = program.tree, program.limits, seed, trace
        self.overrides = overrides
        self.meter = Meter(program.limits)
        self.printer = Printer(self.meter, stdout)
        self.warner = Warner(self.tree.source, stderr)
        folder = data or os.path.dirname(self.tree.source.path)
        self.words: Vocabulary = build_vocabulary(self.meter, self.printer, folder, arrays=imports(self.tree.module, "torch"))
        self.variables: dict[str, Any] = {}
        self.recorder = Recorder(self.words.modules, self.replacements(), trace=trace, hooks=hooks)
        self.recorder.plan_imports(self.tree.module)
        self.tracer: Tracer | None = None
        self.storage: Storage | None = None
        self.result = Run(self.tree, self.variables, limits=self.limits, seed=seed, data=folder)

    def compiler(self, tree: Tree) -> Compiler:
        return Compiler(tree.module, tree.source, self.meter, self.words.names, self.variables, self.recorder)

    def replacements(self) -> dict[str, Callable[[], Any]]:
        """The overriding expressions, parsed now and evaluated when their name is bound."""

        def value(name: str, text: str) -> Callable[[], Any]:
            try:
                node, source = parse_expression(text, nesting=self.limits.nesting)
            except SourceErrors as error:
                first = error.errors[0]
                told = UsageError(f"--set {name}={text}: {first.message}", hint=first.hint, code="G102")
                told.type = first.type  # type: ignore[attr-defined]
                raise told from error
            return lambda: value_of(node, source, self.variables, self.meter, self.words)

        return {name: value(name, text) for name, text in self.overrides.items()}

    def run(self) -> Run:
        result, recorder = self.result, self.recorder
        try:
            with prepared(self.meter, self.seed, self.tracer, self.warner):
                result.tracer = state.tracer
                state.storage = self.storage
                result.error = self.outcome()
        except OutOfTime:  # it arrived as the run ended
            result.error = result.error or self.limits.reached("seconds")
        result.output, result.warnings = self.printer.printed, self.warner.warnings
        result.checks, result.claims, result.asserts = recorder.checks, recorder.claims, recorder.asserts
        if result.error is None:
            self.refuse_unused_overrides()
        return result

    def outcome(self) -> ProgramError | None:
        """Run all statements; the error that ended them."""
        try:
            self.execute()
        except OutOfTime:
            return self.meter.reached("seconds")
        except Exception as error:
            told = program_error(error)
            if told is None:
                raise
            return told
        return None

    def execute(self) -> None:
        compiler = self.compiler(self.tree)
        frame = [None, None]
        scope = Scope("module", None)
        for statement in compiler.block(self.tree.module.body, scope):
            self.meter.spend(1)
            statement(frame)

    def refuse_unused_overrides(self) -> None:
        for name in self.overrides:
            if name not in self.recorder.replaced:
                hint = did_you_mean(name, self.variables) or "the names bound at the top level can be set"
                raise UsageError(f"--set {name}: the file binds no variable of that name at its top level", hint=hint, code="G106")


RARELY = (500_000, 20, 20)
"""Thresholds of the garbage collector during a run."""


@contextmanager
def prepared(meter: Meter, seed: int | None, tracer: Tracer | None, warner: Warner) -> Iterator[None]:
    """The engine set up for a run (`seed` None: for an expression after one), Python's recursion and garbage collection too.

    The cyclic collector comes rarely: graphs are freed by their counts, and walking them again and again costs half the time.
    """
    limit, thresholds, outer = sys.getrecursionlimit(), gc.get_threshold(), state.tracer
    if seed is not None:
        state.reset()
        Printing.options = Options()  # an earlier file's set_printoptions is its own
        state.seeded(seed)
        state.tracer, state.keep_graph = tracer, tracer is not None
    before = (state.charge, state.warn, state.span, budget.elements, budget.work)
    state.charge, state.warn, budget.elements, budget.work = meter.charge, warner.warn, meter.look, meter.work
    add_tables({**ENGINE_TABLES, **container_tables(meter)})
    sys.setrecursionlimit(python_recursion())
    gc.set_threshold(*RARELY)
    try:
        with Clock(meter.limits.seconds, meter.expire), np.errstate(all="ignore"):
            yield
    finally:
        sys.setrecursionlimit(limit)
        gc.set_threshold(*thresholds)
        state.charge, state.warn, state.span, budget.elements, budget.work = before
        state.tracer = None if seed is not None else outer


def value_of(node: Any, source: Source, variables: dict[str, Any], meter: Meter, words: Vocabulary) -> Any:
    """The value of an expression over some variables."""
    recorder = Recorder(words.modules, {}, trace=False, hooks=None)
    names = {**modules_by_usual_name(words), **words.names}
    compiler = Compiler(ast.Module([ast.Expr(node)], []), source, meter, names, variables, recorder)
    compiler.bound |= set(variables)
    return compiler.expression(node, Scope("module", None))([None, None])


def imports(tree: ast.Module, name: str) -> bool:
    """Whether a file has an import line for a module, or for what is in it."""
    lines = (node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)))
    modules = ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""] for node in lines)
    return any(module.partition(".")[0] == name for named in modules for module in named)


def modules_by_usual_name(words: Vocabulary) -> dict[str, Any]:
    """On the command line there is no room for import lines."""
    usual = {"torch": "torch", "F": "torch.nn.functional", "np": "numpy", "math": "math"}
    return {name: words.modules[module] for name, module in usual.items()}


def evaluate(text: str, scope: dict[str, Any], *, limits: Limits | None = None, data: str | None = None) -> Any:
    """The value of an expression of the language over the variables of a run; `data` is the folder that load(...) reads from.

    Raises SourceErrors when it is none, ProgramError when it fails.
    """
    limits = limits or Limits()
    node, source = parse_expression(text, nesting=limits.nesting)
    meter = Meter(limits)
    warner = Warner(source, None)
    words = build_vocabulary(meter, Printer(meter, None), data)
    try:
        with prepared(meter, None, None, warner):
            return value_of(node, source, scope, meter, words)
    except Exception as error:
        told = program_error(error)
        if told is None:
            raise
        raise told from error


def run_file(
    source: Source,
    *,
    seed: int = 0,
    overrides: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    trace: bool = False,
    stdout: Writable | None = None,
    stderr: Writable | None = None,
    hooks: Hooks | None = None,
    data: str | None = None,
) -> Run:
    """Parse and run a file. Raises SourceErrors or LimitError when it is not in the language; see `Program.run` for the rest."""
    limits = limits or Limits()
    tree = parse(source, nesting=limits.nesting, file_size=limits.file_size)
    return Program(tree, limits).run(seed=seed, overrides=overrides, trace=trace, stdout=stdout, stderr=stderr, hooks=hooks, data=data)


__all__ = ["Program", "Run", "evaluate", "run_file"]
