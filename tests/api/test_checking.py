"""gradcli.check from Python."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli as gc

PROGRAM = "x = tensor([1., 2.], requires_grad=True)\ny = (x * x).sum()\n"


def test_a_program_a_path_and_a_text_with_a_path(tmp_path):
    assert gc.check(PROGRAM).path == "<text>"
    assert gc.check("x = tensor(2., requires_grad=True); y = x * x").status == "pass"
    path = tmp_path / "y.grad"
    path.write_text(PROGRAM)
    assert gc.check(path).status == gc.check(str(path)).status == "pass"
    assert gc.check("any/name.grad", text=PROGRAM).path == "any/name.grad"


def test_what_cannot_be_checked_is_in_the_result():
    missing = gc.check("nowhere.grad")
    assert (missing.status, missing.outcome, bool(missing)) == ("error", "error", False)
    assert "nowhere.grad: error: No such file" in str(missing)
    assert "y = sni(x)\n        ^^^" in str(gc.check("x = tensor(1.)\ny = sni(x)\n"))


def test_options():
    assert gc.check(PROGRAM, set={"x": [3.0, 4.0]}).targets[0].value == 25.0
    assert gc.check(PROGRAM, set={"x": np.array([3.0, 4.0])}).targets[0].value == 25.0
    assert gc.check(PROGRAM, wrt="x", output="y", order=2).targets[0].order == 2
    assert gc.check("x = tensor([1., 2.], requires_grad=True)\ny = x * x\n", grad_outputs=np.array([1.0, 0.0])).targets[0].inputs[
        0
    ].autograd.tolist() == [2.0, 0.0]
    kink = "x = tensor(0., requires_grad=True)\ny = relu(x)\n"
    assert gc.check(kink)
    assert not gc.check(kink, strict=True)
    assert not gc.check(kink, fail_on="kink")
    with pytest.raises(TypeError, match="did you mean 'strict'"):
        gc.check(kink, stric=True)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("rtol", float("nan"), "rtol is nan, and not a finite number of at least 0"),
        ("rtol", "a", "rtol is 'a', and not a finite number"),
        ("points", 0, "points is 0, and not a whole number of at least 1"),
        ("seed", -1, "seed is -1, and not"),
        ("order", True, "order is True, and not a whole number of at least 1 and at most 100"),
        ("method", "foo", "method is 'foo', and not one of all, symbolic, fd"),
        ("fail_on", ["knk"], "fail_on is .*, each item one of kink"),
        ("strict", "no", "strict is 'no', and not true or false"),
    ],
)
def test_values_that_an_option_cannot_have(option, value, message):
    with pytest.raises(ValueError, match=message):
        gc.check(PROGRAM, **{option: value})


@pytest.mark.parametrize(
    ("what", "options"), [(None, {}), (b"x", {}), ([], {}), (PROGRAM, {"wrt": 3}), (PROGRAM, {"set": "x=3"}), (PROGRAM, {"limits": 3})]
)
def test_values_of_another_kind(what, options):
    with pytest.raises(TypeError):
        gc.check(what, **options)


def test_values_as_numpy_has_them():
    assert gc.check(PROGRAM, rtol=np.float64(1e-6), seed=np.int64(3), max_ulps=None, atol=1, fail_on=("kink", "nan"))


def test_texts_that_are_no_path():
    assert gc.check("").error.code == "G103"
    assert gc.check("x\0.grad").error.code == gc.check("nowhere.grad").error.code == "G101"


def test_expectations_are_honoured():
    assert gc.check("# gradcli: expect kink\nx = tensor(0., requires_grad=True)\ny = relu(x)\n")
    assert not gc.check("# gradcli: expect fail\n" + PROGRAM)


def test_the_table():
    assert str(gc.check(PROGRAM)).splitlines()[0] == "PASS  <text>"
    assert "\x1b[" in gc.check(PROGRAM).text(color=True)
    assert repr(gc.check(PROGRAM)) == "<passed: <text>, pass>"
