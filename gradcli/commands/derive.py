"""`gradcli derive FILE`: the derivatives as formulas, in pretty text, LaTeX or code."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from gradcli.commands import options
from gradcli.commands.look import Look
from gradcli.commands.output import say
from gradcli.commands.start import Start
from gradcli.commands.telling import telling
from gradcli.errors import ExitStatus, GradcliError, UsageError

if TYPE_CHECKING:
    import numpy as np

    from gradcli.commands.selection import Selection
    from gradcli.references.closed_form import ClosedForm
    from gradcli.references.formula_text import Entry
    from gradcli.report.view import View


class Code(StrEnum):
    NUMPY = "numpy"
    PYTHON = "python"
    C = "c"


class Form(StrEnum):
    TEXT = "text"
    LATEX = "latex"
    JSON = "json"
    NUMPY = "numpy"
    PYTHON = "python"
    C = "c"

    @property
    def is_code(self) -> bool:
        return self.value in tuple(Code)


FormatOption = Annotated[
    Form | None,
    typer.Option("--format", help="numpy, python, c: a function of the leaves, run against autograd first.", show_default=False),
]
Latex = Annotated[bool, typer.Option("--latex", help="The same as --format latex.")]
CodeOption = Annotated[Code | None, typer.Option("--code", help="The same as --format.", show_default=False)]


def derive(
    file: options.File,
    output: options.Output = None,
    wrt: options.Wrt = None,
    grad_outputs: options.GradOutputs = None,
    order: options.Order = None,
    start: Start = Start(),
    format: FormatOption = None,
    latex: Latex = False,
    code: CodeOption = None,
    look: Look = Look(),
) -> ExitStatus:
    """Derive the closed form of every derivative.

    SymPy differentiates what the file computes, on the branches that it takes. Exit status 1 where autograd disagrees.
    """
    form = chosen_form(format, latex=latex, code=code)
    source = start.read(file)

    from gradcli.commands import selection

    with telling(source, look, start.limits):
        done = selection.run(source, start, look)
        chosen = selection.select(done, output, wrt, grad_outputs)
        closed = formulas(chosen, order or 1)
        taken = autograd(chosen, closed, order or 1)
        found, wrong = compared(chosen, closed, taken, order or 1)
        if form.is_code and wrong is not None:
            say(f"gradcli: no code is printed: {disagreement(wrong)}")
            return ExitStatus.FAILED
        text = tried_code(chosen, closed, taken, form.value) if form.is_code else shown(chosen, closed, found, order or 1, form, look.view)
    look.emit(text, machine=form is not Form.TEXT)
    for branch in closed.branches:
        look.note(f"note: valid on the branch that {branch} takes here")
    if wrong is not None:
        say(f"note: {disagreement(wrong)}")
    return ExitStatus.PASSED if wrong is None else ExitStatus.FAILED


def chosen_form(format: Form | None, *, latex: bool, code: Code | None) -> Form:
    """The one form that the options name."""
    named = {item for item in (format, Form.LATEX if latex else None, Form(code.value) if code is not None else None) if item is not None}
    if len(named) > 1:
        raise UsageError(f"{' and '.join(sorted(named))} exclude each other", hint="choose one with --format", code="G102")
    return named.pop() if named else Form.TEXT


def formulas(chosen: Selection, order: int) -> ClosedForm:
    """The closed form; what there is none of is told with the reason."""
    from gradcli.commands import selection
    from gradcli.references.closed_form import closed_form
    from gradcli.references.estimate import NoAnswer

    weights = None if chosen.grad_outputs is None else chosen.grad_outputs.value
    leaves = chosen.leaves
    if all(leaf.is_leaf for leaf in leaves.values()):
        wanted = {id(leaf) for leaf in leaves.values()}
        others = selection.all_leaves(chosen.run, chosen.output)
        leaves = {**{name: leaf for name, leaf in others.items() if id(leaf) not in wanted}, **leaves}
    try:
        return closed_form(chosen.output, leaves, list(chosen.leaves), weights, order)
    except NoAnswer as error:
        raise GradcliError(f"no closed form: {error}", code="G110") from None


def autograd(chosen: Selection, form: ClosedForm, order: int) -> dict[str, np.ndarray]:
    """What autograd gives for each leaf, in the shape of the formulas."""
    import numpy as np

    from gradcli.commands import derivatives

    taken = {}
    for name, leaf in chosen.leaves.items():
        shape = form.derivatives[name].shape
        found = derivatives.gradient(chosen, leaf, 1) if order == 1 and not form.output.shape else derivatives.every(chosen, leaf, order)
        taken[name] = np.zeros(shape) if found is None else np.asarray(found, dtype=float).reshape(shape)
    return taken


def compared(chosen: Selection, form: ClosedForm, taken: dict[str, np.ndarray], order: int) -> tuple[list[Entry], Entry | None]:
    """Every derivative with its number, and the first with which autograd disagrees."""
    from gradcli.references.closed_form import evaluated
    from gradcli.references.formula_text import agrees, entries

    point = form.point()
    values = {name: evaluated(array, point) for name, array in form.derivatives.items()}
    found = entries(chosen.name, form, order, values, taken)
    return found, next((entry for entry in found if not agrees(entry)), None)


def disagreement(entry: Entry) -> str:
    by = " ".join(entry.variables)
    return f"d {entry.output} / d {by}: the formula gives {entry.value:.10g}, autograd {entry.autograd:.10g} (gradcli check tells why)"


def shown(chosen: Selection, closed: ClosedForm, found: list[Entry], order: int, form: Form, view: View) -> str:
    """The formulas themselves, for people and for programs."""
    from gradcli.references import formula_text
    from gradcli.report import formulas_json
    from gradcli.report.text import paint

    value = closed.output[()] if not closed.output.shape else None
    if form is Form.JSON:
        weights = None if chosen.grad_outputs is None else chosen.grad_outputs.value
        return formulas_json.document(chosen.run.tree.source.path, chosen.name, weights, order, value, found, closed.branches)
    if form is Form.LATEX:
        return formula_text.latex(chosen.name, value, found)
    painted = paint if view.color else formula_text.unpainted
    return formula_text.pretty(
        chosen.name, value, found, unicode=view.unicode, width=view.width, whole=view.verbose, paint=painted
    )  # fmt: skip


def tried_code(chosen: Selection, form: ClosedForm, taken: dict[str, np.ndarray], language: str) -> str:
    """The code, after it was read back and gave autograd's numbers."""
    import numpy as np

    from gradcli.references import formula_code, reading

    names = ", ".join(f"d {chosen.name} / d {leaf.name}" for leaf in form.wrt)
    spoken = formula_code.LANGUAGES[language]
    text = formula_code.code(form, spoken, f"{names}.")
    parameters = formula_code.parameter_names(form.leaves, spoken)
    point = dict(zip(parameters, (leaf.values for leaf in form.leaves), strict=True))
    for name, leaf in zip(parameters, form.leaves, strict=True):
        if leaf not in form.wrt:
            continue
        try:
            found = reading.derivative(text, language, name, point)
        except (ValueError, ArithmeticError) as error:
            raise GradcliError(f"no code is printed: run at the point it fails: {error}", code="G110") from error
        if not np.allclose(found.ravel(), taken[leaf.name].ravel(), rtol=1e-5, atol=1e-10, equal_nan=True):
            raise GradcliError(f"no code is printed: run at the point it gives {found}, and autograd {taken[leaf.name]}", code="G110")
    return text
