"""`gradcli graph FILE`: the graph of a program, as text or a picture; and the picture of a check."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from gradcli.commands import options, terminal
from gradcli.commands.look import Look
from gradcli.commands.start import Start
from gradcli.commands.telling import telling
from gradcli.errors import ExitStatus, UsageError

if TYPE_CHECKING:
    from gradcli.check.options import CheckOptions
    from gradcli.check.result import FileResult
    from gradcli.commands.selection import Selection
    from gradcli.graph.formats import Format
    from gradcli.graph.model import Graph
    from gradcli.graph.options import Options


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


class Only(StrEnum):
    FAIL = "fail"
    KINK = "kink"
    NAN = "nan"


FORMATS = ("dot", "svg", "html", "mermaid", "json", "text", "png", "pdf")
"""Those of gradcli.graph.formats, which is not imported for `--help`."""

FormatOption = Annotated[str | None, options.format_option(FORMATS, f"{', '.join(FORMATS)}; else by the suffix of --out, else text.")]
ViewOption = Annotated[
    View | None,
    typer.Option("--view", help="backward: PyTorch's nodes, as torchviz shows them (dot's own default); else both.", show_default=False),
]
StyleOption = Annotated[
    Style | None, typer.Option("--style", help="Of dot. plain: labels as torchviz writes them (its default).", show_default=False)
]
ValuesOption = Annotated[
    Values | None,
    typer.Option("--values", help="How much of values and gradients is shown: a summary, with --verbose all.", show_default=False),
]
SavedOption = Annotated[Saved, typer.Option("--saved", help="Show what is kept for the backward pass.")]
Expand = Annotated[bool, typer.Option("--expand", help="Draw every node, also in loops.")]
MaxNodes = Annotated[int | None, typer.Option("--max-nodes", metavar="N", min=1, help="Draw about N nodes at most.", show_default=False)]
Focus = Annotated[
    list[str] | None,
    typer.Option("--focus", metavar="NAME|LINE", help="Only what is near this variable or line (repeatable).", show_default=False),
]
Up = Annotated[int | None, typer.Option("--up", metavar="N", min=0, help="With --focus: levels of operands.", show_default=False)]
Down = Annotated[int | None, typer.Option("--down", metavar="N", min=0, help="With --focus: levels of consumers.", show_default=False)]
OnlyOption = Annotated[
    Only | None, typer.Option("--only", help="Only nodes of this status, with their way to the output.", show_default=False)
]
Fence = Annotated[bool, typer.Option("--fence", help="Of mermaid: wrapped for Markdown.")]
Torchviz = Annotated[bool, typer.Option("--torchviz", help="Of dot: exactly what torchviz's make_dot gives.")]
Ascii = Annotated[bool, typer.Option("--ascii", help="Of text: no character beyond ASCII.")]


def graph(
    file: options.File,
    output: options.Output = None,
    wrt: options.Wrt = None,
    grad_outputs: options.GradOutputs = None,
    start: Start = Start(),
    format: FormatOption = None,
    view: ViewOption = None,
    style: StyleOption = None,
    values: ValuesOption = None,
    saved: SavedOption = Saved.NONE,
    expand: Expand = False,
    max_nodes: MaxNodes = None,
    focus: Focus = None,
    up: Up = None,
    down: Down = None,
    only: OnlyOption = None,
    fence: Fence = False,
    ascii: Ascii = False,
    torchviz: Torchviz = False,
    look: Look = Look(),
) -> ExitStatus:
    """Draw the graph of a file, with values and gradients.

    With --wrt only the operations on the way to that leaf. A program that fails is drawn as far as it came; the exit
    status is 2 all the same.
    """
    source = start.read(file)

    from gradcli.commands import selection
    from gradcli.graph import formats, ofrun
    from gradcli.graph.options import Options, unpainted
    from gradcli.report.text import paint

    row = formats.choose(format, look.out)
    refuse_terminal(row, look.out)
    here, width = look.view, 100 if look.out is not None else terminal.width(sys.stdout, 100)
    shown = values or (Values.FULL if here.verbose else Values.SUMMARY)
    wanted = Options(
        values=shown.value, saved=saved.value, expand=expand, max_nodes=max_nodes, focus=tuple(focus or ()), up=up, down=down,
        only=only.value if only else None, fence=fence, ascii=ascii or not here.unicode, width=width,
        paint=paint if here.color else unpainted,
    )  # fmt: skip
    wanted = shown_as(wanted, row, view, style)
    with telling(source, look, start.limits):
        done = start.run(source, trace=True)
        if done.error is not None:
            put(ofrun.of_failure(done), row, wanted, look)
            raise done.error
        chosen = selection.select(done, output, wrt, grad_outputs)
        if torchviz:
            look.emit(as_torchviz(chosen, row, saved), machine=True)
            return ExitStatus.PASSED
        drawn = ofrun.of_run(done, chosen.name, chosen.output, chosen.grad_outputs)
        put(selection.narrowed(drawn.graph, drawn.builder, chosen) if wrt else drawn.graph, row, wanted, look)
    return ExitStatus.PASSED


def shown_as(wanted: Options, row: Format, view: View | None, style: Style | None) -> Options:
    """The view and the style where they are not named: DOT as torchviz draws it, everything else as cards with both directions."""
    if row.name == "dot" and style is not Style.CARD and view in (None, View.BACKWARD):
        return wanted.but(view="backward", style="plain")
    return wanted.but(view=(view or View.BOTH).value, style=(style or Style.CARD).value)


def as_torchviz(chosen: Selection, row: Format, saved: Saved) -> str:
    """The DOT of make_dot, with the leaves named."""
    from gradcli.engine.torchviz import make_dot

    if row.name != "dot":
        raise UsageError(f"--torchviz is of --format dot, not {row.name}", hint="leave one of them out", code="G102")
    return make_dot(chosen.output, params=chosen.leaves, show_saved=saved is not Saved.NONE).source


def refuse_terminal(row: Format, out: str | None) -> None:
    if row.by_dot and out is None and sys.stdout.isatty():
        raise UsageError(f"--format {row.name} is no text for a terminal", hint=f"add --out graph.{row.name}", code="G102")


def put(drawn: Graph, row: Format, wanted: Options, look: Look, table: str = "") -> None:
    """Write a graph, and say what it leaves out."""
    from gradcli.graph import formats

    data, notes = formats.written(drawn, row, wanted, table)
    look.emit(data, machine=True)
    for note in notes if row.name != "text" or look.out is not None else ():
        look.note(f"note: {note}")


def put_checked(result: FileResult, settings: CheckOptions, row: Format, look: Look, table: str) -> None:
    """`check --graph OUT`: the graph of a checked file with its result on the nodes."""
    from gradcli.graph.options import Options

    drawn = of_checked(result, settings)
    if drawn is not None:
        put(drawn, row, shown_as(Options(), row, View.BOTH, Style.CARD), look, table)


def picture(result: FileResult, settings: CheckOptions) -> str | None:
    """The same as SVG for a report; None where there is nothing to draw."""
    from gradcli.graph import formats
    from gradcli.graph.options import Options

    try:
        drawn = of_checked(result, settings)
    except UsageError:
        return None
    row = formats.FORMATS["svg"]
    return None if drawn is None else formats.written(drawn, row, shown_as(Options(), row, View.BOTH, Style.CARD))[0].decode("utf-8")


def of_checked(result: FileResult, settings: CheckOptions) -> Graph | None:
    """The graph of one more run of the file, the result on its nodes; None of a file that was not read."""
    from gradcli.commands import selection
    from gradcli.engine.tensor import Tensor
    from gradcli.graph import checked, ofrun
    from gradcli.interpreter import run_file

    if result.source is None:
        return None
    done = run_file(result.source, seed=settings.seed, overrides=dict(settings.set), limits=settings.limits, trace=True, data=settings.data)
    if done.error is not None:
        return ofrun.of_failure(done)
    target = checked.main_target(result)
    try:
        chosen = selection.select(done, target.output if target is not None else settings.output, None, None)
    except UsageError:
        chosen = selection.select(done, None, None, None)
    weights = None if target is None or target.grad_outputs is None else Tensor(target.grad_outputs)
    return checked.merge(ofrun.of_run(done, chosen.name, chosen.output, weights), result, target)
