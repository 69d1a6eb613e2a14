"""The panel of tests/check through other checkers, side by side: their default rules on the same gradients at the same points.

    python tests/benchmarks/panel_against_others.py [-v]

Needs torch or jax (one that is missing is left out). Each case is run by gradcli; the other checkers get its function
(the traced program, every switch decided anew) and, as the derivative, what the program's autograd, or its claim, gives.
A false alarm is a right gradient that is not passed, a miss a wrong one that is. Cases that are wrong only where a user
Function is looked at alone, and those with several targets, are judged by their first target that is wrong, else the last.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gradcli.check import CheckOptions, check_file
from gradcli.check.collect import collect, judging
from gradcli.check.target import Target
from gradcli.engine.trace import Tracer
from gradcli.interpreter.program import Program
from gradcli.references.path import Path as Route
from gradcli.syntax.parser import parse
from gradcli.syntax.source import Source

PANEL = Path(__file__).resolve().parent.parent / "check" / "panel" / "cases.py"


@dataclass
class Gradient:
    """A function of arrays, the point, and the gradient under test (for grad_outputs `weights`)."""

    function: Callable[..., np.ndarray]
    point: list[np.ndarray]
    gradient: list[np.ndarray]


def panel() -> list[Any]:
    spec = importlib.util.spec_from_file_location("panel_cases", PANEL)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["panel_cases"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.cases()


def gradient_of(case: Any) -> Gradient | None:
    """The gradient of a case that others can be shown: one weighted term; None where there is no such thing."""
    tree = parse(Source(case.name, case.program))
    run, targets = collect(Program(tree), CheckOptions(), Tracer())
    if run.error is not None or not targets:
        return None
    with judging(run):
        target = next((t for t in targets if t.inputs[0].claimed is not None), targets[-1])
        return shown(target)


def shown(target: Target) -> Gradient | None:
    terms = {id(t): t for i in target.inputs for t in i.terms}
    (term,) = terms.values() if len(terms) == 1 else (None,)
    if term is None or term.record is None or term.weights is None or any(i.constant is not None for i in target.inputs):
        return None
    records = [i.records(term) for i in target.inputs]
    if not all(records):
        return None
    route, weights = Route(term.record, records), term.weights

    def function(*arrays: np.ndarray) -> np.ndarray:
        moved = [
            [np.asarray(r.value, float) + (a - np.asarray(rs[-1].value, float)) for r in rs] for a, rs in zip(arrays, records, strict=True)
        ]
        with np.errstate(all="ignore"):
            return np.asarray(np.sum(np.asarray(route.replay(moved, lambda r, args: r.op(*args))) * weights), float)

    point = [np.array(rs[-1].value, float) for rs in records]
    given = [np.asarray(i.autograd if i.claimed is None else i.claimed, float) for i in target.inputs]
    return Gradient(function, point, given)


# ---- the others


def torch_checker(fast: bool) -> Callable[[Gradient], bool] | None:
    try:
        import torch
    except ImportError:
        return None

    def passes(g: Gradient) -> bool:
        class Given(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, *inputs: Any) -> Any:
                return torch.as_tensor(g.function(*[t.detach().numpy() for t in inputs]))

            @staticmethod
            def backward(ctx: Any, up: Any) -> Any:
                return tuple(up * torch.as_tensor(v) for v in g.gradient)

        inputs = tuple(torch.tensor(p, dtype=torch.float64, requires_grad=True) for p in g.point)
        try:
            return bool(torch.autograd.gradcheck(Given.apply, inputs, fast_mode=fast, raise_exception=False))
        except Exception:
            return False

    return passes


def jax_checker() -> Callable[[Gradient], bool] | None:
    try:
        import jax
        from jax.test_util import check_grads
    except ImportError:
        return None
    jax.config.update("jax_enable_x64", True)

    def passes(g: Gradient) -> bool:
        @jax.custom_vjp
        def given(*inputs: Any) -> Any:
            return jax.pure_callback(lambda *a: g.function(*map(np.asarray, a)), jax.ShapeDtypeStruct((), np.float64), *inputs)

        given.defvjp(lambda *inputs: (given(*inputs), None), lambda _, up: tuple(up * jax.numpy.asarray(v) for v in g.gradient))
        try:
            check_grads(given, tuple(map(jax.numpy.asarray, g.point)), order=1, modes=["rev"])
        except Exception:
            return False
        return True

    return passes


def gradcli_passes(case: Any) -> bool:
    return not check_file(case.name, case.program, CheckOptions()).failing


def main() -> None:
    warnings.simplefilter("ignore")
    others = {"torch gradcheck, slow": torch_checker(False), "torch gradcheck, fast": torch_checker(True), "jax check_grads": jax_checker()}
    present = {name: checker for name, checker in others.items() if checker is not None}
    counts = {name: [0, 0] for name in ["gradcli", *present]}
    sizes = [0, 0]
    for case in panel():
        shown_to_others = gradient_of(case)
        if shown_to_others is None:
            continue
        sizes[not case.right] += 1
        verdicts = {"gradcli": gradcli_passes(case), **{name: checker(shown_to_others) for name, checker in present.items()}}
        for name, passed in verdicts.items():
            counts[name][not case.right] += passed is not case.right
        if "-v" in sys.argv and len(set(verdicts.values())) > 1:
            said = ", ".join(name for name, passed in verdicts.items() if passed is not case.right)
            print(f"{'right' if case.right else 'wrong'}  {case.name:50} misjudged by {said}")
    print(f"{'checker':26} false alarms of {sizes[0]}   misses of {sizes[1]}")
    for name, (alarms, misses) in counts.items():
        print(f"{name:26} {alarms:15}   {misses:11}")
    for name in others.keys() - present.keys():
        print(f"{name:26} not installed")


if __name__ == "__main__":
    main()
