"""What a wrong gradient looks like, in words."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.check.patterns import Context, Count, number, recognise

TRUTH = np.array([[1.5, -2.0, 0.7], [0.3, 4.0, -1.1], [2.2, 0.9, 5.0]])


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        (-TRUTH, "sign", "has the wrong sign"),
        (2 * TRUTH, "factor", "is right up to a factor of 2: it is twice the derivative"),
        (0.5 * TRUTH, "factor", "is right up to a factor of 0.5: a factor of 2, as from a square, is missing"),
        (1.0001 * TRUTH, "factor", "is right up to a factor of 1.0001"),
        (-3 * TRUTH, "factor", "is right up to a factor of 3 and the sign"),
        (TRUTH / 3, "factor", "is right up to a factor of 1/3"),
        (0 * TRUTH, "zero", "is 0, but the output depends on it"),
        (TRUTH.T, "transpose", "is transposed"),
        (-TRUTH.T, "transpose", "is transposed and has the wrong sign"),
        (3 * TRUTH.T, "transpose", "is transposed, and off by a factor of 3"),
        (TRUTH[::-1], "moved", "is in reverse order along axis 0"),
        (np.roll(TRUTH, 1, 1), "moved", "is shifted by one element along axis 1"),
        (TRUTH.reshape(-1)[[4, 0, 7, 2, 8, 1, 3, 5, 6]].reshape(3, 3), "moved", "has the right numbers in the wrong places"),
        (TRUTH + 0.25, "term", "is off by 0.25 in every element: a term is missing, or too much"),
        (TRUTH * (1 + 1e-8), "factor", "is right up to a factor of 1 + 1e-08"),
        (TRUTH + 1e-9 * np.eye(3)[1], "slight", "is off by up to 1.1e-09 of itself, at [2, 1]"),
        (TRUTH**3, "other", "is wrong: 125 instead of 5, at [2, 2]"),
    ],
)
def test_whole_arrays(given: np.ndarray, kind: str, text: str) -> None:
    found = recognise(given, TRUTH)
    assert found.kind == kind
    assert found.text.startswith(text)


def test_one_element_of_a_thousand() -> None:
    truth = np.linspace(1, 2, 1000)
    given = truth.copy()
    given[617] = 7.0
    assert recognise(given, truth).text == "is wrong in 1 of 1000 elements, at [617]: 7 instead of 1.61762"


def test_some_elements_with_a_common_fault() -> None:
    given = TRUTH.copy()
    given[0] *= -1
    assert recognise(given, TRUTH).text.startswith("is wrong in 3 of 9 elements, with the wrong sign, first at [0, 0]")


def test_masks() -> None:
    truth = np.array([1.0, 0.0, 3.0, 0.0])
    assert recognise(np.array([1.0, 2.0, 3.0, 0.0]), truth).text == "lacks a mask: it is not 0 at [1], where the derivative is"
    assert recognise(np.array([1.0, 0.0, 0.0, 0.0]), truth).text == "is masked too much: it is 0 at [2], where the derivative is not"


@pytest.mark.parametrize(
    ("factor", "context", "text"),
    [
        (2.0, Context(counts=[Count(2, "mean over 2 rows")]), "a factor of 2: the mean over 2 rows is missing"),
        (0.25, Context(counts=[Count(4, "mean over 4 elements")]), "a factor of 0.25: the mean over 4 elements is taken once too often"),
        (1 / 3, Context(sums=[Count(3, "sum over 3 columns")]), "a factor of 1/3: it is the mean, not the sum over 3 columns"),
        (7.0, Context(counts=[Count(7, "division by 7")]), "a factor of 7: the division by 7 is missing"),
        (-2.0, Context(counts=[Count(2, "mean over 2 rows")]), "a factor of 2 and the sign: the mean over 2 rows is missing"),
    ],
)
def test_factors_with_a_meaning(factor: float, context: Context, text: str) -> None:
    assert recognise(factor * TRUTH, TRUTH, context).text == f"is right up to {text}"


def test_the_gradient_of_another_argument() -> None:
    other = TRUTH**2 - 3
    assert recognise(other, TRUTH, Context(others=[("argument 2", other)])).text == "is that of argument 2: the two are swapped"


def test_factors_at_hand() -> None:
    x = np.array([[0.5, 2.0, -3.0]])
    y = np.array([[1.5, 0.3, 4.0]])
    values = Context(values=[("x", x), ("y", y)])
    truth = TRUTH[:1]
    assert recognise(truth * x, truth, values).text == "is x times the derivative: a division by x is missing"
    assert recognise(truth / y, truth, values).text == "lacks a factor: times y it is the derivative"
    assert recognise(truth * x / y, truth, values).text == "has x where y belongs, or the inverse"


def test_upstream_gradients() -> None:
    x, w = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]), np.array([[0.5, -1.0, 2.0], [1.5, 0.7, -0.4]])

    def along(weights: np.ndarray) -> np.ndarray:
        return (weights * x).sum(axis=0)

    context = Context(upstream=w, along=along)
    truth = along(w)
    assert recognise(x.sum(axis=0), truth, context).text == "ignores grad_output: it is right only for ones"
    assert recognise((w * x)[0], truth, context).text == "lacks the sum over axis 0 of the output, 2 long: only number 0 counts"
    spread = np.broadcast_to(w.sum(axis=1, keepdims=True), w.shape)
    assert recognise(along(spread), truth, context).text == "sums grad_output over axis 1, which the output keeps apart"


@pytest.mark.parametrize(
    ("value", "text"), [(2.0, "2"), (0.5, "0.5"), (1 / 3, "1/3"), (1 / 7, "1/7"), (0.1, "0.1"), (1.0001, "1.0001"), (0.3, "0.3")]
)
def test_factors_as_people_write_them(value: float, text: str) -> None:
    assert number(value) == text


def test_empty_and_scalar_gradients_have_words_too() -> None:
    assert recognise(np.zeros((0, 3)), np.zeros((0, 3))).text == "is wrong"
    assert recognise(np.array(2.0), np.array(-7.0)).text.startswith("is right up to a factor of")
    assert recognise(np.array(2.0), np.array(0.0)).text == "is wrong: 2 instead of 0"


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinite")])
def test_what_is_not_finite_is_no_missing_mask(value: float, word: str) -> None:
    found = recognise(np.array([value, 2.0]), np.array([0.0, 2.0]))
    assert (found.kind, found.text) == ("nan", f"is {word} at [0], where there is a derivative")
    assert recognise(np.array([value, 3.0]), np.array([0.0, 2.0])).kind != "nan"
