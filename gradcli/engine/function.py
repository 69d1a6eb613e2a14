"""User-defined operations: `class F(Function)` with static `forward` and `backward`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradcli.engine.mode import recording, state
from gradcli.engine.node import FREED_MESSAGE, Edge, Node, fit, stale
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import FunctionCall, Record, snapshot
from gradcli.errors import AutogradError, MissingRuleError, ShapeError


class Context:
    """What `forward` leaves for `backward`: `save_for_backward`, marks, and attributes of the user's own."""

    def __init__(self) -> None:
        self.to_save: tuple[Any, ...] = ()
        self.node: FunctionNode | None = None
        self.needs_input_grad: tuple[bool, ...] = ()
        self.dirty: tuple[Any, ...] = ()
        self.non_differentiable: tuple[Any, ...] = ()
        self.materialize_grads = True
        self.attributes: dict[str, Any] = {}

    def save_for_backward(self, *tensors: Any) -> None:
        self.to_save = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        self.dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        if self.node is None:
            return self.to_save
        return self.node.saved_tensors()

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["attributes"][name]
        except KeyError:
            raise AttributeError(name) from None


class FunctionNode(Node):
    """The node of one `apply` of a user Function; one for all its outputs."""

    __slots__ = ("cls", "context", "guards", "inputs", "saved")

    def __init__(self, cls: type[Function], context: Context, edges: tuple[Edge | None, ...], shapes: tuple[Any, ...]) -> None:
        super().__init__(edges, shapes)
        self.cls = cls
        self.context = context
        self.saved: tuple[Any, ...] = ()
        self.guards: tuple[Any, ...] = ()
        self.inputs: tuple[tuple[tuple[int, ...], np.dtype] | None, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.cls.__name__}Backward"

    @property
    def holds(self) -> bool:
        return bool(self.saved)

    def forget(self) -> None:
        self.saved = self.guards = ()

    def keep(self, tensors: tuple[Any, ...], outputs: list[Tensor]) -> None:
        """Keep tensors for backward: outputs without a reference to themselves, so that nothing is held in a cycle."""
        saved: list[Any] = []
        guards: list[Any] = []
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                saved.append(tensor)
                continue
            place = next((k for k, out in enumerate(outputs) if out is tensor), None)
            saved.append((tensor.value, place, tensor.trace) if place is not None else tensor)
            guards += (tensor.version, tensor.version.count)
        self.saved, self.guards = tuple(saved), tuple(guards)

    def saved_tensors(self) -> tuple[Any, ...]:
        if self.freed and not state.keep_graph:
            raise AutogradError(FREED_MESSAGE)
        for k in range(0, len(self.guards), 2):
            if self.guards[k].count != self.guards[k + 1]:
                raise stale(self, k // 2)
        return tuple(Tensor.saved(t[0], (self, t[1]), t[2]) if isinstance(t, tuple) else t for t in self.saved)

    def guarded(self) -> list[Any]:
        """The kept values that `guards` speaks of, in its order."""
        return [t[0] if isinstance(t, tuple) else t.value for t in self.saved if isinstance(t, (tuple, Tensor))]

    def backward(self, grads: list[Any], recorded: bool) -> Iterator[tuple[int, Any]]:
        given = [
            g if isinstance(g, Tensor) else (None if g is None and not self.context.materialize_grads else Tensor(_zeros(g, *shape)))
            for g, shape in zip(grads, self.shapes)
        ]
        results = self.cls.backward(self.context, *given)
        results = results if isinstance(results, tuple) else (results,)
        expected = len(self.inputs)
        while len(results) > expected and results[-1] is None:
            results = results[:-1]
        if len(results) != expected:
            raise AutogradError(
                f"function {self.name} returned an incorrect number of gradients (expected {expected}, got {len(results)})",
                hint="backward returns one gradient for each argument of forward after ctx, None for those without",
            )
        for index, (result, like) in enumerate(zip(results, self.inputs)):
            if result is None or self.edges[index] is None:
                continue
            yield index, self.accept(index, result, like, recorded)

    def accept(self, index: int, result: Any, like: Any, recorded: bool) -> Any:
        """One returned gradient, summed to the shape of its input where it was only broadcast."""
        if not isinstance(result, Tensor):
            raise AutogradError(
                f"expected Variable or None (got {type(result).__name__})", hint=f"{self.name} must return tensors, at index {index}"
            )
        shape, dtype = like
        if result.shape != shape and not _reducible(result.shape, shape):
            raise ShapeError(
                f"Function {self.name} returned an invalid gradient at index {index} - got {list(result.shape)} "
                f"but expected shape compatible with {list(shape)}"
            )
        return fit(result if recorded else result.value, shape, dtype)


def _zeros(g: Any, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    return np.zeros(shape, dtype) if g is None else g


def _reducible(given: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(given, shape) == given
    except ValueError:
        return False


class Function:
    """Base of user-defined operations.

    `forward(ctx, *args)` computes, without recording; `backward(ctx, *grad_outputs)` returns one gradient
    (or None) for each argument. Call it with `F.apply(*args)`.
    """

    setup_context: Callable[..., Any] | None = None

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        raise MissingRuleError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise MissingRuleError("You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` and, when an argument asks for a gradient, put one node behind all its tensor outputs."""
        return apply_function(cls, args, kwargs)


def apply_function(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """See Function.apply."""
    context = Context()
    asking = [isinstance(a, Tensor) and a.requires_grad for a in args]
    context.needs_input_grad = tuple(asking)
    recorded = state.grad and any(asking)
    edges = tuple(a.edge() if isinstance(a, Tensor) and recorded else None for a in args)
    call = _enter(cls, args)
    try:
        with recording(False):
            result = cls.forward(context, *args, **kwargs) if cls.setup_context is None else cls.forward(*args, **kwargs)
            if cls.setup_context is not None:
                cls.setup_context(context, args, result)
    finally:
        if call is not None:
            state.tracer.inside.pop()  # type: ignore[union-attr]
    several = isinstance(result, tuple)
    outputs = _fresh(list(result) if several else [result], args, context)
    if recorded:
        _attach(cls, context, edges, args, outputs)
    if call is not None:
        call.node = context.node
        call.outputs = tuple(o.record() if isinstance(o, Tensor) else None for o in outputs)
    return tuple(outputs) if several else outputs[0]


def _enter(cls: type[Function], args: tuple[Any, ...]) -> FunctionCall | None:
    """Tell the tracer that the body of a user Function runs now."""
    tracer = state.tracer
    if tracer is None or not tracer.following:
        return None
    inputs = tuple((a.record() or snapshot(a.value)) if isinstance(a, Tensor) else a for a in args)
    if not any(isinstance(r, Record) for r in inputs):
        return None
    call = FunctionCall(cls, args, inputs, state.span)
    tracer.calls.append(call)
    tracer.inside.append(call)
    return call


def _fresh(outputs: list[Any], args: tuple[Any, ...], context: Context) -> list[Any]:
    """The outputs as tensors of their own: an input handed back unchanged becomes a view of itself without history."""
    fresh = []
    for out in outputs:
        if isinstance(out, Tensor) and any(out is a for a in args) and not any(out is d for d in context.dirty):
            alias = Tensor(out.value)
            alias.version, alias.trace = out.version, out.record()
            out = alias
        fresh.append(out)
    return fresh


def _attach(cls: type[Function], context: Context, edges: tuple[Edge | None, ...], args: tuple[Any, ...], outputs: list[Any]) -> None:
    """Give the outputs their common node."""
    tensors = [o for o in outputs if isinstance(o, Tensor)]
    node = FunctionNode(cls, context, edges, tuple((o.shape, o.dtype) if isinstance(o, Tensor) else ((), np.dtype(float)) for o in outputs))
    node.inputs = tuple((a.shape, a.dtype) if isinstance(a, Tensor) else None for a in args)
    for k, out in enumerate(outputs):
        if isinstance(out, Tensor) and out.is_floating and not any(out is t for t in context.non_differentiable):
            out.node, out.output_nr, out.requires_grad, out.view = node, k, True, None
    node.keep(context.to_save, tensors)
    context.node = node
