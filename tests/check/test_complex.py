"""Complex leaves, outputs and middles: PyTorch's convention, judged along the real and the imaginary direction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.check import CheckOptions, check_file

HEAD = """import torch
z = torch.tensor([[1+2j, 0.5-1j], [0.3j, 2.0]], requires_grad=True)
x = torch.tensor([[0.5, -1.5], [2.0, 0.25]], requires_grad=True)
"""


def checked(text: str) -> Any:
    return check_file("complex.grad", HEAD + text, CheckOptions())


@pytest.mark.parametrize(
    "loss",
    [
        "z.abs().sum()", "(z * z.conj()).real.sum()", "z.angle().sum()", "torch.sgn(z).imag.sum()", "(z**3 + z**2.5).imag.sum()",
        "torch.view_as_real(z).prod()", "torch.view_as_complex(torch.stack([x, x * x], -1)).abs().sum()",
        "torch.polar(x.abs(), x).exp().real.sum()", "torch.sigmoid(z).real.sum()",
        "torch.complex(x, x.sin()).sqrt().imag.sum()", "(z @ z).abs().sum()",
        "(z.exp() + z.log() + z.sqrt() + z.sin() + z.tanh()).real.sum()",
        "torch.fft.fft(z).abs().sum()", "torch.fft.ifft2(z).imag.sum()", "torch.fft.rfft(x).abs().sum()",
        "torch.fft.irfft(z, n=3).sin().sum()", "torch.fft.irfftn(z, s=(2, 2)).sin().sum()", "torch.linalg.inv(z).abs().sum()",
        "torch.linalg.det(z).abs()", "torch.linalg.slogdet(z)[1]", "torch.linalg.norm(z)", "z.std()", "z.cumprod(0).real.sum()",
        "z.prod().imag", "torch.where(x > 0, z, z.conj() * 2).imag.sum()", "(z * x).abs().sum()", "torch.linalg.qr(z)[1].abs().sum()",
        "torch.logsumexp(z, 0).real.sum()", "torch.sinc(z).real.sum()", "torch.vdot(z[0], z[1]).abs()", "(z / (1 + z.abs())).imag.sum()",
        "torch.linalg.solve(z, z.T).abs().sum()", "torch.linalg.cholesky(z @ z.conj().T + torch.eye(2)).abs().sum()",
    ],
)  # fmt: skip
def test_both_references_confirm_autograd(loss: str) -> None:
    result = checked(f"loss = {loss}\nloss.backward()\n")
    assert result.error is None
    assert result.status == "pass"
    (target,) = result.targets
    assert (target.symbolic, target.finite_difference) == ("per-node", "full")
    for item in target.inputs:
        assert item.fd_error.dtype == np.float64
        assert item.autograd.dtype.kind == item.symbolic.dtype.kind == item.finite_difference.dtype.kind
        assert item.max_ulps < 100


def test_the_gradient_is_the_direction_of_steepest_ascent() -> None:
    (target,) = checked("loss = (z * z.conj()).real.sum()\nloss.backward()\n").targets
    z = np.array([[1 + 2j, 0.5 - 1j], [0.3j, 2.0]])
    np.testing.assert_array_equal(target.inputs[0].autograd, 2 * z)
    np.testing.assert_array_equal(target.inputs[0].symbolic, 2 * z)


def test_a_complex_output_is_weighted_by_conjugates() -> None:
    (target,) = checked("check(z * (2 + 1j), wrt=[z], grad_outputs=torch.tensor([[1j, 0], [0, 0]]))\n").targets
    assert target.status == "pass"
    assert target.inputs[0].symbolic[0, 0] == 1j * (2 - 1j)


def test_a_complex_output_without_weights_is_judged_along_random_ones() -> None:
    (target,) = checked("w = z.exp()\n").targets
    assert target.status == "pass"
    assert target.grad_outputs.dtype.kind == "c"
    assert [n.kind for n in target.notes] == ["random-grad-outputs"]


def test_a_jacobian_of_a_real_output() -> None:
    (target,) = checked("check(z.abs(), wrt=[z])\n").targets
    assert (target.status, target.inputs[0].verdicts.shape) == ("pass", (2, 2, 2, 2))


def test_at_zero_the_absolute_value_has_a_kink() -> None:
    (target,) = checked("w = torch.tensor([0j, 3 + 4j], requires_grad=True)\nloss = w.abs().sum()\nloss.backward()\n").targets
    assert target.inputs[0].verdicts.tolist() == ["kink", "pass"]
    assert not target.failing


@pytest.mark.parametrize(
    ("claimed", "word"),
    [("2 * z", None), ("2 * z.conj()", "conjugate"), ("-2 * z", "wrong sign"), ("4 * z", "factor of 2"), ("2 * z.real", "instead of")],
)
def test_claims(claimed: str, word: str | None) -> None:
    (target,) = checked(f"claim((z * z.conj()).real.sum(), z, {claimed})\n").targets
    assert target.failing is (word is not None)
    if word is not None:
        assert word in target.blame.why


FUNCTION = """
from torch.autograd import Function
class Product(Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b
    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b.conj(), g * a{0}
loss = Product.apply(z, z.T.exp()).abs().sum()
loss.backward()
"""


@pytest.mark.parametrize(("conj", "status"), [(".conj()", "pass"), ("", "fail")])
def test_user_functions_are_checked_alone(conj: str, status: str) -> None:
    result = checked(FUNCTION.format(conj))
    assert result.status == result.functions[0].status == status
    if status == "fail":
        assert result.targets[0].blame.function == "Product"


def test_second_order() -> None:
    result = checked("check((z.exp() * z.conj()).abs().sum(), wrt=[z], order=2)\n")
    assert (result.status, result.targets[0].symbolic) == ("pass", "per-node")


def test_rounding_to_single_precision_on_the_way_is_no_fault() -> None:
    """A gradient is judged by the coarsest precision that it passes through."""
    result = checked("loss = (z.to(torch.complex64) * (1 + 2j)).abs().sum()\nloss.backward()\n")
    assert (result.status, result.failing) == ("pass", False)
    assert result.targets[0].inputs[0].max_rel_error > 1e-9
    assert result.targets[0].inputs[0].max_ulps < 1


def test_accumulated_gradients() -> None:
    result = checked("(z.abs()**2).sum().backward()\nz.prod().imag.backward()\n")
    assert [t.status for t in result.targets] == ["pass", "pass"]


def test_where_the_gradient_has_no_value() -> None:
    result = checked("w = torch.tensor([0j], requires_grad=True)\nloss = torch.log(w).real.sum()\nloss.backward()\n")
    assert result.status == "nan"
