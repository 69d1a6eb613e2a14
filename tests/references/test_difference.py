"""Finite differences: the bar covers the true error, near domain edges too, at every scale."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.references import difference
from gradcli.references.symbolic import Exact

ONE = np.ones(())
BARS = 10.0
"""How many bars the judge allows."""


def both(t, output: str = "y", name: str = "x"):
    """The refined difference and the exact derivative."""
    path = t.path(output, name)
    exact = Exact(path)
    truth = exact.derivative(ONE)[0][0]
    estimate = difference.full(path, ONE)
    difference.refined(estimate, path, ONE, np.arange(truth.size), exact.noise(ONE))
    return estimate, truth


FUNCTIONS = (
    "sin(x)", "exp(x)", "x*x", "x**3 - x", "1/x", "sqrt(x)", "log(x)", "tanh(x)", "sin(1000*x)", "cos(x)", "1e10 + x*x", "exp(-x*x)",
    "log1p(exp(x))", "atan(x)", "x*log(x)", "1 - cos(x)", "(x + 1e8) - 1e8", "sinh(x)/cosh(x)", "x**0.3", "erf(x)",
)  # fmt: skip
POINTS = (1e-7, 2.6e-5, 0.3, 1.0, 3.14159265, 17.0, 1e4)


@pytest.mark.parametrize("body", FUNCTIONS)
def test_the_bar_covers_the_error(trace, body: str) -> None:
    for point in POINTS[: -1 if "1000" in body else None]:
        one = trace(f"x = tensor({point!r}, requires_grad=True)\ny = {body}")
        estimate, truth = both(one)
        if np.isfinite(truth) and np.isfinite(one.value("y")):
            off = abs(float(estimate.value) - float(truth))
            resolution = 1e-15 * abs(float(one.value("y"))) / point
            assert off <= BARS * float(estimate.error) + 1e-14 * abs(float(truth)) + resolution, point


@pytest.mark.parametrize("body", ["sin(x)", "exp(x)", "x*x", "1/x", "sqrt(x)", "x**3 - x", "atan(x)"])
@pytest.mark.parametrize("point", [0.3, 1.0, 2.5])
def test_smooth_functions_are_met_to_ten_digits(trace, body: str, point: float) -> None:
    estimate, truth = both(trace(f"x = tensor({point!r}, requires_grad=True)\ny = {body}"))
    assert float(estimate.value) == pytest.approx(float(truth), rel=1e-10)
    assert float(estimate.error) < 1e-9 * abs(float(truth))


@pytest.mark.parametrize(
    ("body", "point", "expected"),
    [
        ("x*x", 1e9, 2e9),
        ("x*x", 1e-9, 2e-9),
        ("1e-7 * x", 5.0, 1e-7),
        ("1e9 * x", 1e-3, 1e9),
        ("sqrt(x)", 1e-12, 0.5e6),
        ("x*x", 1e150, 2e150),
        ("1/x", 1e-100, -1e200),
    ],
)
def test_scales(trace, body: str, point: float, expected: float) -> None:
    estimate, _ = both(trace(f"x = tensor({point!r}, requires_grad=True)\ny = {body}"))
    assert float(estimate.value) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("body", "point", "expected"),
    [("x*sqrt(x)", 0.0, 0.0), ("sqrt(x)**3", 0.0, 0.0), ("acos(x)**2", 1.0, -2.0), ("xlogy(x, x)", 2.0**-12, np.log(2.0**-12) + 1)],
)
def test_at_the_edge_of_the_domain_only_the_side_inside_counts(trace, body: str, point: float, expected: float) -> None:
    estimate, _ = both(trace(f"x = tensor({point!r}, requires_grad=True)\ny = {body}"))
    value, bar = float(estimate.value), float(estimate.error)
    assert np.isfinite(bar)
    assert abs(value - expected) <= BARS * bar + 1e-9


def test_a_zero_moves_at_the_scale_of_its_neighbours(trace) -> None:
    estimate, _ = both(trace("x = tensor([0., 1e-6], requires_grad=True)\ny = (x * 1e6 + (x * 1e6)**2).sum()"))
    np.testing.assert_allclose(estimate.value, [1e6, 3e6], rtol=1e-6)


def test_the_exact_zero_of_a_derivative_lies_within_its_bar(trace) -> None:
    estimate, truth = both(trace("x = tensor([0., 2.], requires_grad=True)\ny = cos(x[0]) + 0*x[1]"))
    np.testing.assert_array_less(np.abs(estimate.value - truth), BARS * estimate.error + 1e-300)


def test_no_step_crosses_a_kink(trace) -> None:
    estimate, _ = both(trace("x = tensor([1e-12, -1e-12], requires_grad=True)\ny = (relu(x) * tensor([2., 3.])).sum()"))
    np.testing.assert_allclose(estimate.value, [2.0, 0.0], rtol=1e-9)


def test_a_jacobian(trace) -> None:
    t = trace("x = tensor([1., 2., 3.], requires_grad=True)\ny = stack([x[0]*x[1], x[2]**2])")
    path = t.path("y", "x")
    estimate = difference.full(path, None)
    np.testing.assert_allclose(estimate.value, [[2, 1, 0], [0, 0, 6]], atol=1e-9)
    assert estimate.value.shape == estimate.error.shape == (2, 3)
    assert path.evaluations == 18


def test_what_the_output_does_not_depend_on_is_exactly_zero(trace) -> None:
    t = trace("x = tensor([1., 2.], requires_grad=True)\nw = tensor(1., requires_grad=True)\ny = w*w")
    estimate = difference.full(t.path("y", "x"), ONE)
    assert not estimate.value.any()
    assert not estimate.error.any()


def test_a_batch_gives_what_a_loop_over_the_rows_gives(trace) -> None:
    t = trace(
        "x = tensor([[1., 2.], [3., 0.5]], requires_grad=True)\nh = tanh(x @ x) + x[0]\nh[0] = h[1] * 2\n"
        "y = stack([h.max(dim=1).values.sum(), softmax(h, 0).prod()])"
    )
    program = difference.Program(t.path("y", "x"), None)
    deltas = np.random.default_rng(3).normal(size=(7, 2, 2)) * 1e-3
    rows = np.stack([program.values(delta[None])[0] for delta in deltas])
    np.testing.assert_allclose(program.values(deltas), rows, rtol=1e-14)


def test_float32_programs_are_evaluated_in_float64(trace) -> None:
    estimate, truth = both(trace("x = tensor([0.3, 0.7], dtype=float32, requires_grad=True)\ny = (sin(x) * x).sum()"))
    np.testing.assert_allclose(estimate.value, truth, rtol=1e-9)


def test_all_values_of_an_updated_leaf_move_together(trace) -> None:
    estimate, _ = both(trace("x = tensor(2., requires_grad=True)\na = x*x\nwith no_grad():\n    x += 1\ny = a + x*x*x"))
    assert float(estimate.value) == pytest.approx(4 + 27, rel=1e-9)


def test_a_large_program_is_worth_more_work_than_a_small_one(trace) -> None:
    small = trace("x = ones(2, requires_grad=True)\ny = x.sum()").path("y", "x")
    large = trace("x = ones(200, requires_grad=True)\ny = (sin(x) * x).sum()").path("y", "x")
    assert difference.work(large) > 1000 * difference.work(small) / 10
