"""What `gradcli ops NAME` tells of one operation: docstring, our rule, and the derivative as SymPy derives it."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation, View
from gradcli.references.derived import expression
from gradcli.report.operations import SCHEMA, Row, node_of

SAMPLES = 200
MOST_BRANCHES = 4


@dataclass(frozen=True)
class Derivative:
    """By one argument, on one branch: `branch` None where there is but one."""

    argument: str
    branch: str | None
    formula: str


@dataclass(frozen=True)
class Rules:
    """One operation class: the source of its rules, and for elementwise ones what SymPy makes of the definition."""

    cls: type[Operation]
    sources: dict[str, str]
    kinks: str | None
    derivatives: list[Derivative]


def text(row: Row) -> str:
    """The page for people."""
    parts = [row.signature, textwrap.indent(inspect.getdoc(row.function) or "", "    ")]
    alone = len(row.operations) == 1 and row.operations[0].__doc__ == row.function.__doc__
    parts += [section(rules(cls), alone=alone) for cls in row.operations if cls.differentiable]
    return "\n\n".join(parts) + "\n"


def section(found: Rules, *, alone: bool) -> str:
    """What there is to say about one class."""
    cls, lines = found.cls, []
    about = [f"node {node}"] if (node := node_of(cls)) else []
    if issubclass(cls, View) or cls.view:
        about.append("a view: it shares the memory of its argument")
    lines.append(f"{cls.__name__}" + (f" ({', '.join(about)})" if about else ""))
    if not alone:
        lines.append(textwrap.indent(inspect.cleandoc(cls.__doc__ or ""), "    "))
    if found.kinks is not None:
        lines.append(f"    the derivative is a convention where this vanishes: {found.kinks}")
    if found.sources:
        lines.append("    our rule:" if len(found.sources) == 1 else "    our rules:")
        lines += [textwrap.indent(source, "        ") for source in found.sources.values()]
    if found.derivatives:
        lines.append("    as SymPy derives it:")
        lines += [f"        d/d{d.argument} = {d.formula}{f'   ({d.branch})' if d.branch else ''}" for d in found.derivatives]
    return "\n".join(lines)


def json_text(row: Row) -> str:
    """The page for programs."""
    classes = [rules(cls) for cls in row.operations if cls.differentiable]
    return json.dumps({
        "schema": SCHEMA, "name": row.name, "signature": row.signature, "doc": inspect.getdoc(row.function) or "", "nodes": list(row.nodes),
        "operations": [{
            "class": r.cls.__name__, "node": node_of(r.cls) or None, "doc": inspect.cleandoc(r.cls.__doc__ or ""), "kinks": r.kinks,
            "rules": r.sources, "derivatives": [{"argument": d.argument, "branch": d.branch, "formula": d.formula} for d in r.derivatives],
        } for r in classes],
    }, indent=2, ensure_ascii=False) + "\n"  # fmt: skip


def rules(cls: type[Operation]) -> Rules:
    sources = {name: source_of(getattr(cls, name)) for name in rule_names(cls)}
    derived = list(derivatives(cls)) if issubclass(cls, Elementwise) else []
    return Rules(cls, sources, kinks_of(cls), derived)


def rule_names(cls: type[Operation]) -> list[str]:
    """The methods that are rules, in the order of the arguments."""
    wanted = [f"{prefix}{argument}" for argument in cls.arguments for prefix in ("d_", "vjp_")]
    return [name for name in [*wanted, "vjp_item"] if hasattr(cls, name)]


def source_of(method: Any) -> str:
    """A method as it stands in the source, without what indents it."""
    return textwrap.dedent(inspect.getsource(method)).rstrip()


def kinks_of(cls: type[Operation]) -> str | None:
    """What vanishes at the kinks, as it stands in the source; None for an operation without."""
    if cls.kinks is Operation.kinks:
        return None
    returns = [n for n in ast.walk(ast.parse(source_of(cls.kinks))) if isinstance(n, ast.Return) and n.value is not None]
    return ast.unparse(returns[-1].value) if returns and returns[-1].value is not None else None


def derivatives(cls: type[Elementwise]) -> Iterator[Derivative]:
    """SymPy's derivative of the definition by each argument, on each branch that random points find."""
    op = next((op for op in cls.variants()), None)
    if op is None or not isinstance(op, Elementwise):
        return
    for decision in branches(op):
        try:
            form, symbols, extra = expression(op, decision, sympy)
        except (NotImplementedError, TypeError, ValueError, AttributeError):
            return
        plain = {symbol: sympy.Symbol(name, real=True) for name, symbol in zip(cls.arguments, symbols, strict=True)}
        if extra is not None:
            plain[extra] = sympy.Symbol("decision", real=True)
        branch = None if decision is None or isinstance(decision, float) else f"where decide(...) is {decision}"
        for name, symbol in zip(cls.arguments, symbols, strict=True):
            if hasattr(cls, f"d_{name}") or hasattr(cls, f"vjp_{name}"):
                yield Derivative(name, parameters(op, branch), formula(sympy.diff(form, symbol).xreplace(plain)))


def formula(expr: Any) -> str:
    """The formula in Python's spelling; what came from a float is a decimal number again."""
    binary = {r: sympy.Float(repr(float(r))) for r in expr.atoms(sympy.Rational) if r.q > 1 << 16 and r.q & (r.q - 1) == 0}
    return str(sympy.sstr(expr.xreplace(binary)))


def parameters(op: Operation, branch: str | None) -> str | None:
    """With which parameters the formula is meant, and on which branch."""
    given = ", ".join(f"{name}={value!r}" for name, value in op.settings().items())
    return "; ".join(part for part in (given, branch) if part) or None


def branches(op: Elementwise) -> list[Any]:
    """The decisions that the operation takes at random points of its domain: None alone for one without switches."""
    if not op.decides:
        return [None]
    rng, count = np.random.default_rng(0), len(op.arguments)
    domains = [op.domain] * count if np.isscalar(op.domain[0]) else list(op.domain)
    points = [rng.uniform(low, high, SAMPLES) for low, high in domains]
    found = np.unique(np.asarray(op.decide(*points)))
    if found.dtype.kind == "f" and found.size > MOST_BRANCHES:
        return [float(found[0])]
    return [item.item() for item in found[:MOST_BRANCHES]]
