"""Products of every rank: values, the nodes that PyTorch makes, and its errors."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine.backward import backward
from gradcli.engine.tensor import Tensor, tensor
from gradcli.errors import ShapeError
from gradcli.ops.catalogue import FUNCTIONS


def chain(result: Tensor) -> str:
    """The nodes from the output down: `*` a leaf, `-` no gradient."""

    def text(node: object) -> str:
        if node is None:
            return "-"
        if node.name == "AccumulateGrad":  # type: ignore[attr-defined]
            return "*"
        inner = [text(parent) for parent, _ in node.next_functions]  # type: ignore[attr-defined]
        return f"{node.name.removesuffix('Backward0').replace('Backward', '')}({', '.join(inner)})"  # type: ignore[attr-defined]

    return text(result.grad_fn)


def leaf(*shape: int) -> Tensor:
    return tensor(np.arange(1.0, 1 + np.prod(shape)).reshape(shape), requires_grad=True)


@pytest.mark.parametrize(
    ("left", "right", "nodes"),
    [
        ((3,), (3,), "Dot(*, *)"),
        ((2, 3), (3,), "Mv(*, *)"),
        ((2,), (2, 3), "Squeeze4(Mm(Unsqueeze(*), *))"),
        ((2, 3), (3, 2), "Mm(*, *)"),
        ((2, 2, 3), (2, 3, 2), "UnsafeView(Bmm(View(Expand(*)), View(Expand(*))))"),
        ((2, 2, 3), (3, 2), "UnsafeView(Mm(View(*), *))"),
        ((2, 2, 3), (3,), "UnsafeView(Mv(View(*), *))"),
    ],
)
def test_matmul_makes_the_nodes_of_pytorch(left: tuple[int, ...], right: tuple[int, ...], nodes: str) -> None:
    x, y = leaf(*left), leaf(*right)
    result = FUNCTIONS["matmul"](x, y)
    np.testing.assert_allclose(result.value, np.matmul(x.value, y.value))
    assert chain(result) == nodes


@pytest.mark.parametrize(("left", "right"), [((2, 3), (4, 3, 2)), ((3,), (2, 3, 2)), ((1, 2, 3), (4, 1, 3, 2)), ((4, 2, 3), (1, 3, 2))])
def test_matmul_broadcasts_leading_axes(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    x, y = leaf(*left), leaf(*right)
    result = FUNCTIONS["matmul"](x, y)
    expected = np.matmul(x.value, y.value)
    np.testing.assert_allclose(result.value, expected)
    g = np.random.default_rng(0).normal(size=expected.shape)
    backward(result, Tensor(g))
    step = 1e-6 * np.random.default_rng(1).normal(size=left)
    slope = np.sum(g * (np.matmul(x.value + step, y.value) - np.matmul(x.value - step, y.value))) / 2
    assert np.sum(x.grad.value * step) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "left", "right", "message"),
    [
        ("mm", (2, 3), (2, 3), "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
        ("matmul", (2, 3), (2, 3), "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
        ("mv", (2, 3), (2,), "size mismatch, got input (2), mat (2x3), vec (2)"),
        ("dot", (2, 3), (3,), "1D tensors expected, but got 2D and 1D tensors"),
        ("bmm", (2, 3, 2), (2, 3, 2), "Expected size for first two dimensions of batch2 tensor to be: [2, 2] but got: [2, 3]."),
        ("matmul", (), (2,), "both arguments to matmul need to be at least 1D, but they are 0D and 1D"),
        ("matmul", (2, 1, 3), (3, 3, 1), "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0"),
    ],
)
def test_shapes_that_do_not_fit(name: str, left: tuple[int, ...], right: tuple[int, ...], message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        FUNCTIONS[name](leaf(*left), leaf(*right))
    assert str(caught.value) == message


def test_a_product_keeps_a_factor_only_for_the_other_side() -> None:
    x, y = leaf(2, 2), tensor([[1.0, 2.0], [3.0, 4.0]])
    node = FUNCTIONS["mm"](x, y).grad_fn
    assert [node.saved[k] is y.value for k, slot in enumerate(node.plan.slots) if slot < 2] == [True]
