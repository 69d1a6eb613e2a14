"""Fourier transforms against numpy's, as linear maps with their adjoints; parts of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.engine.backward import grad
from gradcli.engine.tensor import Tensor, tensor
from gradcli.ops.catalogue import FUNCTIONS

RNG = np.random.default_rng(0)
REAL = RNG.normal(size=(3, 4))
COMPLEX = REAL + 1j * RNG.normal(size=(3, 4))


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize(
    ("name", "x", "kwargs"),
    [
        ("fft", COMPLEX, {}),
        ("fft", REAL, {"n": 6}),
        ("ifft", COMPLEX, {"n": 2, "axis": 0}),
        ("rfft", REAL, {}),
        ("rfft", REAL, {"n": 5, "axis": 0}),
        ("irfft", COMPLEX, {}),
        ("irfft", COMPLEX, {"n": 5}),
        ("irfft", COMPLEX, {"n": 9, "axis": 0}),
        ("hfft", COMPLEX, {"n": 7}),
        ("ihfft", REAL, {}),
        ("fftn", COMPLEX, {}),
        ("ifftn", COMPLEX, {}),
        ("fft2", COMPLEX, {"s": (2, 5)}),
        ("rfftn", REAL, {}),
        ("rfft2", REAL, {}),
        ("irfftn", COMPLEX, {}),
        ("irfft2", COMPLEX, {"s": (3, 5)}),
    ],
)
def test_transforms_are_numpys_and_their_gradients_the_adjoints(name: str, x: np.ndarray, kwargs: dict[str, Any], norm: str | None) -> None:
    if "s" in kwargs:
        expected = getattr(np.fft, name)(x, axes=(-2, -1), norm=norm, **kwargs)
    else:
        expected = getattr(np.fft, name)(x, norm=norm, **kwargs)
    dims = {"dim" if k == "axis" else k: v for k, v in kwargs.items()}
    leaf = tensor(x, requires_grad=True)
    out = FUNCTIONS[f"fft.{name}"](leaf, norm=norm, **dims)
    np.testing.assert_allclose(out.value, expected, atol=1e-14)
    g = RNG.normal(size=out.shape) + (1j * RNG.normal(size=out.shape) if out.dtype.kind == "c" else 0)
    found = grad(out, leaf, Tensor(g))[0].value  # type: ignore[union-attr]
    step = RNG.normal(size=x.shape) + (1j * RNG.normal(size=x.shape) if x.dtype.kind == "c" else 0)
    moved = FUNCTIONS[f"fft.{name}"](tensor(step), norm=norm, **dims).value
    assert found.dtype == x.dtype
    assert np.sum((found.conj() * step).real) == pytest.approx(np.sum((g.conj() * moved).real))


def test_shifts() -> None:
    x = tensor(np.arange(10.0).reshape(2, 5))
    np.testing.assert_array_equal(FUNCTIONS["fft.fftshift"](x).value, np.fft.fftshift(x.value))
    np.testing.assert_array_equal(FUNCTIONS["fft.ifftshift"](x, dim=-1).value, np.fft.ifftshift(x.value, axes=-1))


@pytest.mark.parametrize(
    ("name", "expected"),
    [("real", np.ones(2)), ("imag", np.full(2, 1j)), ("angle", 1j / np.array([3.0 - 4.0j, 1.0j]).conj())],
)
def test_gradients_of_parts_point_where_the_loss_grows(name: str, expected: np.ndarray) -> None:
    z = tensor(np.array([3.0 - 4.0j, 1.0j]), requires_grad=True)
    np.testing.assert_allclose(grad(FUNCTIONS["sum"](FUNCTIONS[name](z)), z)[0].value, expected)  # type: ignore[union-attr]


def test_pairs_of_real_numbers() -> None:
    z = tensor(COMPLEX)
    pairs = FUNCTIONS["view_as_real"](z)
    assert pairs.shape == (3, 4, 2)
    np.testing.assert_array_equal(FUNCTIONS["view_as_complex"](pairs).value, COMPLEX)


@pytest.mark.parametrize(
    ("name", "x", "kwargs", "message"),
    [
        ("fft.rfft", COMPLEX, {}, "rfft expects a real input tensor, but got ComplexDouble"),
        ("fft.fft", REAL, {"norm": "other"}, 'Invalid normalization mode: "other"'),
        ("fft.fft", REAL, {"n": 0}, "Invalid number of data points (0) specified"),
        ("imag", REAL, {}, "imag is not implemented for tensors with non-complex dtypes."),
    ],
)
def test_calls_that_do_not_fit(name: str, x: np.ndarray, kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        FUNCTIONS[name](tensor(x), **kwargs)
    assert str(caught.value) == message
