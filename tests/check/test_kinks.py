"""PyTorch's conventions where a derivative is one are kinks, never failures; a kink that does not show in the output is none."""

from __future__ import annotations

import pytest

START = "import torch\nimport torch.nn.functional as F\n"


def leaf(points: object) -> str:
    return f"{START}x = torch.tensor({points}, requires_grad=True)\n"


@pytest.mark.parametrize(
    ("points", "formula"),
    [
        ([0.0, -2.0], "abs(x)"),
        ([0.0, 1.0, 0.5], "F.hardtanh(x, 0., 1.)"),
        ([6.0, 0.0, 3.0], "F.relu6(x)"),
        ([3.0, -3.0, 1.0], "F.hardsigmoid(x)"),
        ([3.0, -3.0, 1.0], "F.hardswish(x)"),
        ([0.5, -0.5, 1.0], "F.softshrink(x)"),
        ([0.0, 1.0], "F.threshold(x, 1., 1.)"),
        ([0.0, 1.0], "F.elu(x, 2.)"),
        ([0.0, 1.0], "torch.copysign(x, torch.tensor([-1.0, -2.0]))"),
        ([0.0, 1.0], "F.prelu(x, torch.tensor(0.2))"),
        ([0.0, 0.0], "x.norm()"),
        ([0.0, 2.0], "x.norm(1)"),
        ([0.0, 0.0], "x.norm(1.5)"),
        ([0.0, 0.0], "x.norm(3)"),
        ([-2.0, 2.0, 1.0], "x.norm(torch.inf)"),
        ([-2.0, 0.0, 1.0], "x.norm(-torch.inf)"),
        ([0.0, 0.0], "torch.dist(x, torch.zeros(2))"),
        ([0.1, 0.1, 0.1], "x.std()"),
        ([[0.3, 0.3], [1.0, 2.0]], "torch.std_mean(x, 1)[0]"),
        ([[1.0, 2.0], [1.0, 2.0]], "torch.cdist(x, x.detach())"),
        ([[1.0, 2.0], [1.0, 3.0]], "torch.cdist(x, x.detach(), p=1.)"),
        ([3.0, 1.0, 3.0], "torch.aminmax(x).max"),
        ([3.0, 1.0, 3.0], "x.scatter_reduce(0, torch.tensor([2, 2]), torch.tensor([3.0, 1.0]), 'amax')"),
        ([3.0, 1.0], "torch.zeros(1).scatter_reduce(0, torch.tensor([0, 0]), x * torch.tensor([1.0, 3.0]), 'amax', include_self=False)"),
        ([3.0, 1.0, 3.0], "torch.topk(x, 1).values"),
        ([3.0, 1.0, 3.0], "torch.sort(x).values"),
    ],
)
def test_conventions_are_kinks(check, points, formula: str) -> None:
    found = check(f"{leaf(points)}y = {formula}\ncheck(y, wrt=[x], grad_outputs=1.0 + torch.arange(float(y.numel())).reshape(y.shape))")
    assert (found.status, found.failing) == ("kink", False)


@pytest.mark.parametrize("factor", [1.001, -1.0])
@pytest.mark.parametrize(("points", "formula"), [([6.0, 3.0], "F.relu6(x)"), ([0.0, 2.0], "x.norm(1)"), ([2.0, 2.0, 1.0], "x.max()")])
def test_elements_beside_a_kink_are_judged_as_ever(check, points, formula: str, factor: float) -> None:
    text = f"{leaf(points)}y = {formula}.sum()\ng = torch.autograd.grad(y, x)[0]\nclaim(y, x, g * {factor})"
    assert check(text).status == "fail"


@pytest.mark.parametrize(
    ("points", "formula"),
    [
        ([3.0, 1.0, 3.0], "torch.topk(x, 2).values.sum()"),
        ([3.0, 1.0, 3.0], "torch.sort(x).values.square().sum()"),
        ([3.0, 1.0, 3.0], "torch.maximum(x[0], x[2]) + torch.minimum(x[0], x[2])"),
        ([0.0, 2.0], "F.relu(x).square().sum()"),
        ([0.0, 2.0], "(x * x.abs()).sum()"),
        ([0.0, 0.0], "x.norm() ** 3"),
        ([[1.0, 2.0], [4.0, 6.0]], "torch.cdist(x, x).sum()"),
        ([[1.0, 2.0], [4.0, 6.0]], "torch.cdist(x, x).square().sum()"),
    ],
)
def test_kinks_that_do_not_show_pass(check, points, formula: str) -> None:
    assert check(f"{leaf(points)}y = {formula}").status == "pass"


@pytest.mark.parametrize("formula", ["F.relu(x) - F.relu(-x)", "torch.maximum(x, 0 * x) + torch.minimum(x, 0 * x) + x.abs() / 8"])
def test_a_sum_of_conventions_that_is_no_derivative_stays_a_kink(check, formula: str) -> None:
    assert check(f"{leaf([0.0, 1.0])}y = ({formula}).sum()").status == "kink"


def test_only_operations_that_take_each_element_alone_mix_their_branches(check) -> None:
    """The gaps between three sorted elements are two, and so are the indices of the largest two: they mean different things."""
    found = check(leaf([3.0, 1.0, 3.0]) + "y = (torch.topk(x, 2).values * torch.tensor([1.0, 5.0])).sum()")
    assert found.targets[0].inputs[0].verdicts.tolist() == ["kink", "pass", "kink"]
