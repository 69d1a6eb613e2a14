"""Tangents in extended precision: every operation against the derivative at 50 digits, programs against what is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np
import pytest

import gradcli.ops.catalogue  # noqa: F401 (loads every family)
from gradcli.engine.trace import Record
from gradcli.ops.operation import Operation
from gradcli.references import tangent
from gradcli.references.arrays import ARRAYS
from gradcli.references.estimate import NoAnswer
from gradcli.references.pair import holds_complex
from gradcli.references.path import Path
from gradcli.references.symbolic import Exact

SILENT = {"igamma", "igammac", "erfinv", "special.erfinv", "special.ndtri", "special.zeta", "recurrence"}
"""Elementwise operations whose slopes have no function in extended precision; besides, whatever is not analytic, and what
numpy's linear algebra does in float64 alone. Large programs with them are left to differences."""


LINEAR_ALGEBRA = {"cholesky", "determinant", "lu", "orthogonal", "pseudoinverse", "solve"}


def concrete(cls: type[Operation]) -> list[type[Operation]]:
    own = [cls] if "name" in cls.__dict__ and cls is not Operation and cls.__module__.startswith("gradcli.ops.") else []
    return own + [c for sub in cls.__subclasses__() for c in concrete(sub)]


CLASSES = sorted((c for c in set(concrete(Operation)) if c.differentiable), key=lambda c: (c.__module__, c.__qualname__))


def paths(cls: type[Operation]) -> Iterator[Path]:
    """From each real argument of each example to each real result."""
    for op, given in cls.examples(np.random.default_rng(1)):
        args = tuple(np.asarray(a)[()] if isinstance(a, (np.ndarray, np.generic)) else a for a in given)
        if any(holds_complex(a) for a in args):
            continue
        decision = op.decide(*args) if op.decides else None
        out = op.replay(args, decision)
        for i, a in enumerate(args):
            if not (isinstance(a, (np.ndarray, np.generic)) and a.dtype.kind == "f" and (op.variadic or op.rules[i] is not None)):
                continue
            leaf = Record(None, (), a, 1, None)
            inputs = tuple(leaf if j == i else other for j, other in enumerate(args))
            for k, value in enumerate(out if isinstance(out, tuple) else (out,)):
                if np.asarray(value).dtype.kind == "f" and np.size(value):
                    yield Path(Record(op, inputs, value, 2, None, output_nr=k, decision=decision), [[leaf]])


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: f"{c.__module__.rpartition('.')[2]}.{c.__name__}")
def test_every_operation_has_the_tangent_of_its_exact_derivative(cls: type[Operation]) -> None:
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        for path in paths(cls):
            weights = rng.uniform(0.5, 1.5, np.shape(path.output.value))
            direction = rng.uniform(0.5, 1.5, np.shape(path.inputs[0][0].value))
            try:
                value, _ = tangent.along(path, weights, direction)
            except NoAnswer:
                assert cls.name in SILENT or not (cls.analytic or cls.extended) or cls.__module__.rpartition(".")[2] in LINEAR_ALGEBRA
                return
            terms = Exact(path).derivative(weights)[0][0] * direction
            assert abs(value - float(terms.sum())) <= 1e-12 * float(np.abs(terms).sum()) + 1e-300
            assert abs(tangent.beside(path, weights, direction)[0] - value) <= 1e-9 * float(np.abs(terms).sum()) + 1e-300


def derivative(t: Any, output: str, name: str) -> float:
    path = t.path(output, name)
    return tangent.along(path, np.ones(np.shape(path.output.value)), np.ones(np.shape(path.inputs[0][0].value)))[0]


def test_it_keeps_more_digits_than_float64(trace: Any) -> None:
    t = trace("x = tensor(1e8, requires_grad=True)\ny = (x + 1)**3 - x**3 - 3*x**2 - 3*x")
    assert derivative(t, "y", "x") == pytest.approx(0.0, abs=3e-3)
    if np.finfo(np.longdouble).eps < 1e-18:
        assert abs(derivative(trace("x = tensor(0.1, requires_grad=True)\ny = x.exp()*3 - x.exp()*2"), "y", "x") - np.exp(0.1)) < 3e-16


def test_branches_masks_and_floors_are_those_of_the_run(trace: Any) -> None:
    program = "y = (relu(x) + abs(x) + x % 0.7 + where(x > 0, x * x, 3 * x) + clamp(x, -1, 1)).sum()"
    t = trace("x = tensor([-2., -0.5, 0.5, 2.], requires_grad=True)\n" + program)
    assert derivative(t, "y", "x") == pytest.approx((0 - 1 + 1 + 3 + 0) + (0 - 1 + 1 + 3 + 1) + (1 + 1 + 1 + 1 + 1) + (1 + 1 + 1 + 4 + 0))


def test_what_does_not_move_brings_no_nan(trace: Any) -> None:
    t = trace("x = tensor([0., 9.], requires_grad=True)\ny = sqrt(x).sum()")
    path = t.path("y", "x")
    assert tangent.along(path, np.ones(()), np.array([0.0, 1.0]))[0] == pytest.approx(1 / 6)
    assert not np.isfinite(tangent.along(path, np.ones(()), np.array([1.0, 1.0]))[0])


def test_casts_do_not_round(trace: Any) -> None:
    t = trace("x = tensor(1/3, requires_grad=True)\ny = (x.float().double())**2")
    assert derivative(t, "y", "x") == pytest.approx(2 / 3, rel=1e-15)


def test_complex_programs_are_none_of_its_business(trace: Any) -> None:
    t = trace("x = tensor([1., 2.], requires_grad=True)\ny = (x * 1j).abs().sum()")
    with pytest.raises(NoAnswer, match="complex"):
        derivative(t, "y", "x")


def test_constants_and_functions_have_the_digits_of_their_format() -> None:
    with mpmath.workdps(30):
        assert abs(mpmath.mpf(np.format_float_positional(ARRAYS.pi, unique=False, precision=25)) - mpmath.pi) < 1e-18
        assert ARRAYS.mpf((1, 3, -1, 2)) == -1.5
        for x in (1e-6, 0.01, 0.5, 3.0):
            value = float(ARRAYS.besseli(2, np.longdouble(x)))
            assert value == pytest.approx(float(mpmath.besseli(2, x)), rel=1e-8)


def test_an_order_without_a_form_is_refused() -> None:
    with pytest.raises(NotImplementedError):
        ARRAYS.besseli(3, np.longdouble(1.0))
