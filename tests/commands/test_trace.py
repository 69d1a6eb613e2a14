"""`gradcli trace`: the backward pass step by step."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).resolve().parent.parent.parent / "samples"


@pytest.fixture
def trace(gradcli, tmp_path: Path):
    def run(text: str, *options: str):
        (tmp_path / "x.grad").write_text(text)
        return gradcli("trace", "x.grad", *options, env={"COLUMNS": "200"})

    return run


def test_every_step_has_its_gradients_and_the_local_derivative_by_sympy(gradcli) -> None:
    done = gradcli("trace", SAMPLES / "product_rule.grad", env={"COLUMNS": "200"})
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    assert lines == [
        "step node line incoming norm local derivative value outgoing norm",
        "1 n4 y = torch.sin(a * b) + 1 8 1 1 d (n3 + 1)/d n3 = 1 1 n3: 1 1",
        "2 n3 torch.sin(a * b) 8 1 1 d sin(n2)/d n2 = cos(n2) 0.96017 n2: 0.96017 0.96",
        "3 n2 a * b 8 0.96017 0.96 d (a*b)/d a = b 3 a: 2.88051 2.88",
        "d (a*b)/d b = a 2 b: 1.92034 1.92",
        "4 n0 a 5 2.88051 2.88 into .grad",
        "5 n1 b 6 1.92034 1.92 into .grad",
    ]


def test_a_narrow_terminal_gets_blocks(gradcli) -> None:
    done = gradcli("trace", SAMPLES / "product_rule.grad")
    block = ["  2  torch.sin(a * b)  (n3 SinBackward0, line 8)", "     in   1  |norm 1|", "     by   d sin(n2)/d n2 = cos(n2) = 0.96017"]
    assert "\n".join(block) in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("constant", ["nan", "inf"])
def test_constants_that_are_no_numbers(trace, constant) -> None:
    assert trace(f"x = tensor(2.0, requires_grad=True)\ny = {constant} * x\n").returncode == 0


def test_truth_values_are_no_numbers_to_sympy(trace) -> None:
    done = trace("x = tensor([1.0, 2.0], requires_grad=True)\nmask = x > 1\ny = (mask * x).sum()\n")
    assert done.returncode == 0, done.stderr


def test_branches_are_counted(trace) -> None:
    done = trace("x = tensor([-1., 0., 2.], requires_grad=True)\ny = relu(x).sum()\n")
    assert "d relu(x)/d x = 0 (2 elements), 1 (1 element)" in done.stdout


def test_json_has_every_step_in_full(trace) -> None:
    found = json.loads(trace("x = tensor([1., 2.], requires_grad=True)\ny = (x ** 2).sum()\n", "--format", "json").stdout)
    assert found["schema"] == "gradcli.trace/1"
    square = found["steps"][1]
    assert (square["op"], square["line"], square["incoming"]) == ("PowBackward0", 2, [1.0, 1.0])
    assert square["outgoing"][0] == {
        "to": "n0", "name": "x", "arg": 0, "derivative": "d (x**2)/d x", "formula": "2*x", "local": [2.0, 4.0], "gradient": [2.0, 4.0],
        "norm": pytest.approx(20**0.5),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("body", "finding"),
    [
        ("h = sigmoid(h)", "vanishing: the gradient becomes less than a millionth of that of the output at n"),
        ("h = h * 30", "exploding: the gradient becomes more than a million times that of the output at n"),
    ],
)
def test_where_gradients_vanish_or_explode_is_named(trace, body: str, finding: str) -> None:
    done = trace(f"x = tensor(0.5, requires_grad=True)\nh = x\nfor k in range(100):\n    {body}\nout = h\n")
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith(finding)
    assert "line 4" in last
    assert "norm" in last
    assert "steps between are not shown" in done.stdout


def test_verbose_shows_every_step(trace) -> None:
    text = "x = tensor(0.5, requires_grad=True)\nh = x\nfor k in range(100):\n    h = h * 1\n"
    assert len(trace(text).stdout.splitlines()) < 70
    assert len(trace(text, "--verbose").stdout.splitlines()) > 100


def test_the_first_gradient_that_is_not_finite_is_named(gradcli) -> None:
    done = gradcli("trace", SAMPLES / "nan_behind_where.grad")
    assert "not finite: the first NaN or infinity among the gradients arises at n1 sqrt(x), line 4" in done.stdout


def test_a_dead_unit_is_named(trace) -> None:
    done = trace("x = tensor(-1., requires_grad=True)\nh = relu(x)\ny = h * 2\n")
    assert "dead: the gradient becomes exactly 0 at n1 h = relu(x)" in done.stdout


def test_custom_functions_and_freed_graphs_are_walked(trace) -> None:
    done = trace(
        "class F(Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        ctx.save_for_backward(x)\n"
        "        return x * x\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        x, = ctx.saved_tensors\n"
        "        return 2 * x * g\n"
        "x = tensor(3., requires_grad=True)\n"
        "y = F.apply(x)\n"
        "y.backward()\n"
    )
    assert done.returncode == 0, done.stderr
    assert "F.backward" in done.stdout
    assert "x: 6" in done.stdout


def test_an_output_that_is_no_scalar_needs_weights(trace) -> None:
    text = "x = tensor([1., 2.], requires_grad=True)\ny = x * 2\n"
    assert trace(text).returncode == 2
    assert "x: [0, 2]" in trace(text, "--grad-outputs", "[0., 1.]").stdout


def test_a_long_chain_is_no_matter_of_recursion(trace) -> None:
    assert sys.getrecursionlimit() < 2000
    done = trace("x = tensor(0.5, requires_grad=True)\nh = x\nfor k in range(2000):\n    h = h * 1.0\nout = h\n")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) < 100


def test_complex_numbers(trace) -> None:
    done = trace("z = tensor([1 + 2j, 3j], requires_grad=True)\nloss = (z.exp() * 2 + z.conj()).abs().sum()\n")
    assert done.returncode == 0, done.stderr
    assert "of abs: The absolute value" in done.stdout
    assert "exp(z)" in done.stdout
