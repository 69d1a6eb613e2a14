"""The limits of a run: a file from a stranger can neither hang nor exhaust the machine."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from gradcli.errors import LimitError, Span


def limit(default: Any, option: str, meaning: str, most: int | None = None) -> Any:
    return field(default=default, metadata={"option": option, "meaning": meaning, "most": most})


HIGHEST_ORDER = 100
"""Of a derivative. Nobody wants a higher one, and each takes longer than the one before."""


@dataclass(frozen=True)
class Limits:
    """Each with its default; `metadata` holds the option's name, what the limit counts, and the highest that can be had."""

    steps: int = limit(20_000_000, "--max-steps", "steps interpreted: loop rounds, calls, items gone through")
    elements: int = limit(200_000_000, "--max-elements", "elements of tensors held at once")
    tensor_elements: int = limit(50_000_000, "--max-tensor-elements", "elements of one tensor")
    work: int = limit(20_000_000_000, "--max-work", "elementary operations at once: multiplications of matrices, terms of series")
    nesting: int = limit(500, "--max-nesting", "levels of nesting, in the file and in its values")
    recursion: int = limit(1000, "--max-recursion", "calls inside each other")
    integer_bits: int = limit(100_000, "--max-integer-bits", "bits of an integer", most=10_000_000)
    string_length: int = limit(1_000_000, "--max-string-length", "characters of a string")
    output: int = limit(10_000_000, "--max-output", "characters printed")
    file_size: int = limit(2_000_000, "--max-file-size", "bytes of a file")
    seconds: float = limit(60.0, "--max-seconds", "seconds that a file may take")

    def reached(self, name: str, span: Span | None = None) -> LimitError:
        """The error for a limit that was reached."""
        spec = next(f for f in fields(self) if f.name == name)
        value, option = getattr(self, name), spec.metadata["option"]
        return LimitError(f"limit reached: {value} {spec.metadata['meaning']} ({option} {value})", span, hint=f"raise it with {option} N")
