"""The JSON document: the contract's fields, and valid JSON for whatever a check can find."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gradcli.check.result import AssertResult, Blame, CheckResult, FileResult, FunctionResult, InputResult, Note, TargetResult
from gradcli.errors import ProgramError, SourceError, SourceErrors, Span, UsageError
from gradcli.report import check_json, encode
from gradcli.report.view import View

VERDICTS = ("pass", "kink", "unstable", "nan", "unchecked", "fail")


def document(result: CheckResult):
    def refuse(word: str):
        raise AssertionError(f"{word} is no JSON")

    return json.loads(check_json.render(result, View()), parse_constant=refuse)


def test_golden(result, golden):
    golden("all.json", json.dumps(document(result()), indent=1, ensure_ascii=False) + "\n")


def test_fields_of_the_contract(result):
    data = document(result("wrong"))
    assert list(data) == ["schema", "version", "seed", "summary", "files"]
    assert data["summary"] == {"files": 1, "passed": 0, "failed": 1, "errors": 0, "unchecked": 0}
    target = data["files"][0]["targets"][0]
    assert target["method"] == {"symbolic": "per-node", "finite_difference": "full"}
    assert target["blame"]["function"] == "Square"
    assert np.shape(target["inputs"][0]["autograd"]) == (2, 3)


def test_several_errors_of_one_file(result):
    data = result("broken")
    data.files[0].error = SourceErrors([SourceError("no while here", Span(1, 1, 1, 6)), SourceError("no global", Span(2, 1, 2, 7))])
    error = document(data)["files"][0]["error"]
    assert (error["type"], error["line"]) == ("UnsupportedError", 1)
    assert [other["line"] for other in error["others"]] == [2]


def test_unreadable_file(result):
    data = result("broken")
    error = UsageError("no such file: nowhere.grad")
    error.__cause__ = FileNotFoundError()
    data.files[0].error = error
    assert document(data)["files"][0]["error"]["type"] == "FileNotFoundError"


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (np.float64("nan"), "nan"),
        (-math.inf, "-inf"),
        (np.array([1.0, np.inf]), [1.0, "inf"]),
        (np.array(1 + 2j), {"re": 1.0, "im": 2.0}),
        (np.array([complex(1, math.nan)]), [{"re": 1.0, "im": "nan"}]),
        (np.array([[True], [False]]), [[True], [False]]),
        (np.zeros((0, 2)), []),
        (None, None),
    ],
)
def test_numbers(value, data):
    assert encode.array(value) == data


numbers = st.one_of(arrays.arrays(np.float64, arrays.array_shapes(min_dims=0, min_side=0, max_dims=3, max_side=3)))
complexes = arrays.arrays(np.complex128, arrays.array_shapes(min_dims=0, max_dims=2, max_side=2))
words = st.text(max_size=20)
lines = st.none() | st.integers(1, 10**6)


@st.composite
def inputs(draw) -> InputResult:
    gradient = draw(numbers | complexes)
    verdicts = np.full(gradient.shape, draw(st.sampled_from(VERDICTS)), dtype=object)
    return InputResult(
        name=draw(words),
        line=draw(lines),
        shape=gradient.shape,
        status=draw(st.sampled_from(VERDICTS)),
        autograd=gradient,
        symbolic=draw(st.none() | st.just(gradient)),
        finite_difference=draw(st.none() | st.just(gradient)),
        fd_error=draw(st.none() | st.just(np.abs(gradient))),
        verdicts=verdicts,
        failing=verdicts == "fail",
        error=np.abs(gradient),
        max_abs_error=draw(st.floats()),
        max_rel_error=draw(st.floats()),
        max_ulps=draw(st.none() | st.floats()),
        formula=draw(st.none() | words),
    )


targets = st.builds(
    TargetResult,
    output=words,
    line=lines,
    shape=st.just(()),
    value=numbers,
    grad_outputs=st.none() | numbers,
    order=st.integers(1, 3),
    status=st.sampled_from(VERDICTS),
    failing=st.booleans(),
    symbolic=words,
    finite_difference=words,
    inputs=st.lists(inputs(), max_size=2),
    blame=st.none() | st.builds(Blame, line=lines, column=lines, function=st.none() | words, why=words),
    notes=st.lists(st.builds(Note, kind=words, message=words, line=lines), max_size=2),
)
files = st.builds(
    FileResult,
    path=words,
    status=st.sampled_from((*VERDICTS, "error")),
    failing=st.booleans(),
    targets=st.lists(targets, max_size=2),
    functions=st.lists(
        st.builds(FunctionResult, name=words, line=lines, status=st.sampled_from(VERDICTS), failing=st.booleans(), why=words), max_size=1
    ),
    asserts=st.lists(st.builds(AssertResult, line=st.integers(1, 9), status=st.sampled_from(("pass", "fail")), message=words), max_size=1),
    error=st.none() | st.builds(ProgramError, words, st.none() | st.just(Span(1, 2, 1, 3))),
    expected=st.none() | st.sampled_from(("pass", "fail")),
    met=st.booleans(),
)


@given(st.lists(files, max_size=2))
def test_any_result_is_valid_json_and_a_table(found):
    from gradcli.report import table

    result = CheckResult(found)
    data = document(result)
    assert data["summary"]["files"] == len(found) == sum(v for k, v in data["summary"].items() if k != "files")
    text = table.render(result, View())
    assert "\x1b" not in text
