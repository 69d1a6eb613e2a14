"""Wrong derivative rules, made from the right ones at run time.

Two families: what a rule gives is changed (scaled, turned, shifted, masked, ...), or its source is (a term or a factor
dropped, a sign flipped, a call left out, the branches of a `where` exchanged).
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.engine import node as nodes
from gradcli.ops.catalogue import OPERATIONS
from gradcli.ops.operation import Operation

Rule = Callable[..., Any]


@dataclass(frozen=True)
class Mutant:
    """One wrong rule: of which operation and argument ("item" for any number of them), and how it was made."""

    cls: type[Operation]
    argument: str
    how: str
    rule: Rule

    @property
    def name(self) -> str:
        return f"{self.cls.__name__}.{self.argument}: {self.how}"


class Compared:
    """A wrong rule that keeps an eye on the right one: `effect` when they ever differed, `refused` when the right one raised."""

    def __init__(self, right: Rule, wrong: Rule) -> None:
        self.right, self.wrong = right, wrong
        self.effect = self.refused = False

    def __call__(self, op: Operation, *args: Any) -> Any:
        try:
            expected = self.right(op, *args)
        except Exception:
            self.refused = True
            raise
        try:
            found = self.wrong(op, *args)
        except Exception:
            self.effect = True
            raise
        self.effect = self.effect or not same(found, expected)
        return found


def same(a: Any, b: Any) -> bool:
    """Whether two results of a rule are one and the same (None stands for zeros)."""
    a, b = (np.zeros(()) if v is None else np.asarray(getattr(v, "value", v)) for v in (a, b))
    if not a.any() and not b.any():
        return a.size == b.size or not a.ndim or not b.ndim
    if a.shape != b.shape:
        return False
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc" and b.dtype.kind in "fc"))


@contextmanager
def applied(mutant: Mutant) -> Iterator[Compared]:
    """The engine with the wrong rule in the place of the right one."""
    cls = mutant.cls
    rules, plans = cls.rules, cls.plans
    own = cls.__dict__.get("vjp_item")
    cls.plans = {}
    right = next(rule for argument, rule, _ in rules_of(cls) if argument == mutant.argument)
    compared = Compared(right, mutant.rule)
    if mutant.argument == "item":

        def vjp_item(self: Any, index: int, g: Any, values: Any) -> Any:
            return compared(self, index, g, values)

        def vjp_shapes(self: Any, index: int, g: Any, shapes: Any) -> Any:
            return compared(self, index, g, shapes)

        wants_values = "values" in inspect.signature(right).parameters
        cls.vjp_item = vjp_item if wants_values else vjp_shapes  # type: ignore[attr-defined]
    else:
        place = cls.arguments.index(mutant.argument)
        slots, local = rules[place][1], rules[place][2]  # type: ignore[index]
        cls.rules = tuple((compared, slots, local) if k == place else r for k, r in enumerate(rules))
    try:
        yield compared
    finally:
        cls.rules, cls.plans = rules, plans
        if mutant.argument == "item":
            if own is None:
                del cls.vjp_item  # type: ignore[attr-defined]
            else:
                cls.vjp_item = own  # type: ignore[attr-defined]


def mutants(names: Collection[str] = ()) -> Iterator[Mutant]:
    """Of every rule of every operation of the catalogue, or of those of some names."""
    for cls in OPERATIONS:
        if not cls.differentiable or (names and cls.__name__ not in names):
            continue
        for argument, rule, local in rules_of(cls):
            for how, wrong in [*changed_results(rule, local), *changed_sources(rule), *other_arguments(cls, argument)]:
                yield Mutant(cls, argument, how, wrong)


def rules_of(cls: type[Operation]) -> Iterator[tuple[str, Rule, bool]]:
    """The rules of an operation, each with its argument and whether it gives a local derivative."""
    if cls.variadic:
        rule = getattr(cls, "vjp_item", None)
        if rule is not None:
            yield "item", rule, False
        return
    for argument, found in zip(cls.arguments, cls.rules, strict=True):
        if found is not None:
            yield argument, found[0], found[2]


# ---- changed results


def changed_results(rule: Rule, local: bool) -> Iterator[tuple[str, Rule]]:
    for how, change in (BOOLEAN if local else {}).items():
        yield how, after(rule, change)
    for how, change in CHANGES.items():
        yield how, after(rule, change)


def after(rule: Rule, change: Callable[[Any], Any]) -> Rule:
    def wrong(op: Operation, *args: Any) -> Any:
        part = rule(op, *args)
        return part if part is None else change(part)

    return wrong


def numeric(part: Any) -> Any:
    """A boolean derivative as the number that it stands for."""
    return part * 1.0 if getattr(part, "dtype", np.dtype(type(part))).kind == "b" else part


def one_element(part: Any) -> Any:
    value = np.asarray(numeric(part))
    weights = np.ones(value.shape)
    if value.size and value.dtype.kind in "fcO":
        weights.reshape(-1)[int(np.argmax([abs(complex(v)) for v in value.flat]))] = 1.001
    return value[()] * weights[()]


def rolled(part: Any) -> Any:
    value = np.asarray(numeric(part))
    return np.roll(value, 1, axis=-1)[()] if value.ndim and value.shape[-1] > 1 else value * 1.5


def turned(part: Any) -> Any:
    value = np.asarray(numeric(part))
    square = value.ndim > 1 and value.shape[-1] == value.shape[-2] > 1
    return np.swapaxes(value, -1, -2)[()] if square else (np.flip(value)[()] if value.size > 1 else value * 0.5)


def summed(part: Any) -> Any:
    value = np.asarray(numeric(part))
    return np.broadcast_to(value.mean(axis=-1, keepdims=True), value.shape)[()] if value.ndim and value.shape[-1] > 1 else value * 1.01


CHANGES: dict[str, Callable[[Any], Any]] = {
    "times 1.0001": lambda part: numeric(part) * 1.0001,
    "times 2": lambda part: numeric(part) * 2,
    "sign": lambda part: -numeric(part),
    "zero": lambda part: numeric(part) * 0,
    "plus 1e-3": lambda part: numeric(part) + 1e-3,
    "one element times 1.001": one_element,
    "rolled": rolled,
    "transposed": turned,
    "averaged": summed,
}
BOOLEAN: dict[str, Callable[[Any], Any]] = {
    "mask of ones": lambda part: np.ones(np.shape(part)) if np.asarray(part).dtype.kind == "b" else np.asarray(part) ** 2 + 0.5,
    "mask inverted": lambda part: ~part if np.asarray(part).dtype.kind == "b" else 1 - part,
}


# ---- changed sources


def changed_sources(rule: Rule) -> Iterator[tuple[str, Rule]]:
    """The rule with one expression of its source changed, for every expression that can be."""
    function = inspect.unwrap(rule)
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return
    definition = tree.body[0]
    if not isinstance(definition, ast.FunctionDef):
        return
    for place, node in enumerate(ast.walk(definition)):
        for how, _ in replacements(node):
            wrong = compiled(tree, place, how, function)
            if wrong is not None:
                yield f"{how} in {ast.unparse(node)!r}", wrong


def replacements(node: ast.AST) -> list[tuple[str, Callable[[ast.AST], ast.AST]]]:
    """What an expression may be replaced by, each named."""
    if isinstance(node, ast.BinOp):
        return [*dropped(node), *exchanged(node)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return [("sign dropped", lambda n: n.operand)]  # type: ignore[attr-defined]
    if isinstance(node, ast.Call) and not node.keywords:
        return calls(node)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPPOSITE:
        return [("comparison turned", turn)]
    return []


def dropped(node: ast.BinOp) -> list[tuple[str, Callable[[ast.AST], ast.AST]]]:
    if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
        return [("left alone", lambda n: n.left), ("right alone", lambda n: n.right)]  # type: ignore[attr-defined]
    return [("power dropped", lambda n: n.left)] if isinstance(node.op, ast.Pow) else []  # type: ignore[attr-defined]


EXCHANGE: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Gt: ast.Lt,
    ast.Lt: ast.Gt,
    ast.GtE: ast.LtE,
    ast.LtE: ast.GtE,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}


def exchanged(node: ast.BinOp) -> list[tuple[str, Callable[[ast.AST], ast.AST]]]:
    other = EXCHANGE.get(type(node.op))
    return [] if other is None else [(f"{type(node.op).__name__} for {other.__name__}", lambda n: ast.BinOp(n.left, other(), n.right))]  # type: ignore[attr-defined]


def calls(node: ast.Call) -> list[tuple[str, Callable[[ast.AST], ast.AST]]]:
    if isinstance(node.func, ast.Name) and node.func.id == "where" and len(node.args) == 3:
        return [
            ("first branch always", lambda n: n.args[1]),  # type: ignore[attr-defined]
            ("branches exchanged", lambda n: ast.Call(n.func, [n.args[0], n.args[2], n.args[1]], [])),  # type: ignore[attr-defined]
        ]
    return [("call left out", lambda n: n.args[0])] if len(node.args) == 1 else []  # type: ignore[attr-defined]


def turn(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Compare)
    return ast.Compare(node.left, [OPPOSITE[type(node.ops[0])]()], node.comparators)


def compiled(tree: ast.Module, place: int, how: str, function: Any) -> Rule | None:
    """The rule with the change at the place-th node of its source."""
    changed = ast.parse(ast.unparse(tree))
    chosen = list(ast.walk(changed.body[0]))[place]
    replace = dict(replacements(chosen)).get(how)
    if replace is None:
        return None
    changed = ast.fix_missing_locations(Replacer(chosen, replace(chosen)).visit(changed))
    names: dict[str, Any] = {}
    scope = dict(function.__globals__)
    scope.update({name: cell.cell_contents for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)})
    try:
        exec(compile(changed, f"<mutant of {function.__qualname__}>", "exec"), scope, names)
    except SyntaxError:
        return None
    return names[changed.body[0].name]  # type: ignore[no-any-return,attr-defined]


class Replacer(ast.NodeTransformer):
    """Puts one node in the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> Any:
        return self.new if node is self.old else self.generic_visit(node)


