"""Checking one file: run it, take its gradients, ask the references, judge, and say what was found."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gradcli.check import collect as collecting
from gradcli.check import direction
from gradcli.check.beside import sensitivity
from gradcli.check.blame import blame, of_claim, sentence
from gradcli.check.cores import check_cores
from gradcli.check.digits import unstable_notes, value_note, value_ulps
from gradcli.check.extras import add_extras
from gradcli.check.functions import Fault, check_functions
from gradcli.check.judge import Judge
from gradcli.check.nonfinite import origins
from gradcli.check.notes import gather_notes
from gradcli.check.opinions import Opinion, Witness
from gradcli.check.options import CheckOptions
from gradcli.check.point import Point
from gradcli.check.rerun import NoRerun, Rerun
from gradcli.check.result import AssertResult, FileResult, InputResult, Note, TargetResult
from gradcli.check.second import second_faults
from gradcli.check.subgradient import allow_subgradient, forgive_hidden_kinks
from gradcli.check.target import Target
from gradcli.check.verdicts import Judgement, Tolerance, rank
from gradcli.engine.trace import FunctionCall, Tracer
from gradcli.errors import GradcliError, UsageError
from gradcli.interpreter.clock import OutOfTime
from gradcli.interpreter.faults import program_error
from gradcli.interpreter.program import Program, Run
from gradcli.references.derived import afresh
from gradcli.references.pair import parts
from gradcli.syntax.directives import expectation
from gradcli.syntax.parser import parse
from gradcli.syntax.source import Source
from gradcli.syntax.tree import Tree


def check_file(path: str, text: str | Source | None, options: CheckOptions) -> FileResult:
    """Everything that a check finds in one file; a mistake of its author is in the result, never raised.

    Reads the file at `path` unless its text is given.
    """
    began = time.perf_counter()
    result = FileResult(path, "pass", False)
    try:
        source = result.source = text if isinstance(text, Source) else read(path) if text is None else Source(path, text)
        with afresh if options.fresh else nullcontext():
            judge_source(result, source, options)
    except OutOfTime:
        result.error = options.limits.reached("seconds")
    except GradcliError as error:
        result.error = error
        result.expected = result.expected or expectation(result.source)
    if result.error is not None:
        result.status, result.failing = "error", True
    if result.expected is not None:
        result.met = result.status == result.expected
    result.seconds = time.perf_counter() - began
    return result


def judge_source(result: FileResult, source: Source, options: CheckOptions) -> None:
    """Fill in what there is to say of a file: one program, or the FPCore expressions of a benchmark."""
    if source.is_fpcore:
        check_cores(result, source, options, examine)
        settle(result, options)
        return
    tree = parse(source, nesting=options.limits.nesting, file_size=options.limits.file_size)
    result.expected = tree.directives.expect
    examine(result, tree, options)


def read(path: str) -> Source:
    """The source of a file. Raises UsageError when it cannot be read or is not UTF-8."""
    try:
        return Source.decode(path, Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}", code="G101") from None
    except ValueError as error:  # a name that no file can have
        raise UsageError(f"{path}: {error}", code="G101") from None


def examine(result: FileResult, tree: Tree, options: CheckOptions) -> None:
    """Fill in what running and judging the file gives."""
    if not tree.module.body:
        hint = "write an expression, e.g. x = tensor(2., requires_grad=True); y = x**2"
        raise UsageError("the file is empty: there is nothing to check", hint=hint, code="G103")
    program = Program(tree, options.limits)
    first = Point(program, options)
    run, targets = guarded(first.collect, Tracer(tree.directives.surrogates))
    result.asserts = [AssertResult(a.span.line, "pass" if a.holds else "fail", a.message or a.source) for a in run.asserts]
    if run.error is not None:
        result.error = run.error
        return
    judge_point(result, first, run, targets, tree)
    for number in range(1, options.points):
        judge_further_point(result, Point(program, options, number), tree)
    settle(result, options)


def judge_point(result: FileResult, point: Point, run: Run, targets: list[Target], tree: Tree) -> None:
    """Judge the user Functions and the targets of one run."""
    options, tracer = point.options, run.tracer
    assert tracer is not None
    with collecting.judging(run):
        again = second_faults if "create_graph" in tree.source.text or any(t.order > 1 for t in targets) else None
        functions, faults = check_functions(tracer, options.symbolic_budget, options.seed, again, options.relative(tree.directives.rtol))
        result.functions += functions
        exact = Rerun(point)
        result.targets += [judge_target(t, k, exact, tracer, faults, tree, options) for k, t in enumerate(targets)]


def judge_further_point(result: FileResult, point: Point, tree: Tree) -> None:
    """Judge at another point; what is as good as at the first one is only counted, what is worse is added with the point."""
    found = FileResult(result.path, "pass", False)
    run, targets = guarded(point.collect, Tracer(tree.directives.surrogates))
    if run.error is not None:
        note = Note("point", f"{point.name}: {run.error.type}: {run.error.message}", run.error.span.line if run.error.span else None)
        if result.targets:
            result.targets[0].notes.append(note)
        return
    judge_point(found, point, run, targets, tree)
    for target, source in zip(found.targets, targets):
        if target.status != "pass":
            target.notes.append(Note("point", f"{point.name}: {point.paste(source)}", target.line))
            result.targets.append(target)


def guarded(function: Any, *args: Any) -> tuple[Run, list[Target]]:
    """Call; what a user's request runs into is a ProgramError."""
    try:
        found: tuple[Run, list[Target]] = function(*args)
    except GradcliError:
        raise
    except Exception as error:
        told = program_error(error)
        if told is None:
            raise
        raise told from error
    return found


