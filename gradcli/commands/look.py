"""How a result is shown, and how much is said beside it: the same options for every command that runs a file."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcli.commands import options, terminal
from gradcli.commands.output import emit, say
from gradcli.errors import GradcliError
from gradcli.report.errors import error_text
from gradcli.report.view import View

if TYPE_CHECKING:
    from gradcli.syntax import Source


@dataclass(frozen=True)
class Look:
    """Notes and errors go to standard error, so that standard output carries the result and nothing else."""

    out: options.Out = None
    quiet: options.Quiet = False
    verbose: options.Verbose = False
    color: options.Colors = options.Color.AUTO

    @property
    def view(self) -> View:
        """For whoever reads the result."""
        return terminal.view(self.color, quiet=self.quiet, verbose=self.verbose, to_file=self.out is not None)

    def emit(self, result: str | bytes, *, machine: bool = False) -> None:
        """The result, to where it is to go; what is made for machines is always UTF-8."""
        emit(result, self.out, machine=machine)

    def note(self, text: str) -> None:
        """What a reader should know besides; `--quiet` leaves it out."""
        if not self.quiet:
            say(text)

    def tell(self, error: GradcliError, path: str | None = None, source: Source | None = None) -> None:
        """What went wrong, with its place."""
        color = terminal.wants_color(self.color, sys.stderr)
        say(error_text(error, path, source, terminal.width(sys.stderr), color=color, verbose=self.verbose))
