"""torch.autograd.gradcheck and gradgradcheck, as a program calls them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradcli.engine.backward import grad
from gradcli.engine.mode import enable_grad, state
from gradcli.engine.tensor import Tensor
from gradcli.errors import AutogradError, DataError


class GradcheckError(AutogradError):
    """Analytical and numerical derivatives differ."""

    shown = "GradcheckError"


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether backward agrees with central differences, by PyTorch's rule: |a - n| <= atol + rtol * |n| in every element."""
    given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    askers = [t for t in given if isinstance(t, Tensor) and t.asks]
    for k, tensor in enumerate(given):
        if isinstance(tensor, Tensor) and tensor.asks and tensor.dtype not in (np.float64, np.complex128):
            state.warn(
                f"Input #{k} requires gradient and is not a double precision floating point or complex. This check will likely fail if all "
                "the inputs are not of double precision floating point or complex. ",
                UserWarning,
            )
    if not askers:
        raise DataError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.",
            hint="create an input with requires_grad=True",
        )
    tracer, state.tracer = state.tracer, None
    try:
        compare(func, given, askers, eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    finally:
        state.tracer = tracer
    return True


def compare(func: Callable[..., Any], given: tuple[Any, ...], askers: list[Tensor], eps: float, atol: float, rtol: float) -> None:
    """Raise GradcheckError at the first Jacobian that differs."""
    for i, output in enumerate(outputs_of(func, given)):
        if not output.is_floating:
            continue
        analytical = [row_by_row(output, t) for t in askers]
        for j, tensor in enumerate(askers):
            numerical = differences(partial(output_number, i, func, given), tensor, eps)
            if not np.allclose(analytical[j], numerical, rtol, atol, equal_nan=True):
                raise GradcheckError(
                    f"Jacobian mismatch for output {i} with respect to input {j},\n"
                    f"numerical:{Tensor(numerical)!r}\nanalytical:{Tensor(analytical[j])!r}\n"
                )


def output_number(place: int, func: Callable[..., Any], given: tuple[Any, ...]) -> Tensor:
    return outputs_of(func, given)[place]


def outputs_of(func: Callable[..., Any], given: tuple[Any, ...]) -> list[Tensor]:
    with enable_grad():
        result = func(*given)
    return [r for r in (result if isinstance(result, (tuple, list)) else (result,)) if isinstance(r, Tensor)]


def row_by_row(output: Tensor, tensor: Tensor) -> np.ndarray:
    """The Jacobian by backward, inputs down and outputs across as PyTorch shows it."""
    columns = np.zeros((tensor.size_, output.size_), tensor.dtype)
    if not output.asks:
        return columns
    for k in range(output.size_):
        weight = np.zeros(output.size_, output.dtype)
        weight[k] = 1
        (g,) = grad(output, tensor, Tensor(weight.reshape(output.shape)[()]), True, allow_unused=True)
        if g is not None:
            if g.shape != tensor.shape:
                raise GradcheckError("Analytical gradient has incorrect size")
            columns[:, k] = np.asarray(g.value).reshape(-1)
    return columns


def differences(output: Callable[[], Tensor], tensor: Tensor, eps: float) -> np.ndarray:
    """The Jacobian by central differences."""
    rows = []
    memory = tensor.array
    for k in range(memory.size):
        place = np.unravel_index(k, memory.shape)
        centre = memory[place]
        memory[place] = centre + eps
        high = np.array(output().value)
        memory[place] = centre - eps
        low = np.array(output().value)
        memory[place] = centre
        rows.append(((high - low) / (2 * eps)).reshape(-1))
    return np.array(rows)


def gradgradcheck(func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, **options: Any) -> bool:
    """gradcheck of the gradient of a function, weighted by random (or the given) gradients of its outputs."""
    options.pop("gen_non_contig_grad_outputs", None)
    given = tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)
    outputs = outputs_of(func, given)
    if grad_outputs is None:
        weights = [Tensor(np.asarray(state.rng.standard_normal(o.shape), o.dtype)[()], True) for o in outputs if o.is_floating]
    else:
        weights = list(grad_outputs) if isinstance(grad_outputs, (tuple, list)) else [grad_outputs]
    count = len(given)

    def first(*arguments: Any) -> Any:
        points = [fresh(a) for a in arguments[:count]]
        made = [o for o in outputs_of(func, tuple(points)) if o.is_floating]
        askers = [p for p in points if isinstance(p, Tensor) and p.asks]
        return grad(made, askers, list(arguments[count:]), create_graph=True, allow_unused=True)

    return gradcheck(first, (*given, *weights), **options)


def fresh(argument: Any) -> Any:
    """A view, so that inputs used unchanged have a place of their own in the graph."""
    return argument.view_as(argument) if isinstance(argument, Tensor) and argument.asks else argument


__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]
