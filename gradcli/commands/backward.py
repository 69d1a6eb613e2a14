"""`gradcli backward FILE`: what `output.backward(grad_outputs)` accumulates in every `.grad`."""

from __future__ import annotations

from typing import Annotated

import typer

from gradcli.commands import options, terminal
from gradcli.commands.inputs import read
from gradcli.commands.output import emit
from gradcli.commands.telling import telling
from gradcli.errors import ExitStatus
from gradcli.interpreter.limits import Limits

FormatOption = Annotated[str, typer.Option("--format", metavar="FORMAT", help="text or json.")]


def backward(
    file: options.File,
    output: options.Output = None,
    grad_outputs: options.GradOutputs = None,
    seed: options.Seed = 0,
    set: options.Set = None,
    format: FormatOption = "text",
    out: options.Out = None,
    verbose: options.Verbose = False,
    limits: Limits = Limits(),
) -> ExitStatus:
    """Print every .grad after output.backward().

    The call is weighted by --grad-outputs. Every .grad is empty before, whatever the file itself has accumulated.
    """
    overrides = dict(options.assignments(set))
    source = read(file, limits)

    from gradcli.commands import derivatives, selection
    from gradcli.report.grads import Gradients, writer

    render = writer(format)
    with telling(source):
        done = selection.run(source, seed=seed, overrides=overrides, limits=limits)
        chosen = selection.select(done, output, None, grad_outputs)
        grads = derivatives.accumulated(chosen)
    weights = None if chosen.grad_outputs is None else chosen.grad_outputs.value
    found = Gradients("backward", source.path, chosen.name, weights, 1, grads)
    view = terminal.view(options.Color.NEVER, verbose=verbose, to_file=out is not None)
    emit(render(found, view), out, machine=format == "json")
    return ExitStatus.PASSED
