"""einsum and tensordot against numpy's, and the nodes that PyTorch makes."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine.backward import backward
from gradcli.engine.tensor import Tensor, tensor
from gradcli.errors import ShapeError
from gradcli.ops.catalogue import FUNCTIONS
from gradcli.ops.einsum import einsum, tensordot

SIZES = {"i": 2, "j": 3, "k": 4, "b": 2, "l": 2}


def operands(*shapes: tuple[int, ...]) -> list[Tensor]:
    rng = np.random.default_rng(7)
    return [tensor(rng.normal(size=shape), requires_grad=True) for shape in shapes]


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("ij->ji", [(2, 3)]),
        ("ii", [(3, 3)]),
        ("ii->i", [(3, 3)]),
        ("iij->j", [(3, 3, 2)]),
        ("ij->", [(2, 3)]),
        ("ba", [(2, 3)]),
        ("i,i->", [(3,), (3,)]),
        ("i,j->ij", [(2,), (3,)]),
        ("ij,jk", [(2, 3), (3, 2)]),
        ("bij,bjk->bik", [(2, 2, 3), (2, 3, 2)]),
        ("ijk,lji->lki", [(2, 3, 4), (1, 3, 2)]),
        ("...i->...", [(2, 3)]),
        ("...ij,...jk->...ik", [(2, 2, 3), (3, 2)]),
        ("i...,i->...", [(2, 3, 2), (2,)]),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 2)]),
        ("i,ij,j", [(2,), (2, 3), (3,)]),
        ("ij,ij->j", [(2, 3), (2, 3)]),
        ("ij,k->i", [(2, 3), (4,)]),
        ("ii,ij->j", [(2, 2), (2, 3)]),
    ],
)
def test_einsum_gives_what_numpy_gives(equation: str, shapes: list[tuple[int, ...]]) -> None:
    xs = operands(*shapes)
    values = [x.value for x in xs]
    out = einsum(equation, *xs)
    expected = np.einsum(equation, *values)
    np.testing.assert_allclose(out.value, expected, rtol=1e-13, atol=1e-14)
    g = np.random.default_rng(3).normal(size=expected.shape)
    backward(out, Tensor(np.asarray(g)[()]))
    for k, x in enumerate(xs):
        step = np.random.default_rng(k).normal(size=x.shape)
        moved = np.einsum(equation, *(v if i != k else step for i, v in enumerate(values)))
        assert np.sum(x.grad.value * step) == pytest.approx(np.sum(g * moved), rel=1e-10)


def test_einsum_makes_one_batched_product() -> None:
    x, y = operands((2, 3), (3, 2))
    names = []
    node = einsum("ij,jk->ik", x, y).grad_fn
    while node is not None and node.name != "AccumulateGrad":
        names.append(node.name.removesuffix("Backward0"))
        node = node.next_functions[0][0]
    assert names == ["View", "Permute", "View", "Bmm", "View", "Permute", "Permute", "Unsqueeze"]


def test_one_leaf_in_two_places() -> None:
    (x,) = operands((2, 2))
    backward(einsum("ij,jk->", x, x))
    ones = np.ones((2, 2))
    np.testing.assert_allclose(x.grad.value, ones @ x.value.T + x.value.T @ ones)


def test_the_spelling_with_lists() -> None:
    x, y = operands((2, 3), (3, 4))
    np.testing.assert_allclose(einsum(x, [0, 1], y, [1, 2], [0, 2]).value, x.value @ y.value)


@pytest.mark.parametrize(
    ("equation", "shapes", "words"),
    [
        ("ij,jk->ik", [(2, 3)], "fewer operands were provided"),
        ("ij", [(2, 3, 4)], "does not match the number of dimensions"),
        ("ij->ik", [(2, 3)], "output subscript k does not appear"),
        ("ij->ii", [(2, 3)], "appears more than once"),
        ("ij,jk->ik", [(2, 3), (2, 3)], "do not broadcast"),
        ("i1", [(2, 3)], "subscripts must be in [a-zA-Z]"),
    ],
)
def test_equations_that_do_not_fit(equation: str, shapes: list[tuple[int, ...]], words: str) -> None:
    with pytest.raises(ShapeError) as caught:
        einsum(equation, *operands(*shapes))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("left", "right", "dims"),
    [
        ((2, 3), (3, 2), 1),
        ((2, 3), (2, 3), 2),
        ((2, 3), (4,), 0),
        ((2, 3, 4), (2, 4), ([0, 2], [0, 1])),
        ((2, 3), (3, 2), ([1, 0], [0, 1])),
    ],
)
def test_tensordot(left: tuple[int, ...], right: tuple[int, ...], dims: object) -> None:
    x, y = operands(left, right)
    out = tensordot(x, y, dims=dims)
    np.testing.assert_allclose(out.value, np.tensordot(x.value, y.value, dims), rtol=1e-13)


def test_tensordot_names_the_sizes_that_differ() -> None:
    with pytest.raises(ShapeError, match="first has size 3 in dim -1 and second has size 2 in dim 0"):
        FUNCTIONS["tensordot"](*operands((2, 3), (2, 3)), dims=1)
