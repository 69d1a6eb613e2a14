"""Linear algebra: values against numpy, conventions, and PyTorch's errors."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine.backward import backward, grad
from gradcli.engine.tensor import Tensor, tensor
from gradcli.ops.catalogue import FUNCTIONS
from gradcli.ops.matrices import LinAlgError

SPD = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])


def leaf(value: object) -> Tensor:
    return tensor(np.asarray(value, dtype=float), requires_grad=True)


def gradient(out: Tensor, x: Tensor) -> np.ndarray:
    return grad(out, x)[0].value  # type: ignore[union-attr]


def call(name: str, *args: object, **kwargs: object) -> Tensor:
    return FUNCTIONS[name](*args, **kwargs)


def test_det_has_its_gradient_at_singular_matrices() -> None:
    rank_two = leaf([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, -1.0, 2.0]])
    minors = [[14.0, 2.0, -6.0], [-7.0, -1.0, 3.0], [0.0, 0.0, 0.0]]
    np.testing.assert_allclose(gradient(call("det", rank_two), rank_two), minors, atol=1e-13)
    zeros = leaf(np.zeros((3, 3)))
    np.testing.assert_array_equal(gradient(call("linalg.det", zeros), zeros), np.zeros((3, 3)))


@pytest.mark.parametrize(
    ("matrix", "value"),
    [([[3.0]], 3.0), ([[2.0, 1.0], [1.0, 3.0]], 5.0), ([[1.0, 2.0], [3.0, 4.0]], -2.0), ([[0.0, 1.0], [1.0, 0.0]], -1.0)],
)
def test_det_of_whole_numbers_is_whole(matrix: list[list[float]], value: float) -> None:
    assert call("det", leaf(matrix)).value == value


@pytest.mark.parametrize("shape", [(2, 3, 5, 5), (0, 0), (2, 0, 0), (40, 40)])
@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32"])
def test_det_is_numpys(shape: tuple[int, ...], dtype: str) -> None:
    rng = np.random.default_rng(0)
    x = (rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype == "complex128" else 0)).astype(dtype)
    found = call("det", Tensor(x)).value
    assert found.dtype == dtype
    np.testing.assert_allclose(found, np.linalg.det(x), rtol=1e-4 if dtype == "float32" else 1e-12)


def test_det_of_a_large_singular_matrix_goes_through_minors() -> None:
    value = np.random.default_rng(0).normal(size=(6, 6))
    value[5] = value[4]
    x = leaf(value)
    g = gradient(call("det", x), x)
    np.testing.assert_allclose(g[4], -g[5], rtol=1e-10)
    assert np.abs(g[5]).max() > 0.1


def test_logdet_is_nan_below_zero_and_its_gradient_the_inverse() -> None:
    x = leaf(SPD)
    np.testing.assert_allclose(gradient(call("logdet", x), x), np.linalg.inv(SPD).T)
    assert np.isnan(call("logdet", leaf([[-1.0]])).value)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_logdet_of_singular_matrices_has_no_finite_gradient() -> None:
    """What PyTorch's elimination gives."""
    inf, nan = np.inf, np.nan
    for matrix, expected in (
        ([[1.0, 2.0], [2.0, 4.0]], [[-inf, inf], [inf, -inf]]),
        ([[0.0, 0.0], [0.0, 0.0]], [[nan, nan], [nan, inf]]),
        ([[0.0, 0.0], [1.0, 1.0]], [[inf, -inf], [0.0, 1.0]]),
    ):
        x = Tensor(np.array(matrix), True)
        out = call("logdet", x)
        assert out.value == -inf
        np.testing.assert_array_equal(grad(out, [x])[0].value, expected)


def test_cholesky_reads_one_triangle_and_gives_a_symmetric_gradient() -> None:
    half = leaf(np.tril(SPD))
    low = call("linalg.cholesky", half)
    np.testing.assert_allclose(low.value, np.linalg.cholesky(SPD))
    x = leaf(SPD)
    high = call("linalg.cholesky", x, upper=True)
    np.testing.assert_allclose(high.value, np.linalg.cholesky(SPD).T)
    g = grad(high, x, Tensor(np.arange(9.0).reshape(3, 3)))[0].value  # type: ignore[union-attr]
    np.testing.assert_allclose(g, g.T)


def test_equal_eigenvalues_have_a_gradient_their_vectors_none() -> None:
    x = leaf(2 * np.eye(3))
    values, vectors = call("linalg.eigh", x)
    np.testing.assert_allclose(grad(FUNCTIONS["sum"](values), x, retain_graph=True)[0].value, np.eye(3), atol=1e-15)  # type: ignore[union-attr]
    with np.errstate(all="ignore"):
        assert np.isnan(gradient(FUNCTIONS["sum"](vectors), x)).any()


def test_svd_of_a_matrix_without_full_rank_has_gradients_of_its_values() -> None:
    x = leaf([[1.0, 0.0], [0.0, 0.0]])
    assert np.all(np.isfinite(gradient(FUNCTIONS["sum"](call("linalg.svdvals", x)), x)))


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_lu_gives_the_matrix_again(shape: tuple[int, int]) -> None:
    x = leaf(np.random.default_rng(1).normal(size=shape))
    p, low, high = call("linalg.lu", x)  # type: ignore[misc]
    np.testing.assert_allclose(p.value @ low.value @ high.value, x.value, atol=1e-14)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("turned", [True, False])
