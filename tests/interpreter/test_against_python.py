"""The interpreter gives what Python gives: the same text is run by both."""

import contextlib
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradcli.interpreter import run_file
from gradcli.syntax import Source

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.grad"))


def python(text: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "program", "exec"), {})
    return out.getvalue()


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_same_output(path, printed):
    text = path.read_text(encoding="utf-8")
    assert printed(text) == python(text)


FAILING = [
    "1 / 0",
    "[][1]",
    "{}['a']",
    "undefined",
    "def f():\n  print(x)\n  x = 1\nf()",
    "'a' + 1",
    "x = 1\nx()",
    "len(5)",
    "for x in 5: pass",
    "a, b = 1, 2, 3",
    "a, b = [1]",
    "a, b = 5",
    "a, *b, c = [1]",
    "def f(a): pass\nf()",
    "def f(a): pass\nf(1, 2)",
    "def f(a, b, c): pass\nf(1)",
    "def f(a): pass\nf(b=1)",
    "def f(a): pass\nf(1, a=2)",
    "def f(*, k): pass\nf()",
    "def f(a=1): pass\nf(1, 2)",
    "int('x')",
    "float('q')",
    "raise ValueError('boom')",
    "raise KeyError",
    "assert 1 == 2, 'no'",
    "assert False",
    "'%d' % 'a'",
    "'%d %d' % 1",
    "'{} {}'.format(1)",
    "'{a}'.format(b=1)",
    "f'{1:q}'",
    "[1].remove(2)",
    "[].pop()",
    "sum(['a'])",
    "x = 1\nx.foo",
    "'abc'.foo",
    "x = 1\nx[0]",
    "x = 1\nx[0] = 2",
    "x = (1,)\nx[0] = 2",
    "del undefined",
    "{[]: 1}",
    "{1, []}",
    "next(iter([]))",
    "-'a'",
    "'a' < 1",
    "1 in 1",
    "with 5: pass",
    "raise 5",
    "f = lambda x: x\nf(1, 2)",
    "def f(): return f() + 1\nraise RuntimeError(1, 2)",
    "import math\nmath.sqrt(-1)",
    "import math\nmath.log(0)",
    "x = [1, 2]\nx['a']",
    "print(1, sep=3)",
    "'a'.join([1])",
    "type(1, 2, 3)",
    "isinstance(1, 5)",
    "def f(x):\n  return 1 / x\ndef g(x):\n  return f(x)\ng(0)",
    "def outer():\n  def inner(): return q\n  inner()\n  q = 1\nouter()",
    "(lambda **k: k)(**{1: 2})",
]


@pytest.mark.parametrize("text", FAILING)
def test_same_error(text, failure):
    with pytest.raises(Exception) as expected:
        python(text)
    error = failure(text)
    assert error.type == type(expected.value).__name__
    assert error.span is not None
    if error.type in ("NameError", "UnboundLocalError", "ZeroDivisionError", "IndexError", "ValueError", "AssertionError"):
        assert error.message == str(expected.value)


NUMBERS = st.one_of(st.integers(-50, 50), st.floats(-10, 10, allow_nan=False).map(lambda x: round(x, 3)))
ATOMS = st.one_of(NUMBERS.map(repr), st.sampled_from(["a", "b", "c", "True", "None", "'s'", "[1, 2]", "(a, b)"]))
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "and", "or", "&", "|", "^", "<<", ">>", "in"]
# Without `is`: which equal numbers are one object is no matter of the language.
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(OPERATORS), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        inner.map(lambda x: f"(-{x})"),
        inner.map(lambda x: f"(not {x})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        st.tuples(inner, inner).map(lambda t: f"[{t[0]}, {t[1]}]"),
        inner.map(lambda x: f"(lambda q: {x})(1)"),
        inner.map(lambda x: f"f'{{{x}}}'" if "'" not in x and "[" not in x and "{" not in x and "lambda" not in x else x),
        st.tuples(inner, inner).map(lambda t: f"{t[0]}[{t[1]}]"),
    ),
    max_leaves=12,
)


@settings(max_examples=3 * settings().max_examples)
@given(EXPRESSIONS)
def test_random_expressions_are_pythons(text):
    program = f"a = 3\nb = -2.5\nc = 7\nprint(repr({text}))\n"
    try:
        expected, wrong = python(program), None
    except (ArithmeticError, TypeError, ValueError, IndexError, KeyError, MemoryError) as error:
        expected, wrong = "", type(error).__name__
    except SyntaxError:
        return
    result = run_file(Source("f", program))
    if result.error is not None and result.error.type == "LimitError":
        return
    assert (result.error.type if result.error else None) == wrong, result.error
    assert result.output == expected
