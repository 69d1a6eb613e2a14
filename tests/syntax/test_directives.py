"""Comments that steer a file."""

import pytest

from gradcli.errors import SourceErrors
from gradcli.syntax import Source, parse


def directives(text: str):
    return parse(Source("f", text)).directives


def test_what_a_file_asks_for():
    found = directives("# gradcli: expect fail\nx = 1  # gradcli: rtol=1e-6\n#gradcli:surrogate\n")
    assert (found.expect, found.rtol, found.surrogates) == ("fail", 1e-6, {3})


def test_several_in_one_comment():
    found = directives("# gradcli: expect kink, rtol = 0.5\n")
    assert (found.expect, found.rtol) == ("kink", 0.5)


def test_strings_are_no_comments():
    assert directives("s = '# gradcli: expect fail'\nt = '''\n# gradcli: nonsense\n'''\n").expect is None


def test_other_comments_are_left_alone():
    assert directives("# gradcli is a tool; expect nothing\n").expect is None


@pytest.mark.parametrize(
    ("comment", "hint"),
    [
        ("expect fial", "'fail'"),
        ("expcet fail", "'expect'"),
        ("expect", "one of"),
        ("rtol=big", "rtol=1e-6"),
        ("rtol=-1", "rtol=1e-6"),
        ("surrogates", "'surrogate'"),
        ("frobnicate", "directives are"),
    ],
)
def test_unknown_words_get_a_hint(comment, hint):
    with pytest.raises(SourceErrors) as caught:
        directives(f"x = 1\n# gradcli: {comment}\n")
    (error,) = caught.value.errors
    assert hint in error.hint
    assert error.span.line == 2


def test_a_contradiction_is_an_error():
    with pytest.raises(SourceErrors, match="contradicts"):
        directives("# gradcli: expect fail\n# gradcli: expect pass\n")
