"""FPCore: reader, mistakes, translation, points. Expected values are worked by hand or by Python's own math."""

import math

import pytest

from gradcli.errors import LimitError, SourceErrors
from gradcli.interpreter import Program, run_file
from gradcli.interpreter.limits import Limits
from gradcli.syntax import Source
from gradcli.syntax.fpcore import BadCore, NoPoint, core_trees, sampling, whole_tree


def value(text: str, **arguments: float) -> object:
    """The value of one core at a point."""
    run = run_file(Source("f.fpcore", text), overrides={name: repr(v) for name, v in arguments.items()})
    assert run.error is None, run.error
    found = run.scope[run.tree.task.output]
    return found.tolist() if hasattr(found, "tolist") else found


def errors(text: str) -> list[tuple[str, int, int]]:
    with pytest.raises(SourceErrors) as caught:
        whole_tree(Source("f.fpcore", text), 500)
    return [(e.message, e.span.line, e.span.column) for e in caught.value.errors]


@pytest.mark.parametrize(
    ("body", "x", "expected"),
    [
        ("(+ x 1/4)", 1.0, 1.25),
        ("(- x)", 1.0, -1.0),
        ("(- x 1 2)", 1.0, -2.0),
        ("(/ 1 0)", 1.0, math.inf),
        ("(* 0x1.8p1 x)", 2.0, 6.0),
        ("(* (digits 5 -1 10) x)", 2.0, 1.0),
        ("(pow 2 x)", 3.0, 8.0),
        ("(fma x 2 1)", 3.0, 7.0),
        ("(fdim x 1)", 3.0, 2.0),
        ("(fdim x 4)", 3.0, 0.0),
        ("(tgamma x)", 5.0, 24.0),
        ("(tgamma x)", -1.5, math.gamma(-1.5)),
        ("(tgamma x)", -0.5, math.gamma(-0.5)),
        ("(round x)", 2.5, 3.0),
        ("(round x)", -2.5, -3.0),
        ("(round x)", 0.49999999999999994, 0.0),
        ("(nearbyint x)", 2.5, 2.0),
        ("(remainder x 3)", 5.0, math.remainder(5.0, 3.0)),
        ("(remainder x 2)", 3.0, math.remainder(3.0, 2.0)),
        ("(remainder x 0.1)", 1e15, math.remainder(1e15, 0.1)),
        ("(fmod x 3)", -5.0, -2.0),
        ("(copysign 2 x)", -1.0, -2.0),
        ("(cbrt x)", -8.0, -2.0),
        ("(if (< 0 x 1) 10 20)", 0.5, 10.0),
        ("(if (!= x 1 2) 10 20)", 2.0, 20.0),
        ("(if (and (> x 1) (not (isnan x))) 10 20)", 2.0, 10.0),
        ("(if (or (signbit x) (isinf x)) 10 20)", -0.0, 10.0),
        ("(if (isnormal x) 10 20)", 1e-310, 20.0),
        ("(let ([x (+ x 1)] [y x]) (- x y))", 5.0, 1.0),
        ("(let* ([x (+ x 1)] [y x]) (- x y))", 5.0, 0.0),
        ("(if (let ([y x]) (> y 1)) (let ([z 3]) (* z x)) x)", 5.0, 15.0),
        ("(while (< i 3) ([i 0 (+ i 1)] [s x (+ s i)]) s)", 1.0, 4.0),
        ("(while* (< i 3) ([i 0 (+ i 1)] [s x (+ s i)]) s)", 1.0, 7.0),
        ("(while (let ([j i]) (< j 3)) ([i 0 (+ i 1)]) (* x i))", 2.0, 6.0),
        ("(for ([i 3] [j 2]) ([s 0 (+ s (* i j))]) (+ x s))", 1.0, 4.0),
        ("(for* ([i 3]) ([a x (+ a i)] [b 0 (+ b a)]) b)", 1.0, 7.0),
        ("(cast (! :precision binary32 (* x PI)))", 1.0, math.pi),
        ("(array x (* 2 x))", 3.0, [3.0, 6.0]),
        ("(let ([y (* x x)]) (if (> y 1) (array x y) (array y x)))", 3.0, [3.0, 9.0]),
        ("TRUE", 1.0, True),
    ],
)
def test_values(body, x, expected):
    found = value(f"(FPCore (x) {body})", x=x)
    assert found == pytest.approx(expected, rel=1e-14)


def test_cores_call_those_before_them_and_themselves():
    text = "(FPCore sq (x) (* x x))\n(FPCore fact (n) (if (< n 1) 1 (* n (fact (- n 1)))))\n(FPCore (x) (+ (sq x) (fact 4)))"
    tree = core_trees(Source("f.fpcore", text), 500)[2]
    run = Program(tree).run(overrides={"x": "3"})
    assert run.scope["core 3"].item() == 33.0


def test_names_that_python_or_the_vocabulary_have_are_names():
    assert value("(FPCore (exp if-not* lambda) (+ (exp exp) (* if-not* lambda)))", **{"exp_2": 0.0, "if-not*": 2.0, "lambda": 3.0}) == 7.0


