"""`check --format html`: one file that opens from disk, asks the network for nothing and needs no script.

A summary, then a section for each file: tables, blame, notes, plots of error against step, the graph, the source. It is
well-formed XML too. Colours follow the reader's dark or light setting, and only repeat what words say.
"""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Iterator, Sequence
from importlib.resources import files

from gradcli.check.result import CheckResult, FileResult, InputResult, TargetResult
from gradcli.report import numbertext, remarks, rows
from gradcli.report.check_json import summary
from gradcli.report.errors import error_text
from gradcli.report.plot import plot
from gradcli.report.rows import Row
from gradcli.report.text import Line
from gradcli.report.view import View
from gradcli.report.xml import attribute, tag, text

WIDE = View(width=110, unicode=True)
MOST_ROWS = 50


def render(result: CheckResult, view: View) -> str:
    counts = summary(result)
    files_word = f"{counts['files']} file{'' if counts['files'] == 1 else 's'}"
    title = f"gradcli: {files_word}, {counts['passed']} passed, {counts['failed']} failed"
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        '<head><meta charset="utf-8"/><meta name="viewport" content="width=device-width, initial-scale=1"/>',
        '<meta name="color-scheme" content="light dark"/>',
        f"<title>{text(title)}</title><style>{_style()}</style></head>",
        "<body>",
        f"<header><h1>{text(title)}</h1><p>gradcli {text(result.version)}, seed {result.seed}</p></header>",
        "<main>",
        *_overview(result),
        *(part for number, file in enumerate(result.files, 1) for part in _file(file, f"file-{number}", view)),
        "</main>",
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def _style() -> str:
    return files("gradcli.report").joinpath("page.css").read_text(encoding="utf-8")


def _overview(result: CheckResult) -> Iterator[str]:
    yield '<section aria-labelledby="overview"><h2 id="overview">Files</h2>'
    yield "<table><thead>" + _head(("file", "result", "found", "gradients", "largest relative error", "seconds")) + "</thead><tbody>"
    for number, file in enumerate(result.files, 1):
        cells = (file.status, str(sum(len(t.inputs) for t in file.targets)), _largest(file), f"{file.seconds:.2f}")
        link = f'<th scope="row"><a href="#file-{number}">{text(file.path)}</a></th>'
        yield f"<tr>{link}<td>{_badge(file.outcome)}</td>{''.join(tag('td', {}, text(cell)) for cell in cells)}</tr>"
    yield "</tbody></table></section>"


def _head(names: Sequence[str]) -> str:
    return "<tr>" + "".join(f'<th scope="col">{text(name)}</th>' for name in names) + "</tr>"


def _largest(file: FileResult) -> str:
    errors = [item.max_rel_error for target in file.targets for item in target.inputs]
    return numbertext.bar(max(errors)) if errors else "-"


def _badge(word: str) -> str:
    return f'<span class="badge {attribute(word)}">{text(word)}</span>'


def _file(file: FileResult, key: str, view: View) -> Iterator[str]:
    yield f'<section id="{key}" aria-labelledby="{key}-h"><h2 id="{key}-h">{_badge(file.outcome)} {text(file.path)}</h2>'
    if file.expected is not None:
        yield tag("p", {}, text(f"Expected {file.expected}, found {file.status}."))
    if file.error is not None:
        yield tag("pre", {"class": "error"}, text(error_text(file.error, file.path, file.source, 100)))
    for number, target in enumerate(file.targets, 1):
        yield from _target(file, target, f"{key}-{number}", view)
    yield from _lines("User Functions, each checked alone", remarks.function_lines(file, WIDE))
    yield from _lines("Assertions", remarks.assert_lines(file, WIDE))
    yield from _graph(file)
    yield from _source(file)
    yield "</section>"


