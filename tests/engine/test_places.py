"""Tensors that no variable holds by itself are found where a program keeps them."""

from __future__ import annotations

import numpy as np

from gradcli.engine.layers import Linear
from gradcli.engine.places import names_of, places
from gradcli.engine.tensor import Tensor


def test_places_are_what_a_program_writes_in_order_and_without_end() -> None:
    a, b = Tensor(np.zeros(2)), Tensor(np.ones(2))
    layer = Linear(2, 1)
    held: list = [a, {"w": (b, 3.0)}, [layer]]
    held.append(held)
    assert [place for place, _ in places("p", held)] == ["p[0]", "p[1]['w'][0]", "p[2][0].weight", "p[2][0].bias"]


def test_a_variable_names_a_tensor_before_any_place() -> None:
    a, b = Tensor(np.zeros(2)), Tensor(np.ones(2))
    assert names_of({"params": [a, b], "a": a, "alias": a}) == {id(a): "a", id(b): "params[1]"}
