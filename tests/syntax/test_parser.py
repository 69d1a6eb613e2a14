"""From text to a checked tree: what is refused, and how."""

import ast
import contextlib
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.errors import GradcliError, LimitError, SourceErrors
from gradcli.syntax import Source, parse, parse_expression
from gradcli.syntax.constructs import ALLOWED, REFUSED


def errors(text: str):
    with pytest.raises(SourceErrors) as caught:
        parse(Source("f", textwrap.dedent(text)))
    return caught.value.errors


def test_an_empty_file_is_an_empty_program():
    assert parse(Source("f", "")).module.body == []


def test_every_violation_is_reported_at_once_in_order():
    found = errors(
        """
        import os
        def f():
            global x
            yield 1
        class A:
            pass
        x = lambda: eval("1")
        """
    )
    assert [e.span.line for e in found] == [2, 4, 5, 6, 8]
    assert all(e.type == "UnsupportedError" and e.hint for e in found)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("nonlocal_ = 1\ndef f():\n  def g():\n    nonlocal q\n  q = 1\n", "nonlocal"),
        ("async def f():\n  await g()\n", "async"),
        ("match x:\n  case 1: pass\n", "match"),
        ("from torch import *", "star"),
        ("from . import a", "import"),
        ("x.__class__", "__class__"),
        ("__import__('os')", "__import__"),
        ("def __init__(a): pass", "__init__"),
        ("f(__a=1)", "__a"),
        ("b'abc'", "bytes"),
        ("open('f')", "open"),
        ("class F(Function, metaclass=M): pass", "class"),
        ("class F(nn.Module): pass", "class"),
        ("class F(Function):\n  for i in x: pass", "body of a class"),
        ("@decorated\nclass F(Function): pass", "decorator"),
        ("try:\n  pass\nexcept* ValueError:\n  pass", "except"),
        ("if __name__ == '__main__': pass", "__name__"),
    ],
)
def test_refused(text, word):
    found = errors(text)
    assert word in found[0].message
    assert found[0].span is not None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("return 1", "outside function"),
        ("def f():\n  break", "outside loop"),
        ("continue", "not properly in loop"),
        ("def f(a, a): pass", "duplicate argument"),
        ("f(x=1, x=2)", "keyword argument repeated"),
        ("a, *b, *c = x", "multiple starred"),
        ("*a = x", "starred assignment"),
        ("try: pass\nexcept: pass\nexcept ValueError: pass", "default 'except:'"),
    ],
)
def test_what_pythons_compiler_would_refuse(text, message):
    found = errors(text)
    assert found[0].type == "SyntaxError"
    assert message in found[0].message


def test_a_syntax_error_has_pythons_message_and_a_hint():
    (error,) = errors("y = (1 + 2\nz = 3\n")
    assert error.type == "SyntaxError"
    assert "was never closed" in error.message
    assert error.hint
    assert (error.span.line, error.span.column) == (1, 5)


def test_a_nul_byte_has_its_place():
    (error,) = errors("a = 1\nb = '\0'\n")
    assert (error.span.line, error.span.column) == (2, 6)


def test_names_that_the_file_binds_itself_are_its_own():
    parse(Source("f", "input = 3\ny = input * 2\ndef compile(f): return f\ng = compile(input)\n"))


def test_annotations_are_not_looked_at():
    parse(Source("f", "x: 'list[__class__]' = 1\ndef f(a: eval) -> exec: return a\n"))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 1000 + ")" * 1000,
        "x" + ".a" * 10_000,
        "x" + "[0]" * 10_000,
        "-" * 10_000 + "1",
        " + ".join(["x"] * 10_000),
        "not " * 10_000 + "x",
        "".join(" " * k + "if x:\n" for k in range(200)),
        "lambda: " * 3000 + "1",
        "f(" * 5000,
    ],
)
def test_deep_nesting_is_a_limit(text):
    with pytest.raises((LimitError, SourceErrors)):
        parse(Source("f", text))


def test_a_long_sum_is_no_deep_nesting():
    parse(Source("f", "y = " + " + ".join(f"x{k}" for k in range(400))))


def test_a_large_file_is_a_limit():
    with pytest.raises(LimitError, match="--max-file-size"):
        parse(Source("f", "x = 1\n" * 10), file_size=20)


def test_one_expression():
    node, _ = parse_expression(" [[0.5, 0.5]] ")
    assert isinstance(node, ast.List)
    with pytest.raises(SourceErrors):
        parse_expression("a = 1")
    with pytest.raises(SourceErrors):
        parse_expression("a; b")


def test_every_refused_construct_of_this_python_is_outside_the_list():
    for name in REFUSED:
        assert getattr(ast, name, None) not in ALLOWED


def test_every_node_class_of_python_is_decided():
    statements = set(ast.stmt.__subclasses__() + ast.expr.__subclasses__())
    assert {c.__name__ for c in statements - ALLOWED} <= set(REFUSED) | {"Interpolation"}


@given(st.text(max_size=80))
def test_any_text_parses_or_says_why(text):
    with contextlib.suppress(GradcliError):
        parse(Source("f", text))


@given(st.binary(max_size=60))
def test_any_bytes_parse_or_say_why(data):
    with contextlib.suppress(GradcliError):
        parse(Source.decode("f", data))
