"""The part of a trace between inputs and an output, and its replay."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.references.path import downstream, reachable


def forward(record: Any, args: list[Any]) -> Any:
    return record.op.replay(args, record.decision)


def test_only_what_lies_between_is_replayed(trace) -> None:
    t = trace("x = tensor(2., requires_grad=True)\nw = tensor(3., requires_grad=True)\na = exp(w)\nb = sin(x)\nunused = cos(x)\ny = a*b")
    path = t.path("y", "x")
    assert [r.op.name for r in path.steps] == ["sin", "mul"]
    assert path.reached


def test_an_output_that_does_not_depend_on_the_input_is_not_reached(trace) -> None:
    t = trace("x = tensor(2., requires_grad=True)\nw = tensor(3., requires_grad=True)\ny = w*w\nz = x*x")
    assert not t.path("y", "x").reached


def test_a_replay_at_the_same_values_gives_the_same_output(trace) -> None:
    t = trace(
        "x = tensor([[1., -2.], [3., 0.5]], requires_grad=True)\nh = relu(x @ x.T)\nv, i = h.max(dim=1)\n"
        "a, b = split(h, 1)\ny = (v * a.reshape(2)).sum() + b.prod()"
    )
    path = t.path("y", "x")
    assert path.replay([[t.value("x")]], forward) == t.value("y")


def test_a_replay_moves_with_its_input_and_keeps_decisions(trace) -> None:
    t = trace("x = tensor([1., -2.], requires_grad=True)\ny = relu(x)")
    path = t.path("y", "x")
    np.testing.assert_array_equal(path.replay([[np.array([-5.0, 7.0])]], forward), [-5.0, 0.0])


def test_a_leaf_updated_between_two_uses_has_a_record_for_each_value(trace) -> None:
    t = trace("x = tensor(2., requires_grad=True)\na = x*x\nwith no_grad():\n    x += 1\nb = x*x\ny = b - 0*a.detach() + a")
    path = t.path("y", "x")
    assert [float(r.value) for r in path.inputs[0]] == [2.0, 3.0]
    assert path.replay([[np.float64(2.0), np.float64(3.0)]], forward) == 13.0


def test_an_output_that_is_the_input(trace) -> None:
    t = trace("x = tensor([1., 2.], requires_grad=True)\ny = x*2")
    path = t.path("x", "x")
    assert path.reached
    assert path.steps == []
    np.testing.assert_array_equal(path.replay([[np.array([5.0, 6.0])]], forward), [5.0, 6.0])


def test_an_inner_tensor_cuts_the_path(trace) -> None:
    t = trace("x = tensor(2., requires_grad=True)\nh = x*x\ny = exp(h)")
    path = t.path("y", "h")
    assert [r.op.name for r in path.steps] == ["exp"]


def test_reachable_and_downstream_are_in_order_of_creation(trace) -> None:
    t = trace("x = tensor(2., requires_grad=True)\na = x*x\nb = sin(a)\ny = a*b")
    every = reachable(t.record("y"), set())
    assert [r.index for r in every] == sorted(r.index for r in every)
    assert [r.op.name for r in downstream(every, {id(every[0])})] == ["mul", "sin", "mul"]


def test_constants_are_handed_over_as_the_storage_wants_them(trace) -> None:
    t = trace("x = tensor(2., requires_grad=True)\nw = tensor(3., requires_grad=True)\ny = x*(w*w)")
    seen: list[Any] = []

    def keep(value: Any) -> Any:
        seen.append(float(value))
        return value

    t.path("y", "x").replay([[np.float64(2.0)]], forward, keep)
    assert seen == [9.0]
