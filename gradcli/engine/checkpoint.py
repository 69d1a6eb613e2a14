"""Activation checkpointing: what a block kept is thrown away, and made again by running the block again in backward."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradcli.engine.backward import backward
from gradcli.engine.function import Function, FunctionNode, Kept
from gradcli.engine.mode import enable_grad, state
from gradcli.engine.node import OperationNode
from gradcli.engine.sharing import detach
from gradcli.engine.tensor import Tensor
from gradcli.errors import AutogradError, DataError

USE_REENTRANT = (
    "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling checkpoint "
    "without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to preserve the current default "
    "behavior, you can pass use_reentrant=True."
)
NOTHING_ASKS = "None of the inputs have requires_grad=True. Gradients will be None"
INCOMPATIBLE = (
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to .backward(). To "
    "resolve this error, you can either set use_reentrant=False, or call .backward() without passing the `inputs` argument."
)


class CheckpointError(AutogradError):
    """The second run of a block did not keep what the first had kept."""

    shown = "CheckpointError"


class Stop(BaseException):
    """Ends the second run of a block once everything that was kept is there."""


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    determinism_check: str = "default",
    early_stop: bool = True,
    debug: bool = False,
    context_fn: Any = None,
    **kwargs: Any,
) -> Any:
    """function(*args), whose kept tensors are made again in backward by a second run of it.

    With use_reentrant=True (the default, which warns) the first run is not recorded at all.
    """
    if use_reentrant is None:
        state.warn(USE_REENTRANT, UserWarning)
        use_reentrant = True
    if not use_reentrant:
        return Frame(function, args, kwargs, early_stop).run()
    if kwargs:
        raise DataError(f"Unexpected keyword arguments: {','.join(kwargs)}", hint="pass them with use_reentrant=False")
    if not any(isinstance(a, Tensor) and a.wants for a in args):
        state.warn(NOTHING_ASKS, UserWarning)
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


class Frame:
    """One checkpointed block: how to run it, and how many tensors each node of its graph kept."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], early_stop: bool) -> None:
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.early_stop = early_stop
        self.grad, self.random = state.grad, state.rng.bit_generator.state
        self.forms: list[Any] = []

    def run(self) -> Any:
        """The first run."""
        with framed(self):
            return self.function(*self.args, **self.kwargs)

    def pack(self, node: OperationNode | FunctionNode) -> None:
        """Throw away what a new node keeps, and remember its place in the order of all that is kept."""
        first = len(self.forms)
        self.forms += [form(value) for value in tensors_of(node)]
        if len(self.forms) > first:
            node.saved = Packed(self, first, node.saved)

    def values(self, first: int, count: int) -> list[Any]:
        """The kept tensors at a place: the block is run again, once a pass."""
        if state.sweep is None:
            return self.recompute().take(first, count)
        made: dict[Frame, Recomputed] = state.sweep.recomputed
        if self not in made:
            made[self] = self.recompute()
        return made[self].take(first, count)

    def recompute(self) -> Recomputed:
        """Run the block again, with the random state and the modes of the first run."""
        random, tracer = state.rng.bit_generator.state, state.tracer
        grad, sweep = state.grad, state.sweep
        state.rng.bit_generator.state = self.random
        state.tracer, state.grad, state.sweep = None, self.grad, None
        collected = Recomputed(self)
        try:
            with framed(collected):
                self.function(*self.args, **self.kwargs)
        except Stop:
            pass
        finally:
            state.tracer, state.grad, state.sweep = tracer, grad, sweep
            state.rng.bit_generator.state = random
        collected.check()
        return collected


class Packed:
    """Stands where a node of a checkpointed block kept tensors; what is no tensor stays in `rest`."""

    __slots__ = ("first", "frame", "rest")

    def __init__(self, frame: Frame, first: int, saved: tuple[Any, ...]) -> None:
        self.frame = frame
        self.first = first
        self.rest = tuple(MISSING if is_value(v) else v for v in saved)

    def unpack(self, node: OperationNode | FunctionNode, only: int | None = None) -> list[Any]:
        """What the node kept: all of it, since the block runs as a whole."""
        places = [k for k, value in enumerate(self.rest) if value is MISSING]
        made = self.frame.values(self.first, len(places))
        result = list(self.rest)
        for place, value in zip(places, made, strict=True):
            result[place] = value
        return result


