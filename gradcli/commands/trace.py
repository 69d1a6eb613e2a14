"""`gradcli trace FILE`: the backward pass, step by step."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from gradcli.commands import options, terminal
from gradcli.commands.inputs import read
from gradcli.commands.output import emit
from gradcli.commands.telling import telling
from gradcli.errors import ExitStatus
from gradcli.interpreter.limits import Limits


class TraceFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[TraceFormat, typer.Option("--format", help="json has every step in full.")]


def trace(
    file: options.File,
    output: options.Output = None,
    grad_outputs: options.GradOutputs = None,
    seed: options.Seed = 0,
    set: options.Set = None,
    format: FormatOption = TraceFormat.TEXT,
    out: options.Out = None,
    verbose: options.Verbose = False,
    limits: Limits = Limits(),
) -> ExitStatus:
    """Follow the backward pass step by step.

    For each node: the gradient that comes in, the local derivative and its value, the gradients that go out, and their
    norms. Where gradients vanish, explode or stop being finite, the step at which it begins is named.
    """
    overrides = dict(options.assignments(set))
    source = read(file, limits)

    from gradcli.commands import derivatives, selection
    from gradcli.engine.roots import root_gradient
    from gradcli.graph import observe, passes, passes_text
    from gradcli.graph.build import Builder

    with telling(source):
        done = selection.run(source, seed=seed, overrides=overrides, limits=limits)
        chosen = selection.select(done, output, None, grad_outputs)
        builder = Builder([(chosen.name, chosen.output)], done.scope, source, done.tracer)
        with derivatives.passes(chosen):
            weights = root_gradient(chosen.output, chosen.grad_outputs, 0)
            steps = observe.watch([chosen.output], [weights])
        given = None if chosen.grad_outputs is None else chosen.grad_outputs.value
        found = passes.backward_pass(builder.graph(steps), builder, steps, given)
    if format is TraceFormat.JSON:
        emit(passes_text.document(found), out, machine=True)
        return ExitStatus.PASSED
    view = terminal.view(options.Color.NEVER, to_file=out is not None)
    emit(passes_text.render(found, width=view.width, ascii_only=not view.unicode, everything=verbose), out)
    return ExitStatus.PASSED
