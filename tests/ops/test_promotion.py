"""The dtype of a result, as PyTorch has it."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine import Tensor, grad
from gradcli.errors import DtypeError, KernelError, ShapeError
from gradcli.ops.catalogue import FUNCTIONS as F
from gradcli.ops.elementwise import Elementwise
from tests.ops import test_catalogue as catalogue

FLOAT32, FLOAT64, INT64, COMPLEX64, COMPLEX128 = map(np.dtype, ("float32", "float64", "int64", "complex64", "complex128"))


@pytest.mark.parametrize("name", ["add", "mul", "maximum", "atan2", "xlogy", "fmod", "pow"])
@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([FLOAT32, 1], [INT64, 1], FLOAT32),
        ([FLOAT32, 1], [FLOAT64, 0], FLOAT32),
        ([FLOAT32, 1], [FLOAT64, 1], FLOAT64),
        ([INT64, 1], [FLOAT32, 0], FLOAT32),
        ([FLOAT32, 0], [FLOAT64, 0], FLOAT64),
        ([INT64, 0], [FLOAT32, 1], FLOAT32),
    ],
)
def test_floats_beat_integers_and_arrays_beat_numbers(name: str, x: list, y: list, expected: np.dtype) -> None:
    made = [Tensor(np.full((2,) * rank, 2, dtype)[()]) for dtype, rank in (x, y)]
    assert F[name](*made).dtype == F[name](*made[::-1]).dtype == expected


def test_complex_numbers_take_the_precision_of_arrays() -> None:
    real, number = Tensor(np.ones(2, np.float32)), Tensor(np.complex128(1j))
    assert F["mul"](real, number).dtype == COMPLEX64
    assert F["mul"](Tensor(np.ones(2)), Tensor(np.ones(2, np.complex64))).dtype == COMPLEX128


def test_what_is_computed_in_several_steps_is_promoted_before_the_first() -> None:
    x, y = Tensor(np.array([3.0])), Tensor(np.array([0.1], np.float32))
    assert F["xlogy"](x, y).value[0] == 3 * np.log(np.float64(np.float32(0.1)))


@pytest.mark.parametrize("name", ["add", "mul", "maximum", "atan2", "xlogy", "pow"])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_gradients_have_the_dtype_of_what_they_belong_to(name: str, shape: tuple[int, ...]) -> None:
    x, y = Tensor(np.full(shape, 0.7, np.float32)[()], True), Tensor(np.full((2, 3), 0.3), True)
    found = grad(F[name](x, y), [x, y], Tensor(np.ones((2, 3))))
    assert [g.dtype for g in found] == [FLOAT32, FLOAT64]


def test_arrays_that_rules_are_written_with_adapt_to_tensors() -> None:
    """A float32 program stays one, also where a backward pass is recorded."""
    for name in ("leaky_relu", "elu", "gelu", "softplus", "sinc", "logit", "erfinv", "lgamma"):
        x = Tensor(np.array([0.3, 0.6], np.float32), True)
        first = grad(F[name](x), [x], Tensor(np.ones(2, np.float32)), create_graph=True)
        assert [first[0].dtype, grad(first, [x], [Tensor(np.ones(2, np.float32))])[0].dtype] == [FLOAT32, FLOAT32]


@pytest.mark.parametrize("options", [{"is_causal": True}, {"attn_mask": Tensor(np.tri(2, dtype=bool))}])
def test_masked_attention_keeps_float32(options) -> None:
    q = Tensor(np.array([[0.5, -1.0], [2.0, 0.3]], np.float32), True)
    assert F["scaled_dot_product_attention"](q, q, q, **options).dtype == FLOAT32


SMALL = [np.dtype(name) for name in ("bool", "int8", "uint8", "int16", "int64")]
"""Of what is not floating; NumPy's functions make float16 and float32 of the smaller ones."""


@catalogue.each(c for c in catalogue.CASES if isinstance(c.op, Elementwise) and not any(map(np.iscomplexobj, c.args)))
def test_floats_made_of_integers_are_of_the_default_dtype(case: catalogue.Case) -> None:
    for dtype in SMALL:
        args = [Tensor(np.asarray(np.abs(a) * 2).astype(dtype)) if np.asarray(a).dtype.kind == "f" else a for a in case.args]
        if not any(isinstance(a, Tensor) for a in args):
            continue
        try:
            with np.errstate(all="ignore"):
                out = case.op(*args)
        except ShapeError:  # mvlgamma, of values that it has none for
            continue
        except (DtypeError, KernelError):
            assert dtype.kind in case.op.refused or dtype.kind == "b", dtype
            continue
        assert out.dtype.kind in "biu" or out.dtype in (FLOAT64, COMPLEX128), (dtype, out.dtype)
        assert out.dtype == FLOAT64 or not case.op.floating, dtype


@pytest.mark.parametrize(
    ("name", "dtype", "words"),
    [
        ("softmax", "int64", "\"softmax_lastdim_kernel_impl\" not implemented for 'Long'"),
        ("gelu", "int32", "\"GeluKernelImpl\" not implemented for 'Int'"),
        ("abs", "bool", "\"abs_cpu\" not implemented for 'Bool'"),
        ("linalg.det", "int64", "linalg.det: Expected a floating point or complex tensor as input. Got Long"),
        ("neg", "bool", "Negation, the `-` operator, on a bool tensor is not supported. Use the `~` or `logical_not()` operator instead."),
    ],
)
def test_what_pytorch_refuses_is_refused_in_its_words(name: str, dtype: str, words: str) -> None:
    with pytest.raises((DtypeError, KernelError)) as caught:
        F[name](Tensor(np.ones((2, 2), dtype)), **{"dim": 1} if name == "softmax" else {})
    assert str(caught.value) == words


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("round", (), INT64),
        ("hardtanh", (), INT64),
        ("clamp", (np.array([0, 1]),), INT64),
        ("sign", (), INT64),
        ("heaviside", (np.array([2, 2]),), INT64),
    ],
)
def test_integers_stay_integers_where_pytorch_keeps_them(name: str, args: tuple, expected: np.dtype) -> None:
    assert F[name](Tensor(np.array([-3, 4])), *map(Tensor, args)).dtype == expected
