"""Where NaN and infinity come from."""

from __future__ import annotations

import pytest


def sources(found) -> list[tuple[int | None, str]]:
    return [(n.line, n.message) for t in found.targets for n in t.notes if n.kind == "nan-source"]


def test_born_in_backward_where_the_derivative_exists(check) -> None:
    found = check("x = tensor([4.0, 0.0], requires_grad=True)\ns = sqrt(x)\ny = where(x > 0, s, 0.0).sum()")
    assert found.targets[0].status == "nan"
    assert found.failing
    assert found.targets[0].inputs[0].failing.tolist() == [False, True]
    ((line, message),) = sources(found)
    assert line == 2
    assert "SqrtBackward0" in message
    assert "where(mask, x, 1)" in message


def test_a_derivative_that_is_infinite_is_only_reported(check) -> None:
    found = check("x = tensor([0.0, 4.0], requires_grad=True)\ny = sqrt(x).sum()")
    assert (found.targets[0].status, found.failing) == ("nan", False)


def test_born_in_forward(check) -> None:
    found = check("x = tensor([-1.0, 4.0], requires_grad=True)\nh = log(x)\ny = (h * h).sum()")
    line, message = sources(found)[0]
    assert line == 2
    assert message == "forward: log of -1 gives NaN"


def test_a_leaf_that_is_not_finite(check) -> None:
    found = check("x = tensor([float('nan'), 4.0], requires_grad=True)\ny = (x * x).sum()")
    assert "the leaf itself" in sources(found)[0][1]


def test_an_overflow(check) -> None:
    found = check("x = tensor(800.0, requires_grad=True)\ny = log(1 + exp(x))")
    assert found.failing
    assert sources(found)[0] == (2, "forward: exp of 800 gives infinity")


@pytest.mark.parametrize(
    "program", ["x = tensor([0.0, 0.0], requires_grad=True)\ny = (x * x).sum().sqrt()", "x = tensor(0.0, requires_grad=True)\ny = x / x"]
)
def test_nan_without_a_derivative_is_reported(check, program: str) -> None:
    found = check(program)
    assert (found.status, found.failing) == ("nan", False)
    assert sources(found)


def test_strict_counts_it(check) -> None:
    assert check("x = tensor([0.0, 4.0], requires_grad=True)\ny = sqrt(x).sum()", strict=True).failing
