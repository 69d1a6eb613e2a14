"""Texts of tensors by their rules."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from gradcli.engine.printing import Options, Printing, set_printoptions
from gradcli.engine.tensor import Tensor, tensor

FLOATS = st.floats(-1e300, 1e300, allow_subnormal=False) | st.sampled_from([float("nan"), float("inf"), -0.0])
ORDINARY = st.floats(0.5, 1e6) | st.floats(-1e6, -0.5)


@pytest.fixture(autouse=True)
def _default_options() -> None:
    Printing.options = Options()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (3.0, "tensor(3.)"),
        ([1.0, 2.5, 100.0], "tensor([  1.0000,   2.5000, 100.0000])"),
        ([0.000999, 1.0], "tensor([9.9900e-04, 1.0000e+00])"),
        ([1.0, float("-inf"), float("nan")], "tensor([1., -inf, nan])"),
        ([[True, False]], "tensor([[ True, False]])"),
        ([1 + 2j, -0.5j], "tensor([1.+2.0000j, -0.-0.5000j])"),
    ],
)
def test_formats(data: object, text: str) -> None:
    assert repr(tensor(data)) == text


def test_empty_tensors_tell_their_size_and_dtype() -> None:
    assert repr(Tensor(np.zeros((2, 0)))) == "tensor([], size=(2, 0))"
    assert repr(Tensor(np.zeros(0, np.int64))) == "tensor([], dtype=torch.int64)"


def test_options_stay_until_they_are_set_again() -> None:
    set_printoptions(precision=2, sci_mode=True)
    assert repr(tensor([1.0, 0.5])) == "tensor([1.00e+00, 5.00e-01])"
    set_printoptions(profile="default")
    assert repr(tensor([1.0, 0.5])) == "tensor([1.0000, 0.5000])"


@given(arrays.arrays(np.float64, arrays.array_shapes(min_dims=0, max_dims=3, max_side=5), elements=FLOATS))
def test_every_entry_is_there_to_the_digits_shown(values: np.ndarray) -> None:
    shown = [float(word) for word in re.findall(r"nan|-?inf|-?\d[\d.]*(?:e[-+]\d+)?", repr(Tensor(values))[7:])]
    flat = values.reshape(-1)
    assert len(shown) == flat.size
    np.testing.assert_allclose(shown, flat, rtol=6e-5, atol=6e-5)


@given(arrays.arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 40)), elements=ORDINARY))
def test_lines_keep_within_80_columns_and_columns_align(values: np.ndarray) -> None:
    lines = repr(Tensor(values)).splitlines()
    assert all(len(line) <= 82 for line in lines)
    assert len({len(line) for line in lines[1:-1] if line.endswith("],")}) <= 1
