"""The table, held against golden files and against what must hold for any width."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gradcli.check.result import CheckResult, FileResult
from gradcli.report import table
from gradcli.report.view import View

CASES = ("passing", "wrong", "kinked", "not_a_number", "broken", "unchecked", "jacobian")
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("case", CASES)
def test_one_file(case, result, golden):
    golden(f"{case}.txt", table.render(result(case), View(unicode=True)))


def test_many_files(result, golden):
    golden("many.txt", table.render(result(), View()))


def test_narrow_terminal_stacks_and_cuts_no_number(result, golden):
    text = table.render(result("wrong"), View(width=40))
    golden("narrow.txt", text)
    assert "0.333333 +- 2.5e-11" in text


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_table_rows_fit(result, width):
    lines = table.render(result("passing", "kinked", "jacobian"), View(width=width)).splitlines()
    assert all(len(line) <= width for line in lines if line.startswith("    "))


def test_ascii(result):
    assert table.render(result(), View(unicode=False)).isascii()


def test_colour_only_repeats_the_words(result):
    coloured = table.render(result(), View(color=True))
    assert "\x1b[" in coloured
    assert ESCAPE.sub("", coloured) == table.render(result(), View())


def test_worst_first_and_at_most_twenty_rows(make_leaf, make_target):
    right = np.arange(1.0, 51.0)
    factor = 1 + 1e-6 * np.arange(50)
    verdicts = np.where(np.arange(50) >= 47, "fail", "pass").astype(object)
    item = make_leaf(right * factor, right, status="fail", verdicts=verdicts, failing=verdicts == "fail", error=factor - 1)
    result = CheckResult([FileResult("x.grad", "fail", True, [make_target(item)])])

    short = table.render(result, View())
    assert re.findall(r"^    x\[(\d+)\]", short, re.MULTILINE)[:4] == ["49", "48", "47", "46"]
    assert len(re.findall(r"^    x\[", short, re.MULTILINE)) == 20
    assert "30 more" in short
    assert len(re.findall(r"^    x\[", table.render(result, View(verbose=True)), re.MULTILINE)) == 50


def test_small_differences_are_shown_with_enough_digits(make_leaf, make_target):
    item = make_leaf([1.0 + 2e-12], [1.0], status="fail")
    text = table.render(CheckResult([FileResult("x.grad", "fail", True, [make_target(item)])]), View(width=120))
    assert "1.000000000002" in text


def test_quiet_says_nothing_of_what_passed(result):
    assert table.render(result("passing", "kinked"), View(quiet=True)) == ""
    text = table.render(result(), View(quiet=True))
    assert "mse.grad" not in text
    assert "square.grad" in text


def test_a_file_cannot_steer_the_terminal(result):
    checked = result("wrong")
    checked.files[0].asserts[0].message = "\x1b[31m::error::\r##[error]"
    text = table.render(checked, View())
    assert "\x1b" not in text
    assert "\r" not in text


def test_no_elements(make_leaf, make_target):
    item = make_leaf(np.zeros((0, 3)), np.zeros((0, 3)))
    text = table.render(CheckResult([FileResult("x.grad", "pass", False, [make_target(item)])]), View())
    assert "0 elements" in text


def test_complex_gradients(make_leaf, make_target):
    item = make_leaf(np.array([1 - 2j]), np.array([1 - 2j]))
    assert "1-2j" in table.render(CheckResult([FileResult("x.grad", "pass", False, [make_target(item)])]), View())


def test_claims_are_what_is_judged(make_leaf, make_target):
    item = make_leaf([1.0], [1.0], claimed=np.array([3.0]), status="fail")
    text = table.render(CheckResult([FileResult("x.grad", "fail", True, [make_target(item)])]), View())
    assert "claimed" in text
    assert re.search(r"x\[0\] +3 +1 ", text)
