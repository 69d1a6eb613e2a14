"""The engine from Python: the same names, and the same answers, as in a program."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest

import gradcli as gc
from gradcli.engine.methods import find
from gradcli.engine.tensor import Tensor
from gradcli.interpreter.program import run_file
from gradcli.interpreter.tensor_table import ENGINE_TABLES
from gradcli.syntax.source import Source

TABLE = ENGINE_TABLES[Tensor]
PLACES = {"data_ptr"}
"""What differs between any two tensors."""


PROGRAM = """
x = tensor([[1.5, 2.0], [-0.5, 3.0]], requires_grad=True)
try:
    y = x.{}
except Exception as e:
    y = str(e)
"""


def in_program(name: str, call: str) -> object:
    run = run_file(Source("t.grad", PROGRAM.format(name + call)))
    assert run.error is None, run.error
    return run.scope["y"]


def in_python(name: str, call: bool) -> object:
    gc.manual_seed(0)
    x = gc.tensor([[1.5, 2.0], [-0.5, 3.0]], requires_grad=True)
    try:
        found = getattr(x, name)
        return found() if call else found
    except Exception as error:
        return str(error)


def plain(value: object) -> object:
    """A value as text, without the names of what it is made of."""
    if isinstance(value, Tensor):
        return "tensor", np.asarray(value.value).tolist(), value.requires_grad, value.is_leaf
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value if isinstance(value, (bool, int, float, str, type(None))) else type(value).__name__


@pytest.mark.parametrize("name", sorted({*TABLE.properties, *TABLE.methods} - PLACES - {"numpy"}))
def test_whatever_a_program_can_ask_of_a_tensor_python_can_ask_too(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        call = name not in TABLE.properties
        theirs, ours = in_program(name, "()" if call else ""), in_python(name, call)
    assert repr(plain(ours)) == repr(plain(theirs))


def test_no_name_of_the_engine_stands_before_an_operation():
    members = {name: member for cls in Tensor.__mro__[:-1] for name, member in vars(cls).items()}
    own = {name for name, member in members.items() if getattr(member, "__module__", "") != find.__module__}
    methods = {name for name in TABLE.methods if find(name) is not None}
    assert sorted(own & methods - set(ENGINE_TABLES[Tensor].properties)) == sorted(own & set(_furnished()))


def _furnished() -> set[str]:
    """Methods of tensors that the tables of the engine hold, under names that the catalogue has as well."""
    from gradcli.engine.members import METHODS

    return {name for name in METHODS if find(name) is not None}


def test_readme_sentence():
    x = gc.tensor([1.0, 2.0], requires_grad=True)
    y = (x * gc.sin(x)).sum()
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), np.sin([1, 2]) + np.array([1, 2]) * np.cos([1, 2]))
    x.grad = None
    assert x.grad is None
    assert repr(x.view(2, 1)) == "tensor([[1.],\n        [2.]], grad_fn=<ViewBackward0>)"


def test_assignments_follow_the_rules_of_programs():
    x = gc.tensor([1.0, 2.0])
    x.requires_grad = True
    y = x * 2
    with pytest.raises(RuntimeError, match="leaf variables"):
        y.requires_grad = False
    with pytest.raises(RuntimeError, match="floating point"):
        gc.tensor([1]).requires_grad = True
    x.data = gc.tensor([5.0, 6.0])
    assert x.tolist() == [5.0, 6.0]
    with pytest.raises(TypeError, match="assigned grad expected"):
        x.grad = 3


def test_gradients_functions_and_modes():
    class Square(gc.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * g * x

    x = gc.tensor(3.0, requires_grad=True)
    (g,) = gc.grad(Square.apply(x), x, create_graph=True)
    assert g.item() == 6.0
    (h,) = gc.grad(g, x)
    assert h.item() == 2.0
    gc.backward([x * x])
    assert x.grad.item() == 6.0
    with gc.no_grad():
        assert not (x * x).requires_grad
    assert (x * x).requires_grad


def test_numpy_arrays_come_in_and_go_out():
    x = gc.tensor(np.array([1.0, 2.0]), requires_grad=True)
    y = np.sum(np.exp(x) * np.array([1.0, 2.0]) + np.ones(2) @ x)
    (g,) = gc.grad(y, x)
    np.testing.assert_allclose(g.numpy(), np.exp([1, 2]) * [1, 2] + 2)
    np.testing.assert_allclose(np.asarray(x.detach()), [1, 2])
    with pytest.raises(RuntimeError, match="requires grad"):
        np.asarray(x)
    assert gc.tensor([np.ones(2), np.zeros(2)]).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert gc.tensor(np.int64(3)).dtype == np.int64
    assert repr(np.linalg.norm(x)).endswith("grad_fn=<LinalgVectorNormBackward0>)")


def test_operations_are_silent_where_numpy_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = gc.tensor([-1.0, 0.0], requires_grad=True)
        y = gc.log(x) + x.log() + 1 / x
        y.sum().backward()
        z = gc.tensor([0.0])
        z.log_()
        z /= 0
        assert np.isnan(y.tolist()[0])


def test_namespaces_and_names():
    assert gc.linalg.det(gc.eye(2)).item() == 1.0
    assert gc.nn.functional.relu(gc.tensor([-1.0, 2.0])).tolist() == [0.0, 2.0]
    assert isinstance(gc.tensor(1.0), gc.Tensor)
    assert {"check", "check_gradient", "sin", "tensor", "testing"} <= set(dir(gc))
    with pytest.raises(AttributeError, match="did you mean 'sigmoid'"):
        gc.sigmod  # noqa: B018


def test_a_check_leaves_the_tensors_and_modes_of_its_caller_alone():
    gc.manual_seed(7)
    expected = gc.rand(3).tolist()
    gc.manual_seed(7)
    x = gc.tensor(2.0, requires_grad=True)
    y = x * x
    with gc.no_grad():
        assert gc.check("set_printoptions(precision=1)\nx = rand(2, requires_grad=True)\ny = (x * x).sum()\n")
        assert not gc.is_grad_enabled()
    y.backward()
    assert x.grad.item() == 4.0
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    assert gc.rand(3).tolist() == expected
    assert repr(gc.tensor(1.23456)) == "tensor(1.2346)"


def test_importing_gradcli_loads_nothing():
    code = "import sys, gradcli; print([m for m in ('numpy', 'sympy', 'mpmath', 'typer', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "[]\n"
    code = "import sys, gradcli; gradcli.tensor(1.0); print([m for m in ('sympy', 'mpmath', 'typer', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "[]\n"


def test_check_is_a_package_and_a_function():
    from gradcli.check.options import CheckOptions

    assert CheckOptions().order is None
    assert callable(gc.check)
    assert gc.check.__name__ == "gradcli.check"


@pytest.mark.parametrize("value", [3, "a", None, np.ones(2), len])
def test_other_kinds_of_values_where_tensors_belong(value):
    with pytest.raises(TypeError, match="Tensor"):
        gc.abs_(value)
