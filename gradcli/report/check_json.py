"""`check --format json`: the schema gradcli.check/1. Fields may be added, never renamed or removed."""

from __future__ import annotations

from typing import Any

from gradcli.check.result import AssertResult, Blame, CheckResult, FileResult, FunctionResult, InputResult, Note, TargetResult
from gradcli.report import encode
from gradcli.report.errors import error_object
from gradcli.report.view import View

SCHEMA = "gradcli.check/1"


def render(result: CheckResult, view: View) -> str:
    """The whole document; the same for the same result, whatever the view."""
    return encode.document(check_object(result)) + "\n"


def check_object(result: CheckResult) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "version": result.version,
        "seed": result.seed,
        "summary": summary(result),
        "files": [file_object(file) for file in result.files],
    }


def summary(result: CheckResult) -> dict[str, int]:
    """How many files there are, and how many of each outcome."""
    outcomes = [file.outcome for file in result.files]
    return {
        "files": len(outcomes),
        "passed": outcomes.count("passed"),
        "failed": outcomes.count("failed"),
        "errors": outcomes.count("error"),
        "unchecked": outcomes.count("unchecked"),
    }


def file_object(file: FileResult) -> dict[str, Any]:
    return {
        "path": file.path,
        "status": file.status,
        "failing": bool(file.failing),
        "expected": file.expected,
        "met": None if file.met is None else bool(file.met),
        "seconds": encode.number(file.seconds),
        "targets": [_target(target) for target in file.targets],
        "functions": [_function(function) for function in file.functions],
        "asserts": [_assert(item) for item in file.asserts],
        "error": None if file.error is None else error_object(file.error),
    }


def _target(target: TargetResult) -> dict[str, Any]:
    return {
        "output": target.output,
        "line": target.line,
        "shape": [int(n) for n in target.shape],
        "value": encode.array(target.value),
        "value_ulps": encode.number(target.value_ulps),
        "grad_outputs": encode.array(target.grad_outputs),
        "order": target.order,
        "status": target.status,
        "failing": bool(target.failing),
        "evaluations": int(target.evaluations),
        "method": {"symbolic": target.symbolic, "finite_difference": target.finite_difference},
        "inputs": [_input(item) for item in target.inputs],
        "blame": None if target.blame is None else _blame(target.blame),
        "notes": [_note(note) for note in target.notes],
    }


def _input(item: InputResult) -> dict[str, Any]:
    return {
        "name": item.name,
        "line": item.line,
        "shape": [int(n) for n in item.shape],
        "status": item.status,
        "claimed": encode.array(item.claimed),
        "autograd": encode.array(item.autograd),
        "symbolic": encode.array(item.symbolic),
        "finite_difference": encode.array(item.finite_difference),
        "fd_error": encode.array(item.fd_error),
        "verdicts": encode.array(item.verdicts),
        "max_abs_error": encode.number(item.max_abs_error),
        "max_rel_error": encode.number(item.max_rel_error),
        "max_ulps": encode.number(item.max_ulps),
        "formula": item.formula,
    }


def _blame(blame: Blame) -> dict[str, Any]:
    return {"line": blame.line, "column": blame.column, "function": blame.function, "why": blame.why}


def _note(note: Note) -> dict[str, Any]:
    return {"kind": note.kind, "line": note.line, "message": note.message}


def _function(function: FunctionResult) -> dict[str, Any]:
    return {
        "name": function.name,
        "line": function.line,
        "status": function.status,
        "failing": bool(function.failing),
        "why": function.why,
    }


def _assert(item: AssertResult) -> dict[str, Any]:
    return {"line": item.line, "status": item.status, "message": item.message}
