"""What an operation is: its values, its derivative rules, its symbolic form, in one class.

An instance of an operation class carries the parameters (`dim`, `negative_slope`); calling it with
values applies it. Plain numpy values give numpy values. A value that has a method `__operation__`
(a Tensor, which records; an array of high-precision numbers) takes over, so that one program and one
rule serve every kind of value. Rules are themselves written with operations: over plain arrays they
cost no recording, over Tensors they are recorded and can be differentiated again.

Rules and what they keep. For an argument `x` of `forward`, a class has either

    d_x(self, ...)       Elementwise only: the local derivative. A float one multiplies the incoming
                         gradient, a boolean one selects: where(d, g, 0), so that inf * 0 never arises.
    vjp_x(self, g, ...)  the gradient for x from the incoming gradient g.

What a rule needs it names as its parameters: arguments of `forward` (`x`), the result (`out`), a shape, dtype
or strides (`x_shape`, `x_dtype`, `x_strides`), the branch taken (`decision`), what `aside` computed. Only what the
rules of the arguments that ask for a gradient name is kept, as in PyTorch. A rule that returns None says that its
gradient is zero.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import CO_VARARGS, get_annotations
from typing import Any, ClassVar, Self

import numpy as np

from gradcli.errors import AutogradError

ndarray = np.ndarray

Value = Any
"""A numpy array or numpy scalar, or a value with `__operation__`."""

RAW = frozenset(
    {
        np.ndarray, np.float64, np.float32, np.float16, np.int64, np.int32, np.int16, np.int8, np.uint8, np.bool_,
        np.complex128, np.complex64, float, int, bool, complex, type(None),
    }
)  # fmt: skip
"""The classes on which `forward` works as it stands."""


Step = tuple[int, Callable[..., Any], tuple[int, ...], bool]
"""One rule to run in a backward pass: for which input, which function, which kept values it takes, whether it is a local derivative."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to keep, and which rules to run, when the inputs of a given mask ask for a gradient.

    `slots` counts the arguments 0..n-1, then the result n, the shapes n+1..2n, the decision 2n+1, the dtypes 2n+2..3n+1,
    what was put aside 3n+2, the strides 3n+3..4n+2.
    They fall into `kept` (arguments), the result if `keeps_out`, and `about` (the rest); `holds` says that a
    tensor is among them, so that a freed node must not be walked again.
    """

    slots: tuple[int, ...]
    steps: tuple[Step, ...]
    kept: tuple[int, ...]
    keeps_out: bool
    about: tuple[int, ...]
    holds: bool


def make_plan(slots: tuple[int, ...], steps: tuple[Step, ...], count: int) -> Plan:
    """A plan over `count` arguments."""
    kept = tuple(s for s in slots if s < count)
    keeps_out = count in slots
    about = tuple(s for s in slots if s > count)
    return Plan(slots, steps, kept, keeps_out, about, bool(kept) or keeps_out or 2 * count + 1 in about)


def parameter_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The named parameters of a plain function. `inspect.signature` says the same a hundred times slower, at every start."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


class Operation:
    """Base of all operations. A subclass defines `forward` (or `branch` and `decide`) and its rules."""

    name: ClassVar[str] = ""
    """What users call it; the class name in snake case unless given."""
    node: str = ""
    """PyTorch's name of its graph node."""
    derivative: str = ""
    """PyTorch's name of the graph node of its derivative, where that is one node."""
    joint: ClassVar[bool] = False
    """That node gives the gradients of all arguments."""
    arguments: ClassVar[tuple[str, ...]] = ()
    """The tensor arguments, from the signature of `forward`; empty for one that takes any number."""
    variadic: ClassVar[bool] = False
    """Takes any number of tensors: one rule `vjp_item(self, index, g, ...)` serves them all."""
    parameters: ClassVar[dict[str, Any]] = {}
    """Parameters with their defaults (`...` where there is none), in order."""
    kinds: ClassVar[dict[str, str]] = {}
    """The annotations of the parameters."""
    outputs: int = 1
    """More than 1: `forward` returns a tuple."""
    keeps_all: ClassVar[bool] = False
    """Keep whatever any rule names as soon as one input asks, as PyTorch does for some operations."""
    multiplications: ClassVar[int] = 0
    """Of an operation on matrices: how many it takes for each m * n * min(m, n)."""
    heavy: ClassVar[bool] = False
    """It has `work` to announce."""
    saves: str | None = None
    """What PyTorch's node saves, where it is not what the rules name: `name`, `name=source` or `name:constant`, see engine.saved."""
    told: Mapping[str, Any] = {}
    """What it saves besides, which only the function that made the operation knows."""
    listed: int | None = None
    """How many of its arguments a node lists among its `next_functions`; None: all that have a rule."""
    view: bool = False
    """The result shares the memory of the first argument."""
    differentiable: ClassVar[bool] = True
    """False: the result never asks for a gradient (comparisons, argmax)."""
    compares: ClassVar[bool] = False
    """It says how two numbers compare: programs branch on it."""
    ordinary: ClassVar[bool] = True
    """It has a gradient, is no view, and numbers alone cannot make it large: it may be applied to numbers without a look at the limits."""
    analytic: ClassVar[bool] = True
    """Its numpy form, on a pinned branch, is right for complex arguments too: a complex step may go through it."""
    extended: ClassVar[bool] = False
    """Not analytic in its numpy form, but its definition (`exact`) is right for tangents in extended precision."""
    one_triangle: ClassVar[bool] = False
    """It takes one triangle of its argument for a symmetric matrix; the gradient is symmetric by convention."""
    row_major: ClassVar[bool] = False
    """Its result lies in memory row by row, however its arguments do."""
    floating: ClassVar[bool] = False
    """Its results are floats: of truth values and integers alone it makes floats first, of PyTorch's default dtype."""
    refused: ClassVar[str] = ""
    """The kinds of dtypes, in NumPy's letters, that PyTorch has no form of it for: "c" complex numbers, "biu" truth values and integers."""
    kernel_name: ClassVar[str] = ""
    """What PyTorch's message calls it then, where that is not its name."""
    decides: ClassVar[bool] = False
    """It has switches: `branch(*args, decision)` with what `decide(*args)` chose."""
    rules: ClassVar[tuple[tuple[Callable[..., Any], tuple[int, ...], bool] | None, ...]] = ()
    plans: ClassVar[dict[int, Plan]] = {}

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.parameters = cls.parameters | {
            field: getattr(cls, field, ...)
            for field, kind in get_annotations(cls).items()
            if field not in Operation.__annotations__ and not str(kind).startswith("ClassVar")
        }
        cls.kinds = cls.kinds | {field: str(kind) for field, kind in get_annotations(cls).items()}
        if abstract:
            return
        if "name" not in cls.__dict__:
            cls.name = snake_case(cls.__name__)
        if "node" not in cls.__dict__ and not isinstance(getattr(cls, "node", ""), property):
            cls.node = cls.__name__ + "Backward0"
        cls.heavy = bool(cls.multiplications) or cls.work is not Operation.work
        cls.decides = cls.decide is not Operation.decide
        grows = cls.heavy or cls.size.__qualname__ not in ("Operation.size", "Elementwise.size")
        cls.ordinary = cls.differentiable and not cls.view and not grows
        body = cls.body()
        names = parameter_names(body)[1:]
        cls.variadic = bool(body.__code__.co_flags & CO_VARARGS)
        cls.arguments = tuple(n for n in names if n != "decision")
        cls.rules = tuple(cls._rule(argument) for argument in cls.arguments)
        cls.plans = {}

    @classmethod
    def body(cls) -> Callable[..., Any]:
        """The function whose parameters are the arguments."""
        return cls.branch if cls.decides else cls.forward

    @classmethod
    def _rule(cls, argument: str) -> tuple[Callable[..., Any], tuple[int, ...], bool] | None:
        for prefix, local in (("vjp_", False), ("d_", True)):
            rule = getattr(cls, prefix + argument, None)
            if rule is not None:
                needs = [n for n in parameter_names(rule) if n not in ("self", "g")]
                return rule, tuple(cls._slot(n) for n in needs), local
        return None

    @classmethod
    def _slot(cls, need: str) -> int:
        count = len(cls.arguments)
        if need in cls.arguments:
            return cls.arguments.index(need)
        if need == "out":
            return count
        if need == "decision":
            return 2 * count + 1
        if need == "aside":
            return 3 * count + 2
        if need.endswith("_strides"):
            return 3 * count + 3 + cls.arguments.index(need.removesuffix("_strides"))
        if need.endswith("_dtype"):
            return 2 * count + 2 + cls.arguments.index(need.removesuffix("_dtype"))
        return count + 1 + cls.arguments.index(need.removesuffix("_shape"))

    def __init__(self, **parameters: Any) -> None:
        for field, value in parameters.items():
            if field not in self.parameters:
                raise TypeError(f"{type(self).__name__} has no parameter {field!r}")
            setattr(self, field, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.settings().items())})"

    def telling(self, **told: Any) -> Self:
        """The operation itself, told what PyTorch's node of it saves besides."""
        self.told = told
        return self

    def settings(self) -> dict[str, Any]:
        """The parameters of this instance."""
        return {field: getattr(self, field) for field in self.parameters}

    def __call__(self, *args: Value) -> Any:
        for arg in args:
            kind = type(arg)
            if kind not in RAW or (kind is ndarray and arg.dtype.char == "O"):
                return dispatch(self, args)
        return self.forward(*args)

    # ---- values

    def forward(self, *args: Value) -> Any:
        """The result from plain numpy values; with one further leading axis see `batch`."""
        return self.branch(*args, decision=self.decide(*args))

    def decide(self, *args: Value) -> Any:
        """The decision taken at these values (masks, indices, signs), which a reference can pin."""
        return None

    def aside(self, *args: Value) -> Value:
        """A number beside the result that a rule can ask for, computed with it: what the result's rounding would lose."""
        return None

    def branch(self, *args: Value, **decision: Any) -> Any:
        """The result on the given branch: smooth in its arguments."""
        return self.forward(*args)

    def replay(self, args: Sequence[Value], decision: Any) -> Any:
        """The result with the decision of an earlier run."""
        return self.branch(*args, decision=decision) if self.decides else self.forward(*args)

    def batch(self, args: Sequence[Value], lead: Sequence[bool], decision: Any = None) -> Any:
        """`replay` over a leading axis of those arguments for which `lead` is set; right for every operation, but a loop."""
        count = next(len(a) for a, batched in zip(args, lead) if batched)
        rows = [self.replay([a[k] if batched else a for a, batched in zip(args, lead)], decision) for k in range(count)]
        if self.outputs > 1:
            return tuple(np.stack(part) for part in zip(*rows))
        return np.stack(rows)

    def exact(self, *args: Value, decision: Any = None) -> Any:
        """The result over arrays of high-precision numbers; numpy's own forward where it works on dtype object."""
        return self.replay(args, decision)

    def size(self, *args: Value) -> int:
        """The number of elements of a result larger than its arguments, so that a limit can refuse it before it exists; else 0."""
        return sum(map(np.size, args)) if self.variadic else 0

    @property
    def mixed(self) -> tuple[int, ...]:
        """The axes of its only argument along which every element goes into every element of the result."""
        return ()

    def work(self, *args: Value) -> int:
        """How many elementary operations it takes, when that is out of proportion to its arguments and its result."""
        *lead, m, n = (1, 1, *np.shape(args[0]))
        return int(self.multiplications * math.prod(lead) * m * n * min(m, n))

    def part(self, k: int) -> Operation:
        """For a view with several results: the view that gives the k-th alone."""
        raise NotImplementedError

    def kinks(self, *args: Value) -> Value | None:
        """An array that vanishes exactly where the derivative is a convention; None where there is no such point."""
        return None

    @classmethod
    def examples(cls, rng: np.random.Generator) -> Iterable[tuple[Operation, tuple[Value, ...]]]:
        """Instances with arguments inside the domain, for the tests over the whole catalogue."""
        raise NotImplementedError(f"{cls.__name__} has no examples")

    # ---- derivative rules

    def plan(self, mask: int, count: int) -> Plan:
        """What to keep and to run for the inputs whose bits are set in `mask`; `plans` knows it by the mask with a bit above the last."""
        key = mask | 1 << count
        try:
            return self.plans[key]
        except KeyError:
            plan = self.plans[key] = self._variadic_plan(mask, count) if self.variadic else self._plan(mask)
            return plan

    def _plan(self, mask: int) -> Plan:
        asked = [(i, rule) for i, rule in enumerate(self.rules) if mask >> i & 1 and rule is not None]
        constant = next((n for i, n in enumerate(self.arguments) if mask >> i & 1 and self.rules[i] is None), None)
        if constant is not None:
            function = snake_case(self.node.partition("Backward")[0])
            raise AutogradError(
                f"The function '{function}' is not differentiable with respect to argument '{constant}'. "
                "This input cannot have requires_grad True.",
                hint="detach it: .detach()",
            )
        kept = {slot for i, rule in enumerate(self.rules) if rule is not None and (self.keeps_all or mask >> i & 1) for slot in rule[1]}
        slots = tuple(sorted(kept))
        steps = tuple((i, rule[0], tuple(slots.index(s) for s in rule[1]), rule[2]) for i, rule in asked)
        return make_plan(slots, steps, len(self.arguments))

    def _variadic_plan(self, mask: int, count: int) -> Plan:
        """Slots of a variadic operation: the values when its rule names `values`, else the shapes."""
        rule = type(self).vjp_item  # type: ignore[attr-defined]
        needs_values = "values" in parameter_names(rule)
        slots = tuple(range(count)) if needs_values else tuple(range(count + 1, 2 * count + 1))

        def item(index: int) -> Callable[..., Any]:
            return lambda op, g, *kept: rule(op, index, g, kept)

        return make_plan(slots, tuple((i, item(i), tuple(range(count)), False) for i in range(count) if mask >> i & 1), count)


