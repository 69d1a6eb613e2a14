"""Gradients too large to be checked element by element."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.check import CheckOptions, check_file, opinions
from gradcli.check.projection import Projection

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


def check(change: str):
    return check_file("large.grad", PROGRAM.format(change=change), CheckOptions(symbolic_budget=50))


def test_a_right_gradient_passes_by_directions() -> None:
    (target,) = check("pass").targets
    assert (target.status, target.finite_difference, target.symbolic) == ("pass", "directional", "none: more than 50 scalar operations")


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
