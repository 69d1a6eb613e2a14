"""What a check found, as plain data: what `check` computes and every report writes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from gradcli.errors import GradcliError

if TYPE_CHECKING:
    import numpy as np

Verdict = Literal["pass", "kink", "unstable", "nan", "unchecked", "fail"]
Status = Literal["pass", "kink", "unstable", "nan", "unchecked", "fail", "error"]


@dataclass
class Note:
    """Something that the reader of a report should know; `kind` is a stable word ("stop-gradient", "kink", ...)."""

    kind: str
    message: str
    line: int | None = None


@dataclass
class Blame:
    """The guilty node: a user Function's class name or a graph node's name, its place, and what is wrong with it."""

    line: int | None
    column: int | None
    function: str | None
    why: str


@dataclass
class Sweep:
    """How well plain central differences along one direction agree, at each relative step, with a gradient.

    Relative errors: of the `judged` gradient (autograd's, or the claimed one) and of the `symbolic` one, None without it.
    """

    steps: np.ndarray
    judged: np.ndarray
    symbolic: np.ndarray | None


@dataclass
class InputResult:
    """One leaf of one target. All arrays have the shape of the gradient (for a Jacobian: output shape + leaf shape).

    `verdicts` is an object array of verdict words; `failing` a bool array: the elements that count as failures.
    `error` is the error in units of the bar that decided, `ulps` the distance from the exact value in units of the last place.
    """

    name: str
    line: int | None
    shape: tuple[int, ...]
    status: Verdict
    autograd: np.ndarray
    symbolic: np.ndarray | None
    finite_difference: np.ndarray | None
    fd_error: np.ndarray | None
    verdicts: np.ndarray
    failing: np.ndarray
    error: np.ndarray
    ulps: np.ndarray | None = None
    claimed: np.ndarray | None = None
    max_abs_error: float = 0.0
    max_rel_error: float = 0.0
    max_ulps: float | None = None
    formula: str | None = None
    sweep: Sweep | None = None


@dataclass
class TargetResult:
    """One gradient that was judged: the output, its grad_outputs, and every leaf."""

    output: str
    line: int | None
    shape: tuple[int, ...]
    value: np.ndarray
    grad_outputs: np.ndarray | None
    order: int
    status: Verdict
    failing: bool
    symbolic: str
    """"closed-form", "per-node", "directional" or "none: why"."""
    finite_difference: str
    """"full", "directional" or "none: why"."""
    inputs: list[InputResult]
    blame: Blame | None = None
    notes: list[Note] = field(default_factory=list)
    value_ulps: float | None = None
    """How far the value is from the exact one, in units of its last place; None where nobody knows."""
    evaluations: int = 0
    """How often the program was evaluated for differences."""


@dataclass
class FunctionResult:
    """A user Function checked alone."""

    name: str
    line: int | None
    status: Verdict
    failing: bool
    why: str | None = None


@dataclass
class AssertResult:
    """An `assert` of the file."""

    line: int
    status: Literal["pass", "fail"]
    message: str


@dataclass
class FileResult:
    """All that was found in one file. `error` is set when it could not be read, parsed or run to its end."""

    path: str
    status: Status
    failing: bool
    targets: list[TargetResult] = field(default_factory=list)
    functions: list[FunctionResult] = field(default_factory=list)
    asserts: list[AssertResult] = field(default_factory=list)
    error: GradcliError | None = None
    source: Any = None
    """The `syntax.Source`, for excerpts; None when the file could not be read."""
    expected: str | None = None
    met: bool | None = None
    seconds: float = 0.0
    picture: str | None = None
    """The graph of the file as SVG, for a report that shows it."""

    def brief(self) -> FileResult:
        """The same without what is inside, where the file passed: for reports that leave it out."""
        return replace(self, targets=[], functions=[], asserts=[]) if self.outcome == "passed" else self

    @property
    def outcome(self) -> Literal["passed", "failed", "error", "unchecked"]:
        """How the summary counts the file; a met expectation counts as passed."""
        if self.expected is not None:
            return "passed" if self.met else "failed"
        if self.status == "error":
            return "error"
        if self.failing:
            return "failed"
        return "unchecked" if self.status == "unchecked" else "passed"


@dataclass
class CheckResult:
    """One call of `gradcli check`."""

    files: list[FileResult]
    seed: int = 0
    version: str = ""
