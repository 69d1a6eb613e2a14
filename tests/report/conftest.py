"""Results made by hand, as `check` would give them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gradcli.check.result import AssertResult, Blame, CheckResult, FileResult, FunctionResult, InputResult, Note, TargetResult
from gradcli.errors import ProgramError, Span
from gradcli.syntax import Source

SQUARE = """\
class Square(Function):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x

x = tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
out = Square.apply(x).mean()
assert out > 0
"""


def leaf(autograd, symbolic, *, name="x", status="pass", verdicts=None, failing=None, **more) -> InputResult:
    autograd, symbolic = np.asarray(autograd), np.asarray(symbolic)
    shape = autograd.shape
    words = np.full(shape, status, dtype=object) if verdicts is None else np.asarray(verdicts, dtype=object)
    fields = {
        "line": 7,
        "shape": shape,
        "finite_difference": symbolic,
        "fd_error": np.full(shape, 2.5e-11),
        "error": np.abs(autograd - symbolic),
        "max_rel_error": float(np.max(np.abs(autograd - symbolic))) if autograd.size else 0.0,
        **more,
    }
    return InputResult(
        name=name,
        status=status,
        autograd=autograd,
        symbolic=symbolic,
        verdicts=words,
        failing=np.full(shape, status == "fail") if failing is None else np.asarray(failing),
        **fields,
    )


def target(*inputs: InputResult, **more) -> TargetResult:
    fields = {
        "output": "out",
        "line": 8,
        "shape": (),
        "value": np.float64(15.0),
        "grad_outputs": None,
        "order": 1,
        "status": inputs[0].status if inputs else "pass",
        "failing": any(np.any(item.failing) for item in inputs),
        "symbolic": "per-node",
        "finite_difference": "full",
        **more,
    }
    return TargetResult(inputs=list(inputs), **fields)


def passing() -> FileResult:
    item = leaf([0.5, -1 / 3], [0.5, -1 / 3], max_ulps=0.0)
    return FileResult("mse.grad", "pass", False, [target(item)], asserts=[AssertResult(9, "pass", "")], seconds=0.25)


def wrong() -> FileResult:
    right = np.arange(1.0, 7.0).reshape(2, 3) / 3
    item = leaf(right / 2, right, status="fail", max_rel_error=0.5)
    blame = Blame(5, 16, "Square", "half of the derivative of its forward: a factor 2 is missing")
    notes = [Note("stop-gradient", "detach() of scale: held constant by the references", 4)]
    return FileResult(
        "square.grad",
        "fail",
        True,
        [target(item, blame=blame, notes=notes)],
        [FunctionResult("Square", 1, "fail", True, "differs from its forward by a factor 0.5 in 6 of 6 elements")],
        [AssertResult(9, "fail", "out is negative:\n-15")],
        source=Source("square.grad", SQUARE),
    )


def kinked() -> FileResult:
    item = leaf([0.0, 0.0, 1.0], [0.0, 0.0, 1.0], status="kink", verdicts=["pass", "kink", "pass"])
    notes = [Note("kink", "relu is at 0: slopes 0 and 1, autograd takes 0", 3)]
    return FileResult("relu.grad", "kink", False, [target(item, notes=notes)], expected="kink", met=True)


def not_a_number() -> FileResult:
    item = leaf([np.nan, 0.25], [1.0, 0.25], status="nan", verdicts=["nan", "pass"], failing=[True, False], error=np.array([np.nan, 0.0]))
    return FileResult("where.grad", "nan", True, [target(item)], expected="pass", met=False)


def broken() -> FileResult:
    source = Source("broken.grad", "x = tensor(1.0)\ny = 2 * sni(x)\n")
    error = ProgramError(
        "name 'sni' is not defined", Span(2, 9, 2, 12), type="NameError", kind="name", hint="did you mean 'sin'?", code="G301"
    )
    return FileResult("broken.grad", "error", True, error=error, source=source)


def unchecked() -> FileResult:
    item = leaf([2.0], [np.nan], status="unchecked", finite_difference=None, fd_error=None, max_rel_error=0.0)
    methods = {"symbolic": "none: no rule for eigh", "finite_difference": "none: the forward is random"}
    return FileResult("eigen.grad", "unchecked", False, [target(item, **methods)])


def jacobian() -> FileResult:
    item = leaf(np.eye(2), np.eye(2), shape=(2,), max_ulps=1.0)
    return FileResult("rows.grad", "pass", False, [target(item, shape=(2,), output="z", value=np.ones(2))])


FILES = {make.__name__: make for make in (passing, wrong, kinked, not_a_number, broken, unchecked, jacobian)}


@pytest.fixture
def result() -> Callable[..., CheckResult]:
    """`result("passing", "wrong")`: a check of these files; all of them without names."""
    return lambda *names: CheckResult([FILES[name]() for name in names or FILES], seed=0, version="0.1.0")


@pytest.fixture
def make_leaf() -> Callable[..., InputResult]:
    return leaf


@pytest.fixture
def make_target() -> Callable[..., TargetResult]:
    return target
