"""One file to check, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gradcli.errors import LimitError

if TYPE_CHECKING:
    from gradcli.check.options import CheckOptions
    from gradcli.check.result import FileResult
    from gradcli.syntax.source import Source

ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""How the libraries below NumPy are told to work alone."""


@dataclass(frozen=True)
class Bounds:
    """What one file may take: seconds by the clock on the wall, and millions of bytes beside those of gradcli itself."""

    timeout: float | None = None
    memory: int | None = None

    @property
    def given(self) -> bool:
        return self.timeout is not None or self.memory is not None

    @property
    def tight(self) -> bool:
        """So narrow that importing SymPy, which some files need, would count."""
        return (self.timeout is not None and self.timeout < 20) or (self.memory is not None and self.memory < 500)

    def out_of_time(self) -> Killed:
        return Killed(f"limit reached: {self.timeout:g} seconds (--timeout {self.timeout:g})", hint="raise it with --timeout SECONDS")

    def out_of_memory(self) -> Killed:
        return Killed(f"limit reached: {self.memory} MB of memory (--memory {self.memory})", hint="raise it with --memory MB")


class Killed(LimitError):
    """The process that checked a file was ended from outside, or ended itself: the file must not be run anywhere else."""


@dataclass(frozen=True)
class Task:
    """`path` is the one asked for; the source has the one that reports show. `brief`: nobody looks into a result where all is well."""

    path: str
    source: Source
    options: CheckOptions
    bounds: Bounds = Bounds()
    brief: bool = False


@dataclass
class Outcome:
    """`reads`: what the program loaded; `bug`: a fault of ours, instead of a result."""

    result: FileResult | None = None
    bug: Bug | None = None
    reads: dict[tuple[str, str], str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Bug:
    type: str
    message: str
    traceback: str
