"""Where a backward pass starts: outputs and their gradients, checked as PyTorch checks them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.engine.edges import GradientEdge
from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError, AutogradError, DtypeError, ShapeError

Root = tuple[Tensor | GradientEdge, Any]
"""An output and its gradient: a plain array, or a Tensor when the pass is recorded."""


def as_sequence(value: Any) -> list[Any]:
    """One tensor or several, as a list."""
    if not isinstance(value, (tuple, list, Tensor, GradientEdge, str)):
        raise ArgumentError(f"'{type(value).__name__}' object is not iterable", hint="give a tensor, or several in a tuple")
    given = list(value) if isinstance(value, (tuple, list)) else [value]
    for item in given:
        if not isinstance(item, (Tensor, GradientEdge)):
            raise AutogradError(f"all inputs have to be Tensors or GradientEdges, but got {type(item).__name__}")
    return given


def gradients_of(outputs: Sequence[Tensor], given: Any) -> list[Any]:
    """One gradient, or None, for each output."""
    if given is None:
        return [None] * len(outputs)
    if not isinstance(given, (tuple, list, Tensor, str)):
        raise ArgumentError(f"'{type(given).__name__}' object is not iterable", hint="give a tensor of the shape of the output")
    gradients = [
        None if gradient is None else checked(gradient)
        for gradient in (given[: len(outputs)] if isinstance(given, (tuple, list)) else [given])
    ]
    if len(gradients) != len(outputs):
        raise AutogradError(f"got {len(outputs)} tensors and {len(gradients)} gradients")
    return gradients


def checked(given: object) -> Tensor:
    """A gradient, which must be a tensor (TypeError)."""
    if not isinstance(given, Tensor):
        raise ArgumentError(f"gradients can be either Tensors or None, but got {type(given).__name__}", hint="pass torch.tensor(...)")
    return given


def root_gradient(output: Tensor, given: Any, position: int) -> Tensor:
    """The gradient to start from at an output: the given one, or 1 for an output of one element."""
    if given is None:
        if output.asks and output.size_ != 1:
            raise AutogradError(
                "grad can be implicitly created only for scalar outputs",
                hint=f"the output has shape {list(output.shape)}: pass the gradient, e.g. torch.ones_like(output), or sum it first",
            )
        if output.asks and output.dtype.kind == "c":
            raise DtypeError(f"grad can be implicitly created only for real scalar outputs but got torch.{output.dtype.name}")
        return Tensor(np.ones(output.shape, output.dtype)[()])
    weight = checked(given)
    if weight.shape != output.shape:
        raise ShapeError(
            f"Mismatch in shape: grad_output[{position}] has a shape of torch.Size({list(weight.shape)}) and "
            f"output[{position}] has a shape of torch.Size({list(output.shape)})."
        )
    return weight


def check_roots(outputs: Sequence[Tensor]) -> None:
    for position, output in enumerate(outputs):
        if not output.asks:
            raise AutogradError(
                f"element {position} of tensors does not require grad and does not have a grad_fn",
                hint="no operation on the way asks for a gradient: create a leaf with requires_grad=True",
            )


def start(outputs: Sequence[Tensor], given: Sequence[Any], create_graph: bool) -> list[Root]:
    """The roots of a pass with their gradients, in the dtype of the outputs."""
    roots: list[Root] = []
    for k, (output, gradient) in enumerate(zip(outputs, given, strict=False)):
        g = root_gradient(output, gradient, k)
        value = g.value if g.value.dtype.kind == "O" else np.asarray(g.value).astype(output.dtype, copy=False)[()]
        if create_graph:
            roots.append((output, g if g.wants and g.dtype == output.dtype else Tensor(value)))
        else:
            roots.append((output, value))
    return roots
