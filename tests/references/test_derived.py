"""Values and partial derivatives that SymPy gives."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from gradcli.ops.catalogue import FUNCTIONS
from gradcli.references import derived
from gradcli.references.precise import PRECISE
from gradcli.references.scalar import Tape, lift, number, to_float


def slope(name: str, *point: float, **parameters: object) -> list[float]:
    """The partial derivatives of a function at a point, by the scalar tape."""
    tape = Tape(100_000)
    with mpmath.workdps(50), np.errstate(all="ignore"):
        args = [lift(np.float64(v), tape)[()] for v in point]
        out = FUNCTIONS[name](*args, **parameters)
        adjoint, _ = tape.sweep([(out.place, number(1))])
        return [to_float(adjoint[a.place]) for a in args]


@pytest.mark.parametrize(
    ("name", "point", "expected"),
    [
        ("exp", (1.5,), [np.exp(1.5)]),
        ("log", (2.5,), [0.4]),
        ("sin", (0.3,), [np.cos(0.3)]),
        ("tanh", (20.0,), [1.6993417021166355e-17]),
        ("sigmoid", (40.0,), [4.248354255291589e-18]),
        ("atan2", (1.0, 2.0), [0.4, -0.2]),
        ("hypot", (3.0, 4.0), [0.6, 0.8]),
        ("relu", (-1.0,), [0.0]),
        ("relu", (2.0,), [1.0]),
        ("abs", (-3.0,), [-1.0]),
        ("maximum", (1.0, 2.0), [0.0, 1.0]),
        ("floor", (1.5,), [0.0]),
        ("special.log_ndtr", (-745.0,), [745.0013422770424]),
        ("sinc", (1e-300,), [-3.2898681336964532e-300]),
        ("digamma", (-1e9 - 0.25,), [19.739208801178717]),
    ],
)
def test_partial_derivatives(name: str, point: tuple[float, ...], expected: list[float]) -> None:
    assert slope(name, *point) == pytest.approx(expected, rel=4e-16, abs=0)


def test_a_pole_has_no_derivative_and_says_so() -> None:
    (found,) = slope("log", 0.0)
    assert np.isnan(found) or np.isinf(found)


def test_an_argument_outside_the_domain_gives_nan() -> None:
    assert np.isnan(slope("acosh", -1.1)[0])
    assert np.isnan(slope("log", -1.0)[0])


def test_a_constant_argument_has_no_place_on_the_tape() -> None:
    tape = Tape(100)
    with mpmath.workdps(50):
        x = lift(np.float64(3.0), tape)[()]
        out = FUNCTIONS["atan2"](x, np.float64(2.0))
    assert len(tape.entries[out.place]) == 1


def test_elementwise_broadcasts() -> None:
    tape = Tape(1000)
    with mpmath.workdps(50):
        x = lift(np.array([[1.0], [2.0]]), tape)
        out = FUNCTIONS["atan2"](x, np.array([3.0, 4.0, 5.0]))
    assert out.shape == (2, 3)
    assert to_float(number(out[1, 2])) == np.arctan2(2.0, 5.0)


def test_evaluators_are_made_once_for_a_branch() -> None:
    slope("relu", 1.0)
    before = len(derived.TABLE)
    slope("relu", 5.0)
    assert len(derived.TABLE) == before


def test_parameters_are_part_of_the_key() -> None:
    assert slope("leaky_relu", -1.0, negative_slope=0.25) == [0.25]
    assert slope("leaky_relu", -1.0, negative_slope=0.5) == [0.5]


def test_a_whole_number_and_a_float_parameter_are_two_things() -> None:
    assert slope("clamp", 0.5, min=0, max=1) == [1.0]
    assert slope("clamp", 2.5, min=0.0, max=1.0) == [0.0]


@pytest.mark.parametrize(
    ("name", "point", "expected"),
    [
        ("erfc", 20.0, -2 / np.sqrt(np.pi) * np.exp(-400.0)),
        ("gelu", -19.3316, -1.8139942179694880e-81 / 1.0),
        ("log_ndtr", -30.0, 30.03325969133297),
        ("logsigmoid", -50.0, 1.0),
        ("tanh", 40.0, 7.2194411540e-35),
    ],
)
def test_tails_whose_formula_cancels_at_fifty_digits(name: str, point: float, expected: float) -> None:
    assert slope(name, point) == pytest.approx([expected], rel=1e-2)


@pytest.mark.parametrize("x", [2.0**110, -(2.0**110), 1e31, 1e300, -1e300])
def test_exponentials_of_huge_numbers_are_exact_and_quick(x: float) -> None:
    with mpmath.workdps(50):
        found = PRECISE.exp(mpmath.mpf(x))
        assert abs(mpmath.log(found) - mpmath.mpf(x)) <= abs(mpmath.mpf(x)) * mpmath.mpf(10) ** -49
        assert PRECISE.exp(-(mpmath.mpf(2) ** 12698)) < mpmath.mpf(2) ** -(2**12000)
