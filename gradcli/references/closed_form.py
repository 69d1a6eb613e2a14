"""Closed-form derivatives: the trace replayed on formulas, one real symbol for each element of each leaf."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import Record
from gradcli.references.difference import as_float
from gradcli.references.estimate import NoAnswer
from gradcli.references.formula import Formula, apply, expression, readable
from gradcli.references.path import Path

MOST = 400
"""Derivatives that are written out."""

BITS_PER_DIGIT = 3.32

SIMPLIFIED = 25
"""A formula with more operations is only factored: SymPy's simplify can take minutes."""


@dataclass(eq=False)
class Leaf:
    """A leaf with its symbols, in its shape."""

    name: str
    symbols: np.ndarray
    values: np.ndarray


@dataclass
class ClosedForm:
    """The output and its derivatives as formulas of every leaf.

    `output` has the output's shape, or () when it is weighted; `derivatives` for each leaf an object array of that shape
    + the leaf's (as often as the order says). `branches` says where the formula holds only on the branch of the point.
    """

    leaves: list[Leaf]
    wrt: list[Leaf]
    output: np.ndarray
    derivatives: dict[str, np.ndarray]
    branches: list[str]

    def point(self) -> dict[Any, float]:
        """The symbols with their values."""
        return {s: float(v) for leaf in self.leaves for s, v in zip(leaf.symbols.flat, leaf.values.flat, strict=True)}


def closed_form(
    output: Tensor, leaves: Mapping[str, Tensor], wrt: Sequence[str], weights: np.ndarray | None = None, order: int = 1
) -> ClosedForm:
    """d(output)/d(leaf) as formulas, for the leaves named in `wrt`; a higher order is the Jacobian of the derivative before.

    Raises NoAnswer where there is none: an operation without a symbolic form, a formula too large.
    """
    if output.own_record is None:
        raise NoAnswer("the output does not depend on a leaf in a way that can be followed")
    if np.iscomplexobj(output.value):
        raise NoAnswer("the output is not real")
    # Before any formula is made: those of thousands of elements take SymPy minutes.
    rows = 1 if weights is not None else math.prod(output.shape)
    count = rows * sum(math.prod(leaves[name].shape) ** order for name in leaves if name in wrt)
    if count > MOST:
        raise NoAnswer(f"{count} derivatives, and {MOST} are the most that are written out: choose with --output, --wrt or --grad-outputs")
    records = records_of(output.own_record, leaves)
    symbols = [Leaf(name, symbols_of(name, leaf.shape), np.asarray(leaf.value, dtype=float)) for name, leaf in leaves.items()]
    path = Path(output.own_record, [records[name] for name in leaves])
    branches: dict[str, None] = {}
    with np.errstate(all="ignore"):
        made = path.replay([[lifted(leaf)] * len(records[leaf.name]) for leaf in symbols], stepper(branches), constant)
    formulas = np.asarray(made, dtype=object)
    terms = np.array([readable(expression(f)) for f in formulas.flat], dtype=object).reshape(formulas.shape)
    if weights is not None:
        weighted = [expression(float(w)) * t for w, t in zip(weights.flat, terms.flat, strict=True)]
        terms = np.asarray(sympy.Add(*weighted), dtype=object)
    chosen = [leaf for leaf in symbols if leaf.name in wrt]
    made = ClosedForm(symbols, chosen, terms, {leaf.name: derivative(terms, leaf, order) for leaf in chosen}, list(branches))
    for array in (made.output, *made.derivatives.values()):
        refuse_long_numbers(array)
    return made


def refuse_long_numbers(array: np.ndarray) -> None:
    """Raises NoAnswer for a number that Python does not write out."""
    most = sys.get_int_max_str_digits()
    numbers = (number for expr in array.flat for number in sympy.sympify(expr).atoms(sympy.Rational))
    if most and any(max(abs(int(x.p)), int(x.q)).bit_length() > BITS_PER_DIGIT * most for x in numbers):
        raise NoAnswer(f"a number in it has more than {most} digits")


def records_of(output: Record, leaves: Mapping[str, Tensor]) -> dict[str, list[Record]]:
    """The records of each leaf below an output."""
    found: dict[str, list[Record]] = {
        name: [leaf.own_record] if leaf.node is not None and leaf.own_record else [] for name, leaf in leaves.items()
    }
    names = {id(leaf): name for name, leaf in leaves.items()}
    seen, stack = {id(output)}, [output]
    while stack:
        record = stack.pop()
        if record.op is None and id(record.tensor) in names:
            found[names[id(record.tensor)]].append(record)
        for item in record.inputs:
            if isinstance(item, Record) and id(item) not in seen:
                seen.add(id(item))
                stack.append(item)
    for name, records in found.items():
        if any(not np.array_equal(r.value, records[0].value, equal_nan=True) for r in records):
            raise NoAnswer(f"{name} is changed between two uses")
        if np.asarray(leaves[name].value).dtype.kind != "f":
            raise NoAnswer(f"{name} is not real")
    return found


def symbols_of(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """`x`, or `w[0]`, `W[0, 1]`: one real symbol an element."""
    out = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        out[index] = sympy.Symbol(name + (f"[{', '.join(map(str, index))}]" if index else ""), real=True)
    return out


def lifted(leaf: Leaf) -> Any:
    """The leaf as formulas."""
    out = np.empty(leaf.symbols.shape, dtype=object)
    for index in np.ndindex(out.shape):
        out[index] = Formula(leaf.symbols[index], float(leaf.values[index]))
    return out if out.shape else out[()]


def constant(value: Any) -> Any:
    return as_float(value)


def stepper(branches: dict[str, None]) -> Callable[[Record, list[Any]], Any]:
    """Applies one record; notes where a branch was taken."""

    def step(record: Record, args: list[Any]) -> Any:
        op = record.op
        assert op is not None
        if op.decides:
            where = f" on line {record.span.line}" if record.span is not None else ""
            branches[f"{op.name}{where}"] = None
        return apply(op, tuple(args), record.decision)

    return step


def derivative(terms: np.ndarray, leaf: Leaf, order: int) -> np.ndarray:
    """The derivative of each term by each element of a leaf."""
    for _ in range(order):
        out = np.empty(terms.shape + leaf.symbols.shape, dtype=object)
        for row in np.ndindex(terms.shape):
            for column in np.ndindex(leaf.symbols.shape):
                out[row + column] = sympy.diff(terms[row], leaf.symbols[column])
        terms = out
    return np.array([simplest(term) for term in terms.flat], dtype=object).reshape(terms.shape)


def simplest(expr: Any) -> Any:
    """The shortest of a few equal forms."""
    forms = [expr, sympy.factor_terms(expr)]
    if expr.count_ops() <= SIMPLIFIED:
        forms.append(sympy.simplify(expr))
    return min(forms, key=lambda form: form.count_ops())


def evaluated(array: np.ndarray, point: Mapping[Any, float], digits: int = 50) -> np.ndarray:
    """Formulas at a point, as floats; NaN where SymPy finds no real number."""
    substitution = {s: sympy.Float(v, digits) for s, v in point.items()}
    out = np.empty(array.shape)
    flat = out.reshape(-1)
    for k, expr in enumerate(array.flat):
        try:
            value = sympy.N(sympy.sympify(expr).xreplace(substitution), digits)
            flat[k] = float(sympy.oo if value is sympy.zoo else value)
        except (TypeError, ValueError, ArithmeticError):  # outside of its domain
            flat[k] = np.nan
    return out
