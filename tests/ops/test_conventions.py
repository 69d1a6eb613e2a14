"""Where a derivative is a convention, it is PyTorch's; where it is not finite, so is PyTorch's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gradcli.engine import Tensor, grad
from gradcli.ops.catalogue import FUNCTIONS as F

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a run silences numpy's
inf, nan = math.inf, math.nan


def slopes(name: str, *points: Any, **options: Any) -> list[Any]:
    leaves = [Tensor(np.array(p, dtype=float), True) for p in points]
    out = F[name](*leaves, **options)
    return [g.value.tolist() for g in grad(out, leaves, Tensor(np.ones(out.shape)))]


@pytest.mark.parametrize(
    ("name", "points", "options", "expected"),
    [
        ("abs", [-2, 0, 2], {}, [-1, 0, 1]),
        ("relu", [-2, 0, 2], {}, [0, 0, 1]),
        ("relu6", [-1, 0, 3, 6, 7], {}, [0, 0, 1, 0, 0]),
        ("hardtanh", [-2, -1, 0, 1, 2], {}, [0, 0, 1, 0, 0]),
        ("hardtanh", [-2, 0.5], {"min_val": -3, "max_val": 0}, [1, 0]),
        ("leaky_relu", [-2, 0, 2], {"negative_slope": 0.1}, [0.1, 0.1, 1]),
        ("rrelu", [-2, 2], {"lower": 0.1, "upper": 0.3}, [0.2, 1]),
        ("elu", [0, 1], {"alpha": 0.7}, [0.7, 1]),
        ("celu", [0, 1], {"alpha": 0.7}, [1, 1]),
        ("hardsigmoid", [-3, 0, 3], {}, [0, 1 / 6, 0]),
        ("hardswish", [-4, -3, 3, 4], {}, [0, 0, 1, 1]),
        ("abs", [nan], {}, [0]),
        ("sign", [nan], {}, [0]),
        ("relu", [nan], {}, [1]),
        ("relu6", [nan], {}, [1]),
        ("elu", [nan], {"alpha": 0.7}, [1]),
        ("celu", [nan], {"alpha": 0.7}, [1]),
        ("hardswish", [nan], {}, [1]),
        ("softshrink", [nan], {}, [1]),
        ("hardshrink", [nan], {}, [1]),
        ("softshrink", [-1, -0.5, 0, 0.5, 1], {}, [1, 0, 0, 0, 1]),
        ("hardshrink", [-1, -0.5, 0, 0.5, 1], {}, [1, 0, 0, 0, 1]),
        ("threshold", [0, 1, 2], {"threshold": 1.0, "value": 5.0}, [0, 0, 1]),
        ("softplus", [20, 21], {}, [1 / (1 + math.exp(-20)), 1]),
        ("clamp", [-1, 0, 0.5, 1, 2], {"min": 0, "max": 1}, [0, 1, 1, 1, 0]),
        ("clamp", [-1, 0, 2], {"min": 0}, [0, 1, 1]),
        ("clip", [-1, 0, 2], {"max": 0}, [1, 1, 0]),
        ("clamp", [0, 1.5, 3], {"min": 2, "max": 1}, [0, 0, 0]),
        ("clamp_min", [-1, 0, 2], {"min": 0}, [0, 1, 1]),
        ("clamp_max", [-1, 0, 2], {"max": 0}, [1, 1, 0]),
        ("sign", [-1, 0, 1], {}, [0, 0, 0]),
        ("floor", [1, 1.5], {}, [0, 0]),
        ("round", [1.25, 0.5], {"decimals": 1}, [0, 0]),
        ("frac", [-1.5, 2], {}, [1, 1]),
        ("nan_to_num", [nan, inf, -inf, 2], {}, [0, 0, 0, 1]),
        ("sqrt", [0, 4], {}, [inf, 0.25]),
        ("log", [0, -2], {}, [inf, -0.5]),
        ("asin", [1, 2], {}, [inf, nan]),
        ("acosh", [1, 0.5, -2], {}, [inf, nan, nan]),
        ("logit", [0, 0.5, 1], {}, [inf, 4, inf]),
        ("logit", [0, 0.5, 1], {"eps": 0.25}, [0, 4, 0]),
        ("entr", [0, 1], {}, [inf, -1]),
        ("sinc", [0], {}, [0]),
        ("erfinv", [-1, 0, 1], {}, [inf, math.sqrt(math.pi) / 2, inf]),
        ("special.i0e", [0], {}, [0]),
        ("special.i1", [0], {}, [0.5]),
    ],
)
def test_of_one_argument(name, points, options, expected) -> None:
    np.testing.assert_allclose(slopes(name, points, **options)[0], expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "x", "y", "by_x", "by_y"),
    [
        ("maximum", [1, 2, 3], [1, 3, 2], [0.5, 0, 1], [0.5, 1, 0]),
        ("minimum", [1, 2, 3], [1, 3, 2], [0.5, 1, 0], [0.5, 0, 1]),
        ("fmax", [1, nan, 3, 1], [1, 3, nan, 0], [1, 0, 1, 1], [0, 1, 0, 0]),
        ("fmin", [1, nan, 3, 1], [1, 3, nan, 0], [1, 0, 1, 0], [0, 1, 0, 1]),
        ("atan2", [0, 0], [0, 2], [0, 0.5], [0, 0]),
        ("hypot", [0, 3], [0, 4], [nan, 0.6], [nan, 0.8]),
        ("copysign", [0, 2, 2], [1, -1, 0], [0, -1, 1], [0, 0, 0]),
        ("xlogy", [0, 0], [0, 2], [0, math.log(2)], [nan, 0]),
        ("special.xlog1py", [0, 0], [-1, 1], [0, math.log(2)], [nan, 0]),
        ("fmod", [-1.5, 1.0], [1.0, 0.1], [1, 1], [1, -9]),
        ("remainder", [-1.5, 1.0], [1.0, 0.1], [1, 1], [2, -9]),
        ("logaddexp", [inf, -inf, 0, inf], [inf, -inf, 0, 0], [nan, nan, 0.5, 1], [nan, nan, 0.5, 0]),
        ("prelu", [-2, 0, 3], 0.3, [0.3, 0.3, 1], -2),
    ],
)
def test_of_two_arguments(name, x, y, by_x, by_y) -> None:
    gx, gy = slopes(name, x, y)
    np.testing.assert_allclose(gx, by_x, rtol=1e-15)
    np.testing.assert_allclose(gy, by_y, rtol=1e-15)


@pytest.mark.parametrize(
    ("x", "low", "high", "by"),
    [
        (0, 0, 1, (1, 0, 0)),
        (-1, 0, 1, (0, 1, 0)),
        (2, 0, 1, (0, 0, 1)),
        (1, 0, 1, (1, 0, 0)),
        (0.5, 2, 1, (0, 0, 1)),
        (-1, 0, 0, (0, 0, 0)),
    ],
)
def test_clamp_between_tensors(x, low, high, by) -> None:
    assert slopes("clamp", x, low, high) == list(by)


def test_clamp_with_one_tensor() -> None:
    x, low = Tensor(np.array([-1.0, 2.0]), True), Tensor(np.array([0.0, 0.0]), True)
    out = F["clamp"](x, min=low)
    assert out.value.tolist() == [0, 2]
    assert [g.value.tolist() for g in grad(out, [x, low], Tensor(np.ones(2)))] == [[0, 1], [1, 0]]


def test_signs_of_nan_are_zero_and_softshrink_keeps_nan() -> None:
    x = Tensor(np.array([nan, -2.0, 0.0]))
    assert F["sign"](x).value.tolist() == F["sgn"](x).value.tolist() == [0, -1, 0]
    assert np.isnan(F["softshrink"](x).value[0])


@pytest.mark.parametrize("name", ["relu", "relu6", "hardtanh", "leaky_relu", "softshrink", "hardshrink"])
def test_backward_passes_of_straight_pieces_stay_in_the_graph(name: str) -> None:
    """PyTorch's double backward of them gives 0, not an error."""
    x = Tensor(np.array([-2.0, -0.2, 0.0, 0.3, 2.0]), True)
    (slope,) = grad(F[name](x), [x], Tensor(np.ones(5)), create_graph=True)
    assert slope.requires_grad
    assert grad(slope, [x], Tensor(np.ones(5)))[0].value.tolist() == [0] * 5


