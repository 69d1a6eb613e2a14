"""`gradcli trace FILE`: the backward pass, step by step."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from gradcli.commands import options
from gradcli.commands.look import Look
from gradcli.commands.start import Start
from gradcli.commands.telling import telling
from gradcli.errors import ExitStatus


class TraceFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


FormatOption = Annotated[TraceFormat, typer.Option("--format", help="json has every step in full.")]


def trace(
    file: options.File,
    output: options.Output = None,
    wrt: options.Wrt = None,
    grad_outputs: options.GradOutputs = None,
    start: Start = Start(),
    format: FormatOption = TraceFormat.TEXT,
    look: Look = Look(),
) -> ExitStatus:
    """Follow the backward pass step by step.

    For each node: the gradient that comes in, the local derivative and its value, the gradients that go out, and their
    norms. Where gradients vanish, explode or stop being finite, the step at which it begins is named. With --wrt only the
    nodes on the way to that leaf.
    """
    source = start.read(file)

    from gradcli.commands import derivatives, selection
    from gradcli.engine.roots import root_gradient
    from gradcli.graph import observe, passes, passes_text
    from gradcli.graph.build import Builder
    from gradcli.graph.options import unpainted
    from gradcli.report.text import paint

    with telling(source, look, start.limits):
        done = selection.run(source, start, look)
        chosen = selection.select(done, output, wrt, grad_outputs)
        builder = Builder([(chosen.name, chosen.output)], done.scope, source, done.tracer)
        with derivatives.passes(chosen):
            weights = root_gradient(chosen.output, chosen.grad_outputs, 0)
            steps = observe.watch([chosen.output], [weights])
        given = None if chosen.grad_outputs is None else chosen.grad_outputs.value
        graph = builder.graph(steps)
        found = passes.backward_pass(selection.narrowed(graph, builder, chosen) if wrt else graph, builder, steps, given)
    if format is TraceFormat.JSON:
        look.emit(passes_text.document(found), machine=True)
        return ExitStatus.PASSED
    view = look.view
    painted = paint if view.color else unpainted
    look.emit(passes_text.render(found, width=view.width, ascii_only=not view.unicode, everything=view.verbose, paint=painted))
    return ExitStatus.PASSED
