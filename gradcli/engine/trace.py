"""The trace: what a program computed from its leaves, as a straight line of operations.

References work on it, never on the graph of nodes: it holds the forward operations alone, with the
values and the decisions (branches, masks, indices) of the base run. Whatever autograd treats as a
constant (detach, .data, no_grad, item) has no record, so every reference holds it constant too.
The body of a user Function is recorded like any other code, its `backward` is not.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.errors import Span
from gradcli.ops.operation import Operation

if TYPE_CHECKING:
    from gradcli.engine.tensor import Tensor


class Record:
    """One result of one operation, or a leaf (`op` is None).

    `inputs` holds a Record for what depends on a leaf, else the constant value. `value` is a snapshot
    that no later in-place write changes. The results of an operation with several share one `inputs`.
    """

    __slots__ = ("decision", "index", "inputs", "op", "output_nr", "span", "tensor", "value")

    def __init__(
        self,
        op: Operation | None,
        inputs: tuple[Any, ...],
        value: Any,
        index: int,
        span: Span | None,
        *,
        output_nr: int = 0,
        decision: Any = None,
        tensor: Tensor | None = None,
    ) -> None:
        self.op = op
        self.inputs = inputs
        self.value = value
        self.index = index
        self.span = span
        self.output_nr = output_nr
        self.decision = decision
        self.tensor = tensor

    def __repr__(self) -> str:
        return f"<Record {self.index} {self.op or 'leaf'}>"


class Test:
    """A comparison that the program made: its name, and both sides as records (or values)."""

    __slots__ = ("name", "sides", "span")

    def __init__(self, name: str, sides: tuple[Any, ...], span: Span | None) -> None:
        self.name = name
        self.sides = sides
        self.span = span


class FunctionCall:
    """One `apply` of a user Function: its inputs and outputs as records (or values), and whether its body could be followed.

    `opaque` names what cut the body off from its inputs ("item()", ...), or is None. The records of its body
    have indices above `first` and up to `last`.
    """

    __slots__ = ("args", "cls", "first", "inputs", "last", "node", "opaque", "outputs", "span")

    def __init__(self, cls: Any, args: tuple[Any, ...], inputs: tuple[Any, ...], span: Span | None) -> None:
        self.cls = cls
        self.args = args
        self.inputs = inputs
        self.span = span
        self.outputs: tuple[Any, ...] = ()
        self.node: Any = None
        self.opaque: str | None = None
        self.first = self.last = state.tracer.count if state.tracer is not None else 0


class PassEntry:
    """What one backward pass gave to one input.

    `gradient` is this pass's own part, `plain` the same as if no hook had changed it (None: unknown), `total` the accumulated `.grad`
    after it (the gradient itself for autograd.grad). `fixed` holds the record that an inner tensor had then (a write in
    place gives it another one), and is None for a leaf. `earlier` are the passes whose parts are in the total besides,
    `constant` what else is.
    """

    __slots__ = ("constant", "earlier", "fixed", "gradient", "plain", "tensor", "total")

    def __init__(self, tensor: Tensor, gradient: Any, constant: Any, earlier: list[PassRecord], fixed: list[Record] | None = None) -> None:
        self.tensor = tensor
        self.fixed = fixed
        self.gradient = self.plain = gradient
        self.constant = constant
        self.earlier = earlier
        self.total = gradient


def fixed_record(tensor: Tensor) -> list[Record] | None:
    """The record that an inner tensor stands for now; None for a leaf, which stands for all the values that it has had."""
    if tensor.node is None:
        return None
    record = tensor.record()
    return [] if record is None else [record]


class PassRecord:
    """One backward pass of the program: from which outputs, with which gradients, and what came of it.

    `outputs` holds (tensor, record, value, gradient given); `hooked` says that a hook took part.
    """

    def __init__(self, kind: str, roots: Sequence[tuple[Any, Any]], hooked: bool) -> None:
        self.kind = kind
        self.span = state.span
        self.hooked = hooked
        self.outputs = [(t, t.record(), snapshot(t.value), snapshot(getattr(g, "value", g))) for t, g in roots]
        self.entries: list[PassEntry] = []


class Tracer:
    """Collects the trace of one run.

    `passing` is set while a backward pass runs: what the program does there is no part of its forward.
    """

    def __init__(self, surrogates: set[int] | None = None) -> None:
        self.count = 0
        self.passing = False
        self.surrogates = surrogates or set()
        """Lines of the comments that mark the class in that line, or the next, as deliberately no derivative."""
        self.ledger: dict[int, tuple[Any, int, Any, list[PassRecord]]] = {}
        self.stops: list[tuple[str, Span | None]] = []
        self.tests: list[Test] = []
        self.held: dict[int, tuple[weakref.ref[Tensor], Span | None]] = {}
        """By id: tensors that were made from leaves while gradients are off, and where."""
        self.calls: list[FunctionCall] = []
        self.inside: list[FunctionCall] = []
        self.passes: list[PassRecord] = []
        self.labels: dict[int, tuple[str, int | None, Any]] = {}
        self.rounds: list[tuple[int, int, int]] = []
        """(sequence number of the last node before it, line of the loop, number of the round, -1 at its end), for pictures."""

    def turn(self, line: int, number: int) -> None:
        """A round of a loop begins (-1: the loop ends). Rounds without a node leave no mark: long loops of plain numbers cost nothing."""
        rounds, now = self.rounds, state.sequence
        if number:
            while rounds and rounds[-1][0] == now:
                known = rounds.pop()
                if known[1] == line:
                    if number < 0 and known[2] == 0:
                        return
                    break
        rounds.append((now, line, number))

    def bound(self, value: Any, name: str) -> None:
        """The program bound a value to a name: a tensor goes by its first one. It is kept alive, so that its id stays its own."""
        if id(value) not in self.labels:
            self.labels[id(value)] = (name, state.span.line if state.span else None, value)

    @property
    def following(self) -> bool:
        """Whether what runs now is recorded: gradient mode is on, or a user Function's forward runs."""
        return state.grad or bool(self.inside)

    def is_surrogate(self, cls: Any) -> bool:
        """Whether a comment says that the backward of this user Function is deliberately not its derivative."""
        span = getattr(cls, "span", None)
        return span is not None and bool({span.line, span.line - 1} & self.surrogates)

    def enter(self, call: FunctionCall) -> None:
        """The body of a user Function runs from here."""
        self.calls.append(call)
        self.inside.append(call)

    def leave(self) -> None:
        """The body has run."""
        self.inside.pop().last = self.count

    def leaf(self, tensor: Tensor) -> Record:
        """The record of a tensor that asks for a gradient and has no history, at its present value."""
        self.count += 1
        return Record(None, (), snapshot(tensor.value), self.count, state.span, tensor=tensor)

    def record(self, op: Operation, inputs: tuple[Any, ...], args: list[Any], out: Any) -> list[Record]:
        """The records of the results `out` of an operation (one, or a tuple of several)."""
        decision = op.decide(*args) if op.decides else None
        results = out if op.outputs > 1 or isinstance(out, tuple) else (out,)
        records = []
        for k, value in enumerate(results):
            self.count += 1
            records.append(Record(op, inputs, snapshot(value), self.count, state.span, output_nr=k, decision=decision))
        return records

    def accumulated(self, record: PassRecord, leaf: Tensor, gradient: Any) -> PassEntry:
        """Note what a pass is about to add to `.grad`: to the parts of earlier passes if nothing else has touched it since."""
        held = leaf.grad
        known = self.ledger.get(id(leaf))
        earlier: list[PassRecord] = []
        constant = None
        if held is not None:
            if known is not None and known[0] is held and known[1] == held.version.count:
                constant, earlier = known[2], known[3]
            else:
                constant = snapshot(held.value)
        entry = PassEntry(leaf, snapshot(getattr(gradient, "value", gradient)), constant, earlier)
        record.entries.append(entry)
        return entry

    def stored(self, record: PassRecord, entry: PassEntry) -> None:
        """Note that the part has been added."""
        held = entry.tensor.grad
        assert held is not None
        entry.total = snapshot(held.value)
        self.ledger[id(entry.tensor)] = (held, held.version.count, entry.constant, [*entry.earlier, record])

    def hold(self, tensor: Tensor, span: Span | None) -> None:
        """A tensor was made from a leaf while gradients are off: a constant, once something recorded uses it."""
        key = id(tensor)
        self.held[key] = weakref.ref(tensor, lambda _: self.held.pop(key, None)), span

    def holding(self, args: Iterable[Any]) -> tuple[Span | None] | None:
        """Where the first such tensor among arguments was made."""
        for arg in args:
            found = self.held.get(id(arg))
            if found is not None and found[0]() is arg:
                return (found[1],)
        return None

    def test(self, op: Operation, sides: tuple[Any, ...], values: Sequence[Any]) -> None:
        """A comparison was made; kept where its sides lie close to each other, or what they were made of cancels."""
        x, y = (np.asarray(v, dtype=float) for v in values)
        size = np.maximum(*(np.maximum(np.abs(v), ingredients(s)) for v, s in zip((x, y), sides, strict=True)))
        if len(self.tests) < MOST_TESTS and np.any(np.abs(x - y) <= CLOSE * size):
            self.tests.append(Test(op.name, sides, state.span))

    def stop(self, kind: str, span: Span | None = None) -> None:
        """A value that depends on a leaf became a constant here, or where `span` says."""
        if self.passing:
            return
        if self.inside:
            if kind == "item":
                self.inside[-1].opaque = "item()"
            return
        entry = (kind, span or state.span)
        if entry not in self.stops[-20:]:
            self.stops.append(entry)


CLOSE = 1e-7
"""Relative distance of two sides of a comparison that is worth a note."""
MOST_TESTS = 1000


def ingredients(side: Any, depth: int = 2) -> float:
    """The largest number that went into a record by the last operations: rounding of its result is relative to that."""
    inputs = side.inputs if isinstance(side, Record) else ()
    sizes = [float(np.abs(v).max(initial=0.0)) for v in (a.value if isinstance(a, Record) else a for a in inputs) if is_real(v)]
    return max([*sizes, *(ingredients(a, depth - 1) for a in inputs if depth)], default=0.0)


def is_real(value: Any) -> bool:
    return isinstance(value, (float, np.ndarray, np.floating)) and np.asarray(value).dtype.kind == "f"


def snapshot(value: Any) -> Any:
    """A value that later in-place writes leave alone; numpy scalars are immutable as they are."""
    return value.copy() if isinstance(value, np.ndarray) else value
