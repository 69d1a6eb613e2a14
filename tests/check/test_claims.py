"""Gradients that a file states."""

from __future__ import annotations

import math

import pytest

LINEAR = (
    "x = tensor([[1.0, 2.0, -0.5], [0.3, -1.0, 0.8]])\nW = tensor([[0.2], [0.5], [-0.3]], requires_grad=True)\n"
    "y = tensor([[1.0], [0.4]])\nr = x @ W - y\nloss = (r * r).{}()\n"
)


def test_a_right_claim_passes_and_tells_both(check) -> None:
    found = check(LINEAR.format("mean") + "claim(loss, W, 2 * x.T @ r / 2)")
    (item,) = found.targets[0].inputs
    assert found.status == "pass"
    assert item.claimed is not None
    assert item.claimed.shape == item.autograd.shape == (3, 1)


@pytest.mark.parametrize(
    ("reduce", "value", "words"),
    [
        ("mean", "2 * x.T @ r", "d loss/d W is right up to a factor of 2: the mean over 2 elements is missing"),
        ("sum", "2 * x.T @ r / 2", "d loss/d W is right up to a factor of 0.5: it is the mean, not the sum over 2 elements"),
        ("sum", "-2 * x.T @ r", "d loss/d W has the wrong sign"),
        ("sum", "x.T @ r * 3", "d loss/d W is right up to a factor of 1.5"),
        ("sum", "0 * W", "d loss/d W is 0, but the output depends on it"),
        ("sum", "(2 * x.T @ r).flip(0)", "d loss/d W is in reverse order along axis 0"),
        ("sum", "2 * x.T @ r * tensor([[1.0], [1.0], [-1.0]])", "d loss/d W is wrong in 1 of 3 elements, at [2, 0]"),
    ],
)
def test_a_wrong_claim_is_explained_at_its_line(check, reduce: str, value: str, words: str) -> None:
    found = check(LINEAR.format(reduce) + f"claim(loss, W, {value})")
    target = found.targets[0]
    assert found.status == "fail"
    assert found.failing
    assert (target.blame.line, target.blame.function) == (6, None)
    assert target.blame.why.startswith(words)
    assert any(n.kind == "wrong-gradient" and n.message.startswith(words) and n.line == 6 for n in target.notes)


def test_a_division_by_the_number_of_rows_is_a_mean(check) -> None:
    text = LINEAR.format("sum").replace("loss = (r * r).sum()", "n = len(x)\nloss = (r * r).sum() / n")
    found = check(text + "claim(loss, W, 2 * x.T @ r)")
    assert found.targets[0].blame.why == "d loss/d W is right up to a factor of 2: the mean over 2 rows is missing"


def test_each_claim_is_a_target_of_its_own(check) -> None:
    text = "x = tensor([1.0, 2.0], requires_grad=True)\ny = (x * x).sum()\nclaim(y, x, 2 * x)\nclaim(y, x, x)\nclaim(y, x, 3 * x)"
    found = check(text)
    assert [t.status for t in found.targets] == ["pass", "fail", "fail"]
    assert [t.line for t in found.targets] == [3, 4, 5]


def test_a_claim_of_a_jacobian_or_of_its_sum(check) -> None:
    x = "x = tensor([1.0, 2.0], requires_grad=True)\ny = stack([x[0] * x[1], x[1] ** 2])\n"
    assert check(x + "claim(y, x, [[2.0, 1.0], [0.0, 4.0]])").status == "pass"
    assert check(x + "claim(y, x, [2.0, 5.0])").status == "pass"
    assert check(x + "claim(y, x, [[2.0, 1.0], [0.0, 4.1]])").status == "fail"


def test_a_claim_of_another_shape_is_an_error(check) -> None:
    found = check("x = tensor([1.0, 2.0], requires_grad=True)\ny = (x * x).sum()\nclaim(y, x, tensor([[1.0], [2.0]]))", error=True)
    assert "shape" in str(found.error)
    assert found.error.span.line == 3


def test_a_claim_about_something_that_is_no_tensor_is_an_error(check) -> None:
    found = check("x = tensor([1.0], requires_grad=True)\nclaim(3.0, x, x)", error=True)
    assert "takes tensors" in str(found.error)


@pytest.mark.parametrize(
    ("value", "status"), [("[0.0, 1.0]", "kink"), ("[1.0, 1.0]", "kink"), ("[0.5, 1.0]", "kink"), ("[1.5, 1.0]", "fail")]
)
def test_a_claim_at_a_kink(check, value: str, status: str) -> None:
    found = check(f"x = tensor([0.0, 2.0], requires_grad=True)\ny = relu(x).sum()\nclaim(y, x, tensor({value}))")
    assert found.status == status


@pytest.mark.parametrize(
    ("value", "status"), [("[0.5, 0.5]", "kink"), ("[1.0, 0.0]", "kink"), ("[1.0, 1.0]", "fail"), ("[0.0, 0.0]", "fail")]
)
def test_a_claim_at_a_tie(check, value: str, status: str) -> None:
    assert check(f"x = tensor([2.0, 2.0], requires_grad=True)\ny = x.max()\nclaim(y, x, tensor({value}))").status == status


def test_a_claim_holds_at_other_points_too(check) -> None:
    x = "x = tensor([2.0, 2.0], requires_grad=True)\ny = (x ** 2).sum()\n"
    assert check(x + "claim(y, x, x + 2)").status == "pass"
    assert check(x + "claim(y, x, x + 2)", points=3).status == "fail"
    assert check(x + "claim(y, x, 2 * x)", points=3).status == "pass"


def test_a_claimed_jacobian_may_be_off_by_what_rounding_the_inputs_does(check) -> None:
    text = "x = tensor([1e6, 2e7 + 0.3], requires_grad=True)\ny = sin(x * x)\n"
    found = check(text + "claim(y, x, diag(2 * x * (1 - 2 * sin(x * x / 2)**2)))")
    assert not found.failing
    found = check(text + "claim(y, x, diag(-2 * x * (1 - 2 * sin(x * x / 2)**2)))")
    assert found.failing


@pytest.mark.parametrize(("function", "formula"), [("sigmoid", "s * (1 - s)"), ("tanh", "1 - s**2")])
def test_a_right_formula_that_rounding_spoils_is_unstable(check, function: str, formula: str) -> None:
    found = check(f"x = tensor([50.0, -0.5], requires_grad=True)\ns = {function}(x)\ny = {function}(x).sum()\nclaim(y, x, {formula})")
    assert found.targets[0].inputs[0].verdicts.tolist() == ["unstable", "pass"]
    assert ("unstable", 4) in [(n.kind, n.line) for n in found.targets[0].notes]


def test_a_claim_of_plain_numbers_is_no_formula(check) -> None:
    found = check("x = tensor([50.0, -0.5], requires_grad=True)\ny = tanh(x).sum()\nclaim(y, x, [0.0, 1 - tanh(tensor(-0.5)) ** 2])")
    assert found.targets[0].inputs[0].verdicts.tolist() == ["fail", "pass"]


def test_a_claim_of_rounded_numbers_may_be_as_far_off_as_its_point(check) -> None:
    text = "x = tensor([12345.678, 1e6], requires_grad=True)\ny = sin(x).sum()\nclaim(y, x, [{}, {}])"
    right = check(text.format(math.cos(12345.678 * (1 + 2e-16)), math.cos(1e6)))
    assert right.targets[0].inputs[0].verdicts.tolist() == ["pass", "pass"]
