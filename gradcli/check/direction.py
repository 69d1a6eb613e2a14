"""Complex targets as real ones: every complex number becomes a pair, judged along the real and along the imaginary direction.

PyTorch's gradient of a real loss L for z = x + iy is dL/dx + i dL/dy; with grad_outputs w the loss is Re(sum(conj(w) * output)).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradcli.check.opinions import Opinion
from gradcli.check.target import Input, Target, Term
from gradcli.check.verdicts import Judgement, rank
from gradcli.references.estimate import Estimate
from gradcli.references.pair import holds_complex, joined, parts
from gradcli.references.path import reachable


def is_complex(target: Target) -> bool:
    """Whether complex numbers go into or come out of the target."""
    return holds_complex(target.value) or any(i.dtype.kind == "c" for i in target.inputs)


def passes_complex(item: Input) -> bool:
    """Whether complex numbers are met on the way to the input."""
    return any(holds_complex(r.value) for t in item.terms if t.record is not None for r in reachable(t.record, set()))


def trusted(again: np.ndarray, opinion: Opinion, item: Input) -> np.ndarray:
    """A gradient that the engine's rules, or the formula of a claim, gave at 50 digits; NaN where it says nothing.

    With complex numbers on the way, and of a claim (whose numbers may be rounded ones), it counts only where it agrees.
    """
    if opinion.symbolic is None or (item.claimed is None and not passes_complex(item)):
        return again
    truth = opinion.symbolic.value
    agrees = np.abs(again - truth) <= 1e-12 * np.abs(truth) + 1e-14 * opinion.gross
    return np.where(agrees, again, np.nan)


def split(target: Target) -> Target:
    """The same target in real numbers: shapes of complex tensors get a last axis of length 2."""
    terms: dict[int, Term] = {}
    inputs = [split_input(i, [terms.setdefault(id(t), split_term(t)) for t in i.terms]) for i in target.inputs]
    wide = holds_complex(target.value)
    weights = paired(np.ones(target.value.shape) if wide and target.grad_outputs is None else target.grad_outputs, wide)
    return replace(target, value=parts(target.value), grad_outputs=weights, inputs=inputs)


def split_term(term: Term) -> Term:
    if term.record is None or term.weights is None:
        return term
    return Term(term.record, paired(term.weights, holds_complex(term.record.value)))


def split_input(item: Input, terms: list[Term]) -> Input:
    wide = item.dtype.kind == "c"
    shape = (*item.shape, 2) if wide else item.shape
    dtype = np.zeros(0, item.dtype).real.dtype
    claimed, constant = paired(item.claimed, wide), paired(item.constant, wide)
    autograd = paired(item.autograd, wide)
    assert autograd is not None
    return replace(item, shape=shape, dtype=dtype, autograd=autograd, terms=terms, constant=constant, claimed=claimed)


def paired(values: Any, wide: bool) -> np.ndarray | None:
    """Pairs where the tensor is complex, whatever the dtype of what was given for it; else the (real) numbers."""
    if values is None:
        return None
    array = np.asarray(values)
    return parts(array.astype(np.complex128)) if wide else array.real


def united(item: Input, values: np.ndarray) -> np.ndarray:
    """What `split` took apart: complex again where the input's records are."""
    wide = any(holds_complex(r.value) for r in item.fixed or ()) and values.ndim > 0
    return joined(values) if wide else values


def merge(judgement: Judgement) -> Judgement:
    """The judgement on pairs as one on complex numbers: the worse verdict, the larger error."""
    ranks = np.vectorize(rank, otypes=[float])(judgement.verdicts, judgement.failing)
    worse = ranks.argmax(axis=-1)[..., np.newaxis]
    ulps = None if judgement.ulps is None else np.fmax(judgement.ulps[..., 0], judgement.ulps[..., 1])
    verdicts = np.take_along_axis(judgement.verdicts, worse, -1)[..., 0]
    failing, error = np.asarray(judgement.failing.any(axis=-1)), np.asarray(judgement.error.max(axis=-1))
    return Judgement(np.asarray(verdicts, dtype=object), failing, error, ulps, judgement.notes)


def merged(estimate: Estimate | None) -> Estimate | None:
    """An estimate of pairs as one of complex numbers, with one error bar for both parts."""
    if estimate is None:
        return None
    return replace(estimate, value=joined(estimate.value), error=np.hypot(estimate.error[..., 0], estimate.error[..., 1]))
