"""torch.func: functions that give the derivative of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.functional import gradients, jacobian_of, push_forward, pushing
from gradcli.engine.mapping import vmap
from gradcli.engine.mode import enable_grad, state
from gradcli.engine.sharing import detach
from gradcli.engine.tensor import Tensor
from gradcli.engine.trees import mapped, rebuilt, tensors_of
from gradcli.errors import AutogradError, ShapeError
from gradcli.ops.catalogue import FUNCTIONS

Function = Callable[..., Any]
Argnums = int | tuple[int, ...]


def points_of(args: tuple[Any, ...], argnums: Argnums) -> tuple[list[Any], list[Tensor], bool]:
    """The arguments with those of `argnums` as points of their own; whether something outside asks for gradients.

    The points ask for gradients, and the results leave the graph with the transform; inside another transform
    (or of a tensor that asks) they stay in that graph.
    """
    chosen = argnums if isinstance(argnums, tuple) else (argnums,)
    for k in chosen:
        if not -len(args) <= k < len(args):
            raise AutogradError(f"Got argnum={k}, but only {len(args)} positional inputs")
    moving = {k: tensors_of(args[k]) for k in chosen}
    asking = (t.asks for t in [*args, *(t for tensors in moving.values() for t in tensors)] if isinstance(t, Tensor))
    outside = state.levels > 0 or (state.grad and any(asking))
    given, points = list(args), []
    for k, tensors in moving.items():
        own = [point(tensor, outside) for tensor in tensors]
        points += own
        given[k] = rebuilt(args[k], own)
    return given, points, outside


def point(tensor: Tensor, outside: bool) -> Tensor:
    """A tensor that asks, still in the graph of what made it when someone outside differentiates it too."""
    if outside and tensor.asks:
        return tensor.view_as(tensor)  # type: ignore[no-any-return]
    made = detach(tensor)
    made.wants = True
    return made


def run(func: Function, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call the function, recording, one level deeper."""
    state.levels += 1
    try:
        with enable_grad():
            return func(*args, **kwargs)
    finally:
        state.levels -= 1


def leave(value: Any, outside: bool) -> Any:
    """A result as the caller gets it."""
    return mapped(lambda v: detach(v) if isinstance(v, Tensor) and v.asks and not outside else v, value)


def shaped(found: Any, args: tuple[Any, ...], argnums: Argnums) -> Any:
    """What was found for each point, in the form of the arguments that were differentiated."""
    return rebuilt(tuple(args[k] for k in argnums) if isinstance(argnums, tuple) else args[argnums], found)


