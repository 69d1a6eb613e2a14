"""Arithmetic as users spell it: numbers, alpha, powers, and the nodes that PyTorch makes."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine import Tensor, grad
from gradcli.errors import AutogradError
from gradcli.ops.catalogue import FUNCTIONS as F

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # a run silences numpy's


def leaf(*values: float) -> Tensor:
    return Tensor(np.array(values), True)


A, B = (0.5, -1.5), (2.0, 0.25)


@pytest.mark.parametrize(
    ("name", "options", "value", "by_x", "by_other"),
    [
        ("add", {"alpha": 0.5}, [1.5, -1.375], [1, 1], [0.5, 0.5]),
        ("sub", {"alpha": 2}, [-3.5, -2.0], [1, 1], [-2, -2]),
        ("rsub", {}, [1.5, 1.75], [-1, -1], [1, 1]),
        ("rsub", {"alpha": 3}, [0.5, 4.75], [-3, -3], [1, 1]),
        ("multiply", {}, [1.0, -0.375], [2, 0.25], [0.5, -1.5]),
        ("divide", {}, [0.25, -6.0], [0.5, 4], [-0.125, 24]),
        ("div", {"rounding_mode": "floor"}, [0, -6], [0, 0], [0, 0]),
        ("div", {"rounding_mode": "trunc"}, [0, -6], [0, 0], [0, 0]),
    ],
)
def test_forms(name, options, value, by_x, by_other) -> None:
    x, other = leaf(*A), leaf(*B)
    out = F[name](x, other, **options)
    assert out.value.tolist() == value
    gx, go = grad(out, [x, other], Tensor(np.ones(2)))
    assert gx.value.tolist() == by_x
    assert go.value.tolist() == by_other


@pytest.mark.parametrize(
    ("call", "node"),
    [
        (lambda x: F["add"](x, 2, alpha=3), "AddBackward0"),
        (lambda x: F["sub"](x, x, alpha=3), "SubBackward0"),
        (lambda x: F["rsub"](x, 2), "RsubBackward1"),
        (lambda x: F["rsub"](x, x), "RsubBackward0"),
        (lambda x: F["pow"](x, 2), "PowBackward0"),
        (lambda x: F["square"](x), "PowBackward0"),
        (lambda x: F["float_power"](x, 2), "PowBackward0"),
        (lambda x: F["pow"](x, x), "PowBackward1"),
        (lambda x: F["pow"](2.0, x), "PowBackward2"),
        (lambda x: F["div"](x, x, rounding_mode="floor"), "DivBackward2"),
        (lambda x: F["floor_divide"](x, x), "NotImplemented"),
        (lambda x: F["remainder"](x, 0.4), "RemainderBackward0"),
        (lambda x: F["remainder"](x, x), "RemainderBackward1"),
        (lambda x: F["remainder"](5.0, x), "NotImplemented"),
    ],
)
def test_nodes(call, node) -> None:
    assert call(leaf(0.5, 1.5)).grad_fn.name == node


def test_pow_at_zero_base() -> None:
    """The derivative in the exponent is 0 there, not 0 * -inf."""
    x, y = leaf(0.0, 0.0), leaf(2.0, 0.0)
    gx, gy = grad(F["pow"](x, y), [x, y], Tensor(np.ones(2)))
    assert gx.value.tolist() == [0, 0]
    assert gy.value.tolist() == [0, 0]


def test_pow_of_a_number_by_exponent_zero_is_flat() -> None:
    x = leaf(0.0, 3.0)
    assert grad(F["pow"](x, 0), [x], Tensor(np.ones(2)))[0].value.tolist() == [0, 0]


def test_pow_of_whole_numbers() -> None:
    x = Tensor(np.array([2, 3]))
    assert F["pow"](x, 2).dtype == np.int64
    assert F["pow"](x, 2.0).dtype == np.float64
    with pytest.raises(RuntimeError, match="Integers to negative integer powers are not allowed"):
        F["pow"](x, -1)


def test_float_power_is_float64() -> None:
    x = Tensor(np.float32([2.0]), True)
    out = F["float_power"](x, 2)
    assert out.dtype == np.float64
    assert grad(out, [x], Tensor(np.ones(1)))[0].dtype == np.float32


def test_rounding_mode_is_checked() -> None:
    with pytest.raises(RuntimeError, match="rounding_mode to be one of"):
        F["div"](leaf(1.0), leaf(2.0), rounding_mode="up")


def test_floor_divide_has_no_derivative() -> None:
    x = leaf(1.5)
    with pytest.raises(AutogradError, match="derivative for aten::floor_divide is not implemented"):
        grad(F["floor_divide"](x, 1.0), [x], Tensor(np.ones(1)))
