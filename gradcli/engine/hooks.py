"""Hooks: what a program asked to be called with the gradients that pass a tensor or a node."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.node import Node, Parts, placed
from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError, AutogradError, DataError, ShapeError

Hooks = dict[int, Callable[..., Any]]
"""Hooks by a number, in order of registration."""


class Watch:
    """The hooks of one node, `tensors` by output number, `retained` the tensors that keep their gradient; `metadata` is the program's."""

    __slots__ = ("after", "before", "metadata", "retained", "tensors")

    def __init__(self) -> None:
        self.after: Hooks = {}
        self.metadata: dict[Any, Any] = {}
        self.before: Hooks = {}
        self.tensors: dict[int, Hooks] = {}
        self.retained: dict[int, weakref.ref[Tensor]] = {}


class RemovableHandle:
    """What registering a hook gives: `remove()` takes the hook away again; also a context manager."""

    made = 0

    def __init__(self, hooks: Hooks, hook: Callable[..., Any]) -> None:
        RemovableHandle.made += 1
        self.id = RemovableHandle.made
        self.hooks = hooks
        hooks[self.id] = hook

    def remove(self) -> None:
        self.hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<torch.utils.hooks.RemovableHandle object at 0x{id(self):x}>"


def watch(node: Node) -> Watch:
    """The hooks of a node, which may be none yet."""
    if node.watch is None:
        node.watch = Watch()
    return node.watch


def register_hook(tensor: Tensor, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Call `hook(gradient)` whenever the gradient of a tensor is complete; what it returns (unless None) replaces the gradient."""
    if not tensor.asks:
        raise AutogradError("cannot register a hook on a tensor that doesn't require gradient", hint="create it with requires_grad=True")
    node = tensor.grad_fn
    if node is not None:
        return RemovableHandle(watch(node).tensors.setdefault(tensor.output_nr, {}), hook)
    if tensor.hooks is None:
        tensor.hooks = {}
    return RemovableHandle(tensor.hooks, hook)


def register_post_accumulate_grad_hook(tensor: Tensor, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Call `hook(leaf)` each time after a gradient was added to the `.grad` of a leaf."""
    if not tensor.asks:
        raise AutogradError("cannot register a hook on a tensor that doesn't require gradient")
    if tensor.grad_fn is not None:
        raise AutogradError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    if tensor.post_hooks is None:
        tensor.post_hooks = {}
    return RemovableHandle(tensor.post_hooks, hook)


def register_node_hook(node: Node, hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(grad_inputs, grad_outputs)` after the node has run."""
    return RemovableHandle(watch(node).after, hook)


def register_node_prehook(node: Node, hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(grad_outputs)` before the node runs."""
    return RemovableHandle(watch(node).before, hook)


class Handles:
    """Several handles as one."""

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> Handles:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<torch.utils.hooks.RemovableHandle object at 0x{id(self):x}>"


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[[Any], Any], *, mode: str = "all") -> Handles:
    """Call `fn` once a backward pass: with the list of the gradients when all that the pass computes have arrived, or with the first."""
    if mode not in ("all", "any"):
        raise DataError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    watched = list(tensors)
    passes: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()

    def arrival(place: int) -> Callable[[Any], None]:
        def arrived(g: Any) -> None:
            sweep = state.sweep
            first = sweep not in passes
            gradients = passes.setdefault(sweep, [None] * len(watched))
            gradients[place] = g
            if mode == "any":
                if first:
                    fn(g)
            elif sum(g is not None for g in gradients) == sum(sweep.will_run(t.edge()[0]) for t in watched):  # type: ignore[index]
                fn(list(gradients))

        return arrived

    return Handles(tuple(register_hook(tensor, arrival(place)) for place, tensor in enumerate(watched)))


def retain_grad(tensor: Tensor) -> None:
    """Let a tensor that is no leaf keep its gradient in `.grad`."""
    if not tensor.asks:
        raise AutogradError("can't retain_grad on Tensor that has requires_grad=False")
    node = tensor.grad_fn
    if node is None:
        return
    tensor.retained = True
    watch(node).retained[tensor.output_nr] = weakref.ref(tensor)


def move_retained(tensor: Tensor, old: Node | None, output_nr: int) -> None:
    """A tensor that keeps its gradient got a new history: the gradient it keeps is that of its new value."""
    if old is not None and old.watch is not None:
        old.watch.retained.pop(output_nr, None)
    retain_grad(tensor)


def run_tensor_hooks(hooks: Hooks, g: Any, recorded: bool) -> Any:
    """Call hooks in order of registration; each receives the last value returned, None keeps it."""
    current = as_tensor(g)
    for hook in list(hooks.values()):
        result = hook(current)
        if result is None or current is None:
            continue
        if not isinstance(result, Tensor):
            text = f"expected Variable, but hook returned '{type(result).__name__}'"
            raise ArgumentError(text, hint="return a tensor, or None to keep it")
        if result.shape != current.shape:
            raise ShapeError(
                f"hook '{getattr(hook, '__name__', '')}' has changed the size of value",
                hint=f"it received {list(current.shape)} and returned {list(result.shape)}",
            )
        current = result
    return current if recorded or current is None else current.value


def run_before(hooks: Hooks, grads: list[Any], recorded: bool) -> list[Any]:
    """Call the prehooks of a node; a tuple returned replaces the gradients."""
    for hook in list(hooks.values()):
        result = hook(tuple(as_tensor(g) for g in grads))
        if result is not None:
            grads = plain(result, recorded)
    return grads


def run_after(hooks: Hooks, node: Node, parts: Parts, grads: list[Any], recorded: bool) -> Parts:
    """Call the hooks of a node; a tuple returned replaces the gradients for its inputs."""
    inputs: list[Any] = [None] * len(node.edges)
    for index, part in placed(node, parts) if parts else ():
        inputs[index] = part
    for hook in list(hooks.values()):
        result = hook(tuple(as_tensor(g) for g in inputs), tuple(as_tensor(g) for g in grads))
        if result is not None:
            inputs = plain(result, recorded)
    return [part for part, edge in zip(inputs, node.edges, strict=True) if edge is not None]


def as_tensor(g: Any) -> Any:
    """A gradient as a hook sees it."""
    return g if g is None or isinstance(g, Tensor) else Tensor(np.asarray(g)[()])


def plain(grads: Any, recorded: bool) -> list[Any]:
    """Gradients as the pass holds them."""
    given = grads if isinstance(grads, (tuple, list)) else (grads,)
    return [g if g is None or recorded else g.value for g in given]
