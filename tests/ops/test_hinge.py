"""Losses by margins: values counted by hand, and what may not ask for a gradient."""

import numpy as np
import pytest

from gradcli.engine.backward import grad
from gradcli.engine.tensor import Tensor
from gradcli.errors import AutogradError
from gradcli.interpreter.from_data import tensor
from gradcli.ops.catalogue import FUNCTIONS

X = [[0.5, -0.25, 1.5], [0.1, 0.2, 0.3]]


def leaf(values: object) -> Tensor:
    return tensor(values, requires_grad=True)


def test_a_label_given_twice_counts_twice() -> None:
    x = leaf(X)
    out = FUNCTIONS["multilabel_margin_loss"](x, tensor([[0, 2, -1], [1, 1, -1]]), reduction="none")
    first = (1 - 0.5 - 0.25 + max(0, 1 - 1.5 - 0.25)) / 3
    second = 2 * ((1 - 0.2 + 0.1) + (1 - 0.2 + 0.3)) / 3
    np.testing.assert_allclose(out.value, [first, second])
    np.testing.assert_allclose(grad(out.sum(), x)[0].value, [[-1 / 3, 1 / 3, 0], [2 / 3, -4 / 3, 2 / 3]])


def test_squared_margins_have_a_second_derivative() -> None:
    x = leaf([0.5, 0.25])
    (g,) = grad(FUNCTIONS["multi_margin_loss"](x, tensor(0), p=2), x, create_graph=True)
    (h,) = grad(g[1], x)
    np.testing.assert_allclose(h.value, [-1.0, 1.0])


@pytest.mark.parametrize("name", ["multi_margin_loss", "multilabel_margin_loss"])
def test_one_number_is_one_class(name: str) -> None:
    assert float(FUNCTIONS[name](leaf(0.5), tensor(0)).value) == 0


@pytest.mark.parametrize(
    ("call", "function", "argument"),
    [
        (lambda x, w: FUNCTIONS["multi_margin_loss"](x, tensor([2, 0]), weight=w), "multi_margin_loss", "weight"),
        (lambda x, w: FUNCTIONS["soft_margin_loss"](x, w.expand(2, 3)), "soft_margin_loss", "target"),
        (lambda x, w: FUNCTIONS["nll_loss"](x, tensor([2, 0]), weight=w), "nll_loss", "weight"),
        (lambda x, w: FUNCTIONS["batch_norm"](x, w, w), "native_batch_norm", "running_mean"),
    ],
)
def test_a_constant_may_not_ask_for_a_gradient(call, function, argument) -> None:
    with pytest.raises(AutogradError, match=f"'{function}' is not differentiable with respect to argument '{argument}'"):
        call(leaf(X), leaf([1.0, 2.0, 3.0]))
