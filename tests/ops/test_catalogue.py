"""Every operation of the package, at every one of its examples: rules, references, replays, dtypes.

Inner products are real: <a, b> = Re sum(conj(a) b), so that complex gradients follow PyTorch's convention.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Iterable
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy

import gradcli.ops.catalogue  # noqa: F401 (loads every family)
from gradcli.engine import Tensor, grad
from gradcli.errors import AutogradError
from gradcli.ops.comparison import BitwiseAnd, BitwiseNot, BitwiseOr, BitwiseXor
from gradcli.ops.complement import Complement
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation
from gradcli.ops.shape import UnsafeView
from gradcli.references import derived
from gradcli.references.scalar import lift, number


def concrete(cls: type[Operation]) -> list[type[Operation]]:
    found = [cls] if "name" in cls.__dict__ and cls is not Operation and cls.__module__.startswith("gradcli.ops.") else []
    return found + [c for sub in cls.__subclasses__() for c in concrete(sub)]


CLASSES = sorted(set(concrete(Operation)), key=lambda cls: (cls.__module__, cls.__qualname__))


class Case:
    """An operation at arguments: what all tests here are run on."""

    def __init__(self, op: Operation, args: tuple[Any, ...], k: int) -> None:
        self.op = op
        self.args = tuple(np.asarray(a)[()] if isinstance(a, (np.ndarray, np.generic)) else a for a in args)
        self.id = f"{type(op).__module__.rpartition('.')[2]}.{type(op).__name__}-{k}"
        self.rng = np.random.default_rng(zlib.crc32(self.id.encode()))
        self.moving = [i for i, a in enumerate(self.args) if can_move(a) and (op.variadic or op.rules[i] is not None)]
        self.decision = op.decide(*self.args) if op.decides else None

    @property
    def complex(self) -> bool:
        """Whether complex numbers come in or out."""
        return any(v.dtype.kind == "c" for v in [*self.replay(self.args), *[self.args[i] for i in self.moving]])

    def replay(self, args: Any) -> tuple[Any, ...]:
        """The floating results with the decision of the example."""
        return floating(self.op.replay(args, self.decision))

    def direction(self) -> dict[int, Any]:
        """A random step for each moving argument."""
        steps = {i: draw(self.rng, self.args[i]) for i in self.moving}
        if self.op.name in SYMMETRIC:
            return {i: step + np.conjugate(np.swapaxes(step, -1, -2)) for i, step in steps.items()}
        if self.op.name in TRIANGULAR:
            *rest, (i, step) = steps.items()
            return {**dict(rest), i: (np.triu if self.op.settings()["upper"] else np.tril)(step)}
        return steps

    def moved(self, direction: dict[int, Any], h: float) -> list[Any]:
        return [a + h * direction[i] if i in direction else a for i, a in enumerate(self.args)]

    def tensors(self, args: Any = None) -> list[Any]:
        return [Tensor(np.array(a)[()], True) if i in self.moving else a for i, a in enumerate(self.args if args is None else args)]

    def gradient(self, args: Any, cotangents: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of the moving arguments by the rules, as arrays."""
        inputs = self.tensors(args)
        leaves = [inputs[i] for i in self.moving]
        parts = grad(outputs_of(self.op(*inputs)), leaves, [Tensor(g) for g in cotangents], materialize_grads=True)
        return tuple(part.value for part in parts)


SYMMETRIC = frozenset({"linalg.cholesky", "linalg.eigh"})
"""Operations that read one triangle of a matrix which they take to be symmetric: it is moved only along symmetric directions."""


TRIANGULAR = frozenset({"cholesky_solve", "cholesky_inverse"})
"""Operations that read one triangle of their last argument, a Cholesky factor."""


def can_move(arg: Any) -> bool:
    return isinstance(arg, (np.ndarray, np.generic)) and arg.dtype.kind in "fc"


def draw(rng: np.random.Generator, like: Any) -> Any:
    real = rng.uniform(0.5, 1.5, np.shape(like)) * rng.choice([-1.0, 1.0], np.shape(like))
    value = real + 1j * rng.normal(size=np.shape(like)) if like.dtype.kind == "c" else real
    return np.asarray(value, dtype=like.dtype)[()]


def floating(out: Any) -> tuple[Any, ...]:
    return tuple(v for v in (out if isinstance(out, tuple) else (out,)) if np.asarray(v).dtype.kind in "fcO")


