"""User-defined operations: `class F(Function)` with static `forward` and `backward`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.mode import recording, state
from gradcli.engine.node import FREED_MESSAGE, AccumulateGrad, Edge, Form, Node, Parts, Sweep, fit
from gradcli.engine.stale import stale
from gradcli.engine.substitute import substitute
from gradcli.engine.tensor import Tensor, ViewOf
from gradcli.engine.trace import FunctionCall, Record, snapshot
from gradcli.errors import ArgumentError, AutogradError, MissingRuleError, ShapeError


class Context:
    """What `forward` leaves for `backward`: `save_for_backward`, marks, and attributes of the user's own."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.to_save: tuple[Any, ...] = ()
        self.for_forward: tuple[Any, ...] = ()
        self.pushing = False
        """Forward mode: `jvp` runs, and reads what was saved for it."""
        self.node: FunctionNode | None = None
        self.needs_input_grad: tuple[bool, ...] = ()
        self.dirty: tuple[Any, ...] = ()
        self.non_differentiable: tuple[Any, ...] = ()
        self.materialize_grads = True
        self.attributes: dict[str, Any] = {}

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for backward; the last call counts."""
        for position, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise ArgumentError(
                    f"save_for_backward can only save variables, but argument {position} is of type {type(tensor).__name__}",
                    hint="keep other values as attributes: ctx.n = n",
                )
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for jvp."""
        self.for_forward = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Tell that inputs were changed in place."""
        self.dirty = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Tell that outputs have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether gradients that never arrive are zeros (default) or None."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        if self.pushing:
            return self.for_forward
        return self.to_save if self.node is None else self.node.saved_tensors()

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["attributes"][name]
        except KeyError:
            raise AttributeError(name) from None


class Kept:
    """One tensor that a user Function saved: an output by its number, so that nothing is held in a cycle."""

    __slots__ = ("output_nr", "record", "tensor", "value")

    def __init__(self, tensor: Tensor, output_nr: int | None) -> None:
        self.tensor = None if output_nr is not None else tensor
        self.value = tensor.value
        self.output_nr = output_nr
        self.record = tensor.own_record

    def known(self, sweep: Sweep) -> bool:
        """Whether a pass may take the value from the trace where the tensor was written to: see Sweep."""
        return sweep.own and self.record is not None and (sweep.alone or self.record.op is None)


class FunctionNode(Node):
    """The node of one `apply` of a user Function; one for all its outputs."""

    __slots__ = ("cls", "context", "guards", "inputs", "saved")

    def __init__(self, cls: type[Function], context: Context, edges: tuple[Edge | None, ...], shapes: tuple[Form, ...]) -> None:
        super().__init__(edges, shapes)
        self.cls = cls
        self.context = context
        self.saved: Any = ()
        self.guards: tuple[Any, ...] = ()
        self.inputs: tuple[Form | None, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.cls.__name__}Backward"

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{self.name} object at 0x{id(self):x}>"

    def release(self) -> None:
        """What was saved is gone, and told so when it is read again; a backward that reads nothing may run again."""
        self.freed = True
        if not state.keep_graph:
            self.forget()

    def forget(self) -> None:
        self.saved = self.guards = ()

    def keep(self, tensors: tuple[Any, ...], outputs: list[Any]) -> None:
        """Keep tensors for backward."""
        kept: list[Kept | None] = []
        guards: list[Any] = []
        for tensor in tensors:
            if tensor is None:
                kept.append(None)
                continue
            kept.append(Kept(tensor, next((k for k, out in enumerate(outputs) if out is tensor), None)))
            guards += (tensor.version, tensor.version.count)
        self.saved, self.guards = tuple(kept), tuple(guards)
        if state.frame is not None:
            state.frame.pack(self)

    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved, as tensors with their history."""
        sweep = state.sweep
        own = sweep is not None and sweep.own
        if self.freed and not own:
            raise AutogradError(FREED_MESSAGE, hint="pass retain_graph=True to the first backward call")
        kept = self.saved if type(self.saved) is tuple else self.saved.unpack(self)
        present = [k for k in kept if k is not None]
        for k, entry in enumerate(present):
            written = self.guards and self.guards[2 * k].count != self.guards[2 * k + 1]
            if written and not (sweep is not None and entry.known(sweep)):
                raise stale(self, k, entry.value, self.source(entry))
        return tuple(None if entry is None else self.revived(entry, own) for entry in kept)

    def revived(self, entry: Kept, own: bool) -> Tensor:
        if own and entry.record is not None and entry.tensor is not None:
            value, edge = entry.record.value, entry.tensor.edge()
            return Tensor(value) if edge is None else Tensor.saved(value, edge, entry.record)
        if entry.tensor is not None:
            return entry.tensor
        assert entry.output_nr is not None
        return Tensor.saved(entry.value, (self, entry.output_nr), entry.record)  # type: ignore[no-any-return]

    def source(self, entry: Kept) -> Edge | None:
        if entry.output_nr is not None:
            return self, entry.output_nr
        edge = entry.tensor.edge() if entry.tensor is not None else None
        return None if edge is None or isinstance(edge[0], AccumulateGrad) else edge

    def backward(self, grads: list[Any], sweep: Sweep) -> Parts:
        if state.span is None:  # a pass after the program has ended: its faults stand where the Function was applied
            state.span = self.span
        results = self.cls.rule()(self.context, *[self.given(g, form) for g, form in zip(grads, self.shapes, strict=False)])
        results = results if isinstance(results, tuple) else (results,)
        expected = len(self.inputs)
        while len(results) > expected and results[-1] is None:
            results = results[:-1]
        if len(results) != expected:
            raise AutogradError(
                f"function {self.name} returned an incorrect number of gradients (expected {expected}, got {len(results)})",
                hint="backward returns one gradient for each argument of forward after ctx, None for those without",
            )
        return [
            None if result is None else self.accept(index, result, sweep.recorded)
            for index, result in enumerate(results)
            if self.check(index, result)
        ]

    def given(self, g: Any, form: Form) -> Tensor | None:
        """A gradient as `backward` receives it."""
        if isinstance(g, Tensor):
            return g
        if g is None:
            return Tensor(np.zeros(*form)[()]) if self.context.materialize_grads and form[1] is not None else None
        return Tensor(g)

    def check(self, index: int, result: Any) -> bool:
        """Whether a returned value is a gradient that goes somewhere."""
        if result is None:
            return self.edges[index] is not None
        if not isinstance(result, Tensor):
            raise AutogradError(
                f"expected Variable or None (got {type(result).__name__})", hint=f"{self.name} must return tensors, at index {index}"
            )
        if self.edges[index] is None and self.inputs[index] is None:
            raise AutogradError(
                f"function {self.name} returned a gradient different than None at position {index + 1}, "
                "but the corresponding forward input was not a Variable"
            )
        return self.edges[index] is not None

    def accept(self, index: int, result: Tensor, recorded: bool) -> Any:
        """One returned gradient, summed to the shape of its input where it was only broadcast."""
        form = self.inputs[index]
        assert form is not None
        shape, dtype = form
        if result.shape != shape and not _reducible(result.shape, shape):
            raise ShapeError(
                f"Function {self.name} returned an invalid gradient at index {index} - got {list(result.shape)} "
                f"but expected shape compatible with {list(shape)}"
            )
        return fit(result if recorded else result.value, shape, dtype)


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
    vjp: Callable[..., Any] | None = None
    vmap: Callable[..., Any] | None = None
    generate_vmap_rule: bool = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        name = type(self).__name__
        state.warn(
            f"<class '{name}'> should not be instantiated. Methods on autograd functions are all static, so you should invoke them on the "
            "class itself. Instantiating an autograd function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise AutogradError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with static "
            "forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)",
            hint=f"call {type(self).__name__}.apply(...) on the class",
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        raise MissingRuleError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise MissingRuleError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward mode AD."
        )

    @classmethod
    def rule(cls) -> Callable[..., Any]:
        """The user's backward, which may also be called vjp."""
        if cls.vjp is None:
            return cls.backward
        if cls.backward is not Function.backward:
            raise AutogradError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of them."
            )
        return cls.vjp

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward` and, when an argument asks for a gradient, put one node behind all its tensor outputs."""
        if state.levels or state.mapping:
            check_transformable(cls)
        for arg in args:
            if isinstance(arg, Tensor) and type(arg) is not Tensor:
                return arg.apply_function(cls, args)
        return apply_function(cls, args, kwargs, Context(f"{cls.__name__}Backward"))


def check_transformable(cls: type[Function]) -> None:
    """What torch.func asks of a user Function that is called inside one of its transforms."""
    about = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"
    if cls.setup_context is None:
        raise AutogradError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must override the "
            f"setup_context staticmethod. {about}",
            hint="write forward without ctx, and a static method setup_context(ctx, inputs, output) that saves",
        )
    if not state.mapping:
        return
    if cls.generate_vmap_rule and cls.vmap is not None:
        raise AutogradError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap staticmethod. Please "
            f"set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid ambiguity. {about}"
        )
    if not cls.generate_vmap_rule and cls.vmap is None:
        raise AutogradError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement the vmap "
            f"staticmethod or set generate_vmap_rule=True. {about}"
        )


def apply_function(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any], context: Context) -> Any:
    """See Function.apply; `context` is what forward and backward share."""
    asking = tuple(isinstance(a, Tensor) and a.asks for a in args)
    context.needs_input_grad = asking
    recorded = state.grad and any(asking)
    edges = tuple(a.edge() if isinstance(a, Tensor) and recorded else None for a in args)
    call = _enter(cls, args)
    try:
        with recording(False):
            result = run_forward(cls, context, args, kwargs)
    finally:
        if call is not None:
            state.tracer.leave()  # type: ignore[union-attr]
    several = isinstance(result, (tuple, list))
    outputs = _fresh(list(result) if several else [result], args, context)
    if recorded:
        _attach(cls, context, edges, args, outputs)
    if call is not None:
        call.node = context.node
        _note_outputs(cls, call, args, kwargs, outputs)
    return tuple(outputs) if several else outputs[0]


def _note_outputs(cls: type[Function], call: FunctionCall, args: tuple[Any, ...], kwargs: dict[str, Any], outputs: list[Any]) -> None:
    """Tell the tracer what came out: the records of the body, or of what stands for it."""
    tensors = [o for o in outputs if isinstance(o, Tensor)]

    def run(*values: Any) -> Any:
        inputs = [Tensor(v) if isinstance(a, Tensor) else a for a, v in zip(args, values)]
        result = run_forward(cls, Context(f"{cls.__name__}Backward"), tuple(inputs), kwargs)
        found = tuple(r.value for r in (result if isinstance(result, (tuple, list)) else [result]) if isinstance(r, Tensor))
        return found if len(found) > 1 else found[0]

    values = [a.value if isinstance(a, Tensor) else a for a in args]
    records = substitute(call, [o.value for o in tensors], values, run) if tensors else None
    for k, record in enumerate(records or ()):
        tensors[k].own_record = record
    call.outputs = tuple(o.record() if isinstance(o, Tensor) else None for o in outputs)


def run_forward(cls: type[Function], context: Context, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The user's forward, in the form with ctx or in the form with setup_context."""
    if cls.setup_context is None:
        return cls.forward(context, *args, **kwargs)
    result = cls.forward(*args, **kwargs)
    cls.setup_context(context, args, result)
    return result


def _enter(cls: type[Function], args: tuple[Any, ...]) -> FunctionCall | None:
    """Tell the tracer that the body of a user Function runs now."""
    tracer = state.tracer
    if tracer is None or not tracer.following:
        return None
    inputs = tuple((a.record() or snapshot(a.value)) if isinstance(a, Tensor) else a for a in args)
    if not any(isinstance(r, Record) for r in inputs):
        return None
    call = FunctionCall(cls, args, inputs, state.span)
    tracer.enter(call)
    return call


def _fresh(outputs: list[Any], args: tuple[Any, ...], context: Context) -> list[Any]:
    """The outputs as tensors of their own: an input handed back unchanged becomes a view of itself without history."""
    fresh = []
    for out in outputs:
        if isinstance(out, Tensor) and any(out is a for a in args) and not any(out is d for d in context.dirty):
            alias = Tensor(out.array)
            alias.counter, alias.own_record = out.version, out.record()
            alias.shares = ViewOf(out, (), 0 if out.untracked else out.version.count, "custom")
            out = alias
        fresh.append(out)
    return fresh


def form_of(output: Any) -> Any:
    """Shape and dtype of an output; no dtype for what is no tensor, whose gradient is None."""
    return (output.shape, output.dtype) if isinstance(output, Tensor) else ((), None)


def _attach(cls: type[Function], context: Context, edges: tuple[Edge | None, ...], args: tuple[Any, ...], outputs: list[Any]) -> None:
    """Give the outputs their common node."""
    for dirty in context.dirty:
        if not any(dirty is out for out in outputs):
            raise AutogradError(
                "Some elements marked as dirty during the forward method were not returned as output. "
                "The inputs that are modified inplace must all be outputs of the Function."
            )
        if dirty.wants and dirty.node is None:
            raise AutogradError("a leaf Variable that requires grad has been used in an in-place operation.")
    node = FunctionNode(cls, context, edges, tuple(form_of(o) for o in outputs))
    node.inputs = tuple((a.shape, a.dtype) if isinstance(a, Tensor) else None for a in args)
    for k, out in enumerate(outputs):
        if isinstance(out, Tensor) and out.is_floating and not any(out is t for t in context.non_differentiable):
            out.node, out.output_nr, out.wants = node, k, True
            if out.shares is not None:
                out.shares = ViewOf(out.shares.base, out.shares.chain, out.version.count, "custom")
    for arg in context.dirty:
        arg.version.bump(arg)
    node.keep(context.to_save, outputs)
    context.node = node
