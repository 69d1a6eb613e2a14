"""Applying an operation to tensors: its value, a node where a gradient is asked for, a record while a run is traced."""

from __future__ import annotations

import itertools
from functools import reduce
from typing import Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.node import Edge, Node, OperationNode
from gradcli.engine.recording import make_node, node_of
from gradcli.engine.tensor import Tensor, ViewOf
from gradcli.engine.trace import Record, Tracer, snapshot
from gradcli.errors import DataError, DtypeError, KernelError, ShapeError
from gradcli.ops.budget import budget
from gradcli.ops.elementwise import Elementwise
from gradcli.ops.layout import following, rows
from gradcli.ops.operation import Operation
from gradcli.ops.promotion import floated, promote, scalar_type, wider
from gradcli.ops.window import Window

float64, ndarray = np.float64, np.ndarray


def apply(op: Operation, args: tuple[Any, ...]) -> Any:
    """Apply an operation to tensors (and plain values): compute, and record a node where a gradient is asked for."""
    values: list[Any] = []
    edges: list[Edge | None] = []
    ordinary = plain = op.ordinary
    recording = state.grad and (ordinary or op.differentiable)
    mask, bit, lost = 0, 1, False  # lost: the gradient of a view that was made before its base was asked goes nowhere
    for arg in args:
        edge = None
        if type(arg) is Tensor:
            if arg.shares is not None:
                arg.refresh()
                lost |= recording and not arg.wants and arg.would_ask
            value = arg.value
            if recording and arg.wants:
                mask |= bit
                node = arg.node
                edge = (arg.accumulator(), 0) if node is None else (node, arg.output_nr)
            if type(value) is not float64:
                plain = False
        else:
            value = arg
            if type(arg) is ndarray:
                plain = False
        values.append(value)
        edges.append(edge)
        bit <<= 1
    out = op.forward(*values) if plain else evaluate(op, args, values)
    if type(out) is tuple:
        return _apply_several(op, args, values, edges, mask, out)
    result = Tensor(out)
    if (mask or lost) and (plain or out.dtype.kind in "fcO"):
        result.wants = True
        result.node = node_of(op, args, values, edges, mask, out, (result,))
    if not ordinary and op.view:
        _share(result, args[0], op)
    if state.tracer is not None:
        _follow(op, args, values, out, (result,))
    return result


LARGE = 1 << 16
"""A view of fewer elements than this is never beyond a limit."""


def evaluate(op: Operation, args: tuple[Any, ...], values: list[Any]) -> Any:
    """The result of an operation over arrays: dtypes promoted, the limit on elements asked first, PyTorch's message for shapes."""
    if len(args) > 1 and isinstance(op, Elementwise):
        tensors = [type(arg) is Tensor for arg in args]
        if sum(tensors) > 1 or any(type(arg) is ndarray for arg in args):
            values[:] = promote(values, tensors)
    if op.floating:
        values[:] = floated(values)
    if op.refused:
        refuse_dtype(op, args)
    if op.view:
        values[0] = args[0].array
    if op.heavy:
        budget.work(op.work(*values))
    size = op.size(*values)
    if size:
        state.charge(size)
    try:
        out = op(*values)
    except DataError:
        raise
    except TypeError as error:
        raise truth_error(op, error) or error from error
    except ValueError as error:
        raise broadcast_error(values) or error from error
    if op.row_major:
        out = tuple(map(rows, out)) if type(out) is tuple else rows(out)
    elif type(out) is ndarray and out.ndim > 1 and isinstance(op, Elementwise):
        out = following(out, values)
    if op.view:
        if type(out) is np.ndarray and out.size > LARGE:
            budget.elements(out.size)
    elif not size:
        state.charge(sum(v.size for v in out) if type(out) is tuple else out.size)
    return out


def refuse_dtype(op: Operation, args: tuple[Any, ...]) -> None:
    """PyTorch's error for a dtype that an operation has no form for."""
    dtypes = [arg.dtype for arg in args if type(arg) is Tensor and arg.dtype.char != "O"]
    if not dtypes:
        return
    common = reduce(wider, dtypes)
    if common.kind in op.refused:
        hint = "it is for real numbers: .abs(), .real or .imag give some" if common.kind == "c" else "make it floating: .double()"
        name, given = op.kernel_name or op.name, scalar_type(common)
        if name.startswith("linalg."):
            raise DtypeError(f"{name}: Expected a floating point or complex tensor as input. Got {given}", hint=hint)
        raise KernelError(f"\"{name}\" not implemented for '{given}'", hint=hint)


