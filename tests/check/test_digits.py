"""Digits that rounding takes, and the operation that takes them."""

from __future__ import annotations

import pytest


def told(found, kind: str) -> list[tuple[str, int | None]]:
    return [(n.message, n.line) for t in found.targets for n in t.notes if n.kind == kind]


@pytest.mark.parametrize(
    ("point", "formula", "operation", "condition"),
    [
        ("[1e-8, 1.0]", "(1 - cos(x)) / x**2", "rsub", 2e16),
        ("[1e-9, 0.5]", "(exp(x) - 1) / x", "sub", 1e9),
        ("[1e9, 1.0]", "sqrt(x + 1) - sqrt(x)", "sub", 4e9),
    ],
)
def test_the_operation_that_magnifies_rounding_is_named(check, point: str, formula: str, operation: str, condition: float) -> None:
    found = check(f"x = tensor({point}, requires_grad=True)\ny = ({formula}).sum()")
    assert found.targets[0].inputs[0].verdicts.tolist() == ["unstable", "pass"]
    ((message, line),) = told(found, "unstable")
    assert line == 2
    assert message.startswith(f"{operation}: digits are lost here, condition number ")
    assert float(message.rpartition(" ")[2]) == pytest.approx(condition, rel=0.1)


def test_a_gradient_whose_terms_cancel_is_told_where_no_value_does(check) -> None:
    found = check("x = tensor([1e-8, 1.0], requires_grad=True)\ny = (2 * sin(x / 2)**2 / x**2).sum()")
    assert found.targets[0].status == "unstable"
    assert told(found, "unstable") == [("x: the terms of its gradient cancel, condition number 2.4e+17", 2)]


def test_a_stable_gradient_has_no_such_note(check) -> None:
    assert not told(check("x = tensor([1e-8, 1.0], requires_grad=True)\ny = (expm1(x) / 2 - log1p(x)).sum()"), "unstable")


def test_a_value_without_digits_is_told_apart_from_its_gradient(check) -> None:
    rump = "y = 333.75*b**6 + a**2*(11*a**2*b**2 - b**6 - 121*b**4 - 2) + 5.5*b**8 + a/(2*b)"
    found = check(f"a = tensor(77617.0, requires_grad=True)\nb = tensor(33096.0, requires_grad=True)\n{rump}")
    assert found.status == "pass"
    ((message, line),) = told(found, "value")
    assert message.startswith("the value of y has lost more than half of its digits: ")
    assert line == 3
    assert found.targets[0].value_ulps > 1e30


def test_ulps_of_a_good_value(check) -> None:
    assert check("x = tensor([0.3, 0.7], requires_grad=True)\ny = exp(x)").targets[0].value_ulps < 1
    assert check("x = tensor([0.3, 0.7], requires_grad=True)\ny = exp(x)", method="fd").targets[0].value_ulps is None


@pytest.mark.parametrize(("factor", "status"), [("1", "unstable"), ("1.3", "fail")])
def test_a_gradient_of_what_rounding_has_made_of_the_value_is_unstable(check, factor: str, status: str) -> None:
    text = "import torch\nx = torch.randn(40, requires_grad=True)\nV = torch.linspace(0, 1, 40).unsqueeze(1) ** torch.arange(11)\n"
    text += "y = (torch.linalg.lstsq(V, x.unsqueeze(1)).solution ** 2).sum()\n"
    text += f"claim(y, x, torch.autograd.grad(y, x, retain_graph=True)[0] * {factor})\n"
    assert check(text).status == status
    assert check(text.partition("claim")[0]).status == "unstable"
