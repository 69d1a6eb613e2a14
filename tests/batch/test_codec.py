"""Results survive the way through JSON: every report says the same of them afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gradcli.batch.codec import decode, decode_source, encode, encode_source
from gradcli.check import check_file
from gradcli.check.options import CheckOptions
from gradcli.check.result import CheckResult
from gradcli.errors import ProgramError, SourceError, SourceErrors, Span, UsageError
from gradcli.interpreter.limits import Limits
from gradcli.report import formats
from gradcli.report.errors import error_object
from gradcli.report.view import View
from gradcli.syntax.formula import FormulaSource
from gradcli.syntax.source import Source

SAMPLES = sorted((Path(__file__).parents[2] / "samples").glob("*.grad"))
BROKEN = {
    "syntax": "x = tensor(1.0\n",
    "two": "import os\nglobal x\n",
    "name": "x = tensor(1.0, requires_grad=True)\ny = sni(x)\n",
    "deep": "def f(x):\n    return g(x)\ndef g(x):\n    return x @ x\nf(ones(2, 3))\n",
    "complex": "z = tensor([1.0 + 2.0j], requires_grad=True)\nout = (z * z.conj()).real.sum()\n",
    "integers": "x = tensor(2.0, requires_grad=True)\nassert x > 3\n",
    "nothing": "x = 1\n",
    "empty": "",
}


def there_and_back(value, source=None):
    return decode(json.loads(json.dumps(encode(value))), source)


def texts() -> list[tuple[str, str]]:
    return [(path.name, path.read_text()) for path in SAMPLES] + [(f"{name}.grad", text) for name, text in BROKEN.items()]


@pytest.mark.parametrize(("name", "text"), texts(), ids=lambda item: item if "\n" not in item else "")
def test_every_report_is_the_same(name, text):
    found = check_file(name, text, CheckOptions())
    again = there_and_back(found, Source(name, text))
    view = View(verbose=True)
    for row in formats.FORMATS.values():
        if not row.pictures:
            assert row.render(CheckResult([again]), view) == row.render(CheckResult([found]), view), row.name
    if found.error is not None:
        assert error_object(again.error) == error_object(found.error)
        assert type(again.error) is type(found.error)
    assert encode(again) == encode(found)


@pytest.mark.parametrize(
    "array",
    [np.array([1.0, np.nan, -np.inf]), np.float32(0.1), np.array(1 + 2j), np.zeros((0, 3)), np.array([["pass", "fail"]], dtype=object),
     np.array([True]), np.array([np.nextafter(1.0, 2.0)]).T, np.arange(6).reshape(2, 3).T],
)  # fmt: skip
def test_arrays_to_the_last_bit(array):
    again = there_and_back(array)
    assert type(again) is type(array)
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    assert again.tobytes() == array.tobytes() or array.dtype == object
    assert array.dtype != object or (again == array).all()


def test_options():
    options = CheckOptions(wrt=("a",), set=(("x", "1.0"),), limits=Limits(steps=3), fail_on=frozenset({"nan", "kink"}), rtol=1e-7)
    assert there_and_back(options) == options


@pytest.mark.parametrize("source", [Source("a", "x = 1\n"), FormulaSource("<formula>", "x*y", (("x", "1"),), frozenset("y"))])
def test_sources(source):
    assert decode_source(json.loads(json.dumps(encode_source(source)))) == source


def test_errors_keep_all_that_is_told():
    cause = UsageError("no such file: a", hint="did you mean 'b'?", code="G103")
    cause.__cause__ = FileNotFoundError()
    inner = SourceError("no", Span(1, 2, 3, 4), hint="yes")
    for error in (
        cause,
        SourceErrors([inner, inner]),
        ProgramError("m", Span(1, 1, 1, 2), type="NameError", kind="name", cause=KeyError()),
    ):
        assert error_object(there_and_back(error)) == error_object(error)


@pytest.mark.parametrize("limits", [Limits(recursion=5), Limits(steps=20)])
def test_an_error_that_rose_through_calls_of_the_program(limits):
    found = check_file("deep.grad", "def f(n):\n    return f(n + 1)\nf(0)\n", CheckOptions(limits=limits))
    again = there_and_back(found)
    assert error_object(again.error) == error_object(found.error)
    assert again.error.callers == found.error.callers != ()


@pytest.mark.parametrize(
    "data", [{"array": ["O", [1], "AAAA"]}, {"os.system": ["true"]}, {"error": ["UsageError"]}, {"array": ["<f8", [9], ""]}]
)
def test_what_was_never_encoded_is_refused(data):
    with pytest.raises((ValueError, TypeError, KeyError)):
        decode(data)


@pytest.mark.parametrize("value", [object(), np.dtype(float), np.random.default_rng(0)])
def test_what_cannot_be_encoded_is_refused(value):
    with pytest.raises(TypeError, match="has no form in JSON"):
        encode(value)
