"""What a program starts from: the same options for every command that runs a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradcli.commands import inputs, options
from gradcli.interpreter.limits import Limits

if TYPE_CHECKING:
    from gradcli.interpreter import Run
    from gradcli.syntax import Source


@dataclass(frozen=True)
class Start:
    """`set` holds NAME=EXPR as they stand on the command line."""

    seed: options.Seed = 0
    set: options.Set = None
    data: options.Data = None
    limits: Limits = field(default_factory=Limits)

    @property
    def overrides(self) -> tuple[tuple[str, str], ...]:
        """The values that are set, as (name, expression). Raises UsageError for what is no assignment."""
        return options.assignments(self.set)

    def read(self, path: str) -> Source:
        """The text of a file. Whatever is wrong with the options is told before."""
        _ = self.overrides
        return inputs.read(path, self.limits, self.data)

    def run(self, source: Source, **options: Any) -> Run:
        """One run of a file; what ends it early is in the result. `options` are those of `run_file`."""
        from gradcli.interpreter import run_file

        return run_file(source, seed=self.seed, overrides=dict(self.overrides), limits=self.limits, data=self.data, **options)
