"""`gradcli graph FILE`: the graph of a program, as text or a picture."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from gradcli.commands import options, terminal
from gradcli.commands.inputs import read
from gradcli.commands.output import emit, say
from gradcli.commands.telling import telling
from gradcli.errors import ExitStatus
from gradcli.interpreter.limits import Limits

if TYPE_CHECKING:
    from gradcli.commands.selection import Selection
    from gradcli.graph.model import Graph


class View(StrEnum):
    FORWARD = "forward"
    BACKWARD = "backward"
    BOTH = "both"


class Style(StrEnum):
    PLAIN = "plain"
    CARD = "card"


class Values(StrEnum):
    NONE = "none"
    SUMMARY = "summary"
    FULL = "full"


class Saved(StrEnum):
    NONE = "none"
    ROWS = "rows"
    NODES = "nodes"


FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="dot, svg, html, mermaid, json, text, png or pdf; else by the suffix of --out, else text.",
        show_default=False,
    ),
]
ViewOption = Annotated[View, typer.Option("--view", help="backward: PyTorch's nodes, as torchviz shows them.")]
StyleOption = Annotated[Style, typer.Option("--style", help="plain: labels as torchviz writes them.")]
ValuesOption = Annotated[Values, typer.Option("--values", help="How much of values and gradients is shown.")]
SavedOption = Annotated[Saved, typer.Option("--saved", help="Show what is kept for the backward pass.")]
Expand = Annotated[bool, typer.Option("--expand", help="Draw every node, also in loops.")]
MaxNodes = Annotated[int | None, typer.Option("--max-nodes", metavar="N", min=1, help="Draw no more nodes.", show_default=False)]
Focus = Annotated[
    list[str] | None, typer.Option("--focus", metavar="NAME", help="Only what is near this node (repeatable).", show_default=False)
]
Up = Annotated[int | None, typer.Option("--up", metavar="N", min=0, help="With --focus: levels of operands.", show_default=False)]
Down = Annotated[int | None, typer.Option("--down", metavar="N", min=0, help="With --focus: levels of consumers.", show_default=False)]


def graph(
    file: options.File,
    output: options.Output = None,
    grad_outputs: options.GradOutputs = None,
    format: FormatOption = None,
    view: ViewOption = View.BOTH,
    style: StyleOption = Style.CARD,
    values: ValuesOption = Values.SUMMARY,
    saved: SavedOption = Saved.NONE,
    expand: Expand = False,
    max_nodes: MaxNodes = None,
    focus: Focus = None,
    up: Up = None,
    down: Down = None,
    seed: options.Seed = 0,
    set: options.Set = None,
    out: options.Out = None,
    limits: Limits = Limits(),
) -> ExitStatus:
    """Draw the graph of a file.

    Its operations, and what the backward pass from its output sends along them.
    """
    overrides = dict(options.assignments(set))
    source = read(file, limits)

    from gradcli.commands import selection
    from gradcli.graph import formats
    from gradcli.graph.options import Options

    row = formats.choose(format, out)
    here = terminal.view(options.Color.NEVER, to_file=out is not None)
    wanted = Options(view.value, style.value, values.value, saved.value, expand, max_nodes, tuple(focus or ()), up, down)
    with telling(source):
        done = selection.run(source, seed=seed, overrides=overrides, limits=limits)
        drawn = built(selection.select(done, output, None, grad_outputs))
        data, notes = formats.written(drawn, row, wanted.but(ascii=not here.unicode, width=max(here.width, 40)))
    emit(data, out, machine=True)
    for note in notes:
        say(f"note: {note}")
    return ExitStatus.PASSED


def built(chosen: Selection) -> Graph:
    """The graph of the chosen output, with the gradients of one backward pass."""
    from gradcli.commands.derivatives import passes
    from gradcli.graph.build import build
    from gradcli.graph.observe import watch

    done = chosen.run
    with passes(chosen):
        steps = watch([chosen.output], None if chosen.grad_outputs is None else [chosen.grad_outputs])
    return build([(chosen.name, chosen.output)], done.scope, done.tree.source, tracer=done.tracer, steps=steps)
