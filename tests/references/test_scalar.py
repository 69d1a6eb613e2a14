"""Numbers of 50 digits on a tape."""

from __future__ import annotations

import operator

import mpmath
import numpy as np
import pytest

from gradcli.references.scalar import BudgetExceeded, Scalar, Tape, divide, lift, lower, lowered, number, to_float


def variable(tape: Tape, value: float) -> Scalar:
    return Scalar(number(value), tape, ())


def gradient(tape: Tape, output: Scalar, *inputs: Scalar) -> list[float]:
    adjoint, _ = tape.sweep([(output.place, mpmath.mpf(1))])
    return [to_float(adjoint[v.place]) for v in inputs]


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [(1.0, 0.0, "inf"), (-1.0, 0.0, "-inf"), (0.0, 0.0, "nan"), (float("nan"), 0.0, "nan"), (6.0, 4.0, "1.5")],
)
def test_division_follows_ieee(x: float, y: float, expected: str) -> None:
    np.testing.assert_equal(to_float(divide(number(x), number(y))), float(expected))
    np.testing.assert_equal(float(Scalar(number(x)) / Scalar(number(y))), float(expected))
    np.testing.assert_equal(float(x / Scalar(number(y))), float(expected))


def test_numbers_beyond_float64_round_to_infinity_or_zero() -> None:
    assert to_float(mpmath.mpf(10) ** 400) == float("inf")
    assert to_float(-(mpmath.mpf(10) ** 400)) == float("-inf")
    assert to_float(mpmath.mpf(10) ** -400) == 0.0
    assert np.isnan(to_float(mpmath.mpc(1, 1)))


def test_fifty_digits_survive_a_cancellation() -> None:
    with mpmath.workdps(50):
        assert float((Scalar(number(1e16)) + 1.0) - 1e16) == 1.0
        assert float(Scalar(number(1.0)) / 3 * 3 - 1) == pytest.approx(0, abs=1e-48)


@pytest.mark.parametrize(
    ("op", "dx", "dy"),
    [
        (operator.add, 1.0, 1.0),
        (operator.sub, 1.0, -1.0),
        (operator.mul, 4.0, 3.0),
        (operator.truediv, 0.25, -3.0 / 16),
        (operator.pow, 4 * 3.0**3, 3.0**4 * np.log(3.0)),
    ],
)
def test_partial_derivatives_of_arithmetic(op, dx: float, dy: float) -> None:
    tape = Tape(1000)
    x, y = variable(tape, 3.0), variable(tape, 4.0)
    assert gradient(tape, op(x, y), x, y) == pytest.approx([dx, dy], rel=1e-15)


def test_arithmetic_with_plain_numbers_on_either_side() -> None:
    tape = Tape(1000)
    x = variable(tape, 3.0)
    y = 1 - 2 * x + x / 4 + 12 / x - (-x) + np.float64(5.0) * x + (+x) + abs(-x)
    assert float(y) == 1 - 6 + 0.75 + 4 + 3 + 15 + 3 + 3
    assert gradient(tape, y, x) == pytest.approx([-2 + 0.25 - 12 / 9 + 1 + 5 + 1 + 1], rel=1e-15)


def test_one_number_used_often_gets_the_sum() -> None:
    tape = Tape(1000)
    x = variable(tape, 2.0)
    assert gradient(tape, x * x * x, x) == [12.0]


def test_an_edge_that_nothing_selects_is_skipped() -> None:
    tape = Tape(100)
    x = variable(tape, 0.0)
    y = 0 * (1 / x)
    assert np.isnan(float(y))
    assert gradient(tape, y, x) == [0.0]


def test_gross_is_the_sum_of_the_sizes_of_what_cancels() -> None:
    tape = Tape(100)
    x = variable(tape, 5.0)
    y = 1000 * x - 999 * x
    adjoint, gross = tape.sweep([(y.place, mpmath.mpf(1))])
    assert (to_float(adjoint[x.place]), gross[x.place]) == (1.0, 1999.0)


def test_constants_leave_no_entry() -> None:
    tape = Tape(2)
    x = variable(tape, 1.0)
    c = Scalar(number(2.0)) * Scalar(number(3.0)) + 7
    assert c.place == -1
    assert len(tape.entries) == 1
    _ = x + c
    with pytest.raises(BudgetExceeded):
        _ = x + c


def test_comparisons_go_by_value_and_a_scalar_is_true_unless_zero() -> None:
    a, b = Scalar(number(1.0)), Scalar(number(2.0))
    assert a < b
    assert a <= 1.0
    assert b > 1
    assert b >= np.float64(2.0)
    assert a == 1.0
    assert a != b
    assert not Scalar(number(0.0))
    assert len({a, Scalar(number(1.0))}) == 1


def test_lift_and_lower_round_trip_every_float() -> None:
    values = np.array([[0.1, -0.0, 1e-320], [1e308, 3.0, np.inf]])
    np.testing.assert_array_equal(lower(lift(values)), values)
    assert lift(np.float64(2.0)).shape == ()
    np.testing.assert_array_equal(lowered(lift(values)), values)
    assert lowered("text") == "text"
    assert lowered(Scalar(number(0.5))) == np.float64(0.5)


def test_numpy_works_on_arrays_of_them() -> None:
    tape = Tape(1000)
    a = lift(np.array([[1.0, 2.0], [3.0, 4.0]]), tape)
    product = a @ a
    assert lower(product).tolist() == [[7, 10], [15, 22]]
    adjoint, _ = tape.sweep([(product[0, 0].place, mpmath.mpf(1))])
    assert [to_float(adjoint[v.place]) for v in a.flat] == [2.0, 3.0, 2.0, 0.0]
    assert float(np.add.reduce(a.reshape(-1))) == 10.0