# ---- the rule of another argument


def other_arguments(cls: type[Operation], argument: str) -> Iterator[tuple[str, Rule]]:
    """The rule of another argument that keeps the same values."""
    known = {name: found for name, found in zip(cls.arguments, cls.rules, strict=False) if found is not None}
    if argument not in known:
        return
    own = known[argument]
    for name, found in known.items():
        if name != argument and found[1] == own[1] and found[2] == own[2] and body(found[0]) != body(own[0]):
            yield f"rule of {name}", found[0]


def body(rule: Rule) -> str:
    """What a rule does, without its name."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(rule)))
    return "\n".join(ast.unparse(statement) for statement in tree.body[0].body)  # type: ignore[attr-defined]


# ---- the sum over broadcast axes


SUMS: dict[str, Callable[[Any, tuple[int, ...]], Any]] = {
    "first in place of the sum over broadcast axes": lambda part, axes: np.take(part, [0], axes[0]) if len(axes) == 1 else part[:1, :1],
    "mean in place of the sum over broadcast axes": lambda part, axes: part.mean(axis=axes, keepdims=True),
}


@contextmanager
def wrong_sum(how: str) -> Iterator[Compared]:
    """The engine with another way of bringing a gradient to the shape of a broadcast input."""
    right = nodes.fit
    compared = Compared(right, right)

    def fit(part: Any, shape: tuple[int, ...] | None, dtype: np.dtype) -> Any:
        if shape is None or part.shape == shape or not isinstance(part, np.ndarray):
            return right(part, shape, dtype)
        full = (1,) * (part.ndim - len(shape)) + tuple(shape)
        axes = tuple(k for k, (a, b) in enumerate(zip(part.shape, full, strict=True)) if a != b)
        found = right(SUMS[how](part, axes).reshape(shape)[()], None, dtype)
        compared.effect = compared.effect or not same(found, right(part, shape, dtype))
        return found

    nodes.fit = fit
    try:
        yield compared
    finally:
        nodes.fit = right
