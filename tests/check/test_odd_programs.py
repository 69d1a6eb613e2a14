"""Programs that no one would write on purpose end in a verdict or an error of theirs, never in a bug of gradcli's."""

from __future__ import annotations

import numpy as np
import pytest

FUNCTION = """\
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return {forward}

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x

x = torch.tensor([0.7, -1.3], requires_grad=True)
y = (F.apply(x) * x).sum()
"""


@pytest.mark.parametrize("forward", ["True", "2.0", "1j"])
def test_a_function_whose_forward_gives_no_tensor(check, forward: str) -> None:
    result = check("import torch\n" + FUNCTION.format(forward=forward))
    assert result.error is None
    assert [f.status for f in result.functions] == ["pass"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("where(x > 0, x, None)", "where(): argument 'other' (position 3) must be Tensor, not NoneType"),
        ("where(x > 0, x)", "where(): argument 'other' (position 3) must be Tensor, not NoneType"),
        ("cross_entropy(x, exp)", "must be Tensor, not function"),
        ("embedding(x, exp)", "must be Tensor, not function"),
        ("einsum('i->', Function)", "must be Tensor, not type"),
        ("cat([x, exp])", "expected Tensor as element 1 in argument 0, but got function"),
    ],
)
def test_what_is_no_tensor_is_named(check, line: str, message: str) -> None:
    result = check(f"x = tensor([0.5, -1.2], requires_grad=True)\ny = {line}\n", error=True)
    assert result.error is not None
    assert result.error.type == "TypeError"
    assert message in result.error.message


def test_a_checkpoint_of_what_has_no_derivative_is_told_from_the_values(check) -> None:
    result = check(
        "import torch\nfrom torch.utils.checkpoint import checkpoint\nx = tensor([-1.0, 0.5], requires_grad=True)\n"
        "y = checkpoint(lambda t: t ** x, x)\ny.backward(torch.ones_like(y))\n"
    )
    assert result.error is None
    assert np.isnan(result.targets[0].inputs[0].autograd).any()


def test_a_leaf_that_got_another_shape_is_unchecked(check) -> None:
    result = check("w = tensor([2.0], requires_grad=True)\ny = (w * w).sum()\nw.data = tensor([3.0, 4.0])\ny.backward()\n")
    assert result.status == "unchecked"
    assert "another shape" in result.targets[0].symbolic


def test_a_truth_value_as_exponent(check) -> None:
    assert check("a = tensor([1.5, 2.0], requires_grad=True)\np = (a ** True).sum()\n").status == "pass"
