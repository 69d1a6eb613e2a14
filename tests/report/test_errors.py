"""Errors as text."""

from __future__ import annotations

import re

from gradcli.errors import ProgramError, SourceError, SourceErrors, Span, UsageError
from gradcli.report.errors import error_text
from gradcli.syntax import Source

SOURCE = Source("net.grad", "x = tensor(1.0)\ny = 2 * sni(x)\n")


def test_place_class_excerpt_and_hint():
    error = ProgramError("name 'sni' is not defined", Span(2, 9, 2, 12), type="NameError", hint="did you mean 'sin'?", code="G302")
    assert error_text(error, "net.grad", SOURCE).splitlines() == [
        "net.grad:2:9: NameError: name 'sni' is not defined [G302]",
        "    y = 2 * sni(x)",
        "            ^^^",
        "  hint: did you mean 'sin'?",
    ]


def test_every_error_of_a_file():
    errors = SourceErrors([SourceError("first", Span(1, 1, 1, 2)), SourceError("second", Span(2, 1, 2, 2))])
    text = error_text(errors, "net.grad", SOURCE)
    assert text.index("net.grad:1:1: UnsupportedError: first") < text.index("net.grad:2:1: UnsupportedError: second")


def test_command_line():
    assert error_text(UsageError("no format 'jsn'", hint="did you mean 'json'?")) == (
        "gradcli: error: no format 'jsn' [G101]\n  hint: did you mean 'json'?"
    )


def test_further_lines_of_a_message_cannot_pass_for_commands_of_a_ci_system():
    error = ProgramError("bad\n::error::x\x1b[2J", None)
    assert error_text(error, "f.grad").splitlines() == ["f.grad: RuntimeError: bad", "  | ::error::x\\x1b[2J [G301]"]


def test_calls_that_led_there():
    source = Source("f.grad", "def f(x):\n    return x.nope\n\ny = f(1)\n")
    error = ProgramError("no attribute", Span(2, 12, 2, 18), type="AttributeError")
    error.callers = (Span(4, 5, 4, 9),) * 7
    lines = error_text(error, "f.grad", source).splitlines()
    assert lines[3] == "  called in line 4: y = f(1)"
    assert lines[8] == "  and 2 more calls (--verbose shows all)"
    assert error_text(error, "f.grad", source, verbose=True).count("called in line 4") == 7


def test_colour_only_repeats_the_words():
    error = ProgramError("name 'sni' is not defined", Span(2, 9, 2, 12), type="NameError", hint="did you mean 'sin'?")
    coloured = error_text(error, "net.grad", SOURCE, color=True)
    assert "\x1b[1;31m            ^^^\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == error_text(error, "net.grad", SOURCE)


def test_a_long_message_is_cut_short_unless_asked_for():
    error = ProgramError("line\n" * 5000 + "x" * 5000, None)
    short = error_text(error, "f.grad").splitlines()
    assert (len(short), short[-1]) == (21, "  | ... 4981 more lines (--verbose shows all) [G301]")
    assert error_text(error, "f.grad", verbose=True).endswith(f"  | {'x' * 5000} [G301]")
    wide = error_text(ProgramError("x" * 5000, None), "f.grad")
    assert wide == f"f.grad: RuntimeError: {'x' * 1000}... (5000 characters) [G301]"
