"""check_gradient: gradients written by hand for plain functions, with the verdicts of `gradcli check`."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli as gc

X = np.array([0.3, 1.2, -2.0])


def wave(x):
    return np.sum(np.sin(x) * x)


def wave_gradient(x):
    return np.cos(x) * x + np.sin(x)


def hidden(f):
    """The function, so that no tensor can be followed through it."""
    return lambda *arrays: f(*[np.array(a.tolist()) for a in arrays])


def test_a_right_gradient_passes_by_both_references():
    found = gc.check_gradient(wave, wave_gradient, X)
    assert (found.status, found.failing, bool(found)) == ("pass", False, True)
    (target,) = found.targets
    assert (target.symbolic, target.finite_difference) == ("per-node", "full")
    assert str(found).startswith("PASS  wave\n")


def test_a_wrong_gradient_fails_and_is_described():
    found = gc.check_gradient(wave, lambda x: 2 * wave_gradient(x), X)
    assert (found.status, found.failing) == ("fail", True)
    assert "a factor of 2" in str(found)
    assert "d wave / d x: 3 of 3 elements" in str(found)


@pytest.mark.parametrize(("factor", "status"), [(1.0, "pass"), (1.0001, "fail"), (-1.0, "fail")])
def test_what_cannot_be_followed_is_judged_by_differences_alone(factor, status):
    found = gc.check_gradient(hidden(wave), lambda x: factor * wave_gradient(x), X, name="wave")
    assert found.status == status
    assert found.targets[0].symbolic.startswith("none: wave gives no tensor")


def test_one_wrong_element_among_right_ones():
    wrong = wave_gradient(X)
    wrong[1] *= 1 + 1e-5
    found = gc.check_gradient(hidden(wave), lambda x: wrong, X)
    assert found.targets[0].inputs[0].failing.tolist() == [False, True, False]


def test_several_arguments_and_a_jacobian():
    a, b = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, 0.7])
    jacobian = lambda a, b: (np.einsum("ia,b->iab", np.eye(2), b), a)  # noqa: E731
    found = gc.check_gradient(lambda a, b: a @ b, jacobian, (a, b), name="product")
    assert found.status == "pass"
    assert [item.name for item in found.targets[0].inputs] == ["a", "b"]
    assert found.targets[0].inputs[0].claimed.shape == (2, 2, 2)
    weighted = gc.check_gradient(
        lambda a, b: a @ b, lambda a, b: (np.outer([1.0, 2.0], b), a.T @ [1.0, 2.0]), (a, b), grad_outputs=[1.0, 2.0]
    )
    assert weighted.status == "pass"
    transposed = gc.check_gradient(
        lambda a, b: a @ b, lambda a, b: (np.outer(b, [1.0, 2.0]), a @ [1.0, 2.0]), (a, b), grad_outputs=[1.0, 2.0]
    )
    assert transposed.status == "fail"


@pytest.mark.parametrize("follow", [True, False])
@pytest.mark.parametrize(("slope", "status"), [(0.0, "kink"), (1.0, "kink"), (-0.5, "kink"), (1.5, "fail")])
def test_kinks(follow, slope, status):
    def total(x):
        return np.sum(np.abs(x))

    found = gc.check_gradient(total if follow else hidden(total), lambda x: np.where(x == 0, slope, np.sign(x)), np.array([1.0, 0.0, -2.0]))
    assert found.status == status
    strict = gc.check_gradient(
        total if follow else hidden(total), lambda x: np.where(x == 0, slope, np.sign(x)), np.array([1.0, 0.0]), strict=True
    )
    assert strict.failing


def test_a_large_gradient_is_judged_along_directions():
    x = np.linspace(0.1, 2.0, 20_000)
    assert gc.check_gradient(hidden(lambda x: np.sum(np.exp(x))), np.exp, x).status == "pass"
    wrong = np.exp(x)
    wrong[777] *= 1.5
    found = gc.check_gradient(hidden(lambda x: np.sum(np.exp(x))), lambda x: wrong, x)
    assert np.flatnonzero(found.targets[0].inputs[0].failing).tolist() == [777]


def test_a_noisy_function_does_not_fail_a_right_gradient():
    def single(x):
        return float(np.sum(np.exp(x.astype(np.float32)) * 100, dtype=np.float32))

    found = gc.check_gradient(single, lambda x: 100 * np.exp(x), X)
    assert not found.failing


def test_numbers_that_leave_the_tensors_are_not_taken_for_constants():
    found = gc.check_gradient(lambda x: x * float(x), lambda x: 2 * x, 3.0)
    assert found.status == "pass"
    assert "takes numbers out of tensors" in found.targets[0].symbolic


def test_a_function_of_tensors_alone():
    assert gc.check_gradient(lambda x: gc.sin(x).sum(), gc.cos, X).status == "pass"
    assert gc.check_gradient(lambda x: gc.logsumexp(x, 0), lambda x: gc.softmax(x, 0), X).status == "pass"


class Square(gc.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x


def test_without_a_gradient_that_of_autograd_is_judged():
    found = gc.check_gradient(lambda x: Square.apply(x).sum(), x0=X)
    assert found.status == "fail"
    assert "Square.backward" in str(found)
    assert gc.check_gradient(lambda x: (x * x).sum(), x0=X).status == "pass"
    with pytest.raises(TypeError, match="nothing to judge"):
        gc.check_gradient(hidden(wave), x0=X)


def test_mistakes_of_the_caller():
    with pytest.raises(ValueError, match=r"gradient by x has shape \[2\], and should have \[3\]"):
        gc.check_gradient(wave, lambda x: x[:2], X)
    with pytest.raises(ValueError, match="1 gradient for 2 arguments"):
        gc.check_gradient(lambda a, b: np.sum(a * b), lambda a, b: b, (X, X))
    with pytest.raises(ValueError, match="grad_outputs has shape"):
        gc.check_gradient(wave, wave_gradient, X, grad_outputs=[1.0])
    with pytest.raises(ValueError, match="real numbers"):
        gc.check_gradient(wave, wave_gradient, X + 1j)
    for f, grad, point, message in (
        (3, wave_gradient, X, "f must be a function, not int"),
        (wave, X, X, "grad must be a function, not ndarray"),
        (wave, wave_gradient, None, "the point is missing: give x0"),
        (lambda x: None, wave_gradient, X, "f gives None, not real numbers: is a return missing[?]"),
        (lambda x: "a", wave_gradient, X, "f gives str, not real numbers"),
        (lambda x: np.sum(x) * 1j, wave_gradient, X, "f gives complex numbers, not real numbers"),
        (wave, lambda x: None, X, "grad gives None for x, not real numbers: is a return missing[?]"),
        (wave, lambda x: [1.0, None, 2.0], X, "grad gives list for x, not real numbers"),
    ):
        with pytest.raises(TypeError, match=f"^{message}"):
            gc.check_gradient(f, grad, point)
    with pytest.raises(TypeError, match="check_gradient has no option 'order'"):
        gc.check_gradient(wave, wave_gradient, X, order=2)
    with pytest.raises(ZeroDivisionError):
        gc.check_gradient(lambda x: 1 / 0, wave_gradient, X)
    with pytest.raises(TypeError, match="did you mean 'rtol'"):
        gc.check_gradient(wave, wave_gradient, X, rtoll=1)


def test_tolerances_and_names():
    almost = lambda x: wave_gradient(x) * (1 + 1e-7)  # noqa: E731
    assert gc.check_gradient(wave, almost, X).failing
    assert not gc.check_gradient(wave, almost, X, rtol=1e-6).failing
    assert "d wave / d angle" in str(gc.check_gradient(wave, almost, X, names="angle"))


def test_the_function_may_write_into_its_argument():
    def spoils(x):
        x *= 2
        return float(np.sum(x.tolist()) ** 2)

    point = X.copy()
    assert gc.check_gradient(spoils, lambda x: np.full(3, 8 * x.sum()), point).status == "pass"
    assert (point == X).all()
