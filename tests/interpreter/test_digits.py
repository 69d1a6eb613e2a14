"""Integers of more decimal digits than Python turns into text: a limit like others, told in our words."""

import pytest

from gradcli.errors import LimitError
from gradcli.interpreter import run_file
from gradcli.syntax import Source


@pytest.mark.parametrize(
    "line",
    [
        "print(n)", "str(n)", "repr(n)", "f'{n}'", "f'{n:d}'", "'%d' % n", "'%s' % n", "'{}'.format(n)", "print([n])", "print({1: (n,)})",
        "int('1' * 5000)", "int('1' * 5000, 10)", "assert n < 0, n", "zeros(3)[n]", "ones(2).sum(dim=n)",
    ],
)  # fmt: skip
def test_the_limit_has_a_way_out(failure, line):
    error = failure(f"n = 10**5000\n{line}\n")
    assert isinstance(error, LimitError)
    assert (error.kind, error.code, error.span.line) == ("limit", "G320", 2)
    assert error.message == "limit reached: 4300 decimal digits of an integer"
    assert "hexadecimal" in error.hint
    assert "set_int_max_str_digits" not in error.message + error.hint


def test_the_way_out_is_one(printed):
    text = "n = 10**5000\nprint(len(f'{n:x}'), len(hex(n)), n.bit_length(), int('f' * 5000, 16) > n)\n"
    assert printed(text) == "4153 4155 16610 True\n"


def test_a_program_may_catch_it_as_in_python(printed):
    text = "try:\n    str(10**5000)\nexcept ValueError:\n    print('too long')\n"
    assert printed(text) == "too long\n"


def test_in_the_source(tmp_path):
    with pytest.raises(LimitError, match="4300 decimal digits") as caught:
        run_file(Source("f.grad", f"x = 1\nn = {'1' * 5000}\n"))
    assert caught.value.span.line == 2


@pytest.mark.parametrize(
    ("line", "type"), [("raise ValueError(n)", "ValueError"), ("{}[n]", "KeyError"), ("raise TypeError([n])", "TypeError")]
)
def test_a_message_that_cannot_be_shown(failure, line, type):
    error = failure(f"n = 10**5000\n{line}\n")
    assert (error.type, error.message) == (type, "(a message with a number too long to be shown)")


@pytest.mark.parametrize("order", ["101", "10**5000"])
def test_orders_have_an_end(gradcli, tmp_path, order):
    (tmp_path / "x.grad").write_text(f"x = tensor(1.0, requires_grad=True)\ny = x + 1\ncheck(y, order={order})\n")
    done = gradcli("check", "x.grad")
    assert done.returncode == 2
    assert "derivatives up to order 100 are taken" in done.stderr
