"""Whether a wrong rule is noticed: by the generic test over the catalogue, and by `gradcli check`."""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mpmath
import numpy as np

from gradcli.check import CheckOptions, check_file
from gradcli.check import collect as collecting
from gradcli.check import target as targets
from gradcli.check.judge import Judge
from gradcli.check.opinions import Witness
from gradcli.engine.backward import grad
from gradcli.engine.mode import state
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import Tracer
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation
from gradcli.references import derived
from gradcli.references.scalar import lift, number

TESTS = Path(__file__).resolve().parent.parent


def catalogue_tests() -> Any:
    """The module of the generic tests, for its cases."""
    if "catalogue_tests" not in sys.modules:
        spec = importlib.util.spec_from_file_location("catalogue_tests", TESTS / "ops" / "test_catalogue.py")
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules["catalogue_tests"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules["catalogue_tests"]


class Truth:
    """One example of an operation with its exact slope along a random direction: what the generic test compares."""

    def __init__(self, op: Operation, args: tuple[Any, ...], k: int, digits: int = 50) -> None:
        self.digits = digits
        self.tests = catalogue_tests()
        self.case = self.tests.Case(op, args, k)
        case = self.case
        self.usable = bool(case.moving) and op.node != "NotImplemented"
        if not self.usable:
            return
        self.direction = case.direction()
        exact = not case.complex and not getattr(op, "no_exact", "")
        self.cotangents, self.expected = self.exactly() if exact else self.numerically()
        self.alone = [self.only(k) for k in range(len(self.cotangents))] if len(self.cotangents) > 1 else []
        self.tolerance = 1e-11 if exact else 1e-6

    def exactly(self) -> tuple[tuple[Any, ...], float]:
        case, tests = self.case, self.tests
        with mpmath.workdps(self.digits):
            h = mpmath.mpf(10) ** -20
            sides = []
            for sign in (1, -1):
                moved = self.direction
                args = [lift(a)[()] + lift(moved[i])[()] * (sign * h) if i in moved else a for i, a in enumerate(case.args)]
                sides.append(tests.floating(derived.apply(case.op, tuple(args), case.decision)))
            cotangents = tuple(tests.draw(case.rng, np.zeros(np.shape(v))) for v in sides[0])
            total = mpmath.mpf(0)
            for g, up, down in zip(cotangents, *sides, strict=True):
                for w, a, b in zip(np.ravel(g), tests.flat(up), tests.flat(down), strict=True):
                    total += number(w) * (number(a) - number(b)) / (2 * h)
        return cotangents, float(total)

    def numerically(self) -> tuple[tuple[Any, ...], float]:
        case, tests = self.case, self.tests
        cotangents = tuple(tests.draw(case.rng, np.asarray(v)) for v in case.replay(case.args))
        slopes = []
        for h in (1e-3, 5e-4):
            up, down = case.replay(case.moved(self.direction, h)), case.replay(case.moved(self.direction, -h))
            slopes.append(tests.inner(cotangents, [(a - b) / (2 * h) for a, b in zip(up, down, strict=True)]))
        return cotangents, (4 * slopes[1] - slopes[0]) / 3

    def only(self, k: int) -> float:
        """The slope where the k-th result alone counts."""
        slopes = []
        for h in (1e-3, 5e-4):
            up, down = (self.case.replay(self.case.moved(self.direction, sign * h))[k] for sign in (1, -1))
            slopes.append(self.tests.inner([self.cotangents[k]], [(up - down) / (2 * h)]))
        return (4 * slopes[1] - slopes[0]) / 3

    def holds_alone(self, k: int) -> bool:
        """Whether the rules give the slope of the k-th result, with no gradient for the others."""
        case = self.case
        inputs = case.tensors()
        out = self.tests.outputs_of(case.op(*inputs))[k]
        if not out.requires_grad:
            return True
        leaves = [inputs[i] for i in case.moving]
        parts = [p.value for p in grad([out], leaves, [Tensor(self.cotangents[k])], materialize_grads=True)]
        got = self.tests.inner(parts, self.direction.values())
        room = 1e-6 * (self.tests.mass(parts, self.direction.values()) + abs(self.alone[k]))
        return bool(np.isfinite(got) and abs(got - self.alone[k]) <= room)

    def holds(self) -> bool:
        """Whether the rules give this slope."""
        if not all(self.holds_alone(k) for k in range(len(self.alone))):
            return False
        parts = self.case.gradient(self.case.args, self.cotangents)
        if any(np.shape(p) != np.shape(self.case.args[i]) for p, i in zip(parts, self.case.moving, strict=True)):
            return False
        if self.case.op.name.startswith("linalg.cholesky") and not np.allclose(parts[0], np.conj(np.swapaxes(parts[0], -1, -2)), rtol=1e-9):
            return False
        got = self.tests.inner(parts, self.direction.values())
        mass = self.tests.mass(parts, self.direction.values())
        return bool(np.isfinite(got) and abs(got - self.expected) <= self.tolerance * (mass + abs(self.expected)))


def truths(cls: type[Operation]) -> list[Truth]:
    """The examples of an operation."""
    rng = np.random.default_rng(zlib.crc32(cls.__name__.encode()))
    with np.errstate(all="ignore"):
        examples = list(cls.examples(rng))
        found = [Truth(op, args, k) for k, (op, args) in enumerate(examples)]
        found += [t for t in (attempt(*e) for e in [*special_points(cls, examples), *complex_points(cls, examples)]) if t is not None]
        return [t for t in found if t.usable]


GRIDS = {1: (-60.0, -30.0, -5.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 5.0, 30.0), 2: (-3.0, -1.0, 0.0, 1.0, 2.5), 3: (-1.0, 0.0, 1.5)}
"""Where elementwise rules have their branches: zeros, ones, ties, both tails."""


TAIL_DIGITS = 900
"""Digits that tell 2 - erfc(42) from 2."""


def special_points(cls: type[Operation], examples: list[Any]) -> Iterator[tuple[Operation, tuple[Any, ...], int]]:
    """For an elementwise operation all points of a grid at which its rule is right, at once, for each of its instances."""
    if not issubclass(cls, Elementwise) or len(cls.arguments) not in GRIDS:
        return
    rows = list(itertools.product(GRIDS[len(cls.arguments)], repeat=len(cls.arguments)))
    for op in {repr(op): op for op, args in examples if all(getattr(a, "dtype", np.dtype(bool)).kind == "f" for a in args)}.values():
        left = rows
        for digits in (50, TAIL_DIGITS):
            kept = [row for row in left if attempt(op, tuple(np.float64(v) for v in row), digits) is not None]
            left = [row for row in left if row not in kept]
            if kept:
                yield op, tuple(np.array(column) for column in zip(*kept, strict=True)), digits
            if len(cls.arguments) > 1:
                break


def complex_points(cls: type[Operation], examples: list[Any]) -> Iterator[tuple[Operation, tuple[Any, ...]]]:
    """The examples with an imaginary part, for rules that conjugate."""
    if "conj" in inspect.getsource(cls):
        rng = np.random.default_rng(5)
        for op, args in examples:
            if all(getattr(a, "dtype", np.dtype(int)).kind == "f" for a in args):
                yield op, tuple(a + 1j * rng.uniform(0.2, 0.8, np.shape(a)) for a in args)


def attempt(op: Operation, args: tuple[Any, ...], digits: int = 50) -> Truth | None:
    """An example, where the references can speak and the rule is right."""
    try:
        truth = Truth(op, args, 10_000, digits)
        return truth if truth.usable and np.isfinite(truth.expected) and truth.holds() else None
    except Exception:
        return None


def generic_tests_hold(found: list[Truth]) -> bool:
    """Whether no example notices anything; a rule that raises is noticed."""
    try:
        with np.errstate(all="ignore"):
            return all(truth.holds() for truth in found)
    except Exception:
        return False


# ---- gradcli check


class Programs:
    """Programs of one operation each, as text; where there is no text for it, the same done by hand."""

    def __init__(self, found: list[Truth]) -> None:
        self.cases = [t.case for t in found]
        self.texts: list[str] = []
        self.direct: list[Any] = []
        for case in self.cases:
            text = program(case)
            if text is not None and right(text):
                self.texts.append(text)
            elif not case.complex and judged_right(case):
                self.direct.append(case)

    @property
    def some(self) -> bool:
        return bool(self.texts or self.direct)

    def hold(self) -> bool:
        """Whether check finds nothing wrong in any of them."""
        try:
            return all(right(text) for text in self.texts) and all(judged_right(case) for case in self.direct)
        except Exception:
            return False


def program(case: Any) -> str | None:
    """The example as a program: its leaves, the call, a check along one direction; no other operation, so that nothing cancels."""
    if not case.op.name.replace("_", "").replace(".", "").isalnum():
        return None
    lines, names = [], []
    for k, arg in enumerate(case.args):
        if not isinstance(arg, (np.ndarray, np.generic)):
            return None
        names.append(f"x{k}")
        lines.append(f"x{k} = tensor({np.asarray(arg).tolist()!r}{', requires_grad=True' if k in case.moving else ''})")
    options = [f"{name}={value!r}" for name, value in case.op.settings().items()]
    lines += ["import torch", f"y = torch.{case.op.name}({', '.join([*names, *options])})"]
    if case.op.outputs > 1 and not case.complex:
        return None
    results = case.replay(case.args)
    rng = np.random.default_rng(1)
    if case.op.outputs > 1:
        return "\n".join([*lines, *(f"check(y[{k}])" for k in range(len(results)))]) + "\n"
    (result,) = results
    weights = np.asarray(rng.uniform(0.5, 1.5, np.shape(result)) * rng.choice([-1.0, 1.0], np.shape(result)))
    if np.asarray(result).dtype.kind == "c":
        weights = weights + 1j * rng.uniform(0.5, 1.5, np.shape(result))
    lines.append(f"check(y, grad_outputs=tensor({weights.tolist()!r}))")
    return "\n".join(lines) + "\n"


def right(text: str) -> bool:
    """Whether check runs a program and finds its gradient right."""
    found = check_file("mutant.grad", text, CheckOptions())
    return found.error is None and not found.failing and bool(found.targets) and found.status in ("pass", "kink", "unstable")


def judged_right(case: Any) -> bool:
    """What check does, for an operation called by hand: each result alone, and several together."""
    state.reset()
    state.tracer, state.keep_graph = Tracer(), True
    try:
        with np.errstate(all="ignore"):
            inputs = case.tensors()
            made = case.op(*inputs)
            outputs = [o for o in (made if isinstance(made, tuple) else (made,)) if o.is_floating and o.requires_grad]
            rng = np.random.default_rng(2)
            weights = [np.asarray(rng.uniform(0.5, 1.5, o.shape)) for o in outputs]
            if len(outputs) > 1:
                total = sum((o * Tensor(w[()])).sum() for o, w in zip(outputs, weights, strict=True))
                outputs, weights = [*outputs, total], [*weights, np.ones(())]
            wrt = [(f"x{i}", None, inputs[i]) for i in case.moving]
            found = [targets.make(o, "y", wrt, w, None) for o, w in zip(outputs, weights, strict=True)]
            return all(passes(target, k) for target in found for k in range(len(target.inputs)))
    finally:
        state.reset()


def passes(target: Any, position: int) -> bool:
    witness = Witness(target.inputs, 200_000)
    opinion = witness.opinion(position)
    item = target.inputs[position]
    judged = Judge(item.autograd, opinion, item.dtype, lambda: None, lambda elements: witness.arbitrate(position, elements)).judge()
    return not judged.failing.any() and bool((judged.verdicts != "unchecked").all())


__all__ = ["Programs", "Truth", "collecting", "generic_tests_hold", "truths"]
