"""Closed forms as code: a function of the leaves that returns the derivatives, in Python, numpy or C.

What is printed is also read back (`reading`) and evaluated, so that no code leaves that was not tried.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy
from sympy.printing.c import C99CodePrinter
from sympy.printing.codeprinter import PrintMethodNotImplementedError
from sympy.printing.numpy import NumPyPrinter
from sympy.printing.pycode import PythonCodePrinter

from gradcli.errors import UsageError
from gradcli.references.closed_form import ClosedForm, Leaf

SPECIAL = {"erf": "math.erf", "erfc": "math.erfc", "gamma": "math.gamma", "loggamma": "math.lgamma"}
C_WORDS = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register restrict return "
    "short signed sizeof static struct switch typedef union unsigned void volatile while main"
)


class NumpyCode(NumPyPrinter):  # type: ignore[misc]
    """numpy as `np`; what numpy has not comes from `math`."""

    def __init__(self) -> None:
        super().__init__({"user_functions": SPECIAL, "fully_qualified_modules": True})

    def doprint(self, expr: Any) -> str:
        return str(super().doprint(expr)).replace("numpy.", "np.")


def python_printer() -> Any:
    return PythonCodePrinter({"fully_qualified_modules": True})


@dataclass(frozen=True)
class Language:
    """`comment` begins a line that is no code; `index` writes the element of a leaf."""

    name: str
    printer: Callable[[], Any]
    index: Callable[[str, tuple[int, ...], tuple[int, ...]], str]
    write: Callable[[Written], Iterator[str]]
    taken: frozenset[str] = field(default_factory=frozenset)


@dataclass
class Written:
    """The parts of a function: its parameters, (name, formula) steps, and for each leaf the formulas of the result as code."""

    title: str
    leaves: list[tuple[str, Leaf]]
    steps: list[tuple[str, str]]
    results: list[tuple[str, np.ndarray]]


def nested_index(name: str, index: tuple[int, ...], shape: tuple[int, ...]) -> str:
    return name + "".join(f"[{k}]" for k in index)


def numpy_index(name: str, index: tuple[int, ...], shape: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(map(str, index))}]" if index else name


def flat_index(name: str, index: tuple[int, ...], shape: tuple[int, ...]) -> str:
    return f"{name}[{np.ravel_multi_index(index, shape)}]" if index else name


def code(form: ClosedForm, language: Language, title: str) -> str:
    """The source text. Raises UsageError for a function that the language does not have."""
    names = parameter_names(form.leaves, language)
    spelled = {}
    for name, leaf in zip(names, form.leaves, strict=True):
        for index in np.ndindex(leaf.symbols.shape):
            spelled[leaf.symbols[index]] = sympy.Symbol(language.index(name, index, leaf.symbols.shape), real=True)
    arrays = list(form.derivatives.values())
    formulas = [term.xreplace(spelled) for array in arrays for term in array.flat]
    if any(term.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo) for term in formulas):
        raise UsageError(f"--code {language.name}: the formula is not finite", code="G109")
    temporaries = (sympy.Symbol(f"t{k}", real=True) for k in range(10**6) if f"t{k}" not in names)
    steps, reduced = sympy.cse(formulas, symbols=temporaries, list=True)
    printer = language.printer()
    print_one = checked_printer(printer, language)
    texts = iter([print_one(term) for term in reduced])
    wanted = [name for name, leaf in zip(names, form.leaves, strict=True) if leaf in form.wrt]
    results = [(f"d_{name}", filled(array.shape, texts)) for name, array in zip(wanted, arrays, strict=True)]
    written = Written(title, list(zip(names, form.leaves, strict=True)), [(str(s), print_one(e)) for s, e in steps], results)
    return "\n".join(language.write(written)) + "\n"


def filled(shape: tuple[int, ...], texts: Iterator[str]) -> np.ndarray:
    out = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        out[index] = next(texts)
    return out


def checked_printer(printer: Any, language: Language) -> Callable[[Any], str]:
    """SymPy marks what it cannot print by a comment."""

    def print_one(expr: Any) -> str:
        try:
            text = str(printer.doprint(expr))
        except PrintMethodNotImplementedError as error:
            raise UsageError(f"--code {language.name}: no function {str(error).partition(': ')[2].split()[0]}", code="G109") from None
        if "Not supported" in text or "\n" in text:
            which = re.search(r"^\s*(?:#|//) (\w+)$", text, re.MULTILINE)
            raise UsageError(f"--code {language.name}: no function {which[1] if which else 'for a part of the formula'}", code="G109")
        return text

    return print_one


def parameter_names(leaves: list[Leaf], language: Language) -> list[str]:
    """Identifiers for the leaves: `layers[0]` is layers_0, and words of the language get an underscore."""
    names: list[str] = []
    for leaf in leaves:
        name = re.sub(r"\W+", "_", leaf.name).strip("_") or "leaf"
        while name in names or name in language.taken or (language.name == "c" and not name.isascii()):
            name = "leaf" + str(len(names)) if not name.isascii() else name + "_"
        names.append(name)
    return names


# ---- the languages


def write_python(w: Written) -> Iterator[str]:
    yield "import math"
    yield ""
    yield ""
    yield from python_function(w, listed)


def write_numpy(w: Written) -> Iterator[str]:
    body = list(python_function(w, lambda array: f"np.array({listed(array)})" if array.shape else listed(array)))
    if any("math." in line for line in body):
        yield "import math"
        yield ""
    yield "import numpy as np"
    yield ""
    yield ""
    yield from body


def python_function(w: Written, write: Callable[[np.ndarray], str]) -> Iterator[str]:
    yield f"def gradient({', '.join(name for name, _ in w.leaves)}):"
    yield f'    """{w.title}"""'
    for name, text in w.steps:
        yield f"    {name} = {text}"
    for name, array in w.results:
        yield f"    {name} = {write(array)}"
    yield f"    return {', '.join(name for name, _ in w.results)}"


def listed(array: Any) -> str:
    """Nested lists of the texts in an object array."""
    return "[" + ", ".join(listed(part) for part in array) + "]" if np.ndim(array) else str(np.asarray(array)[()])


def write_c(w: Written) -> Iterator[str]:
    inputs = [f"const double *{name}" if leaf.symbols.shape else f"double {name}" for name, leaf in w.leaves]
    outputs = [f"double *{name}" for name, _ in w.results]
    yield "#include <math.h>"
    yield ""
    yield f"/* {w.title.replace('*/', '* /')} Arrays are row by row. */"
    yield f"void gradient({', '.join([*inputs, *outputs])})"
    yield "{"
    for name, text in w.steps:
        yield f"    const double {name} = {text};"
    for name, array in w.results:
        for k, text in enumerate(array.flat):
            yield f"    {name}[{k}] = {text};"
    yield "}"


PYTHON_TAKEN = frozenset({*keyword.kwlist, "math", "np", "gradient"})
LANGUAGES = {
    language.name: language
    for language in (
        Language("python", python_printer, nested_index, write_python, PYTHON_TAKEN),
        Language("numpy", NumpyCode, numpy_index, write_numpy, PYTHON_TAKEN),
        Language("c", C99CodePrinter, flat_index, write_c, frozenset(C_WORDS.split()) | {"gradient"} | frozenset(dir(math))),
    )
}
