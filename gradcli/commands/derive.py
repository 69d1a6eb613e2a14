"""`gradcli derive FILE`: the derivatives as formulas, in pretty text, LaTeX or code."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gradcli.commands import options, terminal
from gradcli.commands.inputs import read
from gradcli.commands.output import emit, say
from gradcli.commands.telling import telling
from gradcli.errors import ExitStatus, GradcliError, UsageError
from gradcli.interpreter.limits import Limits

if TYPE_CHECKING:
    import numpy as np

    from gradcli.commands.selection import Selection
    from gradcli.references.closed_form import ClosedForm
    from gradcli.references.formula_text import Entry


class Code(StrEnum):
    NUMPY = "numpy"
    PYTHON = "python"
    C = "c"


Latex = Annotated[bool, typer.Option("--latex", help="Print LaTeX.")]
CodeOption = Annotated[
    Code | None, typer.Option("--code", help="Print a function of the leaves; it is run against autograd first.", show_default=False)
]


def derive(
    file: options.File,
    output: options.Output = None,
    wrt: options.Wrt = None,
    grad_outputs: options.GradOutputs = None,
    order: options.Order = None,
    latex: Latex = False,
    code: CodeOption = None,
    seed: options.Seed = 0,
    set: options.Set = None,
    out: options.Out = None,
    limits: Limits = Limits(),
) -> ExitStatus:
    """Derive the closed form of every derivative.

    SymPy differentiates what the file computes, on the branches that it takes. Exit status 1 where autograd disagrees.
    """
    if latex and code is not None:
        raise UsageError("--latex and --code exclude each other", hint="choose one", code="G102")
    overrides = dict(options.assignments(set))
    source = read(file, limits)

    from gradcli.commands import selection

    with telling(source):
        done = selection.run(source, seed=seed, overrides=overrides, limits=limits)
        chosen = selection.select(done, output, wrt, grad_outputs)
        form = formulas(chosen, order or 1)
        taken = autograd(chosen, form, order or 1)
        found, wrong = compared(chosen, form, taken, order or 1)
        if code is None:
            text = shown(chosen, form, found, latex, terminal.view(options.Color.NEVER, to_file=out is not None))
        elif wrong is None:
            text = tried_code(chosen, form, taken, code.value)
        else:
            say(f"gradcli: no code is printed: {disagreement(wrong)}")
            return ExitStatus.FAILED
    emit(text, out, machine=code is not None or latex)
    for branch in form.branches:
        say(f"note: valid on the branch that {branch} takes here")
    if wrong is not None:
        say(f"note: {disagreement(wrong)}")
    return ExitStatus.PASSED if wrong is None else ExitStatus.FAILED


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

    from gradcli.check.target import gradient as jacobian
    from gradcli.commands import derivatives

    taken = {}
    for name, leaf in chosen.leaves.items():
        shape = form.derivatives[name].shape
        if order == 1 and form.output.shape:
            with derivatives.passes(chosen):
                found: Any = jacobian(chosen.output, [leaf], None)[0]
        else:
            found = derivatives.gradient(chosen, leaf, order)
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


def shown(chosen: Selection, form: ClosedForm, found: list[Entry], latex: bool, view: Any) -> str:
    """The text for people."""
    from gradcli.references import formula_text

    value = form.output[()] if not form.output.shape else None
    if latex:
        return formula_text.latex(chosen.name, value, found)
    return formula_text.pretty(chosen.name, value, found, unicode=view.unicode, width=view.width)


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
        found = reading.derivative(text, language, name, point)
        if not np.allclose(found.ravel(), taken[leaf.name].ravel(), rtol=1e-5, atol=1e-10, equal_nan=True):
            raise GradcliError(f"no code is printed: run at the point it gives {found}, and autograd {taken[leaf.name]}", code="G110")
    return text