def grad_and_value(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """The function that gives the gradient of a scalar function, and its value."""

    def derivative(*args: Any, **kwargs: Any) -> Any:
        given, points, outside = points_of(args, argnums)
        result = run(func, given, kwargs)
        output, aux = result if has_aux else (result, None)
        if not isinstance(output, Tensor):
            raise AutogradError(f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(output)}")
        if output.ndim:
            raise AutogradError(
                "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
                f"{output.ndim} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        if output.dtype.kind == "c":
            raise AutogradError(f"grad can be implicitly created only for real scalar outputs but got torch.{output.dtype.name}")
        one = Tensor(np.ones((), output.dtype)[()])
        with enable_grad():
            found = shaped(gradients([output], points, [one], outside), args, argnums)
        value = leave(output, outside)
        return leave(found, outside), (value, leave(aux, outside)) if has_aux else value

    return derivative


def grad(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """The function that gives the gradient of a scalar function."""
    both = grad_and_value(func, argnums, has_aux)

    def derivative(*args: Any, **kwargs: Any) -> Any:
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return derivative


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The value, and the function from cotangents of the outputs to those of the primals."""
    given, points, outside = points_of(primals, tuple(range(len(primals))))
    result = run(func, given, {})
    output, aux = result if has_aux else (result, None)
    outputs = tensors_of(output)

    def pull(*cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> tuple[Any, ...]:
        with enable_grad():
            found = gradients(outputs, points, tensors_of(cotangents), outside)
        return leave(rebuilt(primals, found), outside)  # type: ignore[no-any-return]

    return (leave(output, outside), pull, leave(aux, outside)) if has_aux else (leave(output, outside), pull)


def check_tangents(primals: list[Tensor], tangents: list[Tensor]) -> None:
    """There is a tangent of the same shape for each primal (RuntimeError)."""
    if len(primals) != len(tangents):
        raise AutogradError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got {len(primals)} primals and {len(tangents)} tangents"
        )
    for primal, tangent in zip(primals, tangents, strict=True):
        if primal.shape != tangent.shape:
            raise ShapeError(
                "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. "
                f"Tensor is of size {list(primal.shape)} while the given forward gradient is of size {list(tangent.shape)}."
            )


def jvp(func: Function, primals: Any, tangents: Any, *, has_aux: bool = False) -> Any:
    """The value and the derivative along the tangents."""
    if not isinstance(primals, tuple):
        raise AutogradError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals).",
            hint="write jvp(f, (x,), (t,))",
        )
    check_tangents(tensors_of(primals), tensors_of(tangents))
    given, points, outside = points_of(primals, tuple(range(len(primals))))
    result = run(func, given, {})
    output, aux = result if has_aux else (result, None)
    with enable_grad():
        pushed = push_forward(tuple(tensors_of(output)), tuple(points), tuple(tensors_of(tangents)), outside)
    along = leave(rebuilt(output, pushed), outside)
    return (leave(output, outside), along, leave(aux, outside)) if has_aux else (leave(output, outside), along)


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """The value, and the function from tangents of the primals to those of the outputs."""
    value = leave(func(*primals), state.levels > 0)
    return value, lambda *tangents: jvp(func, primals, tangents)[1]


def jacrev(func: Function, argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None) -> Function:
    """The function that gives the Jacobian."""

    def derivative(*args: Any, **kwargs: Any) -> Any:
        given, points, outside = points_of(args, argnums)
        result = run(func, given, kwargs)
        output, aux = result if has_aux else (result, None)
        outputs = output if isinstance(output, (tuple, list)) else (output,)
        with enable_grad():
            rows = [shaped(jacobian_of(o, tuple(points), outside), args, argnums) for o in outputs]
        found = leave(tuple(rows) if isinstance(output, (tuple, list)) else rows[0], outside)
        return (found, leave(aux, outside)) if has_aux else found

    return derivative


def jacfwd(func: Function, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error") -> Function:
    """The function that gives the Jacobian, made column by column: signs of zeros tell the difference."""

    def derivative(*args: Any, **kwargs: Any) -> Any:
        given, points, outside = points_of(args, argnums)
        result = run(func, given, kwargs)
        output, aux = result if has_aux else (result, None)
        outputs = tensors_of(output)
        with enable_grad():
            columns = columns_of(outputs, points, outside)
        found = rebuilt(output, (shaped(row, args, argnums) for row in columns))
        return (leave(found, outside), leave(aux, outside)) if has_aux else leave(found, outside)

    return derivative


def columns_of(outputs: list[Tensor], points: list[Tensor], outside: bool) -> list[list[Tensor]]:
    """The Jacobian of each output in each point, from the derivatives along the directions of the points."""
    push, zeros = pushing(tuple(outputs), tuple(points)), [Tensor(np.zeros(p.shape, p.dtype)) for p in points]
    found: list[list[Tensor]] = [[] for _ in outputs]
    for k, point in enumerate(points):
        along = []
        for unit in np.eye(point.size_, dtype=point.dtype):
            direction = Tensor(unit.reshape(point.shape)[()])
            along.append(push((*zeros[:k], direction, *zeros[k + 1 :]), outside))
        for row, output, column in zip(found, outputs, zip(*along, strict=True), strict=True):
            row.append(FUNCTIONS["stack"](list(column), -1).reshape(*output.shape, *point.shape))
    return found


def hessian(func: Function, argnums: Argnums = 0) -> Function:
    """The function that gives the second derivatives of a scalar function."""
    return jacfwd(jacrev(func, argnums), argnums)


__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "vjp", "vmap"]