def test_a_core_is_called_by_its_name_property_then_by_its_symbol_then_by_its_number():
    text = '(FPCore a (x) :name "long name" x)\n(FPCore b (x) x)\n(FPCore (x) x)\n(FPCore (x) :name "b" x)\n'
    text += '(FPCore (x) :name "sin" (sin x))'
    names = [tree.task.output for tree in core_trees(Source("f.fpcore", text), 500)]
    assert names == ["long name", "b", "core 3", "b (4)", "sin"]


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("(FPCore (x)\n  (sin x)", "'(' was never closed", 1, 1),
        ("(FPCore (x) (sin x]))", "closing ']' does not match opening '('", 1, 19),
        ("(FPCore (x) x))", "unmatched ')'", 1, 15),
        ('(FPCore (x) :name "a x)', "unterminated string", 1, 19),
        ("(FPCore (x)\n ; comment (\n (sine x))", "unknown operation 'sine'", 3, 3),
        ("(FPCore (x) (+ x y))", "name 'y' is not defined", 1, 18),
        ("(FPCore (x) (let ([y 1]) x) y)", "an FPCore has one body, not 2", 1, 29),
        ("(FPCore (x) (let ([y y]) x))", "name 'y' is not defined", 1, 22),
        ("(FPCore (x) (sin x 1))", "sin takes 1 argument, not 2", 1, 13),
        ("(FPCore (x) (if x 1))", "if takes a condition and two expressions, not 2", 1, 13),
        ("(FPCore (x) (let ([y]) 1))", "expected a binding: [name expression]", 1, 19),
        ("(FPCore (x) (+ 1 (array x x)))", "array: tensors and arrays of FPCore are not supported", 1, 18),
        ("(FPCore ((A n)) 1)", "an array as an argument of an FPCore is not supported", 1, 10),
        ("(FPCore (x) (digits 1 99999 10))", "digits takes three whole numbers: (digits mantissa exponent base)", 1, 13),
        ("hello", "expected (FPCore (arguments) body)", 1, 1),
        ('(FPCore (x) "text")', "a string is no number", 1, 13),
    ],
)
def test_mistakes_are_told_with_their_place(text, message, line, column):
    assert errors(text) == [(message, line, column)]


def test_all_mistakes_of_all_cores_are_told():
    assert [e[0] for e in errors("(FPCore (x) (+ a b))\n(FPCore (x) (foo x))")] == [
        "name 'a' is not defined", "name 'b' is not defined", "unknown operation 'foo'",
    ]  # fmt: skip


def test_one_bad_core_leaves_the_others():
    found = core_trees(Source("f.fpcore", "(FPCore (x) (foo x))\n(FPCore (x) x)"), 500)
    assert [type(item).__name__ for item in found] == ["BadCore", "Tree"]
    assert isinstance(found[0], BadCore)


def test_nesting_is_limited():
    with pytest.raises(LimitError, match="nesting"):
        whole_tree(Source("f.fpcore", "(" * 100_000), 500)


def test_deep_nesting_within_the_limit_runs():
    depth = 490
    assert value(f"(FPCore (x) {'(+ 1 ' * depth}x{')' * depth})", x=1.0) == 1.0 + depth


def test_errors_show_the_text_of_the_core():
    text = "(FPCore (λ x)\n  (for ([i 1e12]) ([s 0 (+ s λ)]) s))"
    error = run_file(Source("f.fpcore", text), overrides={"λ": "1", "x": "1"}, limits=Limits(steps=1000)).error
    assert error.type == "LimitError"
    assert text.splitlines()[error.span.line - 1][error.span.column - 1 : error.span.end_column - 1] == "(+ s λ)"


# ---- points


def point(text: str, seed: int = 0) -> dict[str, float]:
    (tree,) = core_trees(Source("f.fpcore", text), 500)
    return {name: float(v) for name, v in tree.task.point(seed, {}).items()}


@pytest.mark.parametrize(
    ("pre", "holds"),
    [
        ("(< 1 x 2)", lambda x: 1 < x < 2),
        ("(and (>= x 1e10) (<= x 1e300))", lambda x: 1e10 <= x <= 1e300),
        ("(< 1 x 1.000001)", lambda x: 1 < x < 1.000001),
        ("(== x 3)", lambda x: x == 3),
        ("(and (< x -5) (> x (- (pow 10 3))))", lambda x: -1000 < x < -5),
        ("(<= (fabs x) 1/100)", lambda x: abs(x) <= 0.01),
        ("(> (* x x) 50)", lambda x: x * x > 50),
        ("(< x 1e-30)", lambda x: x < 1e-30),
    ],
)
def test_a_point_meets_the_precondition(pre, holds):
    for seed in range(5):
        assert holds(point(f"(FPCore (x) :pre {pre} (+ x 1))", seed)["x"])


def test_a_point_gives_a_finite_output():
    assert point("(FPCore (x) (sqrt (- x 2)))")["x"] >= 2


def test_a_point_depends_on_the_seed_alone():
    text = "(FPCore (x y) (+ x y))"
    assert point(text, 1) == point(text, 1) != point(text, 2)


def test_the_example_of_a_core_is_its_point():
    assert point("(FPCore (x y) :pre (< 5 (* x y)) :example ([x 2] [y 7/2]) (+ x y))") == {"x": 2.0, "y": 3.5}


def test_a_value_that_is_given_is_kept():
    (tree,) = core_trees(Source("f.fpcore", "(FPCore (x y) :pre (< x y (+ x 1)) (+ x y))"), 500)
    found = tree.task.point(0, {"x": "1"})
    assert found["x"] == "1"
    assert 1 < float(found["y"]) < 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("(FPCore (x) :pre (< x x) x)", "do not meet :pre"),
        ("(FPCore (x) (log (- (* x x))))", "give no finite output"),
        ("(FPCore (x) (while TRUE ([i 0 (+ i 1)]) x))", "take too many steps"),
    ],
)
def test_no_point(text, reason, monkeypatch):
    monkeypatch.setattr(sampling, "STEPS", 10_000)
    monkeypatch.setattr(sampling, "STEPS_EACH", 1000)
    with pytest.raises(NoPoint, match=reason):
        point(text)
