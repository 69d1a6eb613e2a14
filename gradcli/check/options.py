"""What a check is asked to do."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradcli.interpreter.limits import Limits
from gradcli.references import BUDGET


@dataclass(frozen=True)
class CheckOptions:
    """The options of `gradcli check` that decide what is checked and how.

    `output`, `wrt`, `grad_outputs` and `order` replace the targets of the files; `set` holds (name, expression)
    pairs that replace the values of leaves. `symbolic_budget` bounds the scalar operations of the symbolic reference.
    `rtol`, `atol` and `max_ulps` allow more than rounding; `fail_on` holds verdicts that count as failures besides
    "fail" and a NaN where the derivative exists, `strict` all of them. `method` asks one reference alone ("symbolic",
    "fd"). `formulas` and `sweep` ask for what reports may show besides. `data` is the folder that load(...) reads from.
    `configured` names the options that come from a configuration: what a file says itself counts more than those.
    """

    output: str | None = None
    wrt: tuple[str, ...] = ()
    grad_outputs: str | None = None
    order: int | None = None
    seed: int = 0
    set: tuple[tuple[str, str], ...] = ()
    strict: bool = False
    limits: Limits = field(default_factory=Limits)
    symbolic_budget: int = BUDGET
    rtol: float = 0.0
    atol: float = 0.0
    max_ulps: float | None = None
    fail_on: frozenset[str] = frozenset()
    method: str = "all"
    fresh: bool = False
    points: int = 1
    formulas: bool = False
    sweep: bool = False
    data: str | None = None
    configured: frozenset[str] = frozenset()

    def fails(self, verdict: str) -> bool:
        """Whether a verdict counts as a failure by option."""
        return verdict != "pass" and (self.strict or verdict in self.fail_on)

    def relative(self, stated: float | None) -> float:
        """The relative tolerance for a file that may state one itself."""
        return stated if stated is not None and "rtol" in self.configured else max(self.rtol, stated or 0.0)
