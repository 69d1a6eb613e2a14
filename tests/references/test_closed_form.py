"""Closed forms against formulas known by heart, and generated code against autograd."""

from __future__ import annotations

import math
from textwrap import dedent

import numpy as np
import pytest
import sympy

from gradcli.engine.tensor import Tensor
from gradcli.interpreter import run_file
from gradcli.references import formula_code, reading
from gradcli.references.closed_form import ClosedForm, closed_form, evaluated
from gradcli.references.estimate import NoAnswer
from gradcli.references.formula import decimal
from gradcli.syntax.source import Source


def derived(text: str, order: int = 1, weights: np.ndarray | None = None) -> ClosedForm:
    """The closed form of the last tensor, with respect to every leaf."""
    done = run_file(Source("test.grad", dedent(text)), trace=True)
    assert done.error is None, done.error
    tensors = {name: value for name, value in done.scope.items() if isinstance(value, Tensor) and value.requires_grad}
    leaves = {name: value for name, value in tensors.items() if value.is_leaf}
    return closed_form(list(tensors.values())[-1], leaves, list(leaves), weights, order)


def same(found: object, wanted: str) -> bool:
    names = {str(s): s for s in found.free_symbols}  # type: ignore[attr-defined]
    return bool(sympy.simplify((found - sympy.sympify(wanted, locals=names)).rewrite(sympy.exp)) == 0)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("expression", "derivative"),
    [
        ("sin(x * y) + 1", "y*cos(x*y)"),
        ("x ** y", "y*x**(y - 1)"),
        ("exp(-x ** 2) * log(y)", "-2*x*exp(-x**2)*log(y)"),
        ("sigmoid(x) * y", "y*exp(-x)/(1 + exp(-x))**2"),
        ("(x / y).tanh()", "(1 - tanh(x/y)**2)/y"),
        ("sqrt(x ** 2 + y ** 2)", "x/sqrt(x**2 + y**2)"),
        ("2 * pi * x + y", "2*pi"),
        ("relu(x) * y", "y"),
        ("abs(x - 3) * y", "-y"),
    ],
)
def test_scalar_formulas(expression: str, derivative: str) -> None:
    form = derived(f"x = tensor(1.5, requires_grad=True)\ny = tensor(0.7, requires_grad=True)\nout = {expression}\n")
    assert same(form.derivatives["x"][()], derivative), form.derivatives["x"]


def test_each_element_of_a_leaf_has_a_symbol() -> None:
    form = derived(
        """
        A = tensor([[1., 2.], [3., 4.]], requires_grad=True)
        x = tensor([0.5, -1.], requires_grad=True)
        out = ((A @ x) ** 2).sum()
        """
    )
    A, x = form.leaves[0].symbols, form.leaves[1].symbols
    assert str(A[1, 0]) == "A[1, 0]"
    assert sympy.expand(form.derivatives["A"][1, 0] - 2 * (A[1, 0] * x[0] + A[1, 1] * x[1]) * x[0]) == 0
    assert form.derivatives["x"].shape == (2,)


def test_a_softmax_is_written_out() -> None:
    form = derived("x = tensor([1., 2.], requires_grad=True)\nout = softmax(x, dim=0)[0]\n")
    x = form.leaves[0].symbols
    p = sympy.exp(x[0]) / (sympy.exp(x[0]) + sympy.exp(x[1]))
    assert sympy.simplify(form.derivatives["x"][0] - p * (1 - p)) == 0


def test_a_jacobian_has_the_shape_of_output_and_leaf_and_weights_make_it_a_gradient() -> None:
    text = "x = tensor([1., 2., 3.], requires_grad=True)\nout = stack([x.prod(), (x**2).sum()])\n"
    assert derived(text).derivatives["x"].shape == (2, 3)
    weighted = derived(text, weights=np.array([0.5, 2.0]))
    x = weighted.leaves[0].symbols
    assert sympy.expand(weighted.derivatives["x"][0] - (x[1] * x[2] / 2 + 4 * x[0])) == 0


