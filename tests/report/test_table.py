"""The table, held against golden files and against what must hold for any width."""

from __future__ import annotations

import re

import numpy as np
import pytest

from gradcli.check.result import CheckResult, FileResult, Note
from gradcli.report import table
from gradcli.report.findings import findings
from gradcli.report.remarks import repeats
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


def test_what_says_things_again_makes_room_before_rows_are_stacked(result):
    wide, less, least = (table.render(result("wrong"), View(width=width)) for width in (80, 62, 56))
    assert [[word in text for word in ("bars", "ulps")] for text in (wide, less, least)] == [[True, True], [True, False], [False, False]]
    assert all(re.search(r"^    leaf .*verdict$", text, re.MULTILINE) for text in (wide, less, least))


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_table_rows_fit(result, width):
    for names in (["wrong"], ["passing", "kinked", "jacobian"], []):
        lines = table.render(result(*names), View(width=width)).splitlines()
        assert [line for line in lines if len(line) > width] == []


def test_many_files_have_a_line_each_and_those_that_fail_are_named_at_the_end(result):
    checked = result(*["passing"] * 30, "wrong", "broken", "unchecked")
    lines = table.render(checked, View()).splitlines()
    assert lines[:30] == ["PASS  mse.grad  out by x: 2 elements, error 0; 1 assertion"] * 30
    assert lines[-7:] == [
        "failed: square.grad",
        "with errors: broken.grad",
        "unchecked: eigen.grad",
        "help: gradcli explain G001",
        "help: gradcli explain G006",
        "help: gradcli explain G301",
        "33 files: 30 passed, 1 failed, 1 with errors, 1 unchecked",
    ]


def test_lines_stand_close_and_blocks_apart(result):
    checked = result("broken", "passing", "broken", "wrong", "passing", "wrong")
    lines = table.render(checked, View()).splitlines()
    heads = [(k, line.split()[0]) for k, line in enumerate(lines) if line.startswith(("PASS", "FAIL", "ERROR"))]
    assert [word for _, word in heads] == ["ERROR", "PASS", "ERROR", "FAIL", "PASS", "FAIL"]
    assert [lines[k - 1] == "" for k, _ in heads[1:]] == [False, False, True, True, True]


def test_what_passes_has_few_rows(make_leaf, make_target):
    item = make_leaf(np.arange(50.0), np.arange(50.0))
    text = table.render(CheckResult([FileResult("x.grad", "pass", False, [make_target(item)])]), View())
    assert len(re.findall(r"^    x\[", text, re.MULTILINE)) == 5
    assert "and 45 more, none of them worse (--verbose shows all)" in text


def test_many_gradients_of_one_file_have_tables_where_something_is_wrong(make_leaf, make_target):
    right, wrong = make_leaf([1.0], [1.0]), make_leaf([1.0], [2.0], status="fail")
    targets = [make_target(right, line=n) for n in range(5)] + [make_target(wrong, line=9)]
    text = table.render(CheckResult([FileResult("x.grad", "fail", True, targets)]), View())
    assert text.count("difference +- bar") == 1
    assert "  pass  line 3: out by x: 1 element, error 0\n" in text


def test_what_a_reader_should_know_of_a_file_that_passes(make_leaf, make_target):
    notes = [Note("stop-gradient", "detach: held constant by the references", n) for n in (4, 9)] + [Note("point", "at --seed 1")]
    target = make_target(make_leaf([1.0], [1.0]), notes=notes, symbolic="none: no rule")
    files = [
        FileResult("x.grad", "pass", False, [target, target]),
        FileResult("y.grad", "pass", False, [make_target(make_leaf([1.0], [1.0]))]),
    ]
    assert table.render(CheckResult(files), View()).splitlines()[:4] == [
        "PASS  x.grad  out by x: 2 elements, error 0",
        "      held constant: detach (line 4), detach (line 9)",
        "      no symbolic (no rule)",
        "PASS  y.grad  out by x: 1 element, error 0",
    ]


def test_the_same_is_said_once(result):
    checked = result("wrong")
    target = checked.files[0].targets[0]
    target.blame.why = "Square: the gradient is half as large: a factor 2 is missing"
    target.notes = [Note("wrong-gradient", "d out/d x is half as large: a factor 2 is missing", 8)]
    checked.files[0].functions[0].why = "the gradient for argument 1 is half as large: a factor 2 is missing"
    assert table.render(checked, View()).count("half as large") == 1
    assert sum("half as large" in text for item in findings(checked)[:1] for text in (item.message, *item.details)) == 1


def test_ascii(result):
    assert table.render(result(), View(unicode=False)).isascii()


def test_colour_only_repeats_the_words(result):
    coloured = table.render(result(), View(color=True))
    assert "\x1b[" in coloured
    assert ESCAPE.sub("", coloured) == table.render(result(), View())


def test_worst_first_and_at_most_ten_rows(make_leaf, make_target):
    right = np.arange(1.0, 51.0)
    factor = 1 + 1e-6 * np.arange(50)
    verdicts = np.where(np.arange(50) >= 47, "fail", "pass").astype(object)
    item = make_leaf(right * factor, right, status="fail", verdicts=verdicts, failing=verdicts == "fail", error=factor - 1)
    result = CheckResult([FileResult("x.grad", "fail", True, [make_target(item)])])

    short = table.render(result, View())
    assert re.findall(r"^    x\[(\d+)\]", short, re.MULTILINE)[:4] == ["49", "48", "47", "46"]
    assert len(re.findall(r"^    x\[", short, re.MULTILINE)) == 10
    assert "40 more" in short
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


def test_what_only_directions_confirmed_has_no_error_of_its_own(make_leaf, make_target):
    item = make_leaf([1.0, 2.0], [np.nan, np.nan])
    item.symbolic = None
    text = table.render(CheckResult([FileResult("x.grad", "pass", False, [make_target(item)])]), View())
    assert "2 elements, along random directions" in text


HALF = "the gradient for x (argument 1) is right up to a factor of 0.5: a factor of 2, as from a square, is missing"


@pytest.mark.parametrize(
    ("note", "again"),
    [
        ("d out/d x is right up to a factor of 0.5: it is the mean, not the sum over 2 elements", True),
        ("d out/d x is right up to a factor of 0.25: it is the mean, not the sum over 4 elements", False),
        ("the function is not deterministic", False),
        ("it is", False),
    ],
)
def test_a_fault_is_given_one_meaning(note, again):
    """That of the place that is to blame: by its size alone, a half of two elements could be a mean as well."""
    assert repeats(note, HALF) is again
