"""Expectations written into files: nothing else changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.syntax.directives import EXPECTATIONS, expectation
from gradcli.syntax.expecting import expecting
from gradcli.syntax.source import Source


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"x = 1\n", b"# gradcli: expect kink\nx = 1\n"),
        (b"", b"# gradcli: expect kink\n"),
        (b"x = 1", b"# gradcli: expect kink\nx = 1"),
        (b"x = 1\r\ny = 2\r\n", b"# gradcli: expect kink\r\nx = 1\r\ny = 2\r\n"),
        (b"\xef\xbb\xbfx = 1\n", b"\xef\xbb\xbf# gradcli: expect kink\nx = 1\n"),
        (b"#!/usr/bin/gradcli run\nx = 1\n", b"#!/usr/bin/gradcli run\n# gradcli: expect kink\nx = 1\n"),
        (b"# gradcli: expect fail\nx = 1\n", b"# gradcli: expect kink\nx = 1\n"),
        (b"\xef\xbb\xbf# gradcli: expect fail\n", b"\xef\xbb\xbf# gradcli: expect kink\n"),
        (b"x = 1\n##gradcli :  expect   nan , rtol=1e-3\t\n", b"x = 1\n##gradcli :  expect   kink , rtol=1e-3\t\n"),
        (b"x = 1  # gradcli: rtol=1e-3, expect=pass\n", b"x = 1  # gradcli: rtol=1e-3, expect=kink\n"),
        (b"'# gradcli: expect fail'\n", b"# gradcli: expect kink\n'# gradcli: expect fail'\n"),
        (b"# we expect fail\n", b"# gradcli: expect kink\n# we expect fail\n"),
        (b"# gradcli: expect pass\nx = (\n", b"# gradcli: expect kink\nx = (\n"),
        (b"# gradcli: expect nan\n# gradcli: expect nan\n", b"# gradcli: expect kink\n# gradcli: expect kink\n"),
        ("# gradcli: expect nan\ns = 'ä\u2028\x0c'\r".encode(), "# gradcli: expect kink\ns = 'ä\u2028\x0c'\r".encode()),
    ],
)
def test_written(before, after):
    assert expecting(before, "kink") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"(FPCore (x) x)\n", b"; gradcli: expect kink\n(FPCore (x) x)\n"),
        (b"(FPCore (x) x) ;gradcli: expect pass, rtol=1\r\n", b"(FPCore (x) x) ;gradcli: expect kink, rtol=1\r\n"),
        (b'(FPCore (x) :name "\n; gradcli: expect nan" x)', b'; gradcli: expect kink\n(FPCore (x) :name "\n; gradcli: expect nan" x)'),
        (b"# gradcli: expect nan\n", b"; gradcli: expect kink\n# gradcli: expect nan\n"),
        (b";;; gradcli: expect nan\n(", b";;; gradcli: expect kink\n("),
    ],
)
def test_written_into_fpcore(before, after):
    assert expecting(before, "kink", fpcore=True) == after
    assert expectation(Source.decode("x.fpcore", after)) == "kink"


LINES = ["x = 1", "# gradcli: expect nan", "'''", "#!/bin/sh", "", "y = 'ä'  # gradcli: rtol=1", "(", "\ufeff"]


@given(st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(["\n", "\r\n", "\r"])).map("".join)), st.sampled_from(EXPECTATIONS))
def test_what_is_written_is_read(lines, word):
    data = expecting("".join(lines).encode(), word)
    assert expectation(Source.decode("x.grad", data)) == word
    assert expecting(data, word) == data


def test_what_is_no_text_is_refused():
    with pytest.raises(UnicodeDecodeError):
        expecting(b"\xff\n", "pass")
