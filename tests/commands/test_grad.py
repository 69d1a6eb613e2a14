"""`gradcli grad` and `gradcli backward`, against numbers worked by hand."""

from __future__ import annotations

import json

import pytest

TWO = """\
x = tensor([[1.0, 2.0]], requires_grad=True)
z = x**3
"""
SCALAR = """\
a = tensor(2.0, requires_grad=True)
b = tensor(3.0, requires_grad=True)
y = a**2 * b
"""


@pytest.fixture
def grads(gradcli, tmp_path):
    """`grads(program, command, options...)` gives the `grads` of the JSON document."""

    def run(program: str, *arguments: str):
        (tmp_path / "f.grad").write_text(program)
        done = gradcli(arguments[0], "f.grad", *arguments[1:], "--format", "json")
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert document["schema"] == f"gradcli.{arguments[0]}/1"
        return document["grads"]

    return run


def test_weights_beyond_all_floats_are_refused(gradcli, programs):
    done = gradcli("grad", *programs("good"), "--grad-outputs", "10**5000")
    assert done.returncode == 2
    assert "--grad-outputs 10**5000: " in done.stderr


def test_scalar(grads):
    assert grads(SCALAR, "grad") == {"a": 12.0, "b": 4.0}
    assert grads(SCALAR, "backward") == {"a": 12.0, "b": 4.0}


@pytest.mark.parametrize("weights", ["[[0.5, 0.5]]", "ones_like(z) / 2", "torch.full((1, 2), 0.5)"])
def test_grad_outputs(grads, weights):
    assert grads(TWO, "grad", "--output", "z", "--wrt", "x", "--grad-outputs", weights) == {"x": [[1.5, 6.0]]}
    assert grads(TWO, "backward", "--grad-outputs", weights) == {"x": [[1.5, 6.0]]}


def test_second_and_third_order(grads):
    assert grads(SCALAR, "grad", "--order", "2") == {"a": 6.0, "b": 0.0}
    assert grads("x = tensor(2.0, requires_grad=True)\ny = x**4\n", "grad", "--order", "3") == {"x": 48.0}
    hessian = [[2.0, 1.0], [1.0, 0.0]]
    program = "x = tensor([3.0, 5.0], requires_grad=True)\ny = x[0] ** 2 + x[0] * x[1]\n"
    assert grads(program, "grad", "--order", "2") == {"x": hessian}


def test_set_and_seed(grads):
    assert grads(SCALAR, "grad", "--set", "a=1.0", "--set", "b=10", "--wrt", "a") == {"a": 20.0}
    program = "x = randn(2, requires_grad=True)\ny = (x**2).sum()\n"
    assert grads(program, "grad", "--seed", "1") == grads(program, "grad", "--seed", "1") != grads(program, "grad", "--seed", "2")


def test_the_files_own_backward_leaves_no_trace(grads):
    assert grads(SCALAR + "y.backward()\n", "backward") == {"a": 12.0, "b": 4.0}


def test_a_leaf_that_is_not_used(grads):
    assert grads(SCALAR + "c = ones(2, requires_grad=True)\ny = y * 1\n", "backward") == {"a": 12.0, "b": 4.0, "c": None}


def test_an_inner_variable(grads):
    assert grads(SCALAR + "w = y * 2\n", "grad", "--wrt", "y") == {"y": 2.0}


def test_leaves_in_a_list(grads):
    assert grads("p = [tensor(2.0, requires_grad=True)]\ny = p[0] ** 2\n", "grad") == {"p[0]": 4.0}


@pytest.mark.parametrize(
    ("program", "options", "message"),
    [
        (TWO, [], "grad can be implicitly created only for scalar outputs"),
        (TWO, ["--output", "zz"], "the file has x, z"),
        (TWO, ["--wrt", "q"], "--wrt q: the file has no such variable"),
        (TWO, ["--grad-outputs", "[1.0]"], "shape [1], and the output has [1, 2]"),
        (TWO, ["--grad-outputs", "nope + 1"], "--grad-outputs nope + 1: name 'nope' is not defined"),
        (TWO, ["--grad-outputs", "[[1.0"], "--grad-outputs [[1.0:"),
        (TWO, ["--format", "jsno"], "did you mean 'json'?"),
        ("x = tensor(1.0)\n", [], "nothing to differentiate"),
        ("x = tensor(1.0, requires_grad=True)\ny = x @ x\n", [], "f.grad:2:5: RuntimeError"),
    ],
)
def test_mistakes(gradcli, tmp_path, program, options, message):
    (tmp_path / "f.grad").write_text(program)
    done = gradcli("grad", "f.grad", *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_text_and_out(gradcli, tmp_path):
    (tmp_path / "f.grad").write_text(SCALAR)
    assert gradcli("grad", "f.grad").stdout == "d y / d a = 12.\nd y / d b = 4.\n"
    assert gradcli("backward", "f.grad", "--out", "g.txt").stdout == ""
    assert (tmp_path / "g.txt").read_text() == "a.grad = 12.\nb.grad = 4.\n"


def test_missing_file(gradcli, tmp_path):
    (tmp_path / "net.grad").write_text(SCALAR)
    done = gradcli("grad", "nte.grad")
    assert done.returncode == 2
    assert done.stderr == "gradcli: error: no such file: nte.grad [G101]\n  hint: did you mean 'net.grad'?\n"