def truth_error(op: Operation, error: TypeError) -> DtypeError | None:
    """PyTorch's message where NumPy refuses truth values, or floats where it wants bits; None for any other error."""
    text = str(error)
    if "numpy boolean subtract" in text:
        words = "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead."
        return DtypeError(words, hint="or make one of them a number: x.double() - y")
    if "numpy boolean negative" in text:
        words = "Negation, the `-` operator, on a bool tensor is not supported. Use the `~` or `logical_not()` operator instead."
        return DtypeError(words, hint="or make it a number: -x.double()")
    if text.startswith("ufunc"):
        words = f'"{op.name}" not implemented for these dtypes'
        return DtypeError(words, hint="convert the tensors first, e.g. with .long() or .double()")
    return None


def broadcast_error(values: list[Any]) -> ShapeError | None:
    """PyTorch's message for the first two shapes that do not broadcast; None when they all do."""
    shapes = [np.shape(v) for v in values]
    for a, b in itertools.pairwise(shapes):
        for k in range(1, min(len(a), len(b)) + 1):
            if a[-k] != b[-k] and 1 not in (a[-k], b[-k]):
                axis = max(len(a), len(b)) - k
                return ShapeError(
                    f"The size of tensor a ({a[-k]}) must match the size of tensor b ({b[-k]}) at non-singleton dimension {axis}",
                    hint=f"shapes {list(a)} and {list(b)} do not broadcast: counted from the end, axes must be equal or 1",
                )
    return None


def _apply_several(
    op: Operation, args: tuple[Any, ...], values: list[Any], edges: list[Edge | None], mask: int, out: tuple[Any, ...]
) -> tuple[Tensor, ...]:
    """The results of an operation with several: one node, an output number each."""
    results = tuple(Tensor(value) for value in out)
    if mask:
        node = node_of(op, args, values, edges, mask, out, results)
        for k, result in enumerate(results):
            if result.is_floating:
                result.wants, result.node, result.output_nr = True, node, k
    if op.view:
        for k, result in enumerate(results):
            _share(result, args[0], op.part(k), "multi")
    if state.tracer is not None:
        _follow(op, args, values, out, results)
    return results


def _share(result: Tensor, source: Tensor, op: Operation, kind: str = "") -> None:
    """Make `result` a view of `source`."""
    result.counter = source.version
    root = source.shares
    if not state.grad:
        kind = kind or "no_grad"
        result.wants = source.wants
    base, chain = (source, (op,)) if root is None else (root.base, (*root.chain, op))
    if root is not None and root.kind:
        kind = root.kind
    seen = 0 if source.untracked else source.version.count
    result.shares = ViewOf(base, chain, seen, kind)
    if state.tracer is not None:
        result.traced = base.record()


def _follow(op: Operation, args: tuple[Any, ...], values: list[Any], out: Any, results: tuple[Tensor, ...]) -> None:
    """Tell the tracer of an operation: a record beside each result, a comparison, a constant made where gradients are off."""
    tracer = state.tracer
    assert tracer is not None
    if tracer.following and op.differentiable:
        _trace(tracer, op, args, values, out, results)
    elif tracer.following and op.compares and not tracer.passing:
        sides = tuple([(arg.record() if type(arg) is Tensor else None) or v for arg, v in zip(args, values, strict=True)])
        if Record in map(type, sides):
            tracer.test(op, sides, values)
    elif op.differentiable and not state.grad and not tracer.passing:
        held = tracer.holding(args) or ((state.span,) if any(type(a) is Tensor and a.record() is not None for a in args) else None)
        if held is not None:
            for result in results:
                tracer.hold(result, held[0])


def _trace(tracer: Tracer, op: Operation, args: tuple[Any, ...], values: list[Any], out: Any, results: tuple[Tensor, ...]) -> None:
    """Leave records beside the results when an input depends on a leaf."""
    records = tuple(arg.record() if type(arg) is Tensor else None for arg in args)
    held = tracer.holding(args) if tracer.held else None
    if not any(records):
        if held is not None:
            for result in results:
                tracer.hold(result, held[0])
        return
    if held is not None:
        tracer.stop("no_grad", held[0])
    inputs = tuple(snapshot(v) if r is None else r for r, v in zip(records, values, strict=False))
    made = tracer.record(op, inputs, values, out)
    for result, record in zip(results, made, strict=False):
        if result.is_floating:
            result.own_record = record
    node = results[0].node
    if isinstance(node, OperationNode):
        node.records = (*records, *made)


def shown(view: Tensor) -> Node:
    """The node of a view of what its base holds now."""
    assert view.shares is not None
    base = view.shares.base
    return make_node(Window(chain=view.shares.chain), (base,), [base.value], int(base.wants), view.value, (view,))


Tensor.__operation__ = staticmethod(apply)
Tensor.shown = staticmethod(shown)