def test_a_second_order_is_the_hessian() -> None:
    form = derived("x = tensor([1., 2.], requires_grad=True)\nout = x[0] ** 3 * x[1]\n", order=2)
    x = form.leaves[0].symbols
    assert [[sympy.expand(e) for e in row] for row in form.derivatives["x"]] == [[6 * x[0] * x[1], 3 * x[0] ** 2], [3 * x[0] ** 2, 0]]


def test_the_body_of_a_custom_function_counts_and_not_its_backward() -> None:
    form = derived(
        """
        class Wrong(Function):
            @staticmethod
            def forward(ctx, x):
                return x ** 3

            @staticmethod
            def backward(ctx, g):
                return g

        x = tensor(2., requires_grad=True)
        out = Wrong.apply(x)
        """
    )
    assert str(form.derivatives["x"][()]) == "3*x**2"


def test_branches_are_those_of_the_point_and_said_so() -> None:
    form = derived("x = tensor([-1., 2.], requires_grad=True)\nout = relu(x).sum() + x.max()\n")
    assert [str(e) for e in form.derivatives["x"]] == ["0", "2"]
    assert form.branches == ["relu on line 2", "max_all on line 2"]


def test_what_has_no_closed_form_is_refused_with_the_reason() -> None:
    with pytest.raises(NoAnswer, match="most that are written out"):
        derived("x = ones(50, 50, requires_grad=True)\nout = x.sum()\n")
    with pytest.raises(NoAnswer, match="operations"):
        derived("x = tensor(0.5, requires_grad=True)\nh = x\nfor k in range(20):\n    h = sin(h) * h + h\nout = h\n")


def test_numbers_are_read_as_they_were_written() -> None:
    assert [decimal(x) for x in (0.1, 3.0, math.pi, -2.5, 1e-7)] == [
        sympy.Rational(1, 10), 3, sympy.pi, sympy.Rational(-5, 2), sympy.Rational(1, 10**7),
    ]  # fmt: skip
    assert decimal(1 / 3) == sympy.Float(repr(1 / 3), 17)


@pytest.mark.parametrize("language", sorted(formula_code.LANGUAGES))
def test_generated_code_gives_what_the_formulas_give(language: str) -> None:
    form = derived(
        """
        W = tensor([[0.3, -1.2], [0.8, 0.1]], requires_grad=True)
        double = tensor([1.5, 0.2], requires_grad=True)
        math = tensor(0.7, requires_grad=True)
        out = (erf(W @ double) * exp(-math) + sqrt(math + double.sum()) ** 3).sum() + lgamma(double).sum() * 0
        """.replace(" + lgamma(double).sum() * 0", "")
    )
    spoken = formula_code.LANGUAGES[language]
    text = formula_code.code(form, spoken, "test")
    names = formula_code.parameter_names(form.leaves, spoken)
    assert names[2] == ("math" if language == "c" else "math_")
    assert names[1] == ("double_" if language == "c" else "double")
    point = dict(zip(names, (leaf.values for leaf in form.leaves), strict=True))
    for name, leaf in zip(names, form.leaves, strict=True):
        wanted = evaluated(form.derivatives[leaf.name], form.point())
        np.testing.assert_allclose(reading.derivative(text, language, name, point).ravel(), wanted.ravel(), rtol=1e-12)


def test_generated_code_is_refused_where_a_function_is_missing() -> None:
    form = derived("x = tensor(1.5, requires_grad=True)\nout = lgamma(x)\n")
    with pytest.raises(Exception, match="--code c: no function"):
        formula_code.code(form, formula_code.LANGUAGES["c"], "test")


def test_reading_knows_nothing_but_arithmetic() -> None:
    with pytest.raises((KeyError, reading.Unreadable)):
        reading.run_python("def f(x):\n    y = open('/etc/passwd')\n    return y\n", {"x": 1.0})
    with pytest.raises(reading.Unreadable):
        reading.run_python("def f(x):\n    y = (lambda: x)()\n    return y\n", {"x": 1.0})
