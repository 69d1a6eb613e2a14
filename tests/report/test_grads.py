"""`grad` and `backward`, as text and JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

from gradcli.errors import UsageError
from gradcli.report.grads import Gradients, writer
from gradcli.report.view import View

FOUND = Gradients("grad", "f.grad", "z", np.array([[0.5, 0.5]]), 1, {"x": np.array([[0.1, -2.0]]), "y": None})


def test_text():
    assert writer("text")(FOUND, View()) == "d z / d x = [[ 0.1, -2. ]]\nd z / d y = None\n"


def test_json():
    assert json.loads(writer("json")(FOUND, View())) == {
        "schema": "gradcli.grad/1",
        "path": "f.grad",
        "output": "z",
        "grad_outputs": [[0.5, 0.5]],
        "order": 1,
        "grads": {"x": [[0.1, -2.0]], "y": None},
    }


def test_backward_names_the_attribute():
    found = Gradients("backward", "f.grad", "z", None, 1, {"x": np.float64(2.5)})
    assert writer("text")(found, View()) == "x.grad = 2.5\n"


def test_large_gradients_are_whole_when_verbose():
    found = Gradients("grad", "f.grad", "z", None, 2, {"x": np.ones(2000)})
    assert "..." in writer("text")(found, View())
    assert writer("text")(found, View(verbose=True)).count("1.") == 2000
    assert writer("text")(found, View()).startswith("d^2 z / d x^2 = [1.")


def test_unknown_format():
    with pytest.raises(UsageError, match="no format 'jsno'"):
        writer("jsno")(FOUND, View())
