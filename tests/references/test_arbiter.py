"""The arbiter: differences at 60 digits."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.references.arbiter import MOST, arbitrate

ONE = np.ones(())


@pytest.mark.parametrize(
    ("body", "point", "expected"),
    [
        ("1 - cos(x)", 1e-8, np.sin(1e-8)),
        ("log1p(exp(x))", 800.0, 1.0),
        ("(x + 1e15) - 1e15", 0.1, 1.0),
        ("tanh(x)", 20.0, 1.6993417021166355e-17),
        ("x*x", 1e-200, 2e-200),
        ("x**3", 0.0, 0.0),
        ("sin(1e6*x)", 0.7, 1e6 * np.cos(0.7e6)),
    ],
)
def test_nearly_exact_where_float64_is_lost(trace, body: str, point: float, expected: float) -> None:
    t = trace(f"x = tensor({point!r}, requires_grad=True)\ny = {body}")
    (found,) = arbitrate(t.path("y", "x"), ONE, np.array([0]))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-30)


def test_elements_of_a_jacobian_count_outputs_first(trace) -> None:
    t = trace("x = tensor([1., 2., 3.], requires_grad=True)\ny = stack([x[0]*x[1], x[2]**2])")
    found = arbitrate(t.path("y", "x"), None, np.arange(6))
    np.testing.assert_allclose(found, [2, 1, 0, 0, 0, 6], atol=1e-15)


def test_weights(trace) -> None:
    t = trace("x = tensor([1., 2.], requires_grad=True)\ny = x**3")
    np.testing.assert_allclose(arbitrate(t.path("y", "x"), np.array([10.0, -1.0]), np.array([1, 0])), [-12, 30], rtol=1e-15)


def test_no_more_than_a_few_elements_are_asked_about(trace) -> None:
    t = trace(f"x = ones({MOST + 5}, requires_grad=True)\ny = (x*x).sum()")
    found = arbitrate(t.path("y", "x"), ONE, np.arange(MOST + 5))
    assert np.isfinite(found[:MOST]).all()
    assert np.isnan(found[MOST:]).all()


def test_no_answer_where_the_body_cannot_be_followed(trace) -> None:
    t = trace(
        "class F(Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * x.item()\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g\nx = tensor(2., requires_grad=True)\ny = F.apply(x)"
    )
    assert np.isnan(arbitrate(t.path("y", "x"), ONE, np.array([0])))


def test_decisions_are_kept(trace) -> None:
    t = trace("x = tensor([0., 1e-30], requires_grad=True)\ny = relu(x).sum()")
    np.testing.assert_array_equal(arbitrate(t.path("y", "x"), ONE, np.array([0, 1])), [0.0, 1.0])
