"""Reductions: axes, conventions at ties and zeros, norms, order statistics, running results."""

import numpy as np
import pytest

from gradcli.engine import Tensor, grad
from gradcli.ops import extreme, moments, norm, ordering, rearrange, reduction, running, scan
from gradcli.ops.quantile import quantile
from gradcli.ops.truth import count_nonzero

MATRIX = np.array([[0.5, -1.25, 2.0], [1.5, 0.75, -0.5]])
TIES = np.array([[1.0, 3.0, 3.0], [3.0, 2.0, 2.0]])


def slope(function, at) -> np.ndarray:
    """The gradient of the sum of what a function gives."""
    x = Tensor(np.array(at)[()], True)
    out = function(x)
    return grad(out, x, Tensor(np.ones(out.shape)[()]))[0].value


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [None, 0, -1, (0, 1), (-1,)])
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin", "var", "std"])
def test_axes_are_those_of_numpy(name, dim, keepdim) -> None:
    module = extreme if name.startswith("am") else moments if name in ("var", "std") else reduction
    function = getattr(module, name)
    options = {"ddof": 1} if name in ("var", "std") else {}
    got = function(Tensor(MATRIX), dim=dim, keepdim=keepdim).value
    np.testing.assert_allclose(got, getattr(np, name)(MATRIX, axis=dim, keepdims=keepdim, **options), rtol=1e-15)


def test_ties_share_over_all_and_the_first_gets_all_along_an_axis() -> None:
    np.testing.assert_allclose(slope(extreme.max, TIES), np.where(TIES == 3, 1 / 3, 0.0))
    np.testing.assert_allclose(slope(lambda x: extreme.amax(x, 1), TIES), [[0, 0.5, 0.5], [1, 0, 0]])
    np.testing.assert_allclose(slope(lambda x: extreme.max(x, 1).values, TIES), [[0, 1, 0], [1, 0, 0]])
    np.testing.assert_allclose(slope(lambda x: extreme.min(x, 1)[0], TIES), [[1, 0, 0], [0, 1, 0]])


def test_a_product_is_differentiated_through_zeros() -> None:
    np.testing.assert_array_equal(slope(reduction.prod, [2.0, 0.0, 5.0]), [0.0, 10.0, 0.0])
    np.testing.assert_array_equal(slope(reduction.prod, [2.0, 0.0, 0.0]), [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(slope(lambda x: scan.cumprod(x, 0), [2.0, 0.0, 5.0]), [1.0, 12.0, 0.0])
    x = Tensor(np.array([2.0, 0.0, 0.0]), True)
    (first,) = grad(reduction.prod(x), x, create_graph=True)
    np.testing.assert_array_equal(grad(first, x, Tensor(np.ones(3)))[0].value, [0.0, 2.0, 2.0])


def test_a_product_with_a_tiny_factor_keeps_its_second_derivative() -> None:
    x = Tensor(np.array([1e-200, 3.0, 5.0]), True)
    (first,) = grad(reduction.prod(x), x, create_graph=True)
    np.testing.assert_allclose(grad(first[0], x)[0].value, [0.0, 5.0, 3.0])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("function", "second"), [(norm.norm, np.nan), (lambda x: norm.dist(x, 0 * x), np.nan), (moments.std, 0.0)])
def test_second_derivatives_where_a_root_is_zero(function, second: float) -> None:
    """The first is 0, the second what PyTorch gives: NaN but for a deviation."""
    x = Tensor(np.zeros(2), True)
    (first,) = grad(function(x), x, create_graph=True)
    assert first.value.tolist() == [0, 0]
    np.testing.assert_array_equal(grad(first, x, Tensor(np.ones(2)))[0].value, [second, second])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("order", "at", "gradient"),
    [
        (2, [0.0, 0.0], [0.0, 0.0]), (2, [3.0, -4.0], [0.6, -0.8]), (1, [2.0, 0.0, -1.0], [1.0, 0.0, -1.0]),
        (np.inf, [3.0, -3.0, 1.0], [0.5, -0.5, 0.0]), (-np.inf, [3.0, -1.0], [0.0, -1.0]), (3, [0.0, 0.0], [0.0, 0.0]),
        (3, [0.0, 2.0], [0.0, 1.0]), (0, [2.0, 0.0], [0.0, 0.0]),
    ],
)  # fmt: skip
def test_norms_follow_the_conventions_of_pytorch(order, at, gradient) -> None:
    np.testing.assert_allclose(slope(lambda x: norm.vector_norm(x, order), at), gradient, rtol=1e-15)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_a_norm_neither_overflows_nor_vanishes(scale) -> None:
    with np.errstate(all="ignore"):
        value = norm.norm(Tensor(np.array([3.0, 4.0]) * scale)).value
    assert value == pytest.approx(5.0 * scale, rel=1e-15)


def test_matrix_norms() -> None:
    x = Tensor(MATRIX)
    for order in ("fro", 1, -1, np.inf, -np.inf, 2, -2, "nuc"):
        assert norm.matrix_norm(x, order).value == pytest.approx(np.linalg.norm(MATRIX, order), rel=1e-14)


