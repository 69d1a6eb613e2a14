"""Arguments of another kind than PyTorch takes are refused in its words; tensors that stand for numbers are taken as numbers."""

from __future__ import annotations

import inspect

import pytest

from gradcli.ops.accepted import accepted
from gradcli.ops.catalogue import FUNCTIONS

PROGRAM = """\
import torch
import torch.nn.functional as F

x = torch.tensor([1.0, 2.0])
try:
    print({call})
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("torch.maximum(x, 0.0)", "TypeError maximum(): argument 'other' (position 2) must be Tensor, not float"),
        ("torch.exp(1.0)", "TypeError exp(): argument 'input' (position 1) must be Tensor, not float"),
        ("torch.mul(x, [1.0, 2.0])", "TypeError mul(): argument 'other' (position 2) must be Tensor, not list"),
        ("F.leaky_relu(x, 'a')", "TypeError leaky_relu(): argument 'negative_slope' (position 2) must be Number, not str"),
        ("F.mse_loss(x, 1.0)", "TypeError mse_loss(): argument 'target' (position 2) must be Tensor, not float"),
        ("torch.logsumexp(x, 0, keepdim='a')", "TypeError logsumexp(): argument 'keepdim' must be bool, not str"),
        ("F.leaky_relu(x, torch.tensor(0.5))", "tensor([1., 2.])"),
        ("torch.where(x > 1)", "(tensor([1]),)"),
    ],
)
def test_arguments(call: str, words: str, printed) -> None:
    assert printed(PROGRAM.format(call=call)) == words + "\n"


def test_every_annotation_that_is_checked_has_a_default_that_fits() -> None:
    for name, function in FUNCTIONS.items():
        parameters = inspect.signature(function).parameters.values()
        for parameter, check in zip(parameters, accepted(function), strict=True):
            if check is not None and parameter.default is not parameter.empty:
                assert check(parameter.default), (name, parameter)


@pytest.mark.parametrize(("call", "shown"), [("F.relu(x - 1.5, True)", "[0.0000, 0.5000]"), ("F.elu(x, 1.0, True)", "[1., 2.]")])
def test_inplace_behind_all_other_arguments(call: str, shown: str, printed) -> None:
    assert shown in printed(PROGRAM.format(call=call))
