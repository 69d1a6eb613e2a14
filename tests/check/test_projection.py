"""Gradients too large to be checked element by element."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.check import CheckOptions, check_file, opinions
from gradcli.check.projection import Projection
from gradcli.references.estimate import NoAnswer

PROGRAM = """
import torch
class Half(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        return w * 0.5

    @staticmethod
    def backward(ctx, g):
        g = g * 0.5
        {change}
        return g

W = torch.randn(20, 30, requires_grad=True)
x = torch.randn(8, 20)
loss = torch.tanh(x @ Half.apply(W)).sum()
"""


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opinions, "DIFFERENCE_WORK", 100)
    monkeypatch.setattr(opinions, "SECOND_WORK", 100)


def check(change: str):
    return check_file("large.grad", PROGRAM.format(change=change), CheckOptions(symbolic_budget=50))


def test_a_right_gradient_passes_by_directions() -> None:
    (target,) = check("pass").targets
    assert (target.status, target.finite_difference, target.symbolic) == ("pass", "directional", "directional")


def test_bisection_names_the_one_wrong_element() -> None:
    found = check("g[3, 7] = g[3, 7] * 1.0001")
    (target,) = found.targets
    verdicts = target.inputs[0].verdicts
    assert [tuple(int(k) for k in place) for place in np.argwhere(verdicts == "fail")] == [(3, 7)]
    assert target.blame is not None
    assert (target.blame.function, found.functions[0].status) == ("Half", "fail")
    assert "at [3, 7]" in target.blame.why


def test_more_wrong_elements_than_are_looked_for_leave_the_rest_unchecked() -> None:
    given, truth = np.ones(40), np.zeros(40)
    projection = Projection(given, np.ones(40), lambda direction: (float((truth * direction).sum()), 1e-12))
    assert not projection.run()
    assert len(projection.wrong) == 4
    assert all(value == 0 for value in projection.wrong.values())


def test_a_gradient_off_by_one_factor_is_wrong_in_every_element() -> None:
    (target,) = check("g = g * 2").targets
    assert (target.inputs[0].verdicts == "fail").all()
    assert "d loss/d W is right up to a factor of 2" in next(n.message for n in target.notes if n.kind == "wrong-gradient")


def test_float32_gradients_that_rounding_alone_spoils_do_not_fail() -> None:
    text = "import torch\nx = torch.randn(20, 20, dtype=torch.float32, requires_grad=True)\n"
    found = check_file(
        "large.grad", text + "y = torch.layer_norm(x, (20,)).var() + torch.softmax(x @ x, 1).std()", CheckOptions(symbolic_budget=50)
    )
    assert not found.failing
    assert found.targets[0].symbolic == "directional"


def test_a_float32_gradient_with_one_wrong_element_fails() -> None:
    text = PROGRAM.replace("20, 30, ", "20, 30, dtype=torch.float32, ").replace("randn(8, 20)", "randn(8, 20, dtype=torch.float32)")
    found = check_file("large.grad", text.format(change="g[3, 7] = g[3, 7] * 1.01"), CheckOptions(symbolic_budget=50))
    assert found.targets[0].inputs[0].verdicts[3, 7] == "fail"
    assert (found.targets[0].inputs[0].verdicts == "fail").sum() == 1


def test_what_tangents_cannot_follow_is_left_to_differences() -> None:
    text = "import torch\nA = torch.randn(4, 4, requires_grad=True)\ny = torch.linalg.cholesky(A @ A.T + 4 * torch.eye(4)).sum()"
    (target,) = check_file("large.grad", text, CheckOptions(symbolic_budget=50)).targets
    assert target.status == "pass"
    assert target.symbolic == "none: more than 50 scalar operations; linalg.cholesky has no form in extended precision"


def test_a_jacobian_too_large_for_differences_is_checked_along_random_grad_outputs() -> None:
    text = "import torch\nx = torch.rand(120, requires_grad=True)\nh = x\nfor i in range(3000):\n    h = torch.sin(h) * 1.01\ncheck(h, [x])"
    (target,) = check_file("long.grad", text, CheckOptions()).targets
    assert (target.status, target.symbolic) == ("pass", "directional")
    assert target.notes[0].kind == "random-grad-outputs"


def test_elements_that_are_not_finite_take_no_part_in_directions() -> None:
    text = "import torch\nx = torch.tensor([-1.0, 4.0, 9.0], requires_grad=True)\ny = torch.where(x > 0, sqrt(x), x * x).sum()"
    (target,) = check_file("masked.grad", text, CheckOptions(symbolic_budget=1)).targets
    assert target.symbolic == "directional"
    assert target.inputs[0].verdicts.tolist() == ["nan", "pass", "pass"]
    assert target.inputs[0].failing.tolist() == [True, False, False]


def test_a_bar_too_wide_decides_nothing() -> None:
    projection = Projection(np.ones(5), np.ones(5), lambda direction: (float(direction.sum()), np.inf))
    with pytest.raises(NoAnswer, match="too wide"):
        projection.run()
    with pytest.raises(NoAnswer, match="not finite"):
        Projection(np.ones(5), np.ones(5), lambda direction: (np.nan, 0.0)).agrees()


@pytest.mark.parametrize(
    ("size", "status", "symbolic"),
    [((40,), "unchecked", "none: more than 30 scalar operations"), ((0,), "pass", "per-node"), ((0, 3), "pass", "per-node")],
)
def test_a_second_derivative_of_many_elements_and_of_none(size, status, symbolic):
    text = f"x = ones{size}.requires_grad_()\ny = (x * x).sum()\n"
    found = check_file("t.grad", text, CheckOptions(order=2, symbolic_budget=30))
    assert found.error is None
    assert (found.status, found.targets[0].symbolic) == (status, symbolic)


def test_one_wrong_element_of_many_in_float32_is_seen() -> None:
    text = "import torch\nx = torch.randn(20000, dtype=torch.float32, requires_grad=True)\n"
    text += "e = torch.ones(20000, dtype=torch.float32)\ne[777] = {}\nloss = (x.sin() * x).mean()\n"
    text += "claim(loss, x, (x.cos() * x + x.sin()) * e / 20000)"
    right = check_file("large.grad", text.format(1.0), CheckOptions(symbolic_budget=50))
    assert right.status == "pass"
    wrong = check_file("large.grad", text.format(1.02), CheckOptions(symbolic_budget=50))
    assert np.argwhere(wrong.targets[0].inputs[0].verdicts == "fail").tolist() == [[777]]


def test_a_factor_within_rounding_is_none() -> None:
    truth = np.linspace(1.0, 2.0, 40)
    projection = Projection(truth * (1 + 1e-6), np.ones(40), lambda d: (float((truth * d).sum()), 0.0), eps=float(np.finfo(np.float32).eps))
    assert projection.common_factor() is None


def test_a_long_transform_is_left_to_differences_at_once() -> None:
    text = "import torch\nx = torch.randn(4096, requires_grad=True)\nloss = (torch.fft.fft(x).abs() ** 2).mean()\nclaim(loss, x, {} * x)"
    assert check_file("fft.grad", text.format("2"), CheckOptions()).status == "pass"
    wrong = check_file("fft.grad", text.format("torch.where(torch.arange(4096) == 99, 2.001, 2.0)"), CheckOptions())
    assert np.argwhere(wrong.targets[0].inputs[0].verdicts == "fail").tolist() == [[99]]


def test_rounding_of_the_size_of_the_largest_element_is_none_where_terms_are_unknown() -> None:
    text = "import torch\nA = torch.randn(12, 8, dtype=torch.float32, requires_grad=True)\nloss = torch.linalg.svdvals(A).log().sum()"
    (target,) = check_file("svd.grad", text, CheckOptions()).targets
    assert target.symbolic.startswith("none")
    assert target.status == "pass"
