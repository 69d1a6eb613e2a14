"""Values and derivatives against 40 digits, over the whole range of each function: tails, poles, roots, changes of method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from gradcli.engine import Tensor, grad
from gradcli.ops.catalogue import FUNCTIONS as F
from gradcli.ops.catalogue import METHODS

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a run silences numpy's
RNG = np.random.default_rng(20)


def between(low: float, high: float, count: int = 40) -> np.ndarray:
    return RNG.uniform(low, high, count)


def powers(low: float, high: float, count: int = 20) -> np.ndarray:
    return 10.0 ** RNG.uniform(low, high, count)


def ndtr(x: Any) -> Any:
    return mp.erfc(-x / mp.sqrt(2)) / 2


def normal_density(x: Any) -> Any:
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def sech(x: Any) -> Any:
    return 1 / mp.cosh(x)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def erfcx(x: Any) -> Any:
    return mp.exp(x * x) * mp.erfc(x)


def root() -> Any:
    return 2 / mp.sqrt(mp.pi)


Case = tuple[str, np.ndarray, Callable[[Any], Any], Callable[[Any], Any], float]

CASES: list[Case] = [
    # name, points, value, derivative, relative error allowed in units of 2.2e-16
    ("sigmoid", np.r_[between(-700, 700), between(-3, 3)], sigmoid, lambda x: sigmoid(x) * sigmoid(-x), 6),
    ("tanh", np.r_[between(-300, 300), between(-1, 1), powers(-20, 0)], mp.tanh, lambda x: sech(x) ** 2, 8),
    ("expm1", np.r_[between(-300, 300), powers(-20, 0), -powers(-20, 0)], mp.expm1, mp.exp, 4),
    ("log1p", np.r_[powers(-20, 300), -powers(-20, -0.01)], mp.log1p, lambda x: 1 / (1 + x), 4),
    ("logsigmoid", np.r_[between(-300, 300), between(-3, 3)], lambda x: -mp.log1p(mp.exp(-x)), lambda x: sigmoid(-x), 8),
    ("logit", np.r_[between(0, 1), powers(-300, -1), 0.5 + powers(-16, -1.5)], lambda x: mp.log(x / (1 - x)),
     lambda x: 1 / (x * (1 - x)), 8),
    ("asin", np.r_[between(-1, 1), 1 - powers(-15, -1)], mp.asin, lambda x: 1 / mp.sqrt((1 - x) * (1 + x)), 4),
    ("acos", np.r_[between(-1, 1), 1 - powers(-15, -1)], mp.acos, lambda x: -1 / mp.sqrt((1 - x) * (1 + x)), 4),
    ("atanh", np.r_[between(-1, 1), 1 - powers(-15, -1)], mp.atanh, lambda x: 1 / ((1 - x) * (1 + x)), 6),
    ("acosh", np.r_[between(1, 9), 1 + powers(-15, -1), powers(1, 150)], mp.acosh, lambda x: 1 / mp.sqrt((x - 1) * (x + 1)), 8),
    ("asinh", np.r_[between(-9, 9), powers(-20, 300)], mp.asinh, lambda x: 1 / mp.sqrt(x * x + 1), 6),
    ("erf", np.r_[between(-6, 6), powers(-20, 0)], mp.erf, lambda x: root() * mp.exp(-x * x), 6),
    ("erfc", np.r_[between(-5, 26)], mp.erfc, lambda x: -root() * mp.exp(-x * x), 6),
    ("special.erfcx", np.r_[between(-20, 7), between(7, 40), powers(1, 15)], erfcx, lambda x: 2 * x * erfcx(x) - root(), 250),
    ("erfinv", np.r_[between(-1, 1), powers(-20, 0), 1 - powers(-15, -1)], mp.erfinv, lambda x: mp.exp(mp.erfinv(x) ** 2) / root(), 100),
    ("special.ndtr", np.r_[between(-37, 8), between(-2, 2)], ndtr, normal_density, 8),
    ("special.log_ndtr", np.r_[between(-37, 8), between(-2, 2), -powers(1, 5)], lambda x: mp.log(ndtr(x)),
     lambda x: normal_density(x) / ndtr(x), 40),
    ("special.ndtri", np.r_[between(0, 1), powers(-15, -1)], lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1),
     lambda p: 1 / normal_density(mp.sqrt(2) * mp.erfinv(2 * p - 1)), 100),
    ("lgamma", np.r_[between(0, 30), powers(-10, 5), 1 + powers(-10, -1), 2 - powers(-10, -1)], mp.loggamma, mp.digamma, 4000),
    ("digamma", np.r_[between(2, 30), powers(-10, 0), powers(10, 300)], mp.digamma, lambda x: mp.polygamma(1, x), 20),
    ("special.i0", np.r_[between(-40, 40), between(19.9, 20.1), powers(-10, 2.8)], lambda x: mp.besseli(0, x),
     lambda x: mp.besseli(1, x), 20),
    ("special.i1", np.r_[between(-40, 40), powers(-3, 2.8)], lambda x: mp.besseli(1, x),
     lambda x: mp.besseli(0, x) - mp.besseli(1, x) / x, 20),
    ("silu", between(-300, 300), lambda x: x * sigmoid(x), lambda x: sigmoid(x) * (1 + x * sigmoid(-x)), 900),
    ("gelu", between(-30, 30), lambda x: x * ndtr(x), lambda x: ndtr(x) + x * normal_density(x), 900),
    ("mish", between(-300, 300), lambda x: x * mp.tanh(mp.log1p(mp.exp(x))),
     lambda x: mp.tanh(mp.log1p(mp.exp(x))) + x * sech(mp.log1p(mp.exp(x))) ** 2 * sigmoid(x), 900),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0])
def test_value_and_derivative(case: Case) -> None:
    name, points, value, derivative, units = case
    x = Tensor(points, True)
    out = F[name](x)
    (slope,) = grad(out, [x], Tensor(np.ones(len(points))))
    with mp.workdps(60):
        for point, got, rate in zip(points.tolist(), out.value.tolist(), slope.value.tolist(), strict=True):
            exact = mp.mpf(point)
            for computed, truth in ((got, value(exact)), (rate, derivative(exact))):
                assert abs(computed - truth) <= units * 2.3e-16 * abs(truth) + 1e-307, (point, computed, float(truth))


@pytest.mark.parametrize(
    ("name", "second"),
    [
        ("asin", lambda x: x / ((1 - x) * (1 + x)) ** 1.5),
        ("acos", lambda x: -x / ((1 - x) * (1 + x)) ** 1.5),
        ("atanh", lambda x: 2 * x / ((1 - x) * (1 + x)) ** 2),
        ("asinh", lambda x: -x / (1 + x * x) ** 1.5),
    ],
)
def test_second_derivatives_of_inverse_functions(name: str, second: Callable[[Any], Any]) -> None:
    """Near 0, where (1 - x) - (1 + x) would leave nothing of them, and near the ends, where 1 - x * x would."""
    points = np.r_[between(-1, 1), powers(-300, -1), 1 - powers(-15, -1)]
    x = Tensor(points, True)
    y = grad(F[name](x), [x], Tensor(np.ones(len(points))), create_graph=True)
    (found,) = grad(y, [x], [Tensor(np.ones(len(points)))])
    with mp.workdps(40):
        for point, got in zip(points.tolist(), found.value.tolist(), strict=True):
            truth = second(mp.mpf(point))
            assert abs(got - truth) <= 10 * 2.3e-16 * abs(truth)


def test_second_derivatives_at_the_ends_are_infinite() -> None:
    for name, points, signs in (
        ("asin", [-1, 1], [-1, 1]), ("acos", [-1, 1], [1, -1]), ("atanh", [-1, 1], [-1, 1]), ("erfinv", [-1, 1], [-1, 1]),
        ("special.ndtri", [0, 1], [-1, 1]), ("acosh", [1, 1], [-1, -1]),
    ):  # fmt: skip
        x = Tensor(np.array(points, dtype=float), True)
        y = grad(F[name](x), [x], Tensor(np.ones(2)), create_graph=True)
        assert grad(y, [x], [Tensor(np.ones(2))])[0].value.tolist() == [sign * np.inf for sign in signs]


def test_sinc_of_huge_numbers() -> None:
    """All of them are whole and even: the value is 0, the derivative 1 / x."""
    x = Tensor(np.array([1e17, 1e100, 1e300]), True)
    y = F["sinc"](x)
    assert y.value.tolist() == [0, 0, 0]
    np.testing.assert_allclose(grad(y, [x], Tensor(np.ones(3)))[0].value, 1 / x.value, rtol=1e-15)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_derivatives_of_sinc_are_smooth_through_zero(order: int) -> None:
    points = np.r_[0.0, powers(-12, -1), between(-1.5, 1.5), between(-9, 9)]
    x = Tensor(points, True)
    y = F["sinc"](x)
    for _ in range(order):
        (y,) = grad(y, [x], Tensor(np.ones(len(points))), create_graph=True)
    size = float(mp.pi) ** order / (order + 1)
    with mp.workdps(40):
        for point, got in zip(points.tolist(), y.value.tolist(), strict=True):
            assert abs(got - mp.diff(mp.sincpi, mp.mpf(point), order)) <= 3e-15 * size


@pytest.mark.parametrize("a", [0.1, 0.5, 1.0, 3.3, 10.0, 30.0, 200.0])
def test_incomplete_gamma(a: float) -> None:
    points = np.r_[a * between(0.1, 1.0, 10), a * between(1.0, 3.0, 10)]
    order = np.full_like(points, a)
    with mp.workdps(40):
        for name, bounds in (("igamma", lambda x: (0, x)), ("igammac", lambda x: (x, mp.inf))):
            x = Tensor(points, True)
            out = F[name](Tensor(order), x)
            (slope,) = grad(out, [x], Tensor(np.ones(len(points))))
            sign = 1 if name == "igamma" else -1
            for point, got, rate in zip(points.tolist(), out.value.tolist(), slope.value.tolist(), strict=True):
                truth = mp.gammainc(a, *bounds(mp.mpf(point)), regularized=True)
                assert abs(got - truth) <= 3e-13 * truth
                density = sign * mp.exp((a - 1) * mp.log(point) - point - mp.loggamma(a))
                assert abs(rate - density) <= 5e-13 * abs(density)


@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_polygamma(n: int) -> None:
    points = np.r_[between(0, 20), powers(-3, 4), between(-5, 0, 10), -powers(-9, -1, 5), -powers(1, 3, 5)]
    out = F["polygamma"](n, Tensor(points))
    with mp.workdps(40):
        for point, got in zip(points.tolist(), out.value.tolist(), strict=True):
            truth = mp.re(mp.polygamma(n, mp.mpf(point)))
            assert abs(got - truth) <= 4e-15 * abs(truth) + 1e-12 * (point < 0)


def test_polygamma_far_below_zero_takes_no_longer() -> None:
    found = F["polygamma"](1, Tensor(np.array([-1e9 - 0.25, -1e15 - 0.5])))
    with mp.workdps(40):
        np.testing.assert_allclose(found.value, [float((mp.pi / mp.sin(mp.pi * f)) ** 2) for f in (0.25, 0.5)], rtol=1e-8)


def test_polygamma_is_a_method_too() -> None:
    x = Tensor(np.array([1.5, 2.5]))
    assert METHODS["polygamma"](x, 2).value.tolist() == F["polygamma"](2, x).value.tolist()


def test_poles_of_the_gamma_family() -> None:
    assert F["lgamma"](Tensor(np.array([0.0, -1.0, -2.0]))).value.tolist() == [np.inf] * 3
    np.testing.assert_array_equal(F["digamma"](Tensor(np.array([0.0, -1.0]))).value, [-np.inf, np.nan])


def test_mvlgamma_needs_a_large_enough_argument() -> None:
    with pytest.raises(RuntimeError, match="greater than"):
        F["mvlgamma"](Tensor(np.array([0.5])), 2)


def test_ends_of_the_quantiles() -> None:
    np.testing.assert_array_equal(F["erfinv"](Tensor(np.array([-1.0, 0.0, 1.0, 2.0]))).value, [-np.inf, 0, np.inf, np.nan])
    np.testing.assert_array_equal(F["special.ndtri"](Tensor(np.array([0.0, 0.5, 1.0, 2.0]))).value, [-np.inf, 0, np.inf, np.nan])


@pytest.mark.parametrize(
    ("name", "limit", "tail"), [("sigmoid", 40.0, 1.0), ("tanh", 20.0, 1.0), ("tanh", -20.0, -1.0), ("expm1", -40.0, -1.0)]
)
def test_an_infinite_gradient_where_the_result_has_rounded_to_its_limit_is_undetermined(name: str, limit: float, tail: float) -> None:
    x = Tensor(np.array([limit, 0.5]), requires_grad=True)
    y = F[name](x)
    assert y.value[0] == tail
    usual, lost = (grad(y, x, Tensor(np.array(g)), retain_graph=True)[0].value for g in ([1.0, np.inf], [np.inf, 1.0]))
    assert 0 < usual[0] < 1e-16
    assert usual[1] == np.inf
    assert np.isnan(lost[0])
    assert np.isfinite(lost[1])


@pytest.mark.parametrize("name", ["sigmoid", "tanh", "expm1"])
def test_no_elements_have_a_gradient_of_no_elements(name: str) -> None:
    x = Tensor(np.zeros((0, 3)), requires_grad=True)
    assert grad(F[name](x), x, Tensor(np.zeros((0, 3))))[0].shape == (0, 3)
