"""Closed forms for people: pretty text, or LaTeX, with common subexpressions named where that makes them shorter."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from gradcli.references.closed_form import ClosedForm

LONG = 40
"""Formulas with more operations share named parts."""

NARROWEST = 30
"""A formula is drawn below its name where less room is left beside it."""

Paint = Callable[[str, str], str]
"""Gives a text the colours of a style."""


def unpainted(text: str, style: str) -> str:
    return text


@dataclass
class Entry:
    """One line of the result: what is differentiated by what, its formula, its value at the point and autograd's."""

    output: str
    variables: tuple[str, ...]
    expr: Any
    value: float
    autograd: float


def entries(name: str, form: ClosedForm, order: int, values: Mapping[str, np.ndarray], autograd: Mapping[str, np.ndarray]) -> list[Entry]:
    """The derivatives one by one, in the order of the leaves."""
    made = []
    rank = form.output.ndim
    for leaf in form.wrt:
        array = form.derivatives[leaf.name]
        for index in np.ndindex(array.shape):
            place = f"[{', '.join(map(str, index[:rank]))}]" if rank else ""
            own, size = index[rank:], leaf.symbols.ndim
            variables = tuple(str(leaf.symbols[own[k * size : (k + 1) * size]]) for k in range(order))
            made.append(Entry(name + place, variables, array[index], float(values[leaf.name][index]), float(autograd[leaf.name][index])))
    return made


def shared(exprs: list[Any]) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Named parts and the formulas in terms of them; no parts where the formulas are short."""
    if sum(e.count_ops() for e in exprs) <= LONG:
        return [], exprs
    names = (sympy.Symbol(f"t{k}", real=True) for k in range(10**6))
    used = {str(s) for e in exprs for s in e.free_symbols}
    steps, reduced = sympy.cse(exprs, symbols=(n for n in names if str(n) not in used), list=True)
    return steps, reduced


def pretty(output: str, value: Any, found: list[Entry], *, unicode: bool, width: int, whole: bool = False, paint: Paint = unpainted) -> str:
    """`d y / d a = b⋅cos(a⋅b)` in two dimensions, and below it the numbers at the point; `whole`: no part gets a name of its own."""
    exprs = [entry.expr for entry in found]
    steps, exprs = ([], exprs) if whole else shared(exprs)
    lines = []
    if value is not None:
        lines += [*drawn(output, value, unicode, width, paint), ""]
    for symbol, expr in steps:
        lines += drawn(str(symbol), expr, unicode, width, paint)
    if steps:
        lines.append("")
    for entry, expr in zip(found, exprs, strict=True):
        below = " ".join(f"d {variable}" for variable in entry.variables)
        lines += drawn(f"d{power(len(entry.variables))} {entry.output} / {below}", expr, unicode, width, paint)
        number, agreed = f"    = {entry.value:.10g} here,", agreement(entry, paint)
        lines += [f"{number} {agreed}"] if len(number) + len(agreed) < width else [number, f"      {agreed}"]
        lines.append("")
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def power(order: int) -> str:
    return "" if order == 1 else str(order)


def agreement(entry: Entry, paint: Paint) -> str:
    return f"autograd {entry.autograd:.10g}" + ("" if agrees(entry) else f": {paint('DISAGREES', 'fail')}")


def agrees(entry: Entry) -> bool:
    """Is autograd's number that of the formula, but for rounding? Where the formula has no finite value nothing can be said."""
    return not math.isfinite(entry.value) or bool(np.isclose(entry.autograd, entry.value, rtol=1e-5, atol=1e-10, equal_nan=True))


def drawn(name: str, expr: Any, unicode: bool, width: int, paint: Paint) -> Iterator[str]:
    """`name = expr`, the formula in two dimensions where it has fractions or powers."""
    room = width - len(name) - 3
    beside = room >= NARROWEST
    text = sympy.pretty(expr, use_unicode=unicode, num_columns=room if beside else max(width - 4, NARROWEST), wrap_line=True, order="lex")
    rows = text.split("\n")
    middle = baseline(expr, unicode, rows)
    if not beside:
        yield f"{paint(name, 'heading')} ="
    for k, row in enumerate(rows):
        yield (f"{paint(name, 'heading')} = " if k == middle else " " * (len(name) + 3)) + row if beside else f"    {row}"


def baseline(expr: Any, unicode: bool, rows: list[str]) -> int:
    """The row of a formula on which its equals sign stands."""
    from sympy.printing.pretty.pretty import PrettyPrinter

    form = PrettyPrinter({"use_unicode": unicode, "order": "lex"})._print(expr)
    return int(form.baseline) if form.height() == len(rows) else 0


def latex(output: str, value: Any, found: list[Entry]) -> str:
    """An aligned block of equations."""
    steps, exprs = shared([entry.expr for entry in found])
    symbols = {s for expr in [*exprs, *(e for _, e in steps), *([value] if value is not None else [])] for s in expr.free_symbols}
    names = {s: latex_name(str(s)) for s in symbols}
    rows = [f"{latex_name(output)} &= {sympy.latex(value, symbol_names=names)}"] if value is not None else []
    rows += [f"{latex_name(str(s))} &= {sympy.latex(e, symbol_names=names)}" for s, e in steps]
    for entry, expr in zip(found, exprs, strict=True):
        above = rf"\partial{f'^{len(entry.variables)}' if len(entry.variables) > 1 else ''} {latex_name(entry.output)}"
        below = r"\,".join(rf"\partial {latex_name(v)}" for v in entry.variables)
        rows.append(rf"\frac{{{above}}}{{{below}}} &= {sympy.latex(expr, symbol_names=names)}")
    body = " \\\\\n".join(rows)
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n"


GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega"


def latex_name(name: str) -> str:
    """`w[0, 1]` as w_{0,1}; words of several letters upright, Greek ones as letters."""
    base, _, index = name.partition("[")
    found = re.fullmatch(r"([A-Za-z]+?)_?(\d*)", base)
    word, number = (found[1], found[2]) if found else (base.replace("_", r"\_"), "")
    if word.lower() in GREEK.split():
        word = "\\" + word
    elif len(word) > 1 or not word.isascii():
        word = rf"\mathrm{{{word}}}"
    places = ",".join(part for part in (number, index.rstrip("]").replace(", ", ",").replace("][", ",").replace("'", "")) if part)
    return f"{word}_{{{places}}}" if places else word
