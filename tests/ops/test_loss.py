"""Losses against their definitions, written out with numpy, and PyTorch's conventions and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradcli.engine.backward import grad
from gradcli.engine.tensor import Tensor, tensor
from gradcli.ops.catalogue import FUNCTIONS

X = np.array([[0.5, -1.2, 2.0, 0.1], [1.5, 0.3, -0.7, -0.2], [-0.4, 0.8, 0.9, 1.3]])
Y = np.array([[0.1, -0.4, 1.1, 1.9], [1.1, 0.2, -0.2, 0.6], [0.7, -0.9, 0.3, 0.4]])
LABELS = np.array([2, 0, 1])
WEIGHT = np.array([0.5, 1.5, 2.0, 0.7])
LOGS = X - np.log(np.exp(X).sum(1, keepdims=True))
PROBABILITIES = np.exp(LOGS)
PICKED = LOGS[np.arange(3), LABELS]
CLASS_WEIGHT = WEIGHT[LABELS]
D = X - Y


def value(name: str, *args: Any, **kwargs: Any) -> np.ndarray:
    def wrap(a: Any) -> Any:
        return tensor(a) if isinstance(a, np.ndarray) else a

    result: Tensor = FUNCTIONS[name](*map(wrap, args), **{k: wrap(v) for k, v in kwargs.items()})
    return np.asarray(result.value)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "elements"),
    [
        ("mse_loss", (X, Y), {}, D**2),
        ("l1_loss", (X, Y), {}, abs(D)),
        ("smooth_l1_loss", (X, Y), {"beta": 0.6}, np.where(abs(D) < 0.6, D**2 / 1.2, abs(D) - 0.3)),
        ("huber_loss", (X, Y), {"delta": 0.6}, np.where(abs(D) <= 0.6, D**2 / 2, 0.6 * (abs(D) - 0.3))),
        ("cross_entropy", (X, PROBABILITIES[::-1].copy()), {}, -(PROBABILITIES[::-1] * LOGS).sum(1)),
        ("kl_div", (X, PROBABILITIES), {}, PROBABILITIES * (LOGS - X)),
        ("kl_div", (X, Y), {"log_target": True}, np.exp(Y) * (Y - X)),
        ("binary_cross_entropy", (PROBABILITIES, PROBABILITIES[::-1].copy()), {},
         -PROBABILITIES[::-1] * LOGS - (1 - PROBABILITIES[::-1]) * np.log(1 - PROBABILITIES)),
        ("binary_cross_entropy_with_logits", (X, PROBABILITIES), {"pos_weight": WEIGHT},
         PROBABILITIES * WEIGHT * np.log1p(np.exp(-X)) + (1 - PROBABILITIES) * np.log1p(np.exp(X))),
        ("soft_margin_loss", (X, np.sign(Y)), {}, np.log1p(np.exp(-np.sign(Y) * X))),
        ("poisson_nll_loss", (X, np.exp(Y)), {}, np.exp(X) - np.exp(Y) * X),
        ("gaussian_nll_loss", (X, Y, np.exp(Y)), {}, (Y + D**2 / np.exp(Y)) / 2),
        ("hinge_embedding_loss", (X, np.sign(Y)), {"margin": 0.3}, np.where(Y > 0, X, np.maximum(0, 0.3 - X))),
        ("margin_ranking_loss", (X, Y, np.sign(Y)), {"margin": 0.3}, np.maximum(0, -np.sign(Y) * D + 0.3)),
        ("triplet_margin_loss", (X, Y, Y[::-1].copy()), {"eps": 0.0},
         np.maximum(0, np.linalg.norm(D, axis=1) - np.linalg.norm(X - Y[::-1], axis=1) + 1)),
    ],
)  # fmt: skip
@pytest.mark.parametrize(("reduction", "fold"), [("none", lambda e: e), ("mean", np.mean), ("sum", np.sum)])
@pytest.mark.filterwarnings("ignore:reduction. .mean. divides")
def test_elementwise_losses(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], elements: np.ndarray, reduction: str, fold: Callable[[Any], Any]
) -> None:
    np.testing.assert_allclose(value(name, *args, **kwargs, reduction=reduction), fold(elements), rtol=1e-13)


@pytest.mark.parametrize(
    ("kwargs", "expected"),
    [
        ({}, -PICKED.mean()),
        ({"reduction": "sum"}, -PICKED.sum()),
        ({"weight": WEIGHT}, -(CLASS_WEIGHT * PICKED).sum() / CLASS_WEIGHT.sum()),
        ({"ignore_index": 0}, -PICKED[[0, 2]].mean()),
        ({"label_smoothing": 0.1}, -(0.9 * PICKED + 0.1 * LOGS.mean(1)).mean()),
        ({"label_smoothing": 0.1, "reduction": "none"}, -(0.9 * PICKED + 0.1 * LOGS.mean(1))),
        ({"label_smoothing": 0.1, "weight": WEIGHT},
         -(0.9 * CLASS_WEIGHT * PICKED + 0.1 * (WEIGHT * LOGS).mean(1)).sum() / CLASS_WEIGHT.sum()),
    ],
)  # fmt: skip
def test_cross_entropy_of_class_indices(kwargs: dict[str, Any], expected: Any) -> None:
    np.testing.assert_allclose(value("cross_entropy", X, LABELS, **kwargs), expected, rtol=1e-13)


def test_cross_entropy_over_places() -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 2))
    labels = np.array([[2, 0], [1, 1]])
    logs = x - np.log(np.exp(x).sum(1, keepdims=True))
    expected = -np.take_along_axis(logs, labels[:, None], 1)[:, 0]
    np.testing.assert_allclose(value("cross_entropy", x, labels, reduction="none"), expected, rtol=1e-13)
    leaf = tensor(x, requires_grad=True)
    node = FUNCTIONS["cross_entropy"](leaf, tensor(labels)).grad_fn
    assert (node.name, node.next_functions[0][0].name) == ("NllLoss2DBackward0", "LogSoftmaxBackward0")


def test_large_logits_keep_their_digits() -> None:
    x = tensor([40.0, -700.0, 800.0], requires_grad=True)
    with np.errstate(all="ignore"):
        loss = FUNCTIONS["binary_cross_entropy_with_logits"](x, tensor([1.0, 0.0, 1.0]), reduction="sum")
        g = grad(loss, x)[0].value  # type: ignore[union-attr]
    np.testing.assert_allclose(g, [-np.exp(-40.0), np.exp(-700.0), 0.0], rtol=1e-13)


def test_probabilities_of_zero_and_one() -> None:
    p = tensor([0.0, 1.0, 0.25], requires_grad=True)
    with np.errstate(all="ignore"):
        loss = FUNCTIONS["binary_cross_entropy"](p, tensor([0.0, 1.0, 1.0]), reduction="sum")
        np.testing.assert_allclose(grad(loss, p)[0].value, [0.0, 0.0, -4.0])  # type: ignore[union-attr]
    assert loss.value == pytest.approx(np.log(4.0))


def test_multi_margin() -> None:
    gaps = np.maximum(0, 1 - X[np.arange(3), LABELS][:, None] + X)
    gaps[np.arange(3), LABELS] = 0
    np.testing.assert_allclose(value("multi_margin_loss", X, LABELS), gaps.sum(1).mean() / 4)
    np.testing.assert_allclose(value("multi_margin_loss", X, LABELS, p=2, weight=WEIGHT), ((gaps**2).sum(1) * CLASS_WEIGHT).mean() / 4)


def test_multilabel_margin() -> None:
    x, labels = np.array([0.1, 0.2, 0.4, 0.8]), np.array([3, 0, -1, 1])
    expected = sum(max(0, 1 - (x[j] - x[i])) for j in (3, 0) for i in (1, 2)) / 4
    assert value("multilabel_margin_loss", x, labels) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "error", "message"),
    [
        ("cross_entropy", (X, np.array([2, 0])), {}, ValueError, "Expected input batch_size (3) to match target batch_size (2)."),
        ("cross_entropy", (X, np.array([2, 0, 4])), {}, IndexError, "Target 4 is out of bounds."),
        ("cross_entropy", (X, np.array([2.0, 0.0, 1.0])), {}, RuntimeError, "expected target dtype to be Long or Byte, but got Double"),
        ("mse_loss", (X, Y), {"reduction": "avg"}, ValueError, "avg is not a valid value for reduction"),
        ("mse_loss", (X, Y[:, :3].copy()), {}, RuntimeError,
         "The size of tensor a (4) must match the size of tensor b (3) at non-singleton dimension 1"),
        ("binary_cross_entropy", (X, Y), {}, RuntimeError, "all elements of input should be between 0 and 1"),
        ("binary_cross_entropy_with_logits", (X, Y[0]), {}, ValueError,
         "Target size (torch.Size([4])) must be the same as input size (torch.Size([3, 4]))"),
        ("huber_loss", (X, Y), {"delta": 0.0}, ValueError, "huber_loss does not support non-positive values for delta."),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Using a target size")
def test_calls_that_do_not_fit(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        value(name, *args, **kwargs)
    assert str(caught.value) == message


def test_distances_have_no_slope_at_coincident_points() -> None:
    x = tensor([[1.0, 2.0], [4.0, 6.0]], requires_grad=True)
    for p in (1.0, 2.0, 3.0, np.inf):
        out = FUNCTIONS["cdist"](x, tensor([[1.0, 2.0]]), p=p)
        g = grad(FUNCTIONS["sum"](out), x)[0].value  # type: ignore[union-attr]
        np.testing.assert_array_equal(g[0], [0.0, 0.0])
        np.testing.assert_allclose(out.value[1], np.linalg.norm([3.0, 4.0], p))
