"""Warnings of a run, as PyTorch gives them: on standard error, once a place."""

from __future__ import annotations

from dataclasses import dataclass

from gradcli.engine.mode import state
from gradcli.errors import Span
from gradcli.interpreter.printing import Writable
from gradcli.syntax.source import Source


@dataclass(frozen=True)
class ProgramWarning:
    """A warning: the name of its class, its text and its place."""

    category: str
    message: str
    span: Span | None


class Warner:
    """Collects the warnings of a run and writes each to a stream, if there is one."""

    def __init__(self, source: Source, stream: Writable | None) -> None:
        self.source = source
        self.stream = stream
        self.warnings: list[ProgramWarning] = []
        self.seen: set[tuple[str, int | None]] = set()

    def warn(self, message: str, category: type[Warning]) -> None:
        span = state.span
        place = (message, span.line if span else None)
        if place in self.seen:
            return
        self.seen.add(place)
        self.warnings.append(ProgramWarning(category.__name__, message, span))
        if self.stream is not None:
            where = f"{self.source.path}:{span.line}" if span else self.source.path
            self.stream.write(f"{where}: {category.__name__}: {message}\n")
