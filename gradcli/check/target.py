"""Targets: the gradients of a file that are to be judged, each with what autograd gave and what it is a derivative of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gradcli.check.result import Note
from gradcli.engine.backward import grad
from gradcli.engine.node import AccumulateGrad
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import PassEntry, PassRecord, Record, fixed_record
from gradcli.references.path import reachable

JACOBIAN_ROWS = 256
JACOBIAN_ELEMENTS = 40_000
JACOBIAN_WORK = 40_000_000
"""Past this many outputs, elements, or numbers that differences by every element compute, a Jacobian is checked along random
grad_outputs instead."""


@dataclass
class Term:
    """One summand of a gradient: the derivative of a record, weighted (None: a full Jacobian). No record: zero.

    `origin`: the record is itself a derivative, of that term, as autograd gave it; its exact derivative is that of the
    gradient of the origin, taken `times` times.
    """

    record: Record | None
    weights: np.ndarray | None
    origin: Term | None = None
    times: int = 1


@dataclass
class Input:
    """One differentiated tensor: what autograd gave (or what the file claims), and the terms that it should be the sum of."""

    name: str
    line: int | None
    shape: tuple[int, ...]
    dtype: np.dtype
    tensor: Tensor
    autograd: np.ndarray
    terms: list[Term]
    constant: np.ndarray | None = None
    claimed: np.ndarray | None = None
    fixed: list[Record] | None = None
    """The records that it stands for, where they are not those of the tensor."""

    @property
    def point(self) -> np.ndarray:
        """Where the gradient is taken: the value of the record, or of the tensor, that it stands for."""
        return np.asarray(self.fixed[-1].value if self.fixed else self.tensor.value)

    @cached_property
    def precision(self) -> np.dtype:
        """The coarsest of the real dtypes that its gradient is computed in: its own, or one that the program passes through."""
        steps = [r for t in self.terms if t.record is not None for r in reachable(t.record, set())]
        values = [getattr(a, "value", a) for r in steps for a in (r, *r.inputs)]
        dtypes = {np.zeros(0, v.dtype).real.dtype for v in values if getattr(v, "dtype", None) is not None and v.dtype.kind in "fc"}
        return max((*dtypes, np.dtype(np.float64)), key=lambda d: np.finfo(d).eps)

    def records(self, term: Term) -> list[Record]:
        """Where this tensor enters the term: all the values that a leaf had, or the record that an inner tensor had then."""
        if term.record is None:
            return []
        if self.fixed is not None:
            return self.fixed
        return [r for r in reachable(term.record, set()) if r.tensor is self.tensor]


@dataclass
class Target:
    """An output, its grad_outputs, and the inputs that it is differentiated by."""

    output: str
    line: int | None
    value: np.ndarray
    grad_outputs: np.ndarray | None
    order: int
    inputs: list[Input]
    roots: list[tuple[Tensor, np.ndarray | None]]
    notes: list[Note] = field(default_factory=list)


def numeric(value: Any) -> np.ndarray:
    """A tensor's value, or plain data, as an array."""
    return np.asarray(value.value if isinstance(value, Tensor) else value)


def leaves_of(output: Tensor) -> list[Tensor]:
    """The leaves below an output, in the order in which the graph was built."""
    edge = output.edge()
    if edge is None:
        return []
    seen, stack, found = {edge[0]}, [edge[0]], []
    while stack:
        node = stack.pop()
        if isinstance(node, AccumulateGrad):
            found.append(node)
        for below in node.edges:
            if below is not None and below[0] not in seen:
                seen.add(below[0])
                stack.append(below[0])
    return [node.variable for node in sorted(found, key=lambda n: n.sequence)]


def gradient(output: Tensor, inputs: Sequence[Tensor], weights: np.ndarray | None) -> list[np.ndarray]:
    """What autograd gives for each input: weighted, or one row after the other for a Jacobian (output shape + input shape)."""
    if weights is not None or output.ndim == 0:
        seed = None if weights is None else Tensor(weights)
        return [numeric(g) for g in _pass(output, inputs, seed)]
    rows: list[list[np.ndarray]] = [[] for _ in inputs]
    for k in range(math.prod(output.shape)):
        unit = np.zeros(output.shape, output.dtype)
        unit.reshape(-1)[k] = 1
        for column, g in zip(rows, _pass(output, inputs, Tensor(unit))):
            column.append(numeric(g))
    return [np.reshape(np.stack(column) if column else np.zeros(0), output.shape + t.shape) for column, t in zip(rows, inputs)]


def _pass(output: Tensor, inputs: Sequence[Tensor], seed: Tensor | None) -> Sequence[Any]:
    found = grad([output], list(inputs), [seed], retain_graph=True, allow_unused=True, own=True)
    return [np.zeros(t.shape, t.dtype) if g is None else g for g, t in zip(found, inputs)]


