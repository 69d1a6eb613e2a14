"""torch.autograd.functional: whole Jacobians and Hessians, and their products with vectors, of a function of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcli.engine.backward import grad
from gradcli.engine.mode import enable_grad
from gradcli.engine.sharing import detach
from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError, AutogradError, ShapeError
from gradcli.ops.catalogue import FUNCTIONS

Function = Callable[..., Any]


def several(value: Any, what: str, function: str) -> tuple[bool, tuple[Tensor, ...]]:
    """Whether a tuple was given, and its tensors."""
    given = value if isinstance(value, (tuple, list)) else (value,)
    for k, item in enumerate(given):
        if not isinstance(item, Tensor):
            place = f"the value at index {k}" if isinstance(value, (tuple, list)) else f"the given {what}"
            raise ArgumentError(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but {place} has type {type(item)}."
            )
    return isinstance(value, (tuple, list)), tuple(given)


def prepared(inputs: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
    """The inputs as tensors of their own that ask for gradients; with create_graph they stay in the graph that made them."""
    if create_graph:
        return tuple(t.view_as(t) if t.asks else leaf(t) for t in inputs)
    return tuple(leaf(t) for t in inputs)


def leaf(tensor: Tensor) -> Tensor:
    made = detach(tensor)
    made.wants = True
    return made


def cut(results: Any, create_graph: bool) -> Any:
    """Results outside the graph, unless they shall stay in it."""
    if isinstance(results, (tuple, list)):
        return tuple(cut(r, create_graph) for r in results)
    return detach(results) if isinstance(results, Tensor) and not create_graph and results.asks else results


def shaped(results: tuple[Any, ...], is_tuple: bool) -> Any:
    return results if is_tuple else results[0]


def zeros_for(gradients: Sequence[Tensor | None], like: Sequence[Tensor]) -> tuple[Tensor, ...]:
    return tuple(Tensor(np.zeros(t.shape, t.dtype)[()]) if g is None else g for g, t in zip(gradients, like, strict=True))


def gradients(outputs: Any, inputs: Sequence[Tensor], weights: Any, create_graph: bool, strict: bool = False) -> tuple[Tensor, ...]:
    """vjp with zeros for what is not used; `strict` refuses that."""
    askers = [(o, w) for o, w in zip(outputs, weights, strict=True) if o.asks]
    if not askers:
        return zeros_for([None] * len(inputs), inputs)
    found = grad([o for o, _ in askers], list(inputs), [w for _, w in askers], True, create_graph, allow_unused=True)
    if strict:
        refuse_unused(found)
    return zeros_for(found, inputs)


def refuse_unused(found: Sequence[Tensor | None]) -> None:
    for k, g in enumerate(found):
        if g is None:
            raise AutogradError(f"Output 0 of the user-provided function is independent of input {k}. This is not allowed in strict mode.")


def refuse_constant(found: Sequence[Tensor]) -> None:
    """`strict`: a Jacobian that shall be differentiated again must depend on the inputs."""
    for k, g in enumerate(found):
        if not g.asks:
            raise AutogradError(
                f"While computing the hessian, found that the jacobian of the user-provided function with respect to input {k} is "
                "independent of the input. This is not allowed in strict mode. You should ensure that your function is twice "
                "differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example)."
            )


def check_vector(v: tuple[Tensor, ...], like: tuple[Tensor, ...]) -> None:
    if len(v) != len(like):
        raise AutogradError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}.")
    for k, (given, wanted) in enumerate(zip(v, like, strict=True)):
        if given.shape != wanted.shape:
            raise ShapeError(
                f"v has invalid size: should be torch.Size({list(wanted.shape)}) but got torch.Size({list(given.shape)})."
                if len(like) == 1
                else f"Entry {k} in v has invalid size: should be torch.Size({list(wanted.shape)}) but got torch.Size({list(given.shape)})."
            )


def scalar_output(outputs: tuple[Tensor, ...], is_tuple: bool, function: str) -> None:
    if is_tuple:
        raise AutogradError(f"The function given to {function} should return a single Tensor")
    if outputs[0].size_ != 1:
        raise AutogradError(f"The Tensor returned by the function given to {function} should contain a single element")


def vjp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """func(inputs), and the gradient of its product with v."""
    with enable_grad():
        is_tuple, given = several(inputs, "inputs", "vjp")
        points = prepared(given, create_graph)
        out_tuple, outputs = several(func(*points), "outputs of the user-provided function", "vjp")
        weights = cotangents(outputs, v, out_tuple)
        found = gradients(outputs, points, weights, create_graph, strict)
    return cut(shaped(outputs, out_tuple), create_graph), cut(shaped(found, is_tuple), create_graph)


def cotangents(outputs: tuple[Tensor, ...], v: Any, out_tuple: bool) -> tuple[Tensor, ...]:
    if v is None:
        if out_tuple or outputs[0].size_ != 1:
            raise AutogradError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single element.",
                hint="give v, of the shape of the output",
            )
        return (Tensor(np.ones(outputs[0].shape, outputs[0].dtype)[()]),)
    _, weights = several(v, "v", "vjp")
    check_vector(weights, outputs)
    return weights


def jvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """func(inputs), and its derivative along v, by differentiating the vjp in its weights."""
    with enable_grad():
        _, given = several(inputs, "inputs", "jvp")
        points = prepared(given, create_graph)
        directions = tangents(given, v)
        out_tuple, outputs = several(func(*points), "outputs of the user-provided function", "jvp")
        pushed = push_forward(outputs, points, directions, create_graph)
    return cut(shaped(outputs, out_tuple), create_graph), cut(shaped(pushed, out_tuple), create_graph)


def tangents(inputs: tuple[Tensor, ...], v: Any) -> tuple[Tensor, ...]:
    if v is None:
        if len(inputs) != 1 or inputs[0].size_ != 1:
            raise AutogradError(
                "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element.",
                hint="give v, of the shape of the input",
            )
        return (Tensor(np.ones(inputs[0].shape, inputs[0].dtype)[()]),)
    _, directions = several(v, "v", "jvp")
    check_vector(directions, inputs)
    return directions


def push_forward(
    outputs: tuple[Tensor, ...], points: tuple[Tensor, ...], directions: tuple[Tensor, ...], create_graph: bool
) -> tuple[Tensor, ...]:
    """The derivative of the outputs along directions."""
    return pushing(outputs, points)(directions, create_graph)


def pushing(outputs: tuple[Tensor, ...], points: tuple[Tensor, ...]) -> Callable[[tuple[Tensor, ...], bool], tuple[Tensor, ...]]:
    """What gives the derivative along directions: the vjp is linear in its weights, and its derivative in them is the jvp."""
    weights = [Tensor(np.zeros(o.shape, o.dtype), True) for o in outputs]
    pulled = gradients(outputs, points, weights, True)

    def push(directions: tuple[Tensor, ...], create_graph: bool) -> tuple[Tensor, ...]:
        askers = [(p, d) for p, d in zip(pulled, directions, strict=True) if p.asks]
        if not askers:
            return zeros_for([None] * len(outputs), outputs)
        found = grad([p for p, _ in askers], weights, [d for _, d in askers], True, create_graph, allow_unused=True)
        return zeros_for(found, outputs)

    return push


def jacobian(
    func: Function, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False, strategy: str = "reverse-mode"
) -> Any:
    """d func / d inputs: for each output and each input a tensor of shape output + input."""
    with enable_grad():
        is_tuple, given = several(inputs, "inputs", "jacobian")
        points = prepared(given, create_graph)
        out_tuple, outputs = several(func(*points), "outputs of the user-provided function", "jacobian")
        rows = tuple(jacobian_of(output, points, create_graph, strict) for output in outputs)
    made = tuple(shaped(row, is_tuple) for row in rows)
    return cut(shaped(made, out_tuple), create_graph)


def jacobian_of(output: Tensor, points: tuple[Tensor, ...], create_graph: bool, strict: bool = False) -> tuple[Tensor, ...]:
    """The Jacobian of one output in each input, row by row."""
    if not output.asks:
        if strict:
            raise AutogradError(
                "Output 0 of the user-provided function does not require gradients. The outputs must be computed in a differentiable "
                "manner from the input when running in strict mode."
            )
        return tuple(Tensor(np.zeros((*output.shape, *p.shape), p.dtype)[()]) for p in points)
    rows = []
    for k in range(output.size_):
        weight = np.zeros(output.size_, output.dtype)
        weight[k] = 1
        rows.append(gradients([output], points, [Tensor(weight.reshape(output.shape)[()])], create_graph, strict))
    return tuple(stacked([row[j] for row in rows], output, point, create_graph) for j, point in enumerate(points))


def stacked(rows: list[Tensor], output: Tensor, point: Tensor, create_graph: bool) -> Tensor:
    """Rows of a Jacobian as one tensor of shape output + input."""
    shape = (*output.shape, *point.shape)
    if create_graph and rows:
        return FUNCTIONS["stack"](rows).reshape(*shape)  # type: ignore[no-any-return]
    values = [r.value for r in rows]
    return Tensor((np.stack(values) if values else np.zeros(shape, point.dtype)).reshape(shape)[()])


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a scalar function."""
    is_tuple, given = several(inputs, "inputs", "hessian")

    def first(*points: Tensor) -> Any:
        out_tuple, outputs = several(func(*points), "outputs of the user-provided function", "hessian")
        scalar_output(outputs, out_tuple, "hessian")
        found = gradients(outputs, points, [Tensor(np.ones(outputs[0].shape, outputs[0].dtype)[()])], True, strict)
        if strict:
            refuse_constant(found)
        return found

    found = jacobian(first, given, create_graph, strict)
    return found if is_tuple else found[0][0]


def hvp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """func(inputs), and its Hessian times v."""
    return hessian_product(func, inputs, v, create_graph, "hvp")


def vhp(func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple[Any, Any]:
    """func(inputs), and v times its Hessian."""
    return hessian_product(func, inputs, v, create_graph, "vhp")


def hessian_product(func: Function, inputs: Any, v: Any, create_graph: bool, name: str) -> tuple[Any, Any]:
    """The gradient of the product of the gradient with v: the Hessian is symmetric."""
    with enable_grad():
        is_tuple, given = several(inputs, "inputs", name)
        points = prepared(given, create_graph)
        directions = tangents(given, v)
        out_tuple, outputs = several(func(*points), "outputs of the user-provided function", name)
        scalar_output(outputs, out_tuple, name)
        first = gradients(outputs, points, [Tensor(np.ones(outputs[0].shape, outputs[0].dtype)[()])], True)
        found = gradients(first, points, directions, create_graph)
    return cut(outputs[0], create_graph), cut(shaped(found, is_tuple), create_graph)
