"""The one place where an error becomes text or JSON: place, class, message, code, source line, caret, hint.

net.grad:3:9: NameError: name 'sni' is not defined [G301]
    y = 2 * sni(x)
            ^^^
  hint: did you mean 'sin'?
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from gradcli.errors import GradcliError, SourceErrors, Span, UsageError, builtin_name
from gradcli.report.text import Line, plain, render, shortened

MOST_CALLERS = 5


class Excerpted(Protocol):
    """As much of a `syntax.Source` as a message needs."""

    @property
    def lines(self) -> list[str]: ...

    def excerpt(self, span: Span, width: int = 80) -> str: ...


def error_object(error: GradcliError) -> dict[str, Any]:
    """The error of a file for `--format json`; where a file has several, the first, and the rest as `others`."""
    first, *rest = _each(error)
    return {**_object(first), "others": [_object(item) for item in rest]}


def _object(error: GradcliError) -> dict[str, Any]:
    span = getattr(error, "span", None)
    return {
        "type": error_type(error),
        "kind": getattr(error, "kind", "usage" if isinstance(error, UsageError) else "internal"),
        "code": error.code,
        "message": error.message,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "hint": error.hint,
    }


def error_type(error: GradcliError) -> str:
    """The class that Python or PyTorch raises; of an unreadable file, what the system said."""
    named = getattr(_each(error)[0], "type", None)
    if named:
        return str(named)
    return builtin_name(error.__cause__ or OSError())


def error_text(
    error: GradcliError,
    path: str | None = None,
    source: Excerpted | None = None,
    width: int = 80,
    *,
    color: bool = False,
    verbose: bool = False,
) -> str:
    """Lines for a person, without a newline at the end. `path` is left out for an error of the command line.

    `verbose`: all of a long message, and all the calls that led to it.
    """
    return render((line for item in _each(error) for line in _lines(item, path, source, width, verbose)), color).removesuffix("\n")


def _each(error: GradcliError) -> Sequence[GradcliError]:
    return list(error.errors) if isinstance(error, SourceErrors) and error.errors else [error]


def _lines(error: GradcliError, path: str | None, source: Excerpted | None, width: int, verbose: bool) -> Iterator[Line]:
    span = getattr(error, "span", None)
    head, *more = shortened(error.message.removeprefix(f"{path}: "), verbose=verbose)
    yield [(f"{_place(path, span)}: ", "heading"), (_kind(error, path), "error"), (head + ("" if more else f" [{error.code}]"), "")]
    for number, line in enumerate(more, 1):
        yield plain(f"  | {line}" + (f" [{error.code}]" if number == len(more) else ""))
    if span is not None and source is not None:
        text, carets = source.excerpt(span, width).split("\n")
        yield plain(text)
        yield [(carets, "error")]
        yield from _callers(getattr(error, "callers", ()), source, None if verbose else MOST_CALLERS)
    if error.hint:
        yield [("  hint: ", "hint"), (error.hint, "")]


def _callers(callers: Sequence[Span], source: Excerpted, most: int | None) -> Iterator[Line]:
    """The calls that led to an error inside a function, innermost first."""
    for span in callers[:most]:
        yield plain(f"  called in line {span.line}: {source.lines[span.line - 1].strip()}")
    if most is not None and len(callers) > most:
        yield plain(f"  and {len(callers) - most} more calls (--verbose shows all)")


def _place(path: str | None, span: Span | None) -> str:
    if path is None:
        return "gradcli"
    return path if span is None else f"{path}:{span.line}:{span.column}"


def _kind(error: GradcliError, path: str | None) -> str:
    told = path is None or isinstance(error, UsageError) or not hasattr(error, "type")
    return "error: " if told else f"{error_type(error)}: "


def line_excerpt(source: Excerpted, line: int, column: int | None, width: int = 80) -> str | None:
    """A place of which only the start is known, with carets under the rest of its line; None outside the file."""
    if not 1 <= line <= len(source.lines):
        return None
    text = source.lines[line - 1].rstrip()
    start = column if column is not None else len(text) - len(text.lstrip()) + 1
    return source.excerpt(Span(line, start, line, len(text) + 1), width)
