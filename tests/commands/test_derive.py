"""`gradcli derive`: formulas for people, LaTeX, code that was tried."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import sympy

SAMPLES = Path(__file__).resolve().parent.parent.parent / "samples"


def test_pretty_text_has_the_formula_and_both_numbers(gradcli) -> None:
    done = gradcli("derive", SAMPLES / "product_rule.grad")
    assert done.returncode == 0, done.stderr
    assert "d y / d a = b⋅cos(a⋅b)" in done.stdout
    assert "= 2.88051086 here, autograd 2.88051086" in done.stdout


def test_latex_is_an_aligned_block(gradcli) -> None:
    done = gradcli("derive", SAMPLES / "linear_regression.grad", "--latex", "--wrt", "w")
    assert done.stdout.startswith("\\begin{aligned}\n")
    assert r"\frac{\partial \mathrm{loss}}{\partial w_{0}} &= 3 b + \frac{41 w_{0}}{6}" in done.stdout.replace("  ", " ")


@pytest.mark.parametrize("language", ["numpy", "python", "c"])
@pytest.mark.parametrize("sample", ["scalar_formula", "jacobian", "linear_regression", "second_order"])
def test_code_is_printed_once_it_was_tried(gradcli, language: str, sample: str) -> None:
    done = gradcli("derive", SAMPLES / f"{sample}.grad", "--code", language)
    assert done.returncode == 0, done.stderr
    assert "gradient(" in done.stdout


def test_where_autograd_disagrees_no_code_is_printed(gradcli) -> None:
    text = gradcli("derive", SAMPLES / "function_wrong.grad")
    assert text.returncode == 1
    assert "DISAGREES" in text.stdout
    code = gradcli("derive", SAMPLES / "function_wrong.grad", "--code", "numpy")
    assert (code.returncode, code.stdout) == (1, "")
    assert "no code is printed" in code.stderr


def test_what_cannot_be_derived_is_said(gradcli, tmp_path: Path) -> None:
    (tmp_path / "x.grad").write_text("x = ones(60, 60, requires_grad=True)\ny = x.sum()\n")
    done = gradcli("derive", "x.grad")
    assert done.returncode == 2
    assert "no closed form: 3600 derivatives" in done.stderr
    assert gradcli("derive", "x.grad", "--latex", "--code", "c").returncode == 2
    assert gradcli("derive", "missing.grad").returncode == 2


def test_json_has_formulas_that_sympy_reads(gradcli) -> None:
    found = json.loads(gradcli("derive", SAMPLES / "product_rule.grad", "--format", "json").stdout)
    assert (found["schema"], found["output"], found["order"], found["branches"]) == ("gradcli.derive/1", "y", 1, [])
    symbols = {name: sympy.Symbol(name) for name in "ab"}
    by_a = found["derivatives"][0]
    assert (by_a["wrt"], by_a["agrees"]) == (["a"], True)
    assert sympy.sympify(by_a["formula"], symbols) == symbols["b"] * sympy.cos(symbols["a"] * symbols["b"])
    assert by_a["value"] == pytest.approx(by_a["autograd"])


@pytest.mark.parametrize("form", ["python", "c"])
def test_code_that_fails_at_the_point_is_not_printed(gradcli, form) -> None:
    done = gradcli("derive", "-e", "torch.acos(x)", "--at", "x=1.3", "--format", form)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no code is printed: run at the point it fails: math domain error [G110]" in done.stderr


@pytest.mark.parametrize("form", ["python", "numpy", "c"])
def test_what_is_not_finite_is_no_code(gradcli, form) -> None:
    done = gradcli("derive", "-e", "x / 0", "--at", "x=1.3", "--format", form)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"--code {form}: the formula is not finite [G109]" in done.stderr


@pytest.mark.parametrize("command", [["derive"], ["check", "--formulas"]])
def test_formulas_outside_of_their_domain(gradcli, command) -> None:
    assert gradcli(*command, "-e", "erfinv(x)", "--at", "x=1.3").returncode in (0, 1)


def test_a_complex_output_has_no_closed_form(gradcli, tmp_path) -> None:
    (tmp_path / "x.grad").write_text("import torch\nv = tensor([0.4, 1.2], requires_grad=True)\nc = torch.complex(v, v)\n")
    assert "no closed form: the output is not real [G110]" in gradcli("derive", "x.grad").stderr
    assert gradcli("check", "x.grad", "--formulas").returncode == 0


def test_what_has_no_closed_form_is_told(gradcli) -> None:
    assert gradcli("derive", "-e", "x.to(torch.float32)", "--at", "x=2.5").returncode == 0
    done = gradcli("derive", "-e", "torch.fft.fft(x * ones(2)).abs().sum()", "--at", "x=2.5")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.search(r"no closed form: \w+ has no symbolic form \[G110\]", done.stderr)


@pytest.mark.parametrize("form", ["latex", "numpy"])
def test_the_same_by_two_names(gradcli, form) -> None:
    short = ["--latex"] if form == "latex" else ["--code", form]
    assert (
        gradcli("derive", SAMPLES / "product_rule.grad", *short).stdout
        == gradcli("derive", SAMPLES / "product_rule.grad", "--format", form).stdout
    )
    both = gradcli("derive", SAMPLES / "product_rule.grad", *short, "--format", "json")
    assert (both.returncode, both.stdout) == (2, "")
    assert "exclude each other" in both.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rounds", "step", "message"),
    [
        (600, "y * 123456789", "no closed form: a number in it has more than 4300 digits [G110]"),
        (150, "exp(-y)", "LimitError: limit reached: recursion [G320]"),
        (60, "log(y)", "LimitError: limit reached: 0.2 seconds that a file may take (--max-seconds 0.2) [G320]"),
    ],
)
def test_formulas_that_nobody_could_read(gradcli, tmp_path, rounds, step, message) -> None:
    (tmp_path / "x.grad").write_text(f"x = tensor(2.0, requires_grad=True)\ny = x\nfor i in range({rounds}):\n    y = {step}\n")
    done = gradcli("derive", "x.grad", *(("--max-seconds", "0.2") if step == "log(y)" else ()))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.mark.parametrize("order", ["2", "3"])
@pytest.mark.parametrize(
    ("text", "weights", "count"),
    [
        ("out = (x**3).sum() * x[0]", None, 1),
        ("out = x**2 * x[1]", None, 2),
        ("out = x**2 * x[1]", "[1.0, 2.0]", 1),
        ("out = 2 * x", None, 2),
    ],
)
def test_all_derivatives_of_a_higher_order_are_held_against_autograd(gradcli, tmp_path, text, weights, count, order):
    (tmp_path / "x.grad").write_text(f"x = tensor([1.0, 2.0], requires_grad=True)\n{text}\n")
    more = () if weights is None else ("--grad-outputs", weights)
    done = gradcli("derive", "x.grad", "--order", order, "--format", "json", *more)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)["derivatives"]
    assert len(found) == count * 2 ** int(order)
    assert all(entry["agrees"] for entry in found)
