"""Places in a source, and how they are shown."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.errors import Span, UsageError
from gradcli.syntax import Source
from gradcli.syntax.excerpt import width_of


def excerpt(text: str, column: int, end: int) -> list[str]:
    return Source("f", text).excerpt(Span(1, column, 1, end)).split("\n")


def test_carets_stand_under_the_span():
    assert excerpt("y = sin(x)", 5, 11) == ["    y = sin(x)", "        ^^^^^^"]


def test_a_tab_is_as_wide_as_it_is_shown():
    assert excerpt("\ty = z", 6, 7) == ["        y = z", "            ^"]


def test_wide_and_combining_characters_take_their_columns():
    line, carets = excerpt("'世界' + z", 8, 9)
    assert line == "    '世界' + z"
    assert carets.index("^") == 4 + width_of("'世界' + ")
    line, carets = excerpt("'e\u0301' + z", 8, 9)
    assert carets.index("^") == 4 + 6


def test_a_long_line_is_cut_around_the_caret():
    text = "a" * 5000 + " + wrong + " + "b" * 5000
    line, carets = excerpt(text, 5004, 5009)
    assert len(line) <= 80
    assert line[carets.index("^") :].startswith("wrong")
    assert carets.strip() == "^^^^^"


def test_control_characters_do_not_reach_the_terminal():
    line, _ = excerpt("x = '\x1b[31m\u202e'", 1, 2)
    assert "\x1b" not in line
    assert "\u202e" not in line


@given(st.text(alphabet=st.characters(blacklist_characters="\n\r"), max_size=300), st.integers(1, 320), st.integers(1, 10))
def test_every_excerpt_fits_and_points(text, column, length):
    line, carets = excerpt(text, column, column + length)
    assert width_of(line) <= 80
    assert "^" in carets
    assert len(carets) <= 81


def test_columns_count_characters_not_bytes():
    source = Source("f", "s = 'é' + q")
    node = ast.parse(source.text).body[0].value.right
    assert source.span(node) == Span(1, 11, 1, 12)


def test_line_ends_and_byte_order_mark_are_normalised():
    assert Source("f", "\ufeffa\r\nb\rc").lines == ["a", "b", "c"]


def test_bytes_that_are_no_utf8_name_the_line():
    with pytest.raises(UsageError, match="line 2"):
        Source.decode("f", b"a = 1\nb = \xff\n")


def test_the_text_of_a_node_comes_on_one_line():
    source = Source("f", "y = (a +\n     b)")
    assert source.segment(ast.parse(source.text).body[0].value) == "a + b"
