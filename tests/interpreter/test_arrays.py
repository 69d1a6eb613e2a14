"""Arrays of numpy in a program: numpy's text and values, the memory of tensors, and nothing that a limit does not see."""

import numpy as np
import pytest

HEAD = "import torch\nimport numpy as np\n"
GIVEN = "a = np.array([[1.5, -2.0, 3.0], [0.25, 1e-8, 4.0]])\nb = np.arange(3)\n"


@pytest.mark.parametrize(
    "expression",
    [
        "a", "b", "a.T", "a[0]", "a[:, 1:]", "a[a > 1]", "a[[1, 0]]", "b[1]", "a[1, 2]", "a.shape", "a.size", "a.ndim", "a.dtype",
        "b.dtype",
        "a + 1", "2 * a", "a - b", "1 / a", "a / 2", "b / 2", "b // 2", "b % 2", "a ** 2", "-a", "abs(a)", "a @ b", "a > 1", "a == a",
        "(a > 0) & (a < 2)", "~(a > 1)", "a.sum()", "a.sum(axis=0)", "a.mean(axis=1, keepdims=True)", "a.std()", "a.var(ddof=1)",
        "a.max()", "a.argmin(axis=1)", "a.prod()", "b.sum()", "a.cumsum()", "a.reshape(3, 2)", "a.reshape(-1)", "a.transpose(1, 0)",
        "a.flatten()", "b.astype(float)", "b.astype('float32')", "a.copy()", "a.tolist()", "(a > 0).all()", "b.item(0) if False else 1",
        "np.sin(a)", "np.std(a)", "np.maximum(a, 0)", "np.concatenate([a, a])", "np.stack([b, b])", "np.dot(b, b)", "np.sum(a, axis=1)",
        "np.allclose(b, [0, 1, 2])", "np.where(a > 0, a, 0.0)", "np.zeros((2, 2))", "np.ones(2, dtype=np.float32)", "np.eye(2)",
        "np.linspace(0, 1, 3)", "np.zeros_like(b)", "np.array(2.5)", "np.array([True, False])", "np.array([1, 2.5])", "len(a)", "[a]",
        "a.astype(np.float32).dtype == np.float32", "np.array([1e-20, 1.0])", "np.array([1.0, float('nan')])", "np.zeros(2000)",
        "f'{a}'", "f'{a.sum():.2f}'", "str(b)", "repr(b)", "float(b[1])", "1.5 in a", "sum(b)",
    ],
)  # fmt: skip
def test_what_numpy_prints(run, expression):
    scope = {"np": np}
    exec(GIVEN, scope)
    assert run(f"{HEAD}{GIVEN}print({expression})").output == f"{eval(expression, scope)}\n"


@pytest.mark.parametrize(
    "statement",
    ["a[0] = 7", "a[:, 1] = b[:2]", "a[a < 1] = 0", "a[1] = [1, 2, 3]", "a += 1", "a *= b", "a -= a", "a.fill(2)"],
)
def test_writes(run, statement):
    scope = {"np": np}
    exec(GIVEN + statement, scope)
    assert run(f"{HEAD}{GIVEN}{statement}\nprint(a)").output == f"{scope['a']}\n"


def test_memory_is_shared_both_ways_and_no_write_is_counted(run):
    told = run(
        HEAD + "x = torch.tensor([1.0, 2.0])\nn = x.numpy()\nn[0] = 9.0\nprint(x, x._version)\nx[1] = 4.0\nprint(n, type(n).__name__)\n"
        "y = torch.from_numpy(n)\nn *= 2\nprint(y, torch.as_tensor(n)[0], isinstance(n, np.ndarray), isinstance(y, np.ndarray))\n"
        "z = torch.tensor(n, requires_grad=True)\nn[0] = 0\nprint(z)"
    ).output
    assert told == (
        "tensor([9., 2.]) 0\n[9. 4.] ndarray\ntensor([18.,  8.]) tensor(18.) True False\ntensor([18.,  8.], requires_grad=True)\n"
    )


def test_what_asks_for_a_gradient_has_no_array(failure):
    for use in ("x.numpy()", "x * n", "n * x", "n + x"):
        error = failure(f"{HEAD}x = torch.ones(2, requires_grad=True)\nn = np.ones(2)\n{use}")
        assert error.type == "RuntimeError"
        assert "numpy() on Tensor that requires grad" in error.message


def test_a_tensor_and_an_array_give_a_tensor(run):
    assert run(HEAD + "x = torch.ones(2)\nn = np.ones(2)\nprint(x + n, n * x)").output == "tensor([2., 2.]) tensor([1., 1.])\n"


@pytest.mark.parametrize("use", ["n.data", "n.ctypes", "n.tofile('x')", "n.base", "n.dtype.type", "np.load('x')", "n.view(int)"])
def test_nothing_of_a_live_array_is_in_reach(failure, use):
    assert failure(f"{HEAD}n = np.ones(2)\n{use}").type == "AttributeError"


def test_a_file_without_torch_has_tensors_that_can_be_differentiated(run):
    assert run("import numpy as np\nx = np.array([1.0, 4.0])\nprint(type(np.sqrt(x)).__name__)").output == "Tensor\n"


def test_limits_see_arrays(failure):
    error = failure(HEAD + "np.zeros((10000, 1)) + np.zeros((1, 10000000))")
    assert error.type == "LimitError"
