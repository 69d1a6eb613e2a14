"""The per-node symbolic reference on programs whose derivatives are worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.check import CheckOptions, check_file
from gradcli.references.estimate import NoAnswer
from gradcli.references.symbolic import Exact

ONE = np.ones(())


def gradient(t, output: str, *inputs: str, weights: np.ndarray | None = ONE) -> list[np.ndarray]:
    return [value for value, _ in Exact(t.path(output, *inputs)).derivative(weights)]


def test_a_jacobian_has_the_shape_of_the_output_and_the_input(trace) -> None:
    t = trace("x = tensor([1., 2., 3.], requires_grad=True)\ny = stack([x[0]*x[1], x[2]**2])")
    (found,) = gradient(t, "y", "x", weights=None)
    np.testing.assert_array_equal(found, [[2, 1, 0], [0, 0, 6]])


def test_weights_contract_the_output(trace) -> None:
    t = trace("x = tensor([1., 2.], requires_grad=True)\ny = x**3")
    (found,) = gradient(t, "y", "x", weights=np.array([10.0, -1.0]))
    np.testing.assert_array_equal(found, [30.0, -12.0])


def test_several_inputs_come_in_order(trace) -> None:
    t = trace("a = tensor(2., requires_grad=True)\nb = tensor(3., requires_grad=True)\ny = a*a*b")
    assert [float(g) for g in gradient(t, "y", "a", "b")] == [12.0, 4.0]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("x = tensor(2., requires_grad=True)\ny = x*1\nwhile y < 100:\n    y = y * x", 7 * 2.0**6),
        ("x = tensor(2., requires_grad=True)\ny = x**2 if x > 0 else -x", 4.0),
        ("x = tensor(2., requires_grad=True)\ny = sum([x**k for k in range(4)])", 1 + 4 + 12),
        ("def f(n, x):\n    return x if n == 0 else x * f(n - 1, x)\nx = tensor(2., requires_grad=True)\ny = f(3, x)", 4 * 2.0**3),
    ],
)
def test_control_flow_is_followed(trace, program: str, expected: float) -> None:
    assert float(gradient(trace(program), "y", "x")[0]) == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("a = x*1\na[0] = 5.\ny = (a*a).sum()", [0, 4, 6]),
        ("a = x*1\na[1:] *= x[:2]\ny = a.sum()", [1 + 2, 1 + 3, 2]),
        ("a = x*1\nb = a[1:]\nb *= 2\ny = (a*a).sum()", [2, 16, 24]),
        ("a = x*1\na.reshape(3, 1)[2, 0] = 7.\ny = a.prod()", [14, 7, 0]),
        ("a = x*1\na += a\na -= 1\ny = (a**2).sum()", [4, 12, 20]),
        ("a = zeros(3)\na[0] = x[1]\na[1] = x[1]*x[2]\ny = a.sum()", [0, 1 + 3, 2]),
        ("a = x*1\na[a > 1.5] = 0.\ny = (a*a).sum()", [2, 0, 0]),
    ],
)
def test_writes_in_place_and_views_are_followed(trace, program: str, expected: list[float]) -> None:
    t = trace("x = tensor([1., 2., 3.], requires_grad=True)\n" + program)
    np.testing.assert_array_equal(gradient(t, "y", "x")[0], expected)


def test_the_body_of_a_custom_function_is_followed_not_its_backward(trace) -> None:
    t = trace(
        "class F(Function):\n    @staticmethod\n    def forward(ctx, x):\n        h = x * x\n        h += x\n        return h.exp()\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g * 77\nx = tensor(0.5, requires_grad=True)\ny = F.apply(x)"
    )
    assert float(gradient(t, "y", "x")[0]) == pytest.approx(2 * np.exp(0.75), rel=1e-15)


def test_stop_gradients_are_constants(trace) -> None:
    t = trace("x = tensor(3., requires_grad=True)\nwith no_grad():\n    c = x * x\ny = x * x.detach() + c * x + x.data * x + x.item() * x")
    assert float(gradient(t, "y", "x")[0]) == 3 + 9 + 3 + 3


def test_a_leaf_updated_under_no_grad_counts_with_both_its_values(trace) -> None:
    t = trace("x = tensor(2., requires_grad=True)\na = x*x\nwith no_grad():\n    x += 1\ny = a + x*x*x")
    assert float(gradient(t, "y", "x")[0]) == 2 * 2 + 3 * 9


def test_a_gradient_used_inside_the_loss_is_differentiated(trace) -> None:
    t = trace("x = tensor(2., requires_grad=True)\n(g,) = grad(x**3, x, create_graph=True)\ny = g**2 + x")
    assert float(gradient(t, "y", "x")[0]) == 2 * 12 * 12 + 1


def test_a_linear_chain_of_products_is_exact_to_the_last_bit(trace) -> None:
    t = trace("A = tensor([[0.1, 0.2], [0.3, 0.4]], requires_grad=True)\nB = tensor([[5., 6.], [7., 8.]])\ny = (A @ B @ A).sum()")
    a, b = t.value("A"), t.value("B")
    s, o = (b @ a).sum(axis=1), (a @ b).sum(axis=0)
    expected = np.add.outer(np.zeros(2), s) + o[:, None]
    np.testing.assert_allclose(gradient(t, "y", "A")[0], expected, rtol=4e-16)


def test_the_branch_of_the_point_is_taken(trace) -> None:
    t = trace("x = tensor([-1., 0., 2.], requires_grad=True)\ny = (relu(x) + abs(x) + maximum(x, -x)).sum()")
    exact = Exact(t.path("y", "x"))
    np.testing.assert_array_equal(exact.derivative(ONE)[0][0][[0, 2]], [-2, 3])
    assert exact.kinked


def test_values_beyond_a_kink(trace) -> None:
    t = trace("x = tensor([-1., 0., 2.], requires_grad=True)\ny = relu(x).sum()")
    sides = Exact(t.path("y", "x")).beyond_kinks(ONE)
    assert sorted(float(side[0][1]) for side in sides) == [0.0, 1.0]
    assert all(side[0][[0, 2]].tolist() == [0.0, 1.0] for side in sides)


def test_no_kink_at_the_point_no_alternatives(trace) -> None:
    t = trace("x = tensor([-1e-9, 1e-9], requires_grad=True)\ny = relu(x).sum()")
    assert Exact(t.path("y", "x")).beyond_kinks(ONE) == []


def test_gross_bounds_what_cancels(trace) -> None:
    t = trace("x = tensor(2., requires_grad=True)\ny = 1e8*x - 1e8*x + x")
    value, gross = Exact(t.path("y", "x")).derivative(ONE)[0]
    assert (float(value), float(gross)) == (1.0, 2e8 + 1)


def test_a_budget_is_kept(trace) -> None:
    t = trace("x = ones(30, requires_grad=True)\ny = (x * x).sum()")
    with pytest.raises(NoAnswer, match="more than 50 scalar operations"):
        Exact(t.path("y", "x"), 50)


def test_float32_leaves_are_taken_at_their_value_and_computed_exactly(trace) -> None:
    t = trace("x = tensor(0.1, dtype=float32, requires_grad=True)\ny = x * x * x")
    x = float(np.float32(0.1))
    assert float(gradient(t, "y", "x")[0]) == pytest.approx(3 * x * x, rel=2e-16)


def test_noise_is_the_rounding_of_one_evaluation(trace) -> None:
    t = trace("x = tensor(2., requires_grad=True)\ny = (x + 1e10) - 1e10")
    assert Exact(t.path("y", "x")).noise(ONE) == pytest.approx(2.2e-16 * 1e10, rel=0.2)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("A.det()", lambda a: np.linalg.det(a) * np.linalg.inv(a).T),
        ("A.inverse().sum()", lambda a: -np.outer(np.linalg.inv(a).sum(axis=0), np.linalg.inv(a).sum(axis=1))),
        ("logsumexp(A.reshape(4), 0)", lambda a: np.exp(a) / np.exp(a).sum()),
        ("(softmax(A, 1) * tensor([1., 0.])).sum()", None),
        ("cumsum(A, 0).prod()", None),
    ],
)
def test_matrix_operations_have_exact_forms(trace, program: str, expected) -> None:
    t = trace(f"A = tensor([[1., 2.], [3., 5.]], requires_grad=True)\ny = {program}")
    (found,) = gradient(t, "y", "A")
    a = t.value("A")
    if expected is None:
        expected = DIFFERENTIATED[program]
    np.testing.assert_allclose(found, expected(a), rtol=1e-12, atol=1e-13)


def softmax_first(a: np.ndarray) -> np.ndarray:
    p = np.exp(a) / np.exp(a).sum(axis=1, keepdims=True)
    return np.stack([p[:, 0] * p[:, 1], -p[:, 0] * p[:, 1]], axis=1)


def cumulated(a: np.ndarray) -> np.ndarray:
    c = np.cumsum(a, axis=0)
    each = c.prod() / c
    return np.stack([each.sum(axis=0), each[1]])


DIFFERENTIATED = {"(softmax(A, 1) * tensor([1., 0.])).sum()": softmax_first, "cumsum(A, 0).prod()": cumulated}


@pytest.mark.parametrize("size", [1e3, 3e4, 1e300])
@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("F.binary_cross_entropy_with_logits(x, tensor([0., 0.]), reduction='sum')", [1, 0]),
        ("F.binary_cross_entropy_with_logits(-x, tensor([1., 0.]), reduction='sum')", [1, -1]),
        ("x.logsumexp(0)", [1, 0]),
        ("x.logcumsumexp(0)[1]", [1, 0]),
        ("x.flip(0).logcumsumexp(0)[0]", [0, 1]),
        ("F.soft_margin_loss(x, tensor([-1., 1.]), reduction='sum')", [1, -1]),
        ("F.cross_entropy(x.reshape(1, 2), tensor([1]))", [1, -1]),
        ("x.softmax(0)[0] * x[0]", [1, 0]),
    ],
)
def test_large_logits_do_not_overflow(trace, size: float, formula: str, expected: list[float]) -> None:
    t = trace(f"import torch.nn.functional as F\nx = tensor([{size}, -{size}], requires_grad=True)\ny = {formula}")
    np.testing.assert_allclose(gradient(t, "y", "x")[0], expected, atol=1e-300)


def test_powers_of_zero_have_their_slope(trace) -> None:
    t = trace("x = tensor([0., 0., 0., -2.], requires_grad=True)\ny = (x ** tensor([1., 2., 3.5, 3.])).sum()")
    np.testing.assert_array_equal(gradient(t, "y", "x")[0], [1, 0, 0, 12])


def test_functions_of_nan_are_nan(trace) -> None:
    t = trace("import torch\nx = tensor([float('nan'), 1.], requires_grad=True)\ny = torch.relu(x) + torch.special.i0(x)")
    assert np.isnan(gradient(t, "y", "x", weights=np.ones(2))[0]).tolist() == [True, False]


@pytest.mark.parametrize("method", ["all", "symbolic", "fd"])
@pytest.mark.parametrize(
    "text",
    ["x**b", "b**x", "x % b", "b % x", "torch.fmod(x, b)", "torch.atan2(x, b)", "torch.lerp(x, 2 * x, b)", "torch.addcdiv(x, x, b)",
     "torch.xlogy(b, x)", "torch.ldexp(x, b)", "torch.rsub(x, b)", "x.masked_fill(b, 0.0)", "torch.where(b, x, b)"],
)  # fmt: skip
def test_truth_values_are_numbers_but_in_masks(text, method):
    program = f"import torch\nx = torch.tensor([1.5, 2.5], requires_grad=True)\nb = torch.tensor([True, True])\ny = {text}\n"
    found = check_file("t.grad", program, CheckOptions(method=method, formulas=True))
    assert (found.error, found.status) == (None, "pass")
    few = check_file("t.grad", program, CheckOptions(symbolic_budget=1))
    assert (few.error, few.failing) == (None, False)
