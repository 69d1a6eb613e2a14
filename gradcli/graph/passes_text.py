"""The steps of a backward pass as text: a table where it fits, else a block for each step; and as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from gradcli.graph import numbertext
from gradcli.graph.document import dumped, plain
from gradcli.graph.letters import cells, cut, printable
from gradcli.graph.options import Paint, unpainted
from gradcli.graph.passes import BackwardPass, Handed, PassStep, operand_name

MOST = 60
"""Steps that are shown unless all are asked for."""

WIDE = 80

HEADS = ("step", "node", "line", "incoming", "norm", "local derivative", "value", "outgoing", "norm")
SCHEMA = "gradcli.trace/1"


def render(result: BackwardPass, *, width: int, ascii_only: bool = False, everything: bool = False, paint: Paint = unpainted) -> str:
    """The text; of a long pass its first and last steps, and those with a flag."""
    shown = result.steps if everything else chosen(result.steps)
    table = [HEADS, *(row for step in shown for row in rows(step))]
    widths = [max(cells(row[k]) for row in table) for k in range(len(HEADS))]
    fits = sum(widths) + 2 * (len(widths) - 1) <= width
    lines = list(aligned(table, widths, shown, paint) if fits else blocks(shown, width, paint))
    lines = lines[:-1] if lines and not lines[-1] else lines
    left_out = len(result.steps) - len(shown)
    if left_out:
        lines += ["", f"{left_out} steps between are not shown: --verbose shows all"]
    if result.findings:
        lines += ["", *(paint(line, "nan") for finding in result.findings for line in sentence(printable(finding), width))]
    text = "\n".join(line.rstrip() for line in lines) + "\n"
    return text.replace("…", "...").encode("ascii", "backslashreplace").decode() if ascii_only else text


def sentence(text: str, width: int) -> list[str]:
    """A finding, in several lines on a narrow screen alone: elsewhere it may be looked for with `grep`."""
    return [text] if width >= WIDE else textwrap.wrap(text, max(width, 30), subsequent_indent="  ", break_long_words=False)


def chosen(steps: list[PassStep]) -> list[PassStep]:
    """The first and the last steps of a long pass, and every flag."""
    if len(steps) <= MOST:
        return steps
    half = MOST // 2
    flagged = [step for step in steps[half:-half] if step.flag][: MOST // 2]
    return [*steps[:half], *flagged, *steps[-half:]]


def rows(step: PassStep) -> Iterator[tuple[str, ...]]:
    """A row for each operand of a step."""
    node = step.node
    head = (
        str(step.number), f"{node.id} {cut(printable(node.title), 32)}", str(node.line or ""), short(step.incoming), size(step.norm),
    )  # fmt: skip
    if not step.handed:
        yield (*head, "", "", "into .grad" if node.kind == "leaf" else "nothing", "")
    for k, item in enumerate(step.handed):
        left = head if not k else ("", "", "", "", "")
        yield (*left, cut(derivative(item), 60), short(item.value) if item.value is not None else "", outgoing(item), size(item.norm))


def derivative(item: Handed) -> str:
    """`d sin(c)/d c = cos(c)`."""
    return printable(f"{item.derivative} = {item.formula}" if item.derivative else item.formula)


def outgoing(item: Handed) -> str:
    return f"{printable(cut(operand_name(item.to), 20))}: {short(item.gradient)}"


def short(value: Any) -> str:
    return "none" if value is None else cut(numbertext.summary(value), 28)


def size(norm: float) -> str:
    return f"{norm + 0.0:.3g}"


def aligned(table: list[tuple[str, ...]], widths: list[int], shown: list[PassStep], paint: Paint) -> Iterator[str]:
    """The table, with a line for each flag under its step."""
    flags = {str(step.number): step.flag for step in shown if step.flag}
    pending = ""
    for row in table:
        if row[0] and pending:
            yield paint(f"      ^ {pending}", "nan")
            pending = ""
        pending = flags.get(row[0], pending)
        line = "  ".join(text + " " * (width - cells(text)) for text, width in zip(row, widths, strict=True))
        yield paint(line.rstrip(), "heading") if row is HEADS else line
    if pending:
        yield paint(f"      ^ {pending}", "nan")


def blocks(shown: list[PassStep], width: int, paint: Paint) -> Iterator[str]:
    """A few lines for each step."""
    for step in shown:
        node = step.node
        what = f"({node.id} {printable(node.op or node.kind)}, {f'line {node.line}' if node.line else 'no line'})"
        room = width - 7 - cells(what)
        title = paint(cut(printable(node.title), room if room >= LEAST else width - 5), "heading")
        yield f"{step.number:>3}  {title}  {what}" if room >= LEAST else f"{step.number:>3}  {title}"
        if room < LEAST:
            yield f"     {what}"
        yield from folded("in", f"{short(step.incoming)}  |norm {size(step.norm)}|", width)
        for item in step.handed:
            text = derivative(item)
            if text:
                value = f" = {short(item.value)}" if item.value is not None and short(item.value) != item.formula else ""
                yield from folded("by", f"{cut(text, max(width - 10 - cells(value), 24))}{value}", width)
            yield from folded("out", f"{outgoing(item)}  |norm {size(item.norm)}|", width)
        if not step.handed and node.kind == "leaf":
            yield "     out  into .grad"
        if step.flag:
            yield paint(f"     ^    {step.flag}", "nan")
        yield ""


LEAST = 16
"""A title that had less room stands on a line of its own."""


def folded(label: str, text: str, width: int) -> list[str]:
    """One line of a step, or more where it is too long."""
    line = f"     {label:<3}  {text}"
    if cells(line) <= width:
        return [line]
    return textwrap.wrap(line, max(width, 30), subsequent_indent=" " * 12, break_long_words=False, break_on_hyphens=False)


def document(result: BackwardPass) -> str:
    """The JSON document, a step a line."""
    steps = ",\n".join("  " + dumped(step_data(step)) for step in result.steps)
    head = {
        "schema": SCHEMA, "file": result.graph.path, "output": result.output, "grad_outputs": plain(result.grad_outputs),
        "findings": result.findings,
    }  # fmt: skip
    return f'{dumped(head)[:-1]}, "steps": [\n{steps}\n ]}}\n'


def step_data(step: PassStep) -> dict[str, Any]:
    node = step.node
    return {
        "step": step.number, "node": node.id, "title": node.title, "name": node.name, "op": node.op, "line": node.line,
        "incoming": plain(step.incoming), "norm": plain(step.norm), "flag": step.flag or None,
        "outgoing": [
            {
                "to": item.to.id, "name": item.to.name, "arg": item.position, "derivative": item.derivative or None,
                "formula": item.formula or None, "local": plain(item.value), "gradient": plain(item.gradient), "norm": plain(item.norm),
            }
            for item in step.handed
        ],
    }  # fmt: skip
