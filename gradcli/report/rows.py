"""Which elements of a target a table shows, and in which order: failures first, then by verdict, then by error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.check.result import InputResult, TargetResult, Verdict
from gradcli.report import numbertext
from gradcli.report.view import View

SEVERITY: tuple[Verdict, ...] = ("pass", "kink", "unstable", "nan", "unchecked", "fail")


@dataclass(frozen=True)
class Row:
    """One element of a gradient, as text. `bars` is its error in units of the bar that decided, `ulps` in units of the last place."""

    label: str
    judged: str
    symbolic: str
    finite_difference: str
    bars: str
    ulps: str
    verdict: Verdict
    failing: bool

    @property
    def cells(self) -> tuple[str, ...]:
        verdict = self.verdict.upper() if self.failing else self.verdict
        return (self.label, self.judged, self.symbolic, self.finite_difference, self.bars, self.ulps, verdict)


def count(target: TargetResult) -> int:
    """How many elements the target has in all."""
    return sum(item.verdicts.size for item in target.inputs)


def rows(target: TargetResult, view: View, limit: int | None) -> list[Row]:
    """At most `limit` rows, the worst first."""
    order = [(i, flat) for i, flat in _worst_first(target.inputs)][:limit]
    return [_row(target, target.inputs[i], flat, view) for i, flat in order]


def _worst_first(inputs: Sequence[InputResult]) -> list[tuple[int, int]]:
    """(number of the input, flat index), the worst first; equals stay in order."""
    if not inputs:
        return []
    which = np.concatenate([np.full(item.verdicts.size, i) for i, item in enumerate(inputs)])
    flat = np.concatenate([np.arange(item.verdicts.size) for item in inputs])
    failing = np.concatenate([np.ravel(item.failing) for item in inputs])
    severity = np.concatenate([_severity(item.verdicts) for item in inputs])
    error = np.concatenate([np.nan_to_num(np.ravel(np.asarray(item.error, dtype=float)), nan=np.inf) for item in inputs])
    order = np.lexsort((-error, -severity, ~failing.astype(bool)))
    return [(int(which[k]), int(flat[k])) for k in order]


def _severity(verdicts: np.ndarray) -> np.ndarray:
    words = np.ravel(verdicts)
    ranks = np.zeros(words.size, dtype=int)
    for rank, word in enumerate(SEVERITY):
        ranks[words == word] = rank
    return ranks


def _row(target: TargetResult, item: InputResult, flat: int, view: View) -> Row:
    judged = item.autograd if item.claimed is None else item.claimed
    x, symbolic, difference = _at(judged, flat), _at(item.symbolic, flat), _at(item.finite_difference, flat)
    reference = difference if symbolic is None or not np.isfinite(complex(symbolic)) else symbolic
    agrees = reference is None or np.ravel(item.verdicts)[flat] == "pass"
    digits = numbertext.SHORT if agrees else numbertext.digits_to_tell(x, reference)
    return Row(
        label=label(target, item, flat),
        judged=numbertext.number(x, digits),
        symbolic=numbertext.number(symbolic, digits),
        finite_difference=_with_bar(difference, _at(item.fd_error, flat), digits, view),
        bars="-" if reference is None else numbertext.short(_at(item.error, flat)),
        ulps=numbertext.short(_at(item.ulps, flat)),
        verdict=np.ravel(item.verdicts)[flat],
        failing=bool(np.ravel(item.failing)[flat]),
    )


def _at(values: np.ndarray | None, flat: int) -> Any:
    return None if values is None else np.ravel(values)[flat]


def _with_bar(difference: Any, error: Any, digits: int, view: View) -> str:
    text = numbertext.number(difference, digits)
    return text if difference is None or error is None else f"{text} {view.plus_minus} {numbertext.bar(abs(error))}"


def label(target: TargetResult, item: InputResult, flat: int) -> str:
    """`W[0,2]`; in a Jacobian also which element of the output: `z[1]/W[0,2]`."""
    shape = np.shape(item.verdicts)
    index = [int(k) for k in np.unravel_index(flat, shape)] if shape else []
    outer = len(shape) - len(item.shape)
    leaf = item.name + _brackets(index[outer:])
    return f"{target.output}{_brackets(index[:outer])}/{leaf}" if outer > 0 else leaf


def _brackets(index: list[int]) -> str:
    return f"[{','.join(map(str, index))}]" if index else ""