def judge_target(
    target: Target,
    number: int,
    exact: NoRerun,
    tracer: Tracer,
    faults: Sequence[Fault],
    tree: Tree,
    options: CheckOptions,
    witness: Witness | None = None,
) -> TargetResult:
    """One target judged: every input against its references (or another `witness`), notes, and the blame when it failed."""
    judged = direction.split(target) if witness is None and direction.is_complex(target) else target
    witness = witness or Witness(judged.inputs, options.symbolic_budget, tracer.calls, options.method)
    opinions = [witness.opinion(k) for k in range(len(target.inputs))]
    tolerance = Tolerance(options.relative(tree.directives.rtol), options.atol, options.max_ulps)
    judgements = [judge_input(judged, number, k, opinions[k], witness, exact, tolerance) for k in range(len(target.inputs))]
    inputs = [input_result(target, k, opinions[k], judgements[k], options) for k in range(len(target.inputs))]
    worst = max(((rank(i.status, bool(i.failing.any())), i.status) for i in inputs), default=(0.0, "pass"))[1]
    notes = [*target.notes, *gather_notes(target, judgements, opinions, tracer)]
    ulps = value_ulps(target, witness)
    notes += unstable_notes(judged, judgements, opinions, options.symbolic_budget) + value_note(target, ulps)
    evaluations = sum(witness.evaluations(k) for k in range(len(inputs)))
    result = TargetResult(
        target.output, target.line, target.value.shape, target.value, target.grad_outputs, target.order, worst,
        any(bool(i.failing.any()) for i in inputs), method(opinions, "symbolic"), method(opinions, "difference"), inputs, None, notes, ulps,
        evaluations,
    )  # fmt: skip
    add_extras(result, target, witness, options)
    if worst == "fail":
        explain(result, target, judgements, faults, tracer.calls, tree, options)
    if any((i.verdicts == "nan").any() for i in inputs):
        exists = any(bool(((i.verdicts == "nan") & i.failing).any()) for i in inputs)
        result.notes += origins(target.roots, [t.record for i in target.inputs for t in i.terms], exists)
    return result


def explain(
    result: TargetResult,
    target: Target,
    judgements: Sequence[Judgement],
    faults: Sequence[Fault],
    calls: Sequence[FunctionCall],
    tree: Tree,
    options: CheckOptions,
) -> None:
    """Who is to blame for a target that failed, and one sentence for each wrong gradient."""
    result.blame = of_claim(target, result.inputs) or blame(target, faults, tree.module, options.symbolic_budget, calls)
    for item, judgement in zip(result.inputs, judgements, strict=True):
        if (item.verdicts == "fail").any():
            result.notes.append(Note("wrong-gradient", sentence(target, item, result.inputs, judgement.found), target.line))


