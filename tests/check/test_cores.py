"""Checking FPCore files."""

import pytest

from gradcli.check import check_file
from gradcli.check.options import CheckOptions
from gradcli.interpreter.limits import Limits

TEXT = """
; two that are right, one that is no real function, one beyond what is taken, one that fails while it runs, one without a point
(FPCore (x y) :name "good" :pre (and (< 1 x 2) (< 1 y 2)) (+ (* x y) (sin x)))
(FPCore (x y) :name "branch" :pre (< 3 x 4) (if (> x 1) (* x x) y))
(FPCore (x) :name "truth" (< x 1))
(FPCore (x) :name "arrays" (ref x 1))
(FPCore (x) :name "runaway" (while (< i 5000) ([i 0 (+ i 1)]) (* i x)))
(FPCore (x) :name "nowhere" :pre (< x x) x)
"""


def check(text, **options):
    return check_file("f.fpcore", text, CheckOptions(**options))


def test_each_core_is_a_target_of_its_own():
    result = check(TEXT, limits=Limits(steps=1000))
    assert [(t.output, t.status, t.line) for t in result.targets] == [
        ("good", "pass", 3), ("branch", "pass", 4), ("truth", "unchecked", 5), ("arrays", "unchecked", 6), ("runaway", "unchecked", 7),
        ("nowhere", "unchecked", 8),
    ]  # fmt: skip
    assert result.status == "error"
    assert [e.span.line for e in result.error.errors] == [5, 6]
    assert "no point" in result.targets[5].symbolic


def test_arguments_off_the_branch_have_the_derivative_zero():
    (target,) = check(TEXT, output="branch").targets
    assert [(i.name, i.status) for i in target.inputs] == [("x", "pass"), ("y", "pass")]
    assert target.inputs[1].autograd == 0


def test_the_point_is_in_the_notes_and_can_be_set():
    (target,) = check(TEXT, output="good").targets
    (note,) = [n for n in target.notes if n.kind == "point"]
    assert "--set 'x=1." in note.message
    (target,) = check(TEXT, output="good", set=(("x", "1.25"), ("y", "1.5"))).targets
    assert target.inputs[1].autograd == 1.25


def test_further_points():
    result = check("(FPCore (x) (* x x x))", points=3)
    assert result.status == "pass"


def test_unknown_names_are_refused():
    result = check(TEXT, output="god")
    assert result.error.hint == "did you mean 'good'?"
    assert "no FPCore has such an argument" in check("(FPCore (x) x)", set=(("z", "1"),)).error.message


def test_a_file_without_cores_is_an_error():
    assert "no FPCore" in check("; nothing").error.message


@pytest.mark.parametrize(
    ("options", "count"),
    [({}, 5), ({"strict": True}, 5), ({"points": 2}, 5), ({"order": 2}, 6), ({"wrt": ("y",)}, 5), ({"output": "none"}, 1)],
)
def test_a_constant_has_the_derivative_zero(options, count):
    text = """
    (FPCore (x y) :name "one" 1.0)
    (FPCore () :name "none" PI)
    (FPCore (x) :name "branch" :pre (< 0 x 1) (if (< x 2) 3 x))
    (FPCore (x) :name "array" (array 1 2))
    (FPCore (x) :name "itself" x)
    """
    result = check(text, **options)
    assert (result.status, result.error, len(result.targets)) == ("pass", None, count)
    constants = [target for target in result.targets if target.output != "itself"]
    assert not any(item.autograd.any() or item.finite_difference.any() for target in constants for item in target.inputs)


def test_comments_steer_a_file_of_cores():
    right, wrong = "(FPCore (x) (* x x))", "(FPCore (x) (* x"
    assert check(f"; gradcli: expect pass\n{right}").met is True
    assert check(f";; gradcli: expect kink\n{right}").met is False
    assert check(f"; gradcli: expect error\n{wrong}").met is True
    result = check(f"{right} ; gradcli: expect sorrow")
    assert (result.status, result.error.errors[0].span[:2]) == ("error", (1, 22))
    assert check('(FPCore (x) :name "; gradcli: expect fail" (* x x))').expected is None


def test_an_array_is_a_jacobian():
    (target,) = check("(FPCore (x) (array x (* x x)))").targets
    assert (target.status, target.shape) == ("pass", (2,))
