"""What a program prints: collected, and written to a stream as it comes."""

from __future__ import annotations

from typing import Any, Protocol

from gradcli.interpreter.meter import Meter
from gradcli.interpreter.text import text


class Writable(Protocol):
    """What text can be written to."""

    def write(self, text: str, /) -> Any: ...


class Printer:
    """The `print` of a run."""

    def __init__(self, meter: Meter, stream: Writable | None) -> None:
        self.meter = meter
        self.stream = stream
        self.parts: list[str] = []

    def __call__(self, *values: Any, sep: Any = " ", end: Any = "\n", flush: Any = False) -> None:
        """print(*values, sep=' ', end='\\n'); a file to print to is not in the language."""
        shown = self.separator("sep", sep, " ").join([text(self.meter, value) for value in values])
        self.write(shown + self.separator("end", end, "\n"))

    def separator(self, name: str, given: Any, default: str) -> str:
        if given is not None and not isinstance(given, str):
            raise TypeError(f"{name} must be None or a string, not {type(given).__name__}")
        return default if given is None else given

    def write(self, shown: str) -> None:
        self.meter.printed += len(shown)
        if self.meter.printed > self.meter.limits.output:
            raise self.meter.reached("output")
        self.meter.spend(len(shown) >> 6)
        self.parts.append(shown)
        if self.stream is not None:
            self.stream.write(shown)

    @property
    def printed(self) -> str:
        return "".join(self.parts)
