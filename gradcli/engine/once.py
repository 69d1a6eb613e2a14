"""once_differentiable: a backward whose result cannot be differentiated again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.function import Function
from gradcli.engine.mode import recording, state
from gradcli.engine.tensor import Tensor
from gradcli.errors import AutogradError


class DelayedError(Function):
    """Passes values through and refuses to be differentiated."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        return tuple(Tensor(a.value) if isinstance(a, Tensor) else a for a in args)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise AutogradError(
            "trying to differentiate twice a function that was marked with @once_differentiable",
            hint="remove the decorator, and write backward with operations that can be differentiated",
        )


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run a backward without recording; its results refuse a second derivative if the incoming gradient asks for one."""

    def backward(ctx: Any, *grads: Any) -> Any:
        with recording(False):
            results = function(ctx, *grads)
        if not state.grad or not any(isinstance(g, Tensor) and g.wants for g in grads):
            return results
        several = isinstance(results, tuple)
        given = results if several else (results,)
        askers = [g for g in grads if isinstance(g, Tensor) and g.wants]
        guarded = DelayedError.apply(*given, *askers)[: len(given)]
        return guarded if several else guarded[0]

    backward.__name__ = getattr(function, "__name__", "backward")
    return backward