def make(
    output: Tensor,
    name: str,
    wrt: Sequence[tuple[str, int | None, Tensor]],
    weights: np.ndarray | None,
    line: int | None,
    order: int = 1,
    rng: np.random.Generator | None = None,
) -> Target:
    """The target d(output)/d(wrt), taken now: what the program does later to its tensors is of no effect."""
    given, notes = weights, []
    tensors = [t for _, _, t in wrt]
    if weights is None and output.ndim and output.dtype.kind != "c" and too_large(output, tensors):
        weights = (rng or np.random.default_rng(0)).uniform(0.5, 1.5, output.shape)
        given = weights
        text = f"the Jacobian of {output.shape} is too large: checked along one random grad_outputs"
        notes.append(Note("random-grad-outputs", text, line))
    if weights is None and output.dtype.kind == "c":
        given = weights = both_directions(rng or np.random.default_rng(0), output)
        text = f"{name} is complex: judged is the gradient of Re(sum(conj(w) * {name})), w one random grad_outputs"
        notes.append(Note("random-grad-outputs", text, line))
    if hooked(output):
        notes.append(Note("hook", "a hook changes or watches gradients below: what is judged is the gradient without it", line))
    found = gradient(output, tensors, weights)
    record = output.record()
    seed = np.ones(()) if weights is None and output.ndim == 0 else weights
    term = Term(record, seed)
    inputs = [
        Input(label, at, t.shape, t.dtype, t, np.array(g, copy=True), [term], fixed=fixed_record(t))
        for (label, at, t), g in zip(wrt, found)
    ]
    return Target(name, line, np.array(output.value, copy=True), given, order, inputs, [(output, weights)], notes)


def constants(
    output: Tensor, name: str, wrt: Sequence[tuple[str, int | None, Tensor]], weights: np.ndarray | None, line: int | None, order: int
) -> list[Target]:
    """The targets of an output in which no leaf has a part, where autograd has nothing to say: its derivatives are 0."""
    if order > 1 and wrt:
        return [vanished(name, item, line, order) for item in wrt]
    seed = np.ones(()) if weights is None and output.ndim == 0 else weights
    rows = output.shape if weights is None else ()
    inputs = [Input(n, at, t.shape, t.dtype, t, np.zeros(rows + t.shape, t.dtype), [Term(None, seed)]) for n, at, t in wrt]
    notes = [Note("constant", f"{name} does not depend on {', '.join(n for n, _, _ in wrt)}", line)] if wrt else []
    return [Target(name, line, np.array(output.value, copy=True), weights, order, inputs, [], notes)]


def vanished(name: str, wrt: tuple[str, int | None, Tensor], line: int | None, order: int) -> Target:
    """The target of a derivative that autograd takes for a constant."""
    label, at, tensor = wrt
    seed = np.ones(()) if tensor.ndim == 0 else None
    zero = np.zeros(tensor.shape + tensor.shape, tensor.dtype)
    item = Input(label, at, tensor.shape, tensor.dtype, tensor, zero, [Term(None, seed)])
    return Target(name, line, np.zeros(tensor.shape, tensor.dtype), None, order, [item], [])


def hooked(output: Tensor) -> bool:
    """Whether a hook of the program is set on a tensor below an output."""
    edge = output.edge()
    seen, stack = {edge[0]} if edge else set(), [edge[0]] if edge else []
    while stack:
        node = stack.pop()
        if (node.watch is not None and any(node.watch.tensors.values())) or (isinstance(node, AccumulateGrad) and node.variable.hooks):
            return True
        below = [e[0] for e in node.edges if e is not None and e[0] not in seen]
        seen.update(below)
        stack += below
    return False


def both_directions(rng: np.random.Generator, output: Tensor) -> np.ndarray:
    """Random complex weights, which see the real and the imaginary part of every element."""
    real, imag = rng.uniform(0.5, 1.5, (2, *output.shape))
    return np.asarray(real + 1j * imag, dtype=output.dtype)


def too_large(output: Tensor, inputs: Sequence[Tensor]) -> bool:
    rows, columns = math.prod(output.shape), sum(math.prod(t.shape) for t in inputs)
    if rows > JACOBIAN_ROWS or rows * columns > JACOBIAN_ELEMENTS:
        return True
    record = output.record()
    return record is not None and columns * sum(np.size(r.value) for r in reachable(record, set())) > JACOBIAN_WORK


def from_pass(record: PassRecord, label: Any) -> Target | None:
    """The target that a backward or autograd.grad call of the program is; None when no leaf got a gradient.

    `label(tensor)` gives its name and line.
    """
    if not record.entries:
        return None
    line = record.span.line if record.span else None
    terms = pass_terms(record)
    inputs, notes = [], []
    for entry in record.entries:
        name, at = label(entry.tensor)
        own = [*terms, *(t for earlier in entry.earlier for t in pass_terms(earlier))]
        t = entry.tensor
        given = np.asarray(entry.total)
        if any(p.hooked for p in (record, *entry.earlier)):
            unchanged = without_hooks([record, *entry.earlier], entry)
            if unchanged is None:
                continue
            given = unchanged
            notes.append(Note("hook", f"{name}: a hook took part in its gradient, which is judged without the hook's change", line))
        inputs.append(Input(name, at, t.shape, t.dtype, t, given, own, entry.constant, fixed=entry.fixed))
    tensor, _, value, weight = record.outputs[0]
    name = label(tensor)[0]
    plain = np.ndim(value) == 0 and weight == 1
    weights = None if plain else np.asarray(weight)
    roots: list[tuple[Tensor, np.ndarray | None]] = [(o[0], np.asarray(o[3])) for o in record.outputs]
    return Target(name, line, np.asarray(value), weights, 1, inputs, roots, notes)


def without_hooks(passes: Sequence[PassRecord], entry: PassEntry) -> np.ndarray | None:
    """What the passes give to an input when no hook changes it; None where nobody knows."""
    total = np.zeros(entry.tensor.shape, entry.tensor.dtype) if entry.constant is None else np.asarray(entry.constant)
    own = [next((e for e in record.entries if e.tensor is entry.tensor), None) for record in passes]
    parts = [e.plain for e in own if e is not None]
    return None if any(part is None for part in parts) else np.asarray(sum([np.asarray(part) for part in parts], total))


def pass_terms(record: PassRecord) -> list[Term]:
    return [Term(traced, np.asarray(weight)) for _, traced, _, weight in record.outputs]