def _target(file: FileResult, target: TargetResult, key: str, view: View) -> Iterator[str]:
    line = "" if target.line is None else f", line {target.line}"
    shape = "scalar" if not target.shape else f"shape {tuple(target.shape)}"
    yield f'<section class="target" aria-labelledby="{key}"><h3 id="{key}">{text(f"{target.output}{line}, {shape}")}</h3>'
    yield tag("p", {"class": "quiet"}, text(f"symbolic: {target.symbolic}; finite differences: {target.finite_difference}"))
    yield from _table(target, view)
    yield "<ul>"
    for item in target.inputs:
        yield tag("li", {}, *_spans(remarks.verdict_line(target, item)))
        if item.formula is not None:
            yield tag("li", {}, tag("code", {}, text(f"{remarks.derivative(target, item)} = {item.formula}")))
    yield "</ul>"
    yield from _lines("Blame", remarks.blame_lines(target, file, WIDE))
    yield from _notes(target)
    yield from _plots(target, key)
    yield "</section>"


def _table(target: TargetResult, view: View) -> Iterator[str]:
    if not target.inputs:
        return
    shown = rows.rows(target, WIDE, None if view.verbose else MOST_ROWS)
    judged = "claimed" if any(item.claimed is not None for item in target.inputs) else "autograd"
    left_out = rows.count(target) - len(shown)
    more = f", the worst {len(shown)} of {rows.count(target)} elements" if left_out else ""
    yield f"<table><caption>{text(f'The gradient of {target.output}, element by element{more}')}</caption>"
    yield f"<thead>{_head(('leaf', judged, 'symbolic', 'difference ± bar', 'bars', 'ulps', 'verdict'))}</thead><tbody>"
    yield from map(_row, shown)
    yield "</tbody></table>"


def _row(row: Row) -> str:
    label, *numbers, verdict = row.cells
    style = "fail" if row.failing else row.verdict
    cells = "".join(f"<td>{text(cell)}</td>" for cell in numbers)
    return f'<tr class="{style}"><th scope="row">{text(label)}</th>{cells}<td>{text(verdict)}</td></tr>'


def _spans(line: Line) -> list[str]:
    return [tag("span", {"class": style}, text(part)) if style else text(part) for part, style in line if part.strip()]


def _lines(title: str, lines: Iterator[Line]) -> Iterator[str]:
    """Lines of the text report as they are, under a title; nothing where there are none."""
    body = textwrap.dedent("\n".join("".join(part for part, _ in line).rstrip() for line in lines))
    if body:
        yield f"<h4>{text(title)}</h4><pre>{text(body)}</pre>"


def _notes(target: TargetResult) -> Iterator[str]:
    if target.notes:
        yield "<h4>Notes</h4><ul>"
        yield from (tag("li", {}, text(f"{'' if n.line is None else f'line {n.line}: '}{n.message}")) for n in target.notes)
        yield "</ul>"


def _plots(target: TargetResult, key: str) -> Iterator[str]:
    found = [(number, item) for number, item in enumerate(target.inputs, 1) if item.sweep is not None]
    if found:
        yield '<div class="plots">'
        yield from (_plot(target, item, f"{key}-plot-{number}") for number, item in found)
        yield "</div>"


def _plot(target: TargetResult, item: InputResult, key: str) -> str:
    assert item.sweep is not None
    name = remarks.derivative(target, item)
    picture = plot(item.sweep, key, name, "autograd" if item.claimed is None else "the claim")
    caption = f"{name}: how far central differences along one direction are from it, for every step. Right: a V. Wrong: a plateau."
    return f"<figure>{picture}<figcaption>{text(caption)}</figcaption></figure>"


def _graph(file: FileResult) -> Iterator[str]:
    """As an image of its own: its styles and ids stay inside."""
    if file.picture is not None:
        data = base64.b64encode(file.picture.encode("utf-8", "backslashreplace")).decode("ascii")
        described = attribute(f"The graph of {file.path}: operations from the leaves to the output, with the result of the check on each")
        image = f'<img class="graph" alt="{described}" src="data:image/svg+xml;base64,{data}"/>'
        opened = "" if file.outcome == "passed" else ' open="open"'
        yield f"<details{opened}><summary>Graph</summary>{image}</details>"


def _source(file: FileResult) -> Iterator[str]:
    if file.source is not None:
        lines = file.source.text.rstrip("\n").split("\n")
        numbered = "\n".join(f"{number:4}  {line}" for number, line in enumerate(lines, 1))
        yield f"<details><summary>Source</summary><pre>{text(numbered)}</pre></details>"
