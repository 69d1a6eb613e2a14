"""What stands in the trace for a user Function whose body cannot be followed, or whose backward is deliberately no derivative."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcli.engine.mode import recording, state
from gradcli.engine.node import placed
from gradcli.engine.trace import FunctionCall, Record
from gradcli.errors import GradcliError
from gradcli.ops.operation import Operation, Value

LARGEST = 4_000_000
"""Elements of the matrix that a surrogate may be written down as."""


class Body(Operation):
    """The forward of a user Function run as it is, on plain numbers: what it takes out by item() still counts.

    `run` gives the outputs from the arguments, `shapes` are those of the outputs. Where the body does not run, beyond
    a check of its own, the outputs are NaN: a reference has no answer there.
    """

    run: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    analytic = False
    no_exact = "the forward of a user Function calls item()"

    def forward(self, *args: Value) -> Any:
        tracer, state.tracer = state.tracer, None
        try:
            with recording(False):
                return self.run(*args)
        finally:
            state.tracer = tracer

    def replay(self, args: Sequence[Value], decision: Any) -> Any:
        try:
            return self.forward(*args)
        except (GradcliError, ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError):
            nothing = tuple(np.full(shape, np.nan) for shape in self.shapes)
            return nothing if len(nothing) > 1 else nothing[0]


class Surrogate(Operation):
    """The linear map whose derivative is what a user Function's backward gives: y0 + sum of J (x - x0).

    `matrices[k][i]` is the Jacobian of output k by argument i (None: no gradient), `points` the arguments at which
    it was taken, `values` the outputs there. A backward that is not `linear` in the gradient (that clips it) has no such
    map: NaN, and nothing below it can be judged.
    """

    linear: bool = True
    matrices: tuple[tuple[Any, ...], ...]
    points: tuple[Any, ...]
    values: tuple[Any, ...]

    @property
    def no_exact(self) -> str | None:
        return None if self.linear else "the backward of a surrogate is not linear in the gradient"

    @property
    def analytic(self) -> bool:  # type: ignore[override]
        return self.linear

    def forward(self, *args: Value) -> Any:
        outputs = tuple(self.output(k, args) for k in range(len(self.values)))
        return outputs if self.outputs > 1 else outputs[0]

    def output(self, k: int, args: Sequence[Value]) -> Value:
        total = np.reshape(self.values[k], -1)
        for matrix, x, x0 in zip(self.matrices[k], args, self.points):
            if matrix is not None:
                total = total + matrix @ np.reshape(np.asarray(x) - x0, -1)
        return np.reshape(total, np.shape(self.values[k]))[()]


def substitute(call: FunctionCall, outputs: Sequence[Any], values: Sequence[Any], run: Callable[..., Any]) -> list[Record] | None:
    """The records of the outputs (plain values) where the body does not stand for the Function; None where it does."""
    tracer = state.tracer
    assert tracer is not None
    op: Operation
    if tracer.is_surrogate(call.cls) and call.node is not None:
        points = tuple(a.value if isinstance(a, Record) else a for a in call.inputs)
        matrices = jacobians(call, points, outputs)
        if matrices is None:
            return None
        straight = not any(m is not None and np.isnan(m).any() for row in matrices for m in row)
        op = Surrogate(matrices=matrices, points=points, values=tuple(outputs), linear=straight)
    elif call.opaque:
        op = Body(run=run, shapes=tuple(np.shape(o) for o in outputs))
    else:
        return None
    op.outputs = len(outputs)
    out = tuple(outputs) if len(outputs) > 1 else outputs[0]
    return tracer.record(op, call.inputs, list(values), out)


def jacobians(call: FunctionCall, points: Sequence[Any], outputs: Sequence[Any]) -> tuple[tuple[Any, ...], ...] | None:
    """What the backward gives for every unit gradient; None where that is too much."""
    from gradcli.engine.sweep import Pass

    if sum(np.size(o) for o in outputs) * sum(np.size(p) for p in points if isinstance(p, (np.ndarray, np.generic))) > LARGEST:
        return None
    rows = []
    rng = np.random.default_rng(0)
    with recording(False):
        for k, output in enumerate(outputs):
            parts: dict[int, list[Any]] = {i: [] for i, edge in enumerate(call.node.edges) if edge is not None}
            mixed = 4 * rng.normal(size=math.prod(np.shape(output)))
            for unit in (*np.eye(len(mixed)), mixed):
                grads: list[Any] = [None] * len(outputs)
                grads[k] = unit.reshape(np.shape(output))
                found = dict(placed(call.node, call.node.backward(grads, Pass([], own=True))))
                for i, column in parts.items():
                    g = found.get(i)
                    column.append(np.zeros(np.size(points[i])) if g is None else np.reshape(g, -1))
            rows.append(tuple(checked(np.stack(parts[i]), mixed) if parts.get(i) else None for i in range(len(points))))
    return tuple(rows)


def checked(rows: Value, mixed: Value) -> Value:
    """The matrix of what a backward gives for unit gradients; NaN where its last row, for a mixture of them, is another than theirs."""
    matrix, last = rows[:-1], rows[-1]
    room = 1e-4 * (np.abs(mixed) @ np.abs(matrix)) + np.finfo(float).tiny
    return matrix if np.all(np.abs(mixed @ matrix - last) <= room) else np.full_like(matrix, np.nan, dtype=float)