def outputs_of(out: Any) -> list[Tensor]:
    return [t for t in (out if isinstance(out, tuple) else (out,)) if t.is_floating]


def flat(value: Any) -> Any:
    """The exact numbers of a result, one after the other."""
    return np.ravel(np.asarray(value, dtype=object))


def inner(a: Any, b: Any) -> float:
    return float(sum(np.sum(np.conj(x) * y).real for x, y in zip(a, b, strict=True)))


def mass(a: Any, b: Any) -> float:
    """The sum of the absolute terms of an inner product: the scale at which it is rounded."""
    return float(sum(np.sum(np.abs(x) * np.abs(y)) for x, y in zip(a, b, strict=True))) + 1e-300


def cases() -> list[Case]:
    found = []
    for cls in CLASSES:
        if cls.examples.__func__ is not Operation.examples.__func__:
            rng = np.random.default_rng(zlib.crc32(cls.__name__.encode()))
            found += [Case(op, args, k) for k, (op, args) in enumerate(cls.examples(rng))]
    return found


CASES = cases()
SMOOTH = [c for c in CASES if c.op.differentiable and c.moving and c.op.node != "NotImplemented"]


def each(cases: Iterable[Case]) -> Callable[[Callable[[Case], None]], Any]:
    """One test for each operation, over all of its examples: for pytest a test of its own would cost more than the example does.

    `.alone` is the test of one example.
    """
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.id.rpartition("-")[0], []).append(case)

    def over(alone: Callable[[Case], None]) -> Any:
        def test(examples: list[Case]) -> None:
            for case in examples:
                try:
                    alone(case)
                except Exception as error:
                    error.add_note(f"at {case.id}: {case.op!r}")
                    raise

        test.__name__, test.__doc__, test.alone = alone.__name__, alone.__doc__, alone  # type: ignore[attr-defined]
        return pytest.mark.parametrize("examples", groups.values(), ids=list(groups))(test)

    return over


every_case = each(SMOOTH)
every_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda c: f"{c.__module__.rpartition('.')[2]}.{c.__name__}")


@every_class
def test_says_what_it_is(cls: type[Operation]) -> None:
    assert inspect.getdoc(cls), "an operation has a docstring"
    if not cls.differentiable:
        return
    assert any(type(c.op) is cls for c in CASES), "an operation has examples"
    if issubclass(cls, Elementwise):
        assert cls.symbolic is not Elementwise.symbolic or cls.exact is not Operation.exact, "an elementwise operation has a symbolic form"
    if cls.decides:
        assert cls.branch is not Operation.branch


@each(c for c in CASES if c.op.node == "NotImplemented")
def test_what_has_no_derivative_in_pytorch_says_so(case: Case) -> None:
    inputs = case.tensors()
    out = case.op(*inputs)
    with pytest.raises(AutogradError, match=r"derivative for aten::\w+ is not implemented"):
        grad([out], inputs, [Tensor(np.ones(out.shape))])


@each(c for c in SMOOTH if isinstance(c.op, Elementwise) and type(c.op).symbolic is not Elementwise.symbolic and not c.complex)
def test_rule_is_the_derivative_that_sympy_finds(case: Case) -> None:
    place = int(case.rng.integers(np.broadcast(*case.args).size))
    point = [np.broadcast_to(a, np.broadcast_shapes(*map(np.shape, case.args))).reshape(-1)[place] for a in case.args]
    options = {"decision": case.op.decide(*point).item()} if case.op.decides else {}
    symbols = [sympy.Dummy(name, real=True) for name in case.op.arguments]
    form = sympy.sympify(case.op.symbolic(sympy, *symbols, **options))
    inputs = [Tensor(np.float64(v), True) if i in case.moving else v for i, v in enumerate(point)]
    out = case.op(*inputs)
    parts = grad([out], [inputs[i] for i in case.moving], materialize_grads=True)
    with mpmath.workdps(50):
        at = [number(v) for v in point]
        value = sympy.lambdify(symbols, form, modules="mpmath")(*at)
        assert out.value == pytest.approx(float(value), rel=2e-14, abs=1e-300)
        for symbol, part in zip([symbols[i] for i in case.moving], parts, strict=True):
            slope = sympy.lambdify(symbols, sympy.diff(form, symbol), modules="mpmath")(*at)
            assert part.value == pytest.approx(float(slope), rel=4e-14, abs=1e-300)


