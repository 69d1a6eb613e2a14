"""What a node lists as its next functions: as PyTorch, the arguments that its operation has a derivative for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradcli.engine import Tensor
from gradcli.ops.catalogue import FUNCTIONS as F


def leaf() -> Tensor:
    return Tensor(np.ones((2, 3)), True)


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda x: F["where"](Tensor(np.ones((2, 3), bool)), x, x * 2), ["AccumulateGrad", "MulBackward0"]),
        (lambda x: F["cross_entropy"](x, Tensor(np.array([0, 1]))), ["LogSoftmaxBackward0"]),
        (lambda x: F["binary_cross_entropy"](F["sigmoid"](x), Tensor(np.ones((2, 3)))), ["SigmoidBackward0", None]),
        (lambda x: F["cat"]([x, x.exp()]), ["AccumulateGrad", "ExpBackward0"]),
        (lambda x: x + 1, ["AccumulateGrad", None]),
        (lambda x: F["layer_norm"](x, (3,)), ["AccumulateGrad", None, None]),
    ],
)
def test_next_functions(make: Any, names: list[str | None]) -> None:
    assert [None if node is None else node.name for node, _ in make(leaf()).node.next_functions] == names