def absent(g: Value) -> bool:
    """Whether no gradient arrived at one of several results."""
    return isinstance(g, (np.ndarray, np.generic)) and g.dtype != object and not g.any()


def dispatch(op: Operation, args: tuple[Value, ...]) -> Any:
    """Let the value of the highest `__operation_priority__` apply the operation; of an object array its elements speak."""
    if len(args) == 1:
        apply = getattr(args[0], "__operation__", None)
        if apply is not None:
            return apply(op, args)
    speaker, highest = None, -1
    for arg in args:
        if isinstance(arg, np.ndarray):
            arg = element_of(arg)
        priority = getattr(arg, "__operation_priority__", -1)
        if priority > highest:
            speaker, highest = arg, priority
    return op.forward(*map(plain, args)) if speaker is None else speaker.__operation__(op, args)


def plain(value: Value) -> Value:
    """An object array in which no element speaks (all were constants, or there are none) as one of floats."""
    return value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype.char == "O" else value


def element_of(array: np.ndarray) -> Any:
    """The first element of an object array that knows how to apply operations; else None."""
    return next((e for e in array.flat if hasattr(e, "__operation__")), None) if array.dtype.char == "O" else None


class Structural(Operation, abstract=True):
    """Linear in its arguments and blind to values: moves, adds or multiplies whole arrays; runs on any dtype."""


class View(Structural, abstract=True):
    """Gives a window onto the memory of its first argument."""

    view = True