@each(c for c in SMOOTH if not c.complex and not getattr(c.op, "no_exact", ""))
def test_rule_is_the_derivative_of_the_exact_form(case: Case) -> None:
    """Along a random direction, against a central difference at 50 digits, which leaves no error of its own."""
    direction = case.direction()
    with mpmath.workdps(50):
        h = mpmath.mpf(10) ** -20
        results = []
        for sign in (1, -1):
            args = [lift(a)[()] + lift(direction[i])[()] * (sign * h) if i in direction else a for i, a in enumerate(case.args)]
            out = derived.apply(case.op, tuple(args), case.decision)
            results.append(floating(out))
        cotangents = tuple(draw(case.rng, np.zeros(np.shape(v))) for v in results[0])
        total = mpmath.mpf(0)
        for g, up, down in zip(cotangents, *results, strict=True):
            for weight, a, b in zip(np.ravel(g), flat(up), flat(down), strict=True):
                total += number(weight) * (number(a) - number(b)) / (2 * h)
        expected = float(total)
    parts = case.gradient(case.args, cotangents)
    got = inner(parts, direction.values())
    assert abs(got - expected) <= 1e-11 * mass(parts, direction.values()) + 1e-13 * abs(expected)


@every_case
def test_rule_is_the_slope_of_forward(case: Case) -> None:
    """Along a random direction, against central differences of the values, extrapolated."""
    direction = case.direction()
    cotangents = tuple(draw(case.rng, np.asarray(v)) for v in case.replay(case.args))
    slopes = []
    for h in (1e-3, 5e-4):
        up, down = case.replay(case.moved(direction, h)), case.replay(case.moved(direction, -h))
        slopes.append(inner(cotangents, [(a - b) / (2 * h) for a, b in zip(up, down, strict=True)]))
    expected = (4 * slopes[1] - slopes[0]) / 3
    parts = case.gradient(case.args, cotangents)
    for part, i in zip(parts, case.moving, strict=True):
        assert part.shape == np.shape(case.args[i])
    assert abs(inner(parts, direction.values()) - expected) <= 1e-6 * (mass(parts, direction.values()) + abs(expected))


@every_case
def test_gradient_can_be_differentiated_again(case: Case) -> None:
    """By the arguments against differences of the first gradient; by the cotangent, in which every rule is linear."""
    cotangents = tuple(draw(case.rng, np.asarray(v)) for v in case.replay(case.args))
    weights = tuple(draw(case.rng, case.args[i]) for i in case.moving)
    direction = case.direction()
    inputs = case.tensors()
    given = [Tensor(g, True) for g in cotangents]
    leaves = [inputs[i] for i in case.moving]
    parts = grad(outputs_of(case.op(*inputs)), leaves, given, create_graph=True, materialize_grads=True)
    assert all(isinstance(part, Tensor) for part in parts)
    asking = [(part, Tensor(w)) for part, w in zip(parts, weights, strict=True) if part.requires_grad]
    first = [part.value for part in parts]
    if not asking:
        assert all(not np.any(v) for v in first), "a gradient without history is zero"
        return
    second = grad([p for p, _ in asking], [*leaves, *given], [w for _, w in asking], materialize_grads=True)
    by_leaf, by_cotangent = [t.value for t in second[: len(leaves)]], [t.value for t in second[len(leaves) :]]
    assert inner(by_cotangent, cotangents) == pytest.approx(inner(first, weights), rel=1e-9, abs=1e-9 * mass(first, weights))
    slopes = []
    for h in (1e-4, 5e-5):
        up = case.gradient(case.moved(direction, h), cotangents)
        down = case.gradient(case.moved(direction, -h), cotangents)
        slopes.append(inner(weights, [(a - b) / (2 * h) for a, b in zip(up, down, strict=True)]))
    expected = (4 * slopes[1] - slopes[0]) / 3
    tolerance = 2e-6 * (mass(by_leaf, direction.values()) + abs(expected)) + 1e-9 * mass(first, weights)
    assert abs(inner(by_leaf, direction.values()) - expected) <= tolerance


