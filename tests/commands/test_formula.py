"""-e FORMULA --at NAME=EXPR, in place of a file."""

import json

import pytest

from gradcli.cli import status_of


def run(capsys, *arguments):
    status = status_of(list(arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_check(capsys):
    status, out, _ = run(capsys, "check", "-e", "x**2*sin(y)", "--at", "x=1.5", "--at", "y=0.2", "--format", "json")
    (target,) = json.loads(out)["files"][0]["targets"]
    assert status == 0
    assert (target["output"], [i["name"] for i in target["inputs"]]) == ("f", ["x", "y"])


@pytest.mark.parametrize(
    ("formula", "at", "expected"),
    [
        ("x**2", ["x=3"], {"x": 6.0}),
        ("(A @ v).sum()", ["A=[[1, 2], [3, 4]]", "v=ones(2)"], {"A": [[1.0, 1.0], [1.0, 1.0]], "v": [4.0, 6.0]}),
        ("torch.sin(x) + np.cos(x) + math.pi + F.relu(x)", ["x=0"], {"x": 1.0}),
        ("sum(k * x for k in range(4))", ["x=1"], {"x": 6.0}),
        ("f * y * out", ["f=2", "y=3", "out=5"], {"f": 15.0, "y": 10.0, "out": 6.0}),
        ("e * x", ["e=7", "x=1"], {"e": 1.0, "x": 7.0}),
        ("x * 3", ["x=y"], None),
        ("abs(z)", ["z=3+4j"], {"z": {"re": 0.6, "im": 0.8}}),
    ],
)
def test_grad(capsys, formula, at, expected):
    status, out, err = run(capsys, "grad", "--format", "json", "-e", formula, *[word for a in at for word in ("--at", a)])
    if expected is None:
        assert status == 2
        assert "name 'y' is not defined" in err
    else:
        assert json.loads(out)["grads"] == expected


@pytest.mark.parametrize(("formula", "at"), [("3", ()), ("2.5 * 2", ()), ("(x > 3) + 0.5", ("--at", "x=4"))])
def test_a_constant_passes(capsys, formula, at):
    status, out, err = run(capsys, "check", "-e", formula, *at, "--format", "json")
    assert (status, err, json.loads(out)["files"][0]["status"]) == (0, "", "pass")


def test_what_is_no_number_is_refused(capsys):
    status, _, err = run(capsys, "check", "-e", "'a'")
    assert status == 2
    assert "the formula gives no number but str" in err


@pytest.mark.parametrize("command", [["graph"], ["derive"], ["trace"], ["backward"]])
def test_other_commands(capsys, command):
    status, out, _ = run(capsys, *command, "-e", "x*sin(x)", "--at", "x=1")
    assert status == 0
    assert out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-e", "alpha*x*beta"], "no value for alpha, x, beta"),
        (["-e", "sinn(x)", "--at", "x=1"], "no function 'sinn'"),
        (["-e", "weight*x", "--at", "x=1", "--at", "wieght=2"], "did you mean 'wieght'?"),
        (["-e", "x", "--at", "x=1", "--at", "y=2"], "--at y: the formula has no such variable"),
        (["-e", "x", "--at", "x"], "--at takes NAME=EXPR"),
        (["-e", "x", "--at", "x=[1,"], "--at x=[1,: "),
        (["-e", "x", "--at", "x='a'"], "no number and no array"),
        (["--at", "x=1"], "there is no formula"),
        (["-e", "x", "a.grad", "--at", "x=1"], "exclude each other"),
        ([], "missing a file or a formula"),
    ],
)
def test_misuse_is_told(capsys, arguments, message):
    status, _, err = run(capsys, "grad", *arguments)
    assert status == 2
    assert message in err


def test_errors_show_the_formula(capsys):
    for formula in ("x +", "y = x", "x @ x"):
        status, _, err = run(capsys, "check", "-e", formula, "--at", "x=1")
        assert status == 2
        assert f"    {formula}\n" in err
        assert "<formula>:1:" in err


def test_the_last_value_of_a_variable_holds(capsys):
    assert run(capsys, "grad", "-e", "x**2", "--at", "x=3", "--at", "x=4") == run(capsys, "grad", "-e", "x**2", "--at", "x=4")


@pytest.mark.parametrize(
    ("command", "shown"),
    [(("graph", "--format", "dot"), "SqrtBackward0"), (("trace",), "SqrtBackward0"), (("check", "--format", "html"), "data:image/svg+xml")],
)
def test_fpcore_has_pictures_too(capsys, tmp_path, command, shown):
    (tmp_path / "x.fpcore").write_text("; a comment\n(FPCore (x) :pre (< 1 x 2) (sqrt x))\n")
    status, out, _ = run(capsys, command[0], str(tmp_path / "x.fpcore"), *command[1:])
    assert status == 0
    assert shown in out


@pytest.mark.parametrize("command", ["check", "grad", "graph", "derive", "trace"])
@pytest.mark.parametrize(("formula", "kind"), [("sin", "function"), ("'abc'", "str"), ("(x, x)", "tuple")])
def test_a_formula_that_gives_no_number(capsys, command, formula, kind):
    at = ("--at", "x=1") if "x" in formula else ()
    status, _, err = run(capsys, command, "-e", formula, *at)
    assert status == 2
    assert f"error: the formula gives no number but {kind} [G112]" in err