MISSING = object()


def is_value(value: Any) -> bool:
    """Whether something kept is a tensor, in the sense of what a checkpoint throws away."""
    return isinstance(value, (np.ndarray, np.generic, Kept)) or (isinstance(value, tuple) and any(is_value(v) for v in value))


def tensors_of(node: OperationNode | FunctionNode) -> list[Any]:
    """What a node keeps that a checkpoint throws away."""
    return [value for value in node.saved if is_value(value)]


def form(value: Any) -> Any:
    """Shape and dtype of a kept value."""
    value = value.value if isinstance(value, Kept) else value
    return tuple(map(form, value)) if isinstance(value, tuple) else (np.shape(value), np.asarray(value).dtype)


class Recomputed:
    """What the second run of a block keeps, in order; ends the run when it has all."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.kept: list[Any] = []

    def pack(self, node: OperationNode | FunctionNode) -> None:
        self.kept += tensors_of(node)
        if len(self.kept) >= len(self.frame.forms) and self.frame.early_stop:
            raise Stop

    def check(self) -> None:
        """Raise when the second run kept something else than the first."""
        wanted = self.frame.forms
        if len(self.kept) != len(wanted):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(wanted)}\nNumber of tensors saved during recomputation: {len(self.kept)}.",
                hint="the block must do the same each time it runs",
            )
        for position, (value, old) in enumerate(zip(self.kept, wanted, strict=True)):
            if form(value) != old:
                raise CheckpointError(
                    "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward "
                    f"pass.\ntensor at position {position}:\nsaved metadata: {old}\nrecomputed metadata: {form(value)}"
                )

    def take(self, first: int, count: int) -> list[Any]:
        return self.kept[first : first + count]


@contextmanager
def framed(frame: Any) -> Iterator[None]:
    """Let nodes made inside hand what they keep to a frame."""
    before, state.frame = state.frame, frame
    try:
        yield
    finally:
        state.frame = before


class CheckpointFunction(Function):
    """The reentrant form: one node, whose backward runs the block again and goes backward through it."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        ctx.function, ctx.args = function, args
        ctx.random = state.rng.bit_generator.state
        ctx.save_for_backward(*[a for a in args if isinstance(a, Tensor)])
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if state.sweep is not None and state.sweep.limited and not state.sweep.own:
            raise AutogradError(INCOMPATIBLE)
        saved = iter(ctx.saved_tensors)
        inputs = [detached(next(saved)) if isinstance(a, Tensor) else a for a in ctx.args]
        with untraced(ctx.random), enable_grad():
            results = ctx.function(*inputs)
            outputs = results if isinstance(results, (tuple, list)) else (results,)
            roots = [(o, g) for o, g in zip(outputs, grads, strict=True) if isinstance(o, Tensor) and o.wants]
            if not roots:
                raise AutogradError("none of output has requires_grad=True, this checkpoint() is not necessary")
            backward([o for o, _ in roots], [g for _, g in roots], own=False)
        return (None, None, *[a._grad if isinstance(a, Tensor) else None for a in inputs])


def detached(tensor: Tensor) -> Tensor:
    """A leaf with the value and the flag of a tensor."""
    leaf = detach(tensor)
    leaf.wants = tensor.wants
    return leaf


@contextmanager
def untraced(random: Any) -> Iterator[None]:
    """A run again in backward: not part of the trace, with the random numbers of the first run."""
    tracer, before, sweep = state.tracer, state.rng.bit_generator.state, state.sweep
    state.tracer, state.sweep, state.rng.bit_generator.state = None, None, random
    try:
        yield
    finally:
        state.tracer, state.sweep, state.rng.bit_generator.state = tracer, sweep, before


def checkpoint_sequential(functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any) -> Any:
    """The functions one after the other, in checkpointed segments; the last segment runs as it is."""
    stages = list(functions)
    size = len(stages) // segments

    def through(group: list[Any]) -> Callable[[Any], Any]:
        def run(value: Any) -> Any:
            for stage in group:
                value = stage(value)
            return value

        return run

    for k in range(segments - 1):
        input = checkpoint(through(stages[k * size : (k + 1) * size]), input, use_reentrant=use_reentrant, **kwargs)
    return through(stages[(segments - 1) * size :])(input)