def test_the_deviation_of_constants_has_no_slope() -> None:
    np.testing.assert_array_equal(slope(moments.std, [2.0, 2.0, 2.0]), [0.0, 0.0, 0.0])


def test_sums_of_exponentials_do_not_overflow() -> None:
    assert norm.logsumexp(Tensor(np.array([1000.0, 1000.0])), 0).value == pytest.approx(1000.0 + np.log(2.0), rel=1e-15)
    np.testing.assert_allclose(slope(lambda x: running.logcumsumexp(x, 0), [-800.0, 900.0]), [1.0, 1.0])


def test_what_is_not_a_number_spreads_or_is_left_out() -> None:
    x = Tensor(np.array([1.0, np.nan, 3.0]))
    assert np.isnan(extreme.max(x).value)
    assert np.isnan(ordering.median(x).value)
    assert np.isnan(quantile(x, 0.5).value)
    assert (reduction.nansum(x).value, reduction.nanmean(x).value, ordering.nanmedian(x).value) == (4.0, 2.0, 1.0)


@pytest.mark.parametrize("way", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantiles_are_those_of_numpy(way) -> None:
    for q in (0.0, 0.3, 0.5, 1.0):
        got = quantile(Tensor(MATRIX), q, 1, interpolation=way).value
        np.testing.assert_allclose(got, np.quantile(MATRIX, q, axis=1, method=way), rtol=1e-14)


def test_sorting_is_stable_and_names_its_results() -> None:
    result = ordering.sort(Tensor(TIES), 1, descending=True)
    np.testing.assert_array_equal(result.indices.value, [[1, 2, 0], [0, 1, 2]])
    np.testing.assert_array_equal(ordering.topk(Tensor(TIES), 2).values.value, [[3.0, 3.0], [3.0, 2.0]])
    np.testing.assert_array_equal(ordering.kthvalue(Tensor(TIES), 2)[0].value, [3.0, 2.0])
    np.testing.assert_array_equal(running.cummax(Tensor(TIES), 1).indices.value, [[0, 1, 2], [0, 0, 0]])
    assert count_nonzero(Tensor(TIES)).value == 6


def test_integrals_and_slopes_of_samples() -> None:
    y, x = np.array([0.5, -1.5, 2.5, 1.0]), np.array([0.0, 1.0, 3.0, 4.0])
    assert running.trapezoid(Tensor(y), Tensor(x)).value == pytest.approx(np.trapezoid(y, x))
    assert running.trapezoid(Tensor(y), dx=0.5).value == pytest.approx(np.trapezoid(y, dx=0.5))
    for order in (1, 2):
        np.testing.assert_allclose(running.gradient(Tensor(y), edge_order=order)[0].value, np.gradient(y, edge_order=order))
        uneven = running.gradient(Tensor(y), spacing=(Tensor(x),), edge_order=order)[0].value
        np.testing.assert_allclose(uneven, np.gradient(y, x, edge_order=order), rtol=1e-14)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: reduction.mean(Tensor(np.array([1, 2]))), RuntimeError, "Got: Long"),
        (lambda: reduction.sum(Tensor(MATRIX), 2), IndexError, r"range of \[-2, 1\], but got 2"),
        (lambda: reduction.sum(Tensor(MATRIX), (0, 0)), RuntimeError, "dim 0 appears multiple times"),
        (lambda: extreme.max(Tensor(np.zeros(0))), RuntimeError, "Expected reduction dim to be specified"),
        (lambda: extreme.max(Tensor(np.zeros((2, 0))), 1), IndexError, "to have non-zero size"),
        (lambda: ordering.topk(Tensor(MATRIX), 9), RuntimeError, "selected index k out of range"),
        (lambda: quantile(Tensor(MATRIX), 1.5), RuntimeError, r"q must be in the range \[0, 1\] but got 1.5"),
    ],
)
def test_errors_are_those_of_pytorch(call, error, text) -> None:
    with pytest.raises(error, match=text):
        call()


def test_nothing_has_a_product_of_one_and_no_largest_element() -> None:
    assert slope(reduction.prod, np.zeros((0, 3))).shape == (0, 3)
    for order in (-1, np.inf, -np.inf):
        with pytest.raises(RuntimeError, match="does not have an identity"):
            norm.norm(Tensor(np.zeros((3, 0))), order)
    with np.errstate(all="ignore"):
        assert norm.norm(Tensor(np.zeros(3)), -1).value == 0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_without_a_degree_of_freedom_a_variance_has_an_infinite_slope() -> None:
    np.testing.assert_array_equal(slope(lambda x: moments.var(x, correction=3), [0.0, 1.0, 2.0]), [np.inf, np.nan, np.inf])
    np.testing.assert_array_equal(slope(lambda x: moments.std_mean(x, 0)[1], [2.0]), [1])


def test_an_axis_named_twice_is_refused_of_a_number_too() -> None:
    with pytest.raises(RuntimeError, match="multiple times"):
        reduction.sum(Tensor(np.float64(1)), dim=(0, -1))
    with pytest.raises(IndexError, match="no dimensions"):
        rearrange.roll(Tensor(np.float64(1)), 1, 0)
