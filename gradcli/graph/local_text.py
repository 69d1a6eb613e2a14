"""Local derivatives as a reader writes them: d sin(c)/dc = cos(c), by SymPy; of whole-array operations in a few words."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from gradcli.engine.function import FunctionNode
from gradcli.engine.inplace import CopySlices
from gradcli.engine.node import Node, OperationNode
from gradcli.engine.trace import Record
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Structural
from gradcli.references.pair import holds_complex

MANY = 3
"""So many branches of one operation are told one by one."""

WHOLE = {
    "sum": ("1 for every element",),
    "mean": ("1/{ratio} for every element",),
    "where": ("1 where the condition holds, else 0", "1 where the condition holds, else 0", "1 where it does not hold, else 0"),
    "mm": ("g @ y^T", "x^T @ g"),
    "bmm": ("g @ y^T", "x^T @ g"),
    "mv": ("outer(g, y)", "x^T @ g"),
    "dot": ("g * y", "g * x"),
    "softmax": ("out * (g - sum(g * out))",),
    "log_softmax": ("g - exp(out) * sum(g)",),
    "nll_loss": ("-1/{count} at the labels",),
}  # fmt: skip
"""By operand: what a whole-array operation does to the gradient g."""


def local_derivatives(node: Node, record: Record | None, names: dict[int, str]) -> dict[int, tuple[str, str]]:
    """For each operand: what is differentiated (`d sin(c)/dc`), and the formula."""
    if isinstance(node, FunctionNode):
        return dict.fromkeys(names, ("", f"{node.cls.__name__}.backward"))
    if isinstance(node, CopySlices):
        return dict.fromkeys(names, ("", "the part that was written, or the rest"))
    if not isinstance(node, OperationNode):
        return {}
    if isinstance(node.op, Elementwise) and record is not None and node.op.name not in WHOLE and holomorphic(node.op, record):
        try:
            return elementwise(node.op, record, names)
        except (NotImplementedError, TypeError):  # no form, or none for such operands: truth values
            pass
    return {position: ("", in_words(node, position)) for position in names}


def holomorphic(op: Elementwise, record: Record) -> bool:
    """Whether the operation has a derivative in one symbol an argument: of complex numbers many have none (abs, conj)."""
    values = [item.value if isinstance(item, Record) else item for item in (*record.inputs, record)]
    return type(op).parts is Elementwise.parts or not any(holds_complex(v) for v in values)


def in_words(node: OperationNode, position: int) -> str:
    op = node.op
    words = WHOLE.get(op.name, ())
    if position < len(words):
        edge = node.edges[position]
        shape = edge[0].shapes[edge[1]][0] if edge is not None else ()
        ratio = max(math.prod(shape) // max(math.prod(node.shapes[0][0]), 1), 1)
        return words[position].format(ratio=ratio, count=shape[0] if len(shape) > 1 else 1)
    first = (op.__doc__ or op.name).strip().split("\n")[0].partition(". ")[0].rstrip(".")
    return f"moves elements back: {first}" if isinstance(op, Structural) else f"of {op.name}: {first}"


def elementwise(op: Elementwise, record: Record, names: dict[int, str]) -> dict[int, tuple[str, str]]:
    """SymPy's partial derivatives, for each branch that occurs."""
    import sympy

    symbols, given = operands(sympy, op, record, names)
    decisions = branches(record.decision)
    found = {}
    for position in names:
        forms: dict[str, int] = {}
        left = ""
        for decision, count in decisions:
            chosen = {} if decision is None else {"decision": decision}
            values = given if position < len(given) else []
            expr = sympy.sympify(op.symbolic(sympy, *values, **chosen))
            result = grouped(expr) if len(decisions) == 1 else f"{op.name}({symbols[position]})"
            left = f"d {result}/d {symbols[position]}"
            text = written(short(sympy, sympy.diff(expr, symbols[position])))
            forms[text] = forms.get(text, 0) + count
        found[position] = (left, joined(forms))
    return found


def operands(sympy: Any, op: Elementwise, record: Record, names: dict[int, str]) -> tuple[dict[int, Any], list[Any]]:
    """Symbols for the operands with a gradient; constants as numbers where they are one, else by the argument's name."""
    symbols: dict[int, Any] = {}
    given: list[Any] = []
    by_name: dict[str, Any] = {}
    for position, item in enumerate(record.inputs):
        if position in names:
            symbol = by_name.setdefault(names[position], sympy.Symbol(names[position], real=True))
            if symbol in given:
                symbol = sympy.Symbol(f"{names[position]}'", real=True)
            symbols[position] = symbol
            given.append(symbol)
            continue
        value = item.value if isinstance(item, Record) else item
        given.append(constant(sympy, value, op.arguments[position]))
    return symbols, given


def constant(sympy: Any, value: Any, name: str) -> Any:
    """A constant operand."""
    array = np.asarray(value)
    if array.dtype.kind == "b":
        return bool(array.ravel()[0])
    if array.dtype.kind == "c":
        return sympy.Symbol(name)
    if array.size == 1:
        x = float(array.ravel()[0])
        if np.isfinite(x):
            return sympy.Integer(int(x)) if x == int(x) else sympy.Float(repr(x), 6)
    return sympy.Symbol(name, real=True)


def branches(decision: Any) -> list[tuple[Any, int]]:
    """The distinct decisions of an operation with how often each was taken."""
    if decision is None:
        return [(None, 1)]
    values, counts = np.unique(np.asarray(decision), return_counts=True)
    return [(value.item(), int(count)) for value, count in zip(values, counts, strict=True)][: MANY + 1]


def short(sympy: Any, expr: Any) -> Any:
    """Parameters that came as binary fractions as decimal numbers, and the shorter of two forms."""
    binary = {r: sympy.Float(float(r), 6) for r in expr.atoms(sympy.Rational) if r.q > 1 << 16}
    expr = expr.xreplace(binary)
    return min((expr, sympy.factor_terms(expr)), key=lambda form: form.count_ops())


def written(expr: Any) -> str:
    """The expression as text, without the zeros that SymPy puts behind floats."""
    return re.sub(r"(\d\.\d*?)0+(?!\d)", r"\1", str(expr)).replace(". ", " ").rstrip(".")


def grouped(expr: Any) -> str:
    """In brackets unless it is one function or symbol."""
    text = written(expr)
    return text if expr.is_Function or expr.is_Atom else f"({text})"


def joined(forms: dict[str, int]) -> str:
    """`cos(c)`; where branches differ `1 (2 elements), 0 (1 element)`."""
    if len(forms) == 1:
        return next(iter(forms))
    shown = [f"{text} ({count} element{'' if count == 1 else 's'})" for text, count in list(forms.items())[:MANY]]
    return ", ".join(shown) + (", ..." if len(forms) > MANY else "")
