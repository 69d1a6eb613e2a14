"""Formulas and sweeps: what reports show besides verdicts."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.check import CheckOptions, check_file
from gradcli.references import closed_form

FAULTY = """
class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x * x
x = tensor([1.0, 2.0], requires_grad=True)
out = Square.apply(x).sum()
"""


def inputs(text: str, **options):
    result = check_file("t.grad", text, CheckOptions(**options))
    assert result.error is None
    return [item for target in result.targets for item in target.inputs]


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("x = tensor(2.0, requires_grad=True)\ny = sin(x) * x", ["x*cos(x) + sin(x)"]),
        ("x = tensor([1.0, 2.0], requires_grad=True)\ny = (x**3).sum()", ["[3*x[0]**2, 3*x[1]**2]"]),
        ("x = tensor([1.0, 2.0], requires_grad=True)\ny = x * x\ny.backward(tensor([1.0, 10.0]))", ["[2*x[0], 20*x[1]]"]),
        ("x = tensor(2.0, requires_grad=True)\ny = x**2\ny.backward()\ny = x**3\ny.backward()", ["2*x", None]),
        ("x = randn(17, requires_grad=True)\ny = (x**2).sum()", [None]),
        ("x = tensor(0.5, requires_grad=True)\nh = x\nfor i in range(50):\n    h = tanh(h)\n", [None]),
    ],
)
def test_formulas(text, formulas):
    found = [item.formula for item in inputs(text, formulas=True)]
    assert found == formulas


def test_neither_unasked():
    (item,) = inputs("x = tensor(2.0, requires_grad=True)\ny = x**2")
    assert (item.formula, item.sweep) == (None, None)


@pytest.mark.parametrize(
    "text",
    [
        "x = tensor([0.3, -2.0], requires_grad=True)\ny = exp(x).sum()",
        "x = tensor([0.3, -2.0], requires_grad=True)\ny = exp(x) * x",
        "x = tensor([0.3, -2.0], requires_grad=True)\ny = exp(x) * x\ny.backward(tensor([0.5, 3.0]))",
        "x = tensor([0.0, 0.0], requires_grad=True)\ny = exp(x).sum()",
        "x = tensor(0.3, requires_grad=True)\ny = exp(x)\ncheck(y, wrt=[x], order=2)",
    ],
)
def test_the_sweep_of_a_right_gradient_is_a_v(text):
    (item,) = inputs(text, sweep=True)
    errors = item.sweep.judged
    best = int(np.argmin(errors))
    assert errors[best] < 1e-9
    assert errors[0] > 1e3 * errors[best] < errors[-1]
    early = errors[2:7]
    assert np.all(np.abs(early[:-1] / early[1:] - 4) < 0.5), "the error of central differences falls with the square of the step"


def test_the_sweep_of_a_wrong_gradient_is_a_plateau():
    (item,) = inputs(FAULTY, sweep=True)
    assert np.all(item.sweep.judged[8:30] > 0.5)
    assert item.sweep.symbolic.min() < 1e-9


def test_no_sweep_of_what_does_not_depend():
    (item,) = inputs("x = tensor(1.0, requires_grad=True)\ny = x * 1\nz = y.detach() + 0 * x\ncheck(z, wrt=[x])", sweep=True)
    assert item.sweep is None or np.isfinite(item.sweep.judged).any()


def test_a_closed_form_that_agrees_is_named_as_the_reference() -> None:
    text = "x = tensor([0.3, 2.0], requires_grad=True)\nw = tensor(1.5, requires_grad=True)\ny = (sin(w*x)/x).sum() + erf(w)"
    assert check_file("a.grad", text, CheckOptions(formulas=True)).targets[0].symbolic == "closed-form"
    assert check_file("a.grad", text, CheckOptions()).targets[0].symbolic == "per-node"


def test_a_closed_form_that_does_not_agree_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closed_form, "evaluated", lambda array, point: np.full(array.shape, 1.5))
    (target,) = check_file("a.grad", "x = tensor(2., requires_grad=True)\ny = x**2", CheckOptions(formulas=True)).targets
    assert (target.status, target.symbolic) == ("pass", "per-node")
    assert "x: the closed form and the derivative node by node differ" in target.notes[0].message


def test_nothing_to_sweep_over():
    found = check_file("t.grad", "x = zeros(0, requires_grad=True)\ny = x * x\n", CheckOptions(sweep=True))
    assert (found.error, found.status) == (None, "pass")
