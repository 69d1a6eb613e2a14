"""Strides of results, as PyTorch 2.13 has them (its figures)."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine import Tensor
from gradcli.ops.catalogue import FUNCTIONS as F

TURNED = Tensor(np.arange(12.0).reshape(3, 4).T / 13)
ROWS = Tensor(np.arange(12.0).reshape(4, 3) / 13)
CUBE = Tensor(np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1) / 25)
WIDE = Tensor(np.broadcast_to(np.arange(3.0), (2, 3)))


@pytest.mark.parametrize(
    ("name", "args", "strides"),
    [
        ("clone", (TURNED,), (1, 4)),
        ("clone", (CUBE,), (1, 12, 4)),
        ("clone", (WIDE,), (3, 1)),
        ("contiguous", (TURNED,), (3, 1)),
        ("add", (TURNED, ROWS), (1, 4)),
        ("add", (ROWS, TURNED), (3, 1)),
        ("erf", (CUBE,), (1, 12, 4)),
        ("gelu", (TURNED,), (1, 4)),
        ("mul", (WIDE, 2.0), (3, 1)),
        ("softmax", (TURNED, 0), (3, 1)),
        ("cumsum", (TURNED, 0), (3, 1)),
        ("sum", (CUBE, 1), (3, 1)),
        ("logsumexp", (CUBE, 1), (3, 1)),
        ("roll", (TURNED, 1, 0), (3, 1)),
        ("masked_fill", (TURNED, Tensor(TURNED.value > 0.3), 0.5), (3, 1)),
    ],
)
def test_strides(name: str, args: tuple, strides: tuple[int, ...]) -> None:
    value = F[name](*args).value
    assert tuple(s // value.itemsize for s in value.strides) == strides
