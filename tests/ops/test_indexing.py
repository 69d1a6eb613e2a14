"""x[...]: every form of index, its nodes, and its errors."""

import numpy as np
import pytest

from gradcli.engine import Tensor, grad
from gradcli.ops.gathering import gather, scatter_add, take_along_dim
from gradcli.ops.lookup import embedding, one_hot
from gradcli.ops.masking import masked_fill, put
from gradcli.ops.scattering import index_add, scatter_reduce

DATA = np.arange(24.0).reshape(2, 3, 4)
ALIKE = [
    (0,), (-1,), (0, 1), (slice(0, 1),), (slice(None), 1), (Ellipsis, 2), (None,), (slice(None, None, 2),), (0, Ellipsis, None),
    ([0, 1],), ([1, 1, 0],), ([0, 1], [1, 2]), (slice(None), [0, 2]), (slice(None), slice(1), [3, 0]), ([0, 1], slice(None), [1, 1]),
    (DATA > 7,), (slice(None), np.array([True, False, True])), (np.array([[0, 1], [1, 0]]), np.array([0, 2])), ([],), (slice(5, 9),),
]  # fmt: skip
"""Indices that NumPy and PyTorch understand alike."""


@pytest.mark.parametrize("index", ALIKE, ids=str)
def test_values_and_gradients_of_every_form(index) -> None:
    x = Tensor(DATA.copy(), True)
    y = x[index]
    np.testing.assert_array_equal(y.value, DATA[index])
    weights = 1.0 + np.arange(float(y.size_)).reshape(y.shape)
    expected = np.zeros_like(DATA)
    np.add.at(expected, index, weights)
    (g,) = grad(y, x, Tensor(weights))
    np.testing.assert_array_equal(g.value, expected)


def test_an_int_beside_an_array_selects_first_as_in_pytorch() -> None:
    x = Tensor(DATA.copy())
    assert x[0, :, [0, 1, 1]].shape == (3, 3)
    np.testing.assert_array_equal(x[0, :, [0, 1, 1]].value, DATA[0][:, [0, 1, 1]])


def test_a_list_of_lists_counts_as_a_tuple_as_in_pytorch() -> None:
    x = Tensor(DATA.copy())
    np.testing.assert_array_equal(x[[[0, 1], [2, 0]]].value, DATA[[0, 1], [2, 0]])


@pytest.mark.parametrize(
    ("index", "nodes"),
    [
        (0, ["Select"]), ((0, 1), ["Select", "Select"]), (slice(0, 1), ["Slice"]), ((slice(None), 1), ["Select"]), (None, ["Unsqueeze"]),
        (Ellipsis, ["Alias"]), (slice(None), ["Slice"]), ([0], ["Index"]), ((0, [1]), ["Index", "Select"]),
    ],
    ids=str,
)  # fmt: skip
def test_an_index_is_a_chain_of_nodes(index, nodes) -> None:
    node, found = Tensor(DATA, True)[index].grad_fn, []
    while node.next_functions:
        found.append(node.name.removesuffix("Backward0"))
        node = node.next_functions[0][0]
    assert found == nodes


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (5, IndexError, "index 5 is out of bounds for dimension 0 with size 2"),
        ((0, 0, 0, 0), IndexError, "too many indices for tensor of dimension 3"),
        (np.array([True, False, True]), IndexError, r"The shape of the mask \[3\] at index 0 does not match"),
        ([0, 7], IndexError, "index 7 is out of bounds for dimension 0 with size 2"),
        ([0.5], IndexError, "must be long, int, byte or bool tensors"),
        (slice(None, None, -1), ValueError, "step must be greater than zero"),
        (([0, 1], [0, 1, 2]), IndexError, r"could not be broadcast together with shapes \[2\], \[3\]"),
        ("a", TypeError, "invalid data type 'str'"),
        (0.5, IndexError, "only integers, slices"),
    ],
    ids=str,
)
def test_errors_are_those_of_pytorch(index, error, text) -> None:
    with pytest.raises(error, match=text):
        Tensor(DATA)[index]


def test_a_0d_tensor_has_no_items() -> None:
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        Tensor(np.float64(1.0))[0]
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(Tensor(np.float64(1.0)))


def test_gathering_and_scattering_are_transposes() -> None:
    x, index = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([[2, 2], [0, 1]])
    np.testing.assert_array_equal(gather(x, 1, index), [[3.0, 3.0], [4.0, 5.0]])
    np.testing.assert_array_equal(scatter_add(np.zeros((2, 3)), 1, index, np.ones((2, 2))), [[0.0, 0.0, 2.0], [1.0, 1.0, 0.0]])
    np.testing.assert_array_equal(take_along_dim(x, np.array([[0], [-1]]), 1), [[1.0], [6.0]])


@pytest.mark.parametrize(
    ("reduce", "alone", "with_self"),
    [("sum", [5.0, 7.0], [6.0, 7.0]), ("prod", [6.0, 7.0], [6.0, 7.0]), ("mean", [2.5, 7.0], [2.0, 7.0]), ("amax", [3.0, 7.0], [3.0, 7.0]),
     ("amin", [2.0, 7.0], [1.0, 7.0])],
)  # fmt: skip
def test_a_scatter_can_combine(reduce, alone, with_self) -> None:
    x, index, src = np.array([1.0, 7.0]), np.array([0, 0]), np.array([2.0, 3.0])
    np.testing.assert_array_equal(scatter_reduce(x, 0, index, src, reduce, include_self=False), alone)
    np.testing.assert_array_equal(scatter_reduce(x, 0, index, src, reduce), with_self)


def test_parts_are_added_filled_and_put() -> None:
    x = np.zeros((2, 3))
    np.testing.assert_array_equal(index_add(x, 1, np.array([0, 0]), np.ones((2, 2)), alpha=2), [[4.0, 0.0, 0.0]] * 2)
    np.testing.assert_array_equal(masked_fill(x, np.array([True, False, True]), 5.0), [[5.0, 0.0, 5.0]] * 2)
    np.testing.assert_array_equal(put(x, np.array([0, -1]), np.array([1.0, 2.0])), [[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    np.testing.assert_array_equal(one_hot(np.array([2, 0])), [[0, 0, 1], [1, 0, 0]])


def test_the_padding_row_of_an_embedding_gets_no_gradient() -> None:
    table = Tensor(np.arange(6.0).reshape(3, 2), True)
    y = embedding(Tensor(np.array([2, 0, 2])), table, padding_idx=0)
    (g,) = grad(y, table, Tensor(np.ones((3, 2))))
    np.testing.assert_array_equal(g.value, [[0.0, 0.0], [0.0, 0.0], [2.0, 2.0]])


@pytest.mark.parametrize("values", [([1.0, 0.0, 3.0], [0.0, 7.0]), ([1.0, 2.0, 3.0], [0.0, 7.0]), ([1.0, 0.0, 3.0], [5.0, 7.0])])
def test_scattered_products_have_their_derivatives_at_zeros(values) -> None:
    """out[1] = x[1] * v[0] * v[1]."""
    x, v = (Tensor(np.array(part), True) for part in values)
    out = scatter_reduce(x, 0, np.array([1, 1]), v, "prod")
    first = grad(out, [x, v], Tensor(np.ones(3)), create_graph=True)
    (_, x1, _), (v0, v1) = values
    assert [g.value.tolist() for g in first] == [[1, v0 * v1, 1], [x1 * v1, x1 * v0]]
    second = grad(first[1], [x, v], Tensor(np.array([1.0, 10.0])))
    assert [g.value.tolist() for g in second] == [[0, v1 + 10 * v0, 0], [10 * x1, x1]]
