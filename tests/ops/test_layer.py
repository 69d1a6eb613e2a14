"""Layers as functions: values by definition, shapes, and PyTorch's errors."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from gradcli.engine.backward import grad
from gradcli.engine.tensor import Tensor, tensor
from gradcli.ops.catalogue import FUNCTIONS

RNG = np.random.default_rng(0)


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    def wrap(a: Any) -> Any:
        return tensor(a) if isinstance(a, np.ndarray) else a

    return FUNCTIONS[name](*map(wrap, args), **{k: wrap(v) for k, v in kwargs.items()})


def value(name: str, *args: Any, **kwargs: Any) -> np.ndarray:
    result: Tensor = call(name, *args, **kwargs)
    return np.asarray(result.value)


def convolved(x: np.ndarray, w: np.ndarray, stride: int, padding: int, dilation: int, groups: int) -> np.ndarray:
    """The sum that defines a convolution over two axes, term by term."""
    x = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    height, width = ((n - dilation * (k - 1) - 1) // stride + 1 for n, k in zip(x.shape[2:], w.shape[2:], strict=True))
    out = np.zeros((x.shape[0], w.shape[0], height, width))
    share, rows = w.shape[1], w.shape[0] // groups
    for n, o, i, j in np.ndindex(*out.shape):
        for c, a, b in np.ndindex(*w.shape[1:]):
            out[n, o, i, j] += w[o, c, a, b] * x[n, o // rows * share + c, i * stride + a * dilation, j * stride + b * dilation]
    return out


@pytest.mark.parametrize(
    ("stride", "padding", "dilation", "groups"), [(1, 0, 1, 1), (2, 1, 1, 1), (1, 2, 2, 1), (1, 0, 1, 2), (3, 1, 2, 2)]
)
def test_conv2d_is_its_sum(stride: int, padding: int, dilation: int, groups: int) -> None:
    x, w, b = RNG.normal(size=(2, 4, 6, 7)), RNG.normal(size=(4, 4 // groups, 3, 2)), RNG.normal(size=4)
    out = value("conv2d", x, w, b, stride=stride, padding=padding, dilation=dilation, groups=groups)
    np.testing.assert_allclose(out, convolved(x, w, stride, padding, dilation, groups) + b[:, None, None], atol=1e-13)


def test_padding_by_name_and_a_single_example() -> None:
    x, w = RNG.normal(size=(2, 5)), RNG.normal(size=(3, 2, 2))
    assert value("conv1d", x, w, padding="same").shape == (3, 5)
    np.testing.assert_allclose(value("conv1d", x, w, padding="valid"), value("conv1d", x[None], w)[0])


@pytest.mark.parametrize(("stride", "padding", "more"), [(1, 0, 0), (2, 1, 1), (3, 0, 2)])
def test_transposed_convolution_is_the_adjoint(stride: int, padding: int, more: int) -> None:
    w, y = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(1, 2, 5))
    out = value("conv_transpose1d", y, w, stride=stride, padding=padding, output_padding=more)
    x = RNG.normal(size=out.shape)
    assert np.sum(out * x) == pytest.approx(np.sum(y * value("conv1d", x, w, stride=stride, padding=padding)))


def windows(n: int, kernel: int, stride: int, padding: int) -> list[list[int]]:
    return [[k for k in range(i, i + kernel) if 0 <= k < n] for i in range(-padding, n + padding - kernel + 1, stride)]


@pytest.mark.parametrize(("kernel", "stride", "padding"), [(2, 2, 0), (3, 1, 1), (3, 2, 1)])
def test_pooling(kernel: int, stride: int, padding: int) -> None:
    x = RNG.normal(size=(1, 2, 6, 7))
    rows, columns = windows(6, kernel, stride, padding), windows(7, kernel, stride, padding)
    boxes = [[x[..., r[0] : r[-1] + 1, c[0] : c[-1] + 1] for c in columns] for r in rows]
    largest = np.stack([np.stack([b.max((-2, -1)) for b in line], -1) for line in boxes], -2)
    means = np.stack([np.stack([b.mean((-2, -1)) for b in line], -1) for line in boxes], -2)
    np.testing.assert_allclose(value("max_pool2d", x, kernel, stride, padding), largest)
    np.testing.assert_allclose(value("avg_pool2d", x, kernel, stride, padding, count_include_pad=False), means)


def test_the_first_of_those_that_tie_gets_the_gradient() -> None:
    x = tensor([[[1.0, 1.0, 0.0, 1.0]]], requires_grad=True)
    out = FUNCTIONS["max_pool1d"](x, 2)
    np.testing.assert_array_equal(grad(FUNCTIONS["sum"](out), x)[0].value, [[[1.0, 0.0, 0.0, 1.0]]])  # type: ignore[union-attr]
    _, where = FUNCTIONS["max_pool1d"](x, 2, return_indices=True)
    np.testing.assert_array_equal(where.value, [[[0, 3]]])


def test_a_window_without_infinity_stays_finite() -> None:
    out = value("avg_pool1d", np.array([[[1.0, 3.0, np.inf, 2.0]]]), 2)
    np.testing.assert_array_equal(out, [[[2.0, np.inf]]])


def test_adaptive_pooling_shares_out_the_axis() -> None:
    x = np.arange(5.0)[None, None]
    np.testing.assert_allclose(value("adaptive_avg_pool1d", x, 3), [[[0.5, 2.0, 3.5]]])
    np.testing.assert_allclose(value("adaptive_max_pool1d", x, 3), [[[1.0, 3.0, 4.0]]])


def standard(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def test_normalisations() -> None:
    x, w, b = RNG.normal(size=(3, 4, 5)), RNG.normal(size=4), RNG.normal(size=4)
    lined = (w[:, None], b[:, None])
    last = RNG.normal(size=5)
    np.testing.assert_allclose(value("layer_norm", x, (5,), last), standard(x, (2,)) * last)
    np.testing.assert_allclose(value("layer_norm", x, [4, 5]), standard(x, (1, 2)))
    np.testing.assert_allclose(value("batch_norm", x, None, None, w, b, training=True), standard(x, (0, 2)) * lined[0] + lined[1])
    np.testing.assert_allclose(value("instance_norm", x, weight=w, bias=b), standard(x, (2,)) * lined[0] + lined[1])
    halves = standard(x.reshape(3, 2, 10), (2,)).reshape(x.shape)
    np.testing.assert_allclose(value("group_norm", x, 2, w, b), halves * lined[0] + lined[1])
    np.testing.assert_allclose(value("rms_norm", x, (5,), last, eps=1e-6), x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * last)


def test_batch_norm_moves_and_uses_running_statistics() -> None:
    x = RNG.normal(size=(6, 2))
    mean, var = tensor(np.zeros(2)), tensor(np.ones(2))
    FUNCTIONS["batch_norm"](tensor(x), mean, var, training=True, momentum=0.25)
    np.testing.assert_allclose(mean.value, 0.25 * x.mean(0))
    np.testing.assert_allclose(var.value, 0.75 + 0.25 * x.var(0, ddof=1))
    fixed = value("batch_norm", x, np.array([1.0, 2.0]), np.array([4.0, 9.0]))
    np.testing.assert_allclose(fixed, (x - [1.0, 2.0]) / np.sqrt(np.array([4.0, 9.0]) + 1e-5))


def test_interpolation() -> None:
    x = np.array([[[0.0, 10.0, 20.0]]])
    np.testing.assert_allclose(value("interpolate", x, scale_factor=2), [[[0.0, 0.0, 10.0, 10.0, 20.0, 20.0]]])
    np.testing.assert_allclose(value("interpolate", x, size=5, mode="linear", align_corners=True), [[[0.0, 5.0, 10.0, 15.0, 20.0]]])
    np.testing.assert_allclose(value("interpolate", x, size=6, mode="linear"), [[[0.0, 2.5, 7.5, 12.5, 17.5, 20.0]]])
    square = RNG.normal(size=(1, 1, 3, 3))
    for mode in ("bilinear", "bicubic"):
        np.testing.assert_allclose(value("interpolate", square, size=(3, 3), mode=mode), square, atol=1e-15)


def test_shuffles() -> None:
    x = np.arange(16.0).reshape(1, 4, 2, 2)
    out = value("pixel_shuffle", x, 2)
    np.testing.assert_array_equal(out[0, 0, :2, :2], [[0.0, 4.0], [8.0, 12.0]])
    np.testing.assert_array_equal(value("pixel_unshuffle", out, 2), x)
    np.testing.assert_array_equal(value("channel_shuffle", x, 2)[0, :, 0, 0], [0.0, 8.0, 4.0, 12.0])


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal: bool) -> None:
    q, k, v = (RNG.normal(size=(2, 3, 4)) for _ in range(3))
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(4)
    keep = np.tri(3, dtype=bool) if causal else np.ones((3, 3), dtype=bool)
    weights = np.where(keep, np.exp(scores), 0.0)
    expected = weights / weights.sum(-1, keepdims=True) @ v
    np.testing.assert_allclose(value("scaled_dot_product_attention", q, k, v, is_causal=causal), expected)
    np.testing.assert_allclose(value("scaled_dot_product_attention", q, k, v, attn_mask=keep), expected)


@pytest.mark.parametrize(("mode", "fold"), [("sum", np.sum), ("mean", np.mean), ("max", np.max)])
def test_embedding_bag(mode: str, fold: Any) -> None:
    table = RNG.normal(size=(5, 3))
    bags = [[0, 2, 2], [4, 1, 0]]
    expected = np.stack([fold(table[bag], axis=0) for bag in bags])
    np.testing.assert_allclose(value("embedding_bag", np.array(bags), table, mode=mode), expected)
    flat = np.array(list(itertools.chain(*bags)))
    np.testing.assert_allclose(value("embedding_bag", flat, table, np.array([0, 3]), mode=mode), expected)


def test_dropout_keeps_the_mean_and_can_be_switched_off() -> None:
    x = tensor(np.ones(10_000), requires_grad=True)
    out = FUNCTIONS["dropout"](x, 0.25)
    assert set(np.unique(out.value)) == {0.0, 1 / 0.75}
    assert out.value.mean() == pytest.approx(1.0, abs=0.03)
    assert FUNCTIONS["dropout"](x, training=False) is x


@pytest.mark.parametrize(
    ("name", "shapes", "args", "message"),
    [
        ("conv1d", [(1, 1, 5), (1, 2, 3)], (),
         "Given groups=1, weight of size [1, 2, 3], expected input[1, 1, 5] to have 2 channels, but got 1 channels instead"),
        ("conv1d", [(1, 1, 2), (1, 1, 3)], (),
         "Calculated padded input size per channel: (2). Kernel size: (3). Kernel size can't be greater than actual input size"),
        ("conv2d", [(5,), (1, 1, 3, 3)], (), "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [5]"),
        ("layer_norm", [(2, 3)], ((2,),), "Given normalized_shape=[2], expected input with shape [*, 2], but got input of size[2, 3]"),
        ("group_norm", [(2, 3)], (2,),
         "Expected number of channels in input to be divisible by num_groups, but got input of shape [2, 3] and num_groups=2"),
    ],
)  # fmt: skip
def test_shapes_that_do_not_fit(name: str, shapes: list[tuple[int, ...]], args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        call(name, *(np.ones(shape) for shape in shapes), *args)
    assert str(caught.value) == message
