"""The symbolic reference for programs too large for a tape: tangents carried forward in extended precision, whole arrays at a time.

A number and its tangent travel as one complex number of extended precision, the tangent scaled down by STEP so far that
its square vanishes. Sums, products and selections are then numpy's own on complex arrays; the slope of every elementwise
operation is SymPy's partial derivative, evaluated on arrays. No derivative rule of the engine is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradcli.engine.trace import Record
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.operation import Operation
from gradcli.ops.structure import To
from gradcli.references.arrays import ARRAYS
from gradcli.references.derived import ARITHMETIC, derive
from gradcli.references.difference import as_float
from gradcli.references.estimate import NoAnswer
from gradcli.references.pair import holds_complex, parts
from gradcli.references.path import Path

STEP = np.longdouble(2) ** -400
"""The scale of tangents: its square is below the last digit of anything, also where extended precision is double precision."""
MOST = 100_000_000
LARGEST = 4_000_000
"""Scalar operations of a program, and elements of an array, that are still followed: each element takes 32 bytes."""
MOST_BRANCHES = 64
JITTER = 8.0
"""How many float64 roundings away the derivative is asked for again: what it then differs by is what rounding may do to autograd's."""


def widened(value: Any) -> Any:
    """Floating numbers in extended precision: what a program computes from them stays in it."""
    return np.asarray(value, dtype=np.clongdouble if holds_complex(value) else np.longdouble)[()]


def along(path: Path, weights: np.ndarray, direction: np.ndarray) -> tuple[float, float]:
    """The derivative of sum(weights * output) along a direction of the path's one input; NaN where it is not finite. No error bar.

    `direction` has the shape of the input, `weights` that of the output. Raises NoAnswer where some operation cannot be followed.
    """
    if path.scalars > MOST or max([np.size(r.value) for r in path.steps], default=0) > LARGEST:
        raise NoAnswer(f"more than {MOST} scalar operations, or {LARGEST} elements of an array")
    if any(holds_complex(r.value) for r in (*path.inputs[0], *path.steps)):
        raise NoAnswer("complex numbers have no tangents in extended precision")
    return float(slope(path, weights, direction, np.zeros(()))), 0.0


def beside(path: Path, weights: np.ndarray, direction: np.ndarray) -> tuple[float, float]:
    """`along` at the point rounded anew: as far as the two are apart, any float formula of the derivative may be off."""
    signs = np.where(np.arange(direction.size) % 2, 1.0, -1.0).reshape(direction.shape)
    return float(slope(path, weights, direction, JITTER * float(np.finfo(np.float64).eps) * signs)), 0.0


def slope(path: Path, weights: np.ndarray, direction: np.ndarray, jitter: np.ndarray) -> np.longdouble:
    """`along`, with every element of the point moved by the part `jitter` of it."""
    given = []
    for record in path.inputs[0]:
        moved = np.zeros(np.shape(record.value), np.clongdouble)
        moved.real = parts(as_float(record.value)).astype(np.longdouble) * (1 + jitter)
        moved.imag = direction * STEP
        given.append(moved)
    try:
        out = np.asarray(path.replay([given], step, as_float))
    except (TypeError, ValueError, AttributeError, NotImplementedError, ArithmeticError) as error:
        raise NoAnswer("an operation has no form in extended precision") from error
    found: np.longdouble = np.sum(out.imag * weights, dtype=np.longdouble) / STEP
    return found


def step(record: Record, args: list[Any]) -> Any:
    """One operation on numbers with tangents."""
    op = record.op
    assert op is not None
    if not op.differentiable:
        return op.forward(*(np.asarray(a).real.astype(np.float64) if holds_complex(a) else a for a in args))
    if type(op) is To:
        return args[0]
    if type(op) in ARITHMETIC:
        return op.forward(*args)
    if isinstance(op, Elementwise) and type(op).exact is Operation.exact:
        return elementwise(op, args, record.decision)
    if not (op.analytic or op.extended):
        raise NoAnswer(f"{op.name} has no form in extended precision")
    if type(op).exact is not Operation.exact:
        return op.exact(*args, decision=record.decision) if op.decides else op.exact(*args)
    return op.replay(args, record.decision)


def elementwise(op: Elementwise, args: list[Any], decision: Any) -> np.ndarray:
    """An elementwise operation: value and slopes by SymPy, branch by branch."""
    arrays = [np.asarray(a) for a in args]
    choices = None if decision is None else np.asarray(decision)
    shape = np.broadcast_shapes(*(a.shape for a in arrays), *(() if choices is None else (choices.shape,)))
    columns = [np.broadcast_to(a, shape).reshape(-1) for a in arrays]
    flat = None if choices is None else np.broadcast_to(choices, shape).reshape(-1)
    out = np.empty(columns[0].shape, np.clongdouble)
    for where, choice, truths in branches(columns, flat):
        out[where] = on_branch(op, [c[where] for c in columns], choice, truths)
    return out.reshape(shape)


def branches(columns: list[np.ndarray], choices: np.ndarray | None) -> Iterator[tuple[Any, Any, tuple[bool | None, ...]]]:
    """The elements of each branch, its decision (floating ones all at once), and the truth values among the arguments."""
    floating = choices is not None and choices.dtype.kind == "f"
    masks = [c for c in columns if c.dtype.kind == "b"]
    keys = ([] if choices is None or floating else [choices]) + masks
    if not keys:
        yield slice(None), choices, ()
        return
    kinds, of = np.unique(np.stack(keys), axis=1, return_inverse=True)
    if kinds.shape[1] > MOST_BRANCHES:
        raise NoAnswer(f"an operation takes more than {MOST_BRANCHES} branches")
    for k in range(kinds.shape[1]):
        where = of.reshape(-1) == k
        first = int(np.argmax(where))
        chosen = choices[where] if floating and choices is not None else None if choices is None else choices[first].item()
        yield where, chosen, tuple(bool(c[first]) if c.dtype.kind == "b" else None for c in columns) if masks else ()


def on_branch(op: Elementwise, columns: list[np.ndarray], choice: Any, truths: tuple[bool | None, ...]) -> np.ndarray:
    """Values and tangents of elements that take one branch; `choice` is an array where decisions are floating."""
    floating = isinstance(choice, np.ndarray)
    derived = derive(op, 0.0 if floating else choice, truths, ARRAYS)
    masks = [c.dtype.kind == "b" and bool(op.selects) for c in columns]
    reals = [c if mask else np.asarray(c.real, dtype=np.longdouble) for c, mask in zip(columns, masks, strict=True)]
    if derived.value is None:
        raise NoAnswer(f"{op.name} has no form in extended precision")
    out = np.empty(columns[0].shape, np.clongdouble)
    out.real = derived.value(*reals, choice if floating else None)
    out.imag = 0
    for column, partial in zip(columns, derived.partials, strict=True):
        if column.dtype.kind == "c":
            out.imag += moved(column.imag, partial, reals, choice if floating else None, op)
    return out


def moved(tangent: np.ndarray, partial: Callable[..., Any] | None, reals: list[np.ndarray], choice: Any, op: Elementwise) -> np.ndarray:
    """The tangent of a result by one argument: nothing where the argument does not move, whatever the slope there is."""
    if partial is None:
        raise NoAnswer(f"{op.name} has no derivative in extended precision")
    still = tangent == 0
    return np.where(still, 0, tangent) * np.where(still, 0, partial(*reals, choice))