@pytest.mark.parametrize(
    ("name", "points", "expected"),
    [
        ("huber_loss", [-1, 0.5, 1], [0, 1 / 3, 0]),
        ("softplus", [0, 20, 21], [0.25, 0, 0]),
        ("elu", [-1, 0, 1], [math.exp(-1), 0, 0]),
        ("celu", [-1, 0, 1], [math.exp(-1), 0, 0]),
        ("entr", [-2, 0, 2], [0.5, -inf, -0.5]),
    ],
)
def test_second_derivatives(name, points, expected) -> None:
    x = Tensor(np.array(points, dtype=float), True)
    out = F[name](x, Tensor(np.zeros(3))) if name.endswith("loss") else F[name](x)
    (slope,) = grad(out, [x], Tensor(np.ones(out.shape)), create_graph=True)
    np.testing.assert_allclose(grad(slope, [x], Tensor(np.ones(3)))[0].value, expected, rtol=1e-15)


def test_clamp_wants_a_bound() -> None:
    with pytest.raises(RuntimeError, match="At least one of 'min' or 'max'"):
        F["clamp"](Tensor(np.float64(1)))


def test_an_infinite_gradient_does_not_leak_through_what_was_not_selected() -> None:
    """inf * 0: sqrt has slope inf at 0, relu and clamp select instead of multiplying."""
    x = Tensor(np.array([0.0]), True)
    out = F["sqrt"](F["relu"](x))
    assert grad(out, [x], Tensor(np.ones(1)))[0].value.tolist() == [0]


@pytest.mark.parametrize(
    ("name", "options", "lines"),
    [("rrelu", {"training": True}, "random slopes"), ("gelu", {"approximate": "sigmoid"}, "none or tanh"), ("glu", {}, "must be even")],
)
def test_refusals(name, options, lines) -> None:
    with pytest.raises(RuntimeError, match=lines):
        F[name](Tensor(np.ones((2, 3))), **options)


def test_prelu_has_a_weight_for_each_channel() -> None:
    x, weight = Tensor(np.array([[-1.0, -2.0], [3.0, -4.0]]), True), Tensor(np.array([0.1, 0.2]), True)
    out = F["prelu"](x, weight)
    np.testing.assert_allclose(out.value, [[-0.1, -0.4], [3.0, -0.8]])
    gx, gw = grad(out, [x, weight], Tensor(np.ones((2, 2))))
    np.testing.assert_allclose(gx.value, [[0.1, 0.2], [1, 0.2]])
    np.testing.assert_allclose(gw.value, [-1, -6])
