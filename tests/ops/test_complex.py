"""Every operation that takes complex numbers, at complex versions of its examples: rule, second order, 50-digit form; the others refuse.

Inner products are real: <a, b> = Re sum(conj(a) b), so that gradients follow PyTorch's convention.
"""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from gradcli.engine import Tensor
from gradcli.errors import KernelError
from gradcli.references import derived
from gradcli.references.pair import lifted, lowered, scalars
from gradcli.references.scalar import Scalar, Tape, number
from tests.ops import test_catalogue as catalogue

INTERNAL = frozenset({"LinalgSvd", "LinalgEigh", "OneMinus", "OnePlus", "OneMinusSquare", "Ldexp", "Renorm", "ErfcxSlope", "Gauss"})
"""Gradients that exist for losses blind to a phase alone; parts of other operations; and what PyTorch itself cannot differentiate."""

HERMITIAN = frozenset({"linalg.cholesky", "linalg.eigh"})


def complex_case(case: catalogue.Case) -> catalogue.Case | None:
    """The case at complex arguments; None where it has no values there."""
    rng = np.random.default_rng(7)
    args = list(case.args)
    for i in case.moving:
        if args[i].dtype.kind == "f":
            turned = np.asarray(args[i] + 1j * rng.uniform(0.3, 0.9, np.shape(args[i])))[()]
            args[i] = (turned + np.conjugate(np.swapaxes(turned, -1, -2))) / 2 if case.op.name in HERMITIAN else turned
    try:
        made = catalogue.Case(case.op, tuple(args), 0)
        made.id = case.id
        return made if made.replay(made.args) else None
    except TypeError:
        return None


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


def cases() -> list[catalogue.Case]:
    with np.errstate(all="ignore"):
        defined = [c for c in catalogue.SMOOTH if "c" not in c.op.refused and type(c.op).__name__ not in INTERNAL]
        made = [c if c.complex else complex_case(c) for c in defined]
    return [c for c in made if c is not None]


CASES = cases()
every_case = catalogue.each(CASES)


def test_most_operations_take_complex_numbers() -> None:
    assert len(CASES) > 350


@every_case
def test_rule_is_the_slope_of_forward(case: catalogue.Case) -> None:
    catalogue.test_rule_is_the_slope_of_forward.alone(case)


@every_case
def test_gradient_can_be_differentiated_again(case: catalogue.Case) -> None:
    catalogue.test_gradient_can_be_differentiated_again.alone(case)


@catalogue.each(c for c in CASES if not getattr(c.op, "no_exact", ""))
def test_rule_is_the_derivative_of_the_exact_form(case: catalogue.Case) -> None:
    """Swept back over pairs of scalars at 50 digits, in the real and in the imaginary direction."""
    values = list(case.replay(case.args))
    cotangents = tuple(catalogue.draw(case.rng, np.asarray(v)) for v in values)
    with mpmath.workdps(50):
        tape = Tape(10**6)
        args = [lifted(a, tape)[()] if i in case.moving else lifted(a)[()] if catalogue.can_move(a) else a for i, a in enumerate(case.args)]
        results = derived.apply(case.op, tuple(args), case.decision)
        results = results if isinstance(results, tuple) else (results,)
        seeds = []
        for result, value, g in zip(results, values, cotangents, strict=False):
            np.testing.assert_allclose(lowered(np.asarray(result, dtype=object)).astype(complex), value, rtol=1e-11, atol=1e-13)
            wide = value.dtype.kind == "c"
            weights = np.stack([np.real(g), np.imag(g)], -1) if wide else np.asarray(g)
            pairs = zip(scalars(result, wide), weights.flat, strict=True)
            seeds += [(s.place, number(w)) for s, w in pairs if type(s) is Scalar and s.place >= 0]
        adjoint, _ = tape.sweep(seeds)
        for i, part in zip(case.moving, case.gradient(case.args, cotangents), strict=True):
            wide = case.args[i].dtype.kind == "c"
            found = np.array([float(adjoint[s.place]) for s in scalars(args[i], wide)])
            expected = np.stack([part.real, part.imag], -1) if wide else np.asarray(part)
            scale = float(np.max(np.abs(expected), initial=1e-300))
            np.testing.assert_allclose(found, expected.reshape(-1), rtol=1e-11, atol=1e-12 * scale)


@catalogue.each(c for c in catalogue.CASES if "c" in c.op.refused and c.moving)
def test_what_pytorch_has_for_real_numbers_alone_refuses(case: catalogue.Case) -> None:
    args = [Tensor(a.astype(complex)) if i in case.moving else a for i, a in enumerate(case.args)]
    with pytest.raises(KernelError, match="not implemented for 'ComplexDouble'"):
        case.op(*args)
