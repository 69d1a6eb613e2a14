"""Which of equal elements is selected: what PyTorch 2.13 selects, element for element."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradcli.engine import Tensor
from gradcli.ops import selection
from gradcli.ops.catalogue import FUNCTIONS as F

nan = math.nan


@pytest.mark.parametrize(
    ("row", "kth", "largest", "smallest"),
    [
        ([0.0, 0.0, 0.0], [1, 0, 2], [0, 1], [0, 1]),
        ([3.0, 1.0, 3.0, 0.0, 5.0], [3, 1, 2, 0, 4], [4, 2, 0], [3, 1]),
        ([2.0, 2.0, 1.0, 2.0, 0.0, 1.0], [4, 2, 5, 1, 3, 0], [1, 3, 0, 5], [4, 2]),
        ([1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0], [5, 3, 7, 1, 2, 4, 6, 0], [2, 4, 6, 0, 7], [1, 7]),
        ([nan, 1.0, nan, 1.0], [1, 3, 2, 0], [0, 2, 3], [1, 3]),
    ],
)
def test_ties(row, kth, largest, smallest) -> None:
    x = Tensor(np.array([row, row]))
    assert [F["kthvalue"](x, k)[1].value.tolist() for k in range(1, len(row) + 1)] == [[k, k] for k in kth]
    assert F["topk"](x, len(largest))[1].value.tolist() == [largest] * 2
    assert F["topk"](x, 2, largest=False)[1].value.tolist() == [smallest] * 2


def test_long_rows_take_the_other_algorithms() -> None:
    x = Tensor(np.arange(200.0) * 7 % 5)
    assert F["topk"](x, 2)[1].value.tolist() == [7, 2]
    assert F["topk"](x, 40)[1].value.tolist() == [
        192, 172, 87, 177, 12, 117, 2, 197, 82, 7, 132, 122, 77, 22, 187, 17, 182, 127, 102, 97,
        107, 147, 52, 57, 142, 152, 47, 92, 157, 42, 27, 62, 162, 37, 137, 112, 167, 32, 67, 72,
    ]  # fmt: skip
    assert F["kthvalue"](x, 77)[1].value == 43


@pytest.mark.parametrize("count", [1, 2, 3, 4, 17, 60, 300])
def test_selections_are_right_whatever_the_order(count: int) -> None:
    rng = np.random.default_rng(count)
    for values in (rng.permutation(count), rng.integers(0, 4, count), np.arange(count), -np.arange(count)):
        listed = values.tolist()

        def less(i: int, j: int, listed: list[int] = listed) -> bool:
            return listed[i] < listed[j]

        for k in {1, count // 2 + 1, count}:
            assert listed[selection.kth(count, k - 1, less)] == sorted(listed)[k - 1]
            places = selection.first(count, k, less)
            assert len(set(places)) == k
            assert [listed[p] for p in places] == sorted(listed)[:k]


def test_a_partition_that_gets_nowhere_ends_in_the_heap() -> None:
    at, values = list(range(200)), np.random.default_rng(0).integers(0, 50, 200).tolist()
    selection.partly_sort(at, 0, 200, 0, lambda i, j: values[i] < values[j])
    assert [values[p] for p in at] == sorted(values)


def test_nothing_is_selected_of_nothing() -> None:
    empty = Tensor(np.zeros((0, 3)), True)
    assert F["topk"](Tensor(np.zeros(3)), 0)[0].shape == F["topk"](Tensor(np.zeros(())), 0)[0].shape == (0,)
    assert F["mode"](empty)[0].shape == (0,)
    assert np.isnan(F["median"](empty).value)
    with pytest.raises(IndexError, match="non-zero size"):
        F["kthvalue"](empty, 1, 0)
    with pytest.raises(RuntimeError, match="out of range"):
        F["topk"](Tensor(np.zeros(())), 2)