@each(c for c in CASES if not (c.op.view or isinstance(c.op, Complement | UnsafeView | BitwiseAnd | BitwiseOr | BitwiseXor | BitwiseNot)))
def test_only_views_share_memory_with_their_arguments(case: Case) -> None:
    """Else writing to a result, or a gradient, in place would change what a later backward pass reads.

    Operations that are parts of others, or of whole numbers, are left out.
    """
    args = [np.array(a) if isinstance(a, np.ndarray) else a for a in case.args]
    out = case.op.forward(*args)
    for result in out if isinstance(out, tuple) else (out,):
        assert not any(isinstance(a, np.ndarray) and np.shares_memory(result, a) for a in args)


@every_case
def test_gradients_share_no_memory_with_what_is_kept(case: Case) -> None:
    inputs = case.tensors()
    outputs = outputs_of(case.op(*inputs))
    kept = [t.value for t in (*inputs, *outputs) if isinstance(t, Tensor)]
    cotangents = [Tensor(np.ones(o.shape, o.dtype)[()]) for o in outputs]
    for part in grad(outputs, [inputs[i] for i in case.moving], cotangents, materialize_grads=True):
        assert not any(np.shares_memory(part.value, value) for value in kept)


@every_case
def test_batch_is_a_loop_of_replays(case: Case) -> None:
    rows = [case.moved(case.direction(), 1e-6) for _ in range(3)]
    choices = [(i,) for i in case.moving] if len(case.moving) > 1 else []
    for chosen in [*choices, tuple(case.moving)]:
        lead = [i in chosen for i in range(len(case.args))]
        args = [np.stack([row[i] for row in rows]) if lead[i] else a for i, a in enumerate(case.args)]
        got = case.op.batch(args, lead, case.decision)
        want = [case.op.replay([row[i] if lead[i] else a for i, a in enumerate(case.args)], case.decision) for row in rows]
        for k, result in enumerate(got if isinstance(got, tuple) else (got,)):
            expected = np.stack([w[k] if isinstance(w, tuple) else w for w in want])
            assert result.shape == expected.shape
            np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-14)


@each(c for c in SMOOTH if not c.complex and "dtype" not in c.op.parameters)
def test_float32_stays_float32(case: Case) -> None:
    small = [np.asarray(a, dtype=np.float32)[()] if can_move(a) else a for a in case.args]
    inputs = case.tensors(small)
    outputs = outputs_of(case.op(*inputs))
    doubled = [np.asarray(a, dtype=np.float64)[()] if can_move(a) else a for a in small]
    exact = case.replay(doubled)
    for out, value in zip(outputs, exact, strict=True):
        assert out.dtype == np.float32
        np.testing.assert_allclose(out.value, value, rtol=2e-5, atol=2e-5 * np.max(np.abs(value), initial=0))
    cotangents = tuple(draw(case.rng, out.value) for out in outputs)
    parts = grad(outputs, [inputs[i] for i in case.moving], [Tensor(g) for g in cotangents], materialize_grads=True)
    wide = case.gradient(doubled, tuple(np.float64(g) for g in cotangents))
    for part, expected in zip(parts, wide, strict=True):
        assert part.dtype == np.float32
        np.testing.assert_allclose(part.value, expected, rtol=1e-4, atol=1e-4 * np.max(np.abs(expected), initial=0))


class WrongTail(Elementwise):
    """exp(x) with a rule that is off by a tenth of a percent."""

    def forward(self, x: Any) -> Any:
        return np.exp(x)

    def d_x(self, out: Any) -> Any:
        return out * 1.001

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return sympy.exp(x)


class WrongSecond(Elementwise):
    """x**2 with a rule whose own history is lost."""

    def forward(self, x: Any) -> Any:
        return x * x

    def d_x(self, x: Any) -> Any:
        return 2 * (x.value if isinstance(x, Tensor) else x)

    def symbolic(self, sympy: Any, x: Any) -> Any:
        return x**2


@pytest.mark.parametrize("cls", [WrongTail, WrongSecond])
def test_these_tests_see_a_wrong_rule(cls: type[Elementwise]) -> None:
    (op, args), *_ = cls.examples(np.random.default_rng(0))
    checks = (
        test_rule_is_the_derivative_that_sympy_finds, test_rule_is_the_derivative_of_the_exact_form, test_rule_is_the_slope_of_forward,
        test_gradient_can_be_differentiated_again,
    )  # fmt: skip
    for check in checks if cls is WrongTail else checks[-1:]:
        with pytest.raises(AssertionError):
            check.alone(Case(op, args, 0))
