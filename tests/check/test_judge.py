"""One verdict for each element, from made-up opinions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.check.judge import Judge
from gradcli.check.opinions import Opinion
from gradcli.check.verdicts import Judgement, worst
from gradcli.references.estimate import Estimate

NAN, INF = float("nan"), float("inf")


def judge(
    given: Any,
    symbolic: Any = None,
    slope: Any = None,
    bar: Any = None,
    *,
    gross: Any = None,
    sides: list[Any] | None = None,
    exactly: Any = None,
    arbiter: Any = None,
    dtype: Any = np.float64,
    unsettled: Any = None,
    in_functions: bool = False,
) -> Judgement:
    given = np.asarray(given, dtype=float)
    found = None if symbolic is None else Estimate(np.asarray(symbolic, float), np.zeros(given.shape), "per-node")
    slopes = None if slope is None else Estimate(np.asarray(slope, float), np.asarray(bar, float), "full")
    size = np.abs(np.asarray(symbolic if gross is None and symbolic is not None else (given if gross is None else gross), float))
    opinion = Opinion(found, slopes, size, [np.asarray(s, float) for s in sides or []], unsettled, [], in_functions)
    answers = np.full(given.size, NAN) if arbiter is None else np.asarray(arbiter, float).reshape(-1)
    return Judge(
        given, opinion, np.dtype(dtype), lambda: None if exactly is None else np.asarray(exactly, float), lambda elements: answers[elements]
    ).judge()


def verdicts(found: Judgement) -> list[tuple[str, bool]]:
    return [(str(v), bool(f)) for v, f in zip(found.verdicts.flat, found.failing.flat, strict=True)]


PASS, FAIL = ("pass", False), ("fail", True)


@pytest.mark.parametrize("scale", [1e-250, 1e-7, 1.0, 1e9, 1e250])
@pytest.mark.parametrize(
    ("factor", "expected"), [(1.0, PASS), (1 + 4e-16, PASS), (1 + 1e-9, FAIL), (1.0001, FAIL), (2.0, FAIL), (-1.0, FAIL), (0.0, FAIL)]
)
def test_the_scale_does_not_matter(scale: float, factor: float, expected: tuple[str, bool]) -> None:
    assert verdicts(judge([scale * factor], [scale], exactly=[scale * factor])) == [expected]


def test_each_element_is_judged_by_itself() -> None:
    given = np.array([1e6, -1e-3, 0.0, 5.0])
    assert verdicts(judge(given, np.abs(given))) == [PASS, FAIL, PASS, PASS]


def test_one_wrong_element_among_a_thousand() -> None:
    truth = np.linspace(1, 2, 1000)
    given = truth.copy()
    given[617] *= 1.0001
    found = judge(given, truth)
    assert np.flatnonzero(found.failing).tolist() == [617]
    assert found.status == "fail"


def test_a_wrong_zero() -> None:
    assert verdicts(judge([0.0, 1e-30], [1e-30, 0.0])) == [FAIL, FAIL]


def test_rounding_of_terms_that_cancel_passes() -> None:
    assert verdicts(judge([1.0 + 1e-9], [1.0], gross=[1e8], exactly=[1.0])) == [PASS]


def test_lost_digits_are_unstable_where_the_rule_itself_is_right() -> None:
    assert verdicts(judge([1.3], [1.0], gross=[1e16], exactly=[1.0])) == [("unstable", False)]
    assert verdicts(judge([0.0], [1.7e-17], exactly=[1.7e-17])) == [("unstable", False)]


def test_a_wrong_rule_is_no_lost_digits() -> None:
    assert verdicts(judge([1.3], [1.0], exactly=[1.3], arbiter=[1.0])) == [FAIL]


def test_nothing_fails_without_the_arbiter() -> None:
    found = judge([2.0], [1.0], exactly=[2.0], arbiter=[2.0])
    assert verdicts(found) == [PASS]
    assert found.notes[0][0] == "unreliable-symbolic"


def test_two_that_agree_outvote_the_arbiter() -> None:
    assert verdicts(judge([2.0], [1.0], [1.0], [1e-9], exactly=[2.0], arbiter=[2.0])) == [FAIL]


def test_what_nobody_knows_is_unstable() -> None:
    assert verdicts(judge([2.0, 1.0], [1.0, 1.0], unsettled=np.array([True, False]))) == [("unstable", False), PASS]


@pytest.mark.parametrize(
    ("given", "expected"), [(0.0, ("kink", False)), (1.0, ("kink", False)), (0.5, ("kink", False)), (1.1, FAIL), (-0.1, FAIL)]
)
def test_at_a_kink(given: float, expected: tuple[str, bool]) -> None:
    found = judge([given], [given if 0 <= given <= 1 else 0.0], sides=[[0.0], [1.0]], exactly=[given])
    assert verdicts(found) == [expected]


def test_a_kink_elsewhere_is_no_excuse() -> None:
    assert verdicts(judge([0.0, 3.0], [0.0, 2.0], sides=[[0.0, 2.0], [1.0, 2.0]], exactly=[0.0, 3.0])) == [("kink", False), FAIL]


@pytest.mark.parametrize("given", [0.0, 0.3, 1.0])
def test_a_user_function_may_choose_between_the_sides(given: float) -> None:
    assert verdicts(judge([given], [0.0], sides=[[0.0], [1.0]], in_functions=True, exactly=[given])) == [PASS]


# ---- differences alone


def test_differences_alone_pass_and_fail_by_their_own_bar() -> None:
    slope, bar = [1.0, 1.0, 1.0], [1e-9, 1e-9, 1e-9]
    found = judge([1.0 + 5e-9, 1.0001, -1.0], None, slope, bar)
    assert verdicts(found) == [PASS, FAIL, FAIL]


def test_a_wide_bar_decides_nothing() -> None:
    found = judge([1.0, 7.0], None, [1.0, 1.0], [0.5, 0.5])
    assert verdicts(found) == [("unchecked", False)] * 2
    assert found.notes[0][0] == "unreliable-fd"


def test_a_small_element_beside_a_large_one_is_judged_by_the_size_of_both() -> None:
    assert verdicts(judge([1e6, 0.0], None, [1e6, 1e-4], [1e-4, 1e-4]))[1] == PASS


def test_two_exact_zeros_meet() -> None:
    assert verdicts(judge([0.0], None, [0.0], [1e-13])) == [PASS]


def test_the_arbiter_is_asked_before_differences_fail_anything() -> None:
    assert verdicts(judge([1.0001], None, [1.0], [1e-9], arbiter=[1.0001])) == [PASS]
    assert verdicts(judge([1.0001], None, [1.0], [1e-9], arbiter=[1.0])) == [FAIL]


def test_differences_that_contradict_a_confirmed_gradient_are_noted() -> None:
    found = judge([1.0], [1.0], [2.0], [1e-9])
    assert verdicts(found) == [PASS]
    assert found.notes[0][0] == "unreliable-fd"


def test_no_reference_no_verdict() -> None:
    assert verdicts(judge([1.0])) == [("unchecked", False)]


# ---- what is not finite


@pytest.mark.parametrize("given", [NAN, INF, -INF])
def test_nan_is_a_failure_where_the_derivative_exists(given: float) -> None:
    assert verdicts(judge([given, 1.0], [1.0, 1.0])) == [("nan", True), PASS]
    assert verdicts(judge([given], None, [1.0], [1e-9])) == [("nan", True)]


def test_nan_is_reported_where_there_is_no_derivative() -> None:
    assert verdicts(judge([NAN, INF], [NAN, INF], [NAN, NAN], [INF, INF])) == [("nan", False)] * 2


def test_nan_never_equals_nan() -> None:
    assert judge([NAN], [NAN]).status == "nan"


def test_a_finite_gradient_where_sympy_has_no_value_is_judged_by_differences() -> None:
    assert verdicts(judge([1.0], [NAN], [1.0], [1e-10])) == [PASS]
    assert verdicts(judge([2.0], [NAN], [1.0], [1e-10])) == [FAIL]


# ---- precision


def test_float32_leaves_are_judged_in_their_own_precision() -> None:
    assert verdicts(judge([1 + 1e-7], [1.0], dtype=np.float32)) == [PASS]
    assert verdicts(judge([1 + 1e-7], [1.0], dtype=np.float64)) == [FAIL]
    assert verdicts(judge([1 + 1e-4], [1.0], dtype=np.float32)) == [FAIL]


def test_ulps_and_errors_are_told() -> None:
    found = judge([1 + 4 * 2.0**-52], [1.0])
    assert found.ulps is not None
    assert float(found.ulps[0]) == pytest.approx(4, rel=0.01)
    assert float(found.error[0]) < 1


def test_the_worst_verdict() -> None:
    def of(*pairs: tuple[str, bool]) -> str:
        return worst(np.array([v for v, _ in pairs], dtype=object), np.array([f for _, f in pairs]))

    assert of() == "pass"
    assert of(PASS, ("kink", False), ("unstable", False)) == "unstable"
    assert of(("nan", False), ("unchecked", False)) == "unchecked"
    assert of(("nan", True), ("unchecked", False)) == "nan"
    assert of(("nan", True), FAIL) == "fail"


def test_a_run_without_rounding_that_goes_another_way_proves_nothing() -> None:
    """It is farther from both than they are from each other, as where a tie in float32 is none at 50 digits."""
    found = judge([1.0 + 1e-7], symbolic=[1.0], exactly=[0.0], arbiter=[1.0 + 1e-7])
    assert verdicts(found) == [PASS]
    found = judge([1.0 + 1e-7], symbolic=[1.0], exactly=[1.0 + 1e-7], arbiter=[1.0])
    assert verdicts(found) == [FAIL]


def test_digits_that_rounding_takes_are_told_where_differences_alone_speak() -> None:
    given = {"symbolic": [NAN], "slope": [1.0], "bar": [1e-12]}
    assert verdicts(judge([1.01], exactly=[1.0], **given)) == [("unstable", False)]
    assert verdicts(judge([1.0 + 1e-10], exactly=[1.0], **given)) == [PASS]
    assert verdicts(judge([1.01], exactly=[1.01], **given)) == [FAIL]


def test_a_run_without_rounding_may_be_off_by_the_constants_that_a_float32_program_rounds() -> None:
    given, truth = [1.21756e-07], [1.218453e-07]
    assert verdicts(judge(given, symbolic=truth, exactly=[1.2184521e-07], gross=[1e-7], dtype=np.float32)) == [("unstable", False)]
    assert verdicts(judge(given, symbolic=truth, exactly=[1.21756e-07], gross=[1e-7], arbiter=truth, dtype=np.float32)) == [FAIL]
