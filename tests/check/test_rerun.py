"""Programs run once more without rounding: what they write into, ask and print must not end that run."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.check.options import CheckOptions
from gradcli.check.point import Point
from gradcli.check.rerun import Rerun
from gradcli.engine.trace import Tracer
from gradcli.interpreter.program import Program
from gradcli.syntax.parser import parse
from gradcli.syntax.source import Source

HEAD = "import torch\nimport numpy as np\nx = torch.tensor([1.25, 0.5, 2.0], requires_grad=True)\n"


def gradients(text: str) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """The gradient as float64 gives it, at 50 digits, and in extended precision."""
    options = CheckOptions()
    point = Point(Program(parse(Source("t.grad", HEAD + text)), options.limits), options)
    run, (target, *_) = point.collect(Tracer())
    assert run.error is None
    again = Rerun(point)
    return target.inputs[0].autograd, again.gradient(0, target, 0), again.extended.gradient(0, target, 0)


@pytest.mark.parametrize(
    "text",
    [
        "out = torch.zeros(3)\nout[0] = x[1] * x[2]\ny = out.exp().sum()",
        "out = torch.zeros_like(x)\nfor i in range(3):\n    out[i] += x[i] * x[0]\ny = out.sum()",
        "out = torch.empty(2, 3)\nout[:] = x.sin()\ny = out.prod()",
        "loss = torch.tensor(0.0)\nloss += x[0] * x[1]\ny = loss * 2",
        "y = torch.zeros(3).index_add(0, torch.tensor([1, 1, 2]), x * x).sin().sum()",
        "y = x.new_zeros(2, 3).copy_(x * x).sum() + torch.full((3,), 0.5).add_(x).prod()",
        "W = torch.tensor([[1.0, 2.0, 0.5]])\ny = (W @ x).sin().sum() + torch.eye(3) @ x @ x",
        "y = (x * 3).sin().sum() / x.max().item()",
        "y = x.sin().sum() * round(x[0].item(), 1) * x.tolist()[1] * int(x[2])",
        "assert torch.allclose(x + x, 2 * x)\ny = x.sin().sum()",
        "print(f'{x[0]:.3f} {x[0].item():.3f}')\ny = x.sin().sum()",
        "y = x.sin().sum() * np.mean(np.array([1.0, 2.0]))",
        "y = x.sin().sum() * (torch.rand(3) * 3).long().sum()",
    ],
)
def test_a_program_runs_in_other_storage_as_it_does_in_float64(text: str) -> None:
    autograd, exactly, extended = gradients(text)
    assert exactly is not None
    assert extended is not None
    np.testing.assert_allclose(exactly, autograd, rtol=1e-14)
    np.testing.assert_allclose(np.asarray(extended, dtype=float), autograd, rtol=1e-14)


def test_the_log_of_a_determinant_has_its_gradient_at_50_digits() -> None:
    autograd, exactly, _ = gradients("y = torch.slogdet(torch.outer(x, x) + torch.eye(3))[1]")
    assert exactly is not None
    np.testing.assert_allclose(exactly, autograd, rtol=1e-13)


def test_complex_numbers_keep_both_parts_in_extended_precision() -> None:
    autograd, _, extended = gradients("y = (torch.fft.fft(x * (1 + 2j)) * (0.5 - 1j)).abs().sum()")
    assert extended is not None
    np.testing.assert_allclose(np.asarray(extended, dtype=float), autograd, rtol=1e-13)


def test_a_float32_buffer_does_not_round_in_extended_precision() -> None:
    text = "z = x.float()\nout = torch.zeros(3, dtype=torch.float32)\nout[0] = z[0].sin() * z[1]\ny = out.exp().sum()"
    _, exactly, extended = gradients(text)
    assert exactly is not None
    assert extended is not None
    np.testing.assert_allclose(np.asarray(extended, dtype=float), exactly, rtol=1e-14)


def test_a_leaf_made_of_rounded_constants_stays_where_it_was() -> None:
    text = "x = (torch.full((3,), 0.1, dtype=torch.float32) * torch.tensor([1.0, 3.0, 7.0], dtype=torch.float32)).requires_grad_()\n"
    autograd, exactly, extended = gradients(text + "y = (1e6 * x).sin().sum()")
    assert exactly is not None
    assert extended is not None
    np.testing.assert_allclose(np.asarray(extended, dtype=float), exactly, rtol=1e-12)
    np.testing.assert_allclose(autograd, exactly, rtol=1e-2)
