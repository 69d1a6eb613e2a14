"""`gradcli grad FILE`: d(output)/d(wrt), as `autograd.grad` computes it."""

from __future__ import annotations

from typing import Annotated

from gradcli.commands import options
from gradcli.commands.look import Look
from gradcli.commands.start import Start
from gradcli.commands.telling import telling
from gradcli.errors import ExitStatus

FormatOption = Annotated[str, options.format_option(("text", "json"), "text (the default) or json.")]


def grad(
    file: options.File,
    output: options.Output = None,
    wrt: options.Wrt = None,
    grad_outputs: options.GradOutputs = None,
    order: options.Order = None,
    start: Start = Start(),
    format: FormatOption = "text",
    look: Look = Look(),
) -> ExitStatus:
    """Print d(output)/d(wrt).

    The gradient is weighted by --grad-outputs. Without options: the last variable that requires grad, with respect to
    every leaf that does. A higher order is the Jacobian of the derivative before: the Hessian for order 2.
    """
    source = start.read(file)

    from gradcli.commands import derivatives, selection
    from gradcli.report.grads import Gradients, writer

    render = writer(format)
    with telling(source, look, start.limits):
        done = selection.run(source, start, look)
        chosen = selection.select(done, output, wrt, grad_outputs)
        grads = {name: derivatives.gradient(chosen, leaf, order or 1) for name, leaf in chosen.leaves.items()}
    weights = None if chosen.grad_outputs is None else chosen.grad_outputs.value
    found = Gradients("grad", source.path, chosen.name, weights, order or 1, grads)
    look.emit(render(found, look.view), machine=format == "json")
    return ExitStatus.PASSED
