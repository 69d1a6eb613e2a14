"""`gradcli backward FILE`: what `output.backward(grad_outputs)` accumulates in every `.grad`."""

from __future__ import annotations

from typing import Annotated

from gradcli.commands import options
from gradcli.commands.look import Look
from gradcli.commands.start import Start
from gradcli.commands.telling import telling
from gradcli.errors import ExitStatus

FormatOption = Annotated[str, options.format_option(("text", "json"), "text (the default) or json.")]


def backward(
    file: options.File,
    output: options.Output = None,
    wrt: options.Wrt = None,
    grad_outputs: options.GradOutputs = None,
    start: Start = Start(),
    format: FormatOption = "text",
    look: Look = Look(),
) -> ExitStatus:
    """Print every .grad after output.backward().

    The call is weighted by --grad-outputs; --wrt names its `inputs`. Every .grad is empty before, whatever the file itself
    has accumulated.
    """
    source = start.read(file)

    from gradcli.commands import derivatives, selection
    from gradcli.report.grads import Gradients, writer

    render = writer(format)
    with telling(source, look, start.limits):
        done = selection.run(source, start, look)
        chosen = selection.select(done, output, wrt, grad_outputs)
        grads = derivatives.accumulated(chosen, alone=bool(wrt))
    weights = None if chosen.grad_outputs is None else chosen.grad_outputs.value
    found = Gradients("backward", source.path, chosen.name, weights, 1, grads)
    look.emit(render(found, look.view), machine=format == "json")
    return ExitStatus.PASSED