def test_lu_solve(left: bool, turned: bool) -> None:
    a = np.random.default_rng(2).normal(size=(3, 3))
    b = np.random.default_rng(3).normal(size=(3, 3))
    packed, pivots = call("linalg.lu_factor", leaf(a))  # type: ignore[misc]
    out = call("linalg.lu_solve", packed, pivots, leaf(b), left=left, adjoint=turned).value
    matrix = a.T if turned else a
    np.testing.assert_allclose(matrix @ out if left else out @ matrix, b, atol=1e-12)


def test_least_squares() -> None:
    a, b = np.random.default_rng(4).normal(size=(5, 2)), np.random.default_rng(5).normal(size=5)
    x, y = leaf(a), leaf(b)
    right = FUNCTIONS["unsqueeze"](y, -1)
    result = call("linalg.lstsq", x, right, driver="gelsd")
    expected, residuals, rank, singular = np.linalg.lstsq(a, b, rcond=None)
    np.testing.assert_allclose(result.solution.value[:, 0], expected)
    np.testing.assert_allclose(result.residuals.value, residuals)
    assert int(result.rank.value) == rank
    np.testing.assert_allclose(result.singular_values.value, singular)
    by_default, by_qr = call("linalg.lstsq", x, right), call("linalg.lstsq", x, right, driver="gels")
    assert (by_default.residuals.shape, by_default.singular_values.shape, by_default.rank.shape) == ((0,), (0,), ())
    assert (by_qr.residuals.shape, by_qr.rank.shape) == ((1,), (0,))


@pytest.mark.parametrize("power", [-2, -1, 0, 1, 2, 3, 5])
def test_powers_of_a_matrix(power: int) -> None:
    np.testing.assert_allclose(call("matrix_power", leaf(SPD), power).value, np.linalg.matrix_power(SPD, power), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("p", [None, 1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc"])
def test_condition(p: object) -> None:
    np.testing.assert_allclose(call("linalg.cond", leaf(SPD), p).value, np.linalg.cond(SPD, p), rtol=1e-12)  # type: ignore[arg-type]


def test_covariance_and_correlation() -> None:
    x = np.random.default_rng(6).normal(size=(3, 5))
    np.testing.assert_allclose(call("cov", leaf(x)).value, np.cov(x))
    np.testing.assert_allclose(call("corrcoef", leaf(x)).value, np.corrcoef(x))
    np.testing.assert_allclose(call("cov", leaf(x), correction=0).value, np.cov(x, ddof=0))
    weights = tensor([1, 2, 1, 3, 1])
    np.testing.assert_allclose(call("cov", leaf(x), fweights=weights).value, np.cov(x, fweights=weights.value))
    part = tensor([0.5, 0.2, 1.0, 0.3, 0.7])
    np.testing.assert_allclose(call("cov", leaf(x), aweights=part).value, np.cov(x, aweights=part.value))


def test_the_exponential_of_a_large_matrix() -> None:
    x = np.array([[0.0, 30.0], [-30.0, 0.0]])
    c, s = np.cos(30.0), np.sin(30.0)
    np.testing.assert_allclose(call("linalg.matrix_exp", leaf(x)).value, [[c, s], [-s, c]], rtol=1e-11)


def test_vectors_and_batches_on_the_right() -> None:
    a = np.stack([SPD, 2 * SPD])
    b = np.random.default_rng(7).normal(size=(2, 3))
    x, y = leaf(a), leaf(b)
    out = call("linalg.solve", x, y)
    np.testing.assert_allclose(out.value, np.linalg.solve(a, b[..., None])[..., 0])
    backward(FUNCTIONS["sum"](out))
    np.testing.assert_allclose(y.grad.value[1], np.linalg.solve(2 * SPD, np.ones(3)))  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("linalg.inv", (np.zeros((2, 2)),), "linalg.inv: The diagonal element 1 is zero, the inversion could not be completed"),
        ("linalg.inv", (np.stack([np.eye(2), np.zeros((2, 2))]),), "linalg.inv: (Batch element 1): The diagonal element 1 is zero"),
        ("linalg.solve", (np.ones((2, 2)), np.ones(2)), "torch.linalg.solve: The solver failed because the input matrix is singular."),
        ("linalg.cholesky", ([[1.0, 2.0], [2.0, 1.0]],), "(the leading minor of order 2 is not positive-definite)."),
    ],
)  # fmt: skip
def test_matrices_without_result(name: str, args: tuple[object, ...], message: str) -> None:
    with pytest.raises(LinAlgError) as caught:
        call(name, *map(leaf, args))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "shapes", "message"),
    [
        ("det", [(2, 3)], "linalg.det: A must be batches of square matrices, but they are 2 by 3 matrices"),
        ("linalg.inv", [(2,)], "linalg.inv: The input tensor A must have at least 2 dimensions."),
        ("linalg.solve", [(2, 2), (3, 1)], "linalg.solve: Incompatible shapes of A and B for the equation AX = B (2x2 and 3x1)"),
        ("cross", [(2,), (2,)], "no dimension of size 3 in input"),
    ],
)
def test_shapes_that_do_not_fit(name: str, shapes: list[tuple[int, ...]], message: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        call(name, *(leaf(np.ones(shape)) for shape in shapes))
    assert str(caught.value) == message