def judge_input(
    target: Target, number: int, position: int, opinion: Opinion, witness: Witness, exact: NoRerun, tolerance: Tolerance
) -> Judgement:
    """The verdicts on one input; differences are sharpened first where they alone speak or seem to contradict."""
    item = target.inputs[position]
    given = item.autograd if item.claimed is None else item.claimed
    if opinion.difference is not None:
        doubtful = suspicious(np.asarray(given, dtype=float), opinion)
        if doubtful.size:
            weighted = target.grad_outputs is not None or target.value.ndim == 0
            columns = doubtful if weighted else np.unique(doubtful % max(math.prod(item.shape), 1))
            witness.refine(position, opinion.difference, columns)

    def rederive() -> np.ndarray | None:
        if opinion.symbolic is None:
            return None
        again = exact.agreeing(number, target, position, opinion.symbolic.value)
        return None if again is None else direction.trusted(again, opinion, item)

    def extended() -> np.ndarray | None:
        return exact.extended.gradient(number, target, position)

    def arbiter(elements: np.ndarray) -> np.ndarray:
        return witness.arbitrate(position, elements)

    def rounding() -> np.ndarray | None:
        eps = float(np.finfo(item.precision).eps)
        inputs, place = (witness.inputs, position) if witness.joint else ([witness.inputs[position]], 0)
        return sensitivity(inputs, place, witness.budget, eps)

    def value_loss() -> float | None:
        ulps = value_ulps(target, witness)
        return None if ulps is None else ulps * float(np.finfo(item.precision).eps)

    slopes = partial(witness.slopes, position)
    point = parts(item.tensor.value)
    claimed = item.claimed is not None
    judgement = Judge(
        given, opinion, item.precision, rederive, arbiter, tolerance, point, rounding, slopes, extended, claimed, value_loss
    ).judge()
    if item.claimed is not None and opinion.kinked:
        allow_subgradient(judgement, item, witness.budget)
    forgive_hidden_kinks(judgement, item, np.asarray(given, dtype=float))
    return judgement


def suspicious(given: np.ndarray, opinion: Opinion) -> np.ndarray:
    """The (flat) elements whose quick difference is not good enough."""
    assert opinion.difference is not None
    value, bar = opinion.difference.value, opinion.difference.error
    off = ~(np.abs(value - given) <= 10 * bar + 1e-9 * np.abs(given))
    wide = ~(bar <= 1e-6 * np.abs(value)) & ((np.abs(value) > 0) | (bar > 0))
    alone = np.ones(given.shape, bool) if opinion.symbolic is None else ~np.isfinite(opinion.symbolic.value)
    return np.flatnonzero(off | (alone & wide))


def input_result(target: Target, position: int, opinion: Opinion, judgement: Judgement, options: CheckOptions) -> InputResult:
    """The judgement with all the numbers that a report shows."""
    item = target.inputs[position]
    given = np.asarray(item.autograd if item.claimed is None else item.claimed)
    found, slopes = opinion.symbolic, opinion.difference
    if item.dtype.kind == "c":
        judgement, found, slopes = direction.merge(judgement), direction.merged(found), direction.merged(slopes)
    reference = found or slopes
    absolute, relative = errors(given, None if reference is None else reference.value)
    failing = judgement.failing | np.vectorize(options.fails, otypes=[bool])(judgement.verdicts)
    ulps = judgement.ulps
    finite = ulps[np.isfinite(ulps)] if ulps is not None else np.zeros(0)
    symbolic = None if found is None else found.value
    slope, bar = (None, None) if slopes is None else (slopes.value, slopes.error)
    return InputResult(
        item.name, item.line, item.shape, judgement.status, np.asarray(item.autograd), symbolic, slope, bar,  # type: ignore[arg-type]
        judgement.verdicts, failing, judgement.error, ulps, item.claimed, absolute, relative, float(finite.max()) if finite.size else None,
    )  # fmt: skip


def errors(given: np.ndarray, truth: np.ndarray | None) -> tuple[float, float]:
    """The largest absolute and relative error over the elements where both are finite."""
    if truth is None:
        return 0.0, 0.0
    both = np.isfinite(given) & np.isfinite(truth)
    off = np.abs(given[both] - truth[both])
    size = np.abs(truth[both])
    relative = np.divide(off, size, out=np.where(off > 0, np.inf, 0.0), where=size > 0)
    return float(off.max(initial=0.0)), float(relative.max(initial=0.0))


def method(opinions: Sequence[Opinion], which: str) -> str:
    """What a report says of a reference: the word of its method, or "none: why"."""
    for opinion in opinions:
        why = opinion.why_no_symbolic if which == "symbolic" else opinion.why_no_difference
        if why:
            return f"none: {why}"
    if which == "symbolic":
        return "directional" if any(o.tangents is not None for o in opinions) else "per-node"
    return "directional" if any(o.slopes is not None for o in opinions) else "full"


def settle(result: FileResult, options: CheckOptions) -> None:
    """The status of the file: the worst of its targets, functions and asserts."""
    found = [(t.status, t.failing) for t in result.targets] + [(f.status, f.failing) for f in result.functions]
    found += [("fail", True) for a in result.asserts if a.status == "fail"]
    if not result.targets and not result.asserts:
        found.append(("unchecked", options.fails("unchecked")))
    result.status = max(((rank(s, f), s) for s, f in found), default=(0.0, "pass"))[1]
    result.failing = any(f for _, f in found)
