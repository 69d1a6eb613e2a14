"""torch.autograd.forward_ad: tensors that carry a tangent, which every operation pushes forward."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from gradcli.engine.function import Context, Function, apply_function
from gradcli.engine.functional import push_forward
from gradcli.engine.inplace import inplace
from gradcli.engine.mode import enable_grad, recording, state
from gradcli.engine.sharing import detach
from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError, AutogradError, MissingRuleError, ShapeError
from gradcli.ops.operation import Operation
from gradcli.ops.structure import Copy

UnpackedDualTensor = namedtuple("UnpackedDualTensor", ("primal", "tangent"))


class dual_level:  # noqa: N801 - PyTorch's name
    """In this block tensors may have tangents; at its end they have none."""

    active: dual_level | None = None

    def __enter__(self) -> int:
        return enter_dual_level(self)

    def __exit__(self, *exception: object) -> None:
        exit_dual_level()


def enter_dual_level(level: dual_level | None = None) -> int:
    """Let tensors have tangents until `exit_dual_level`."""
    if dual_level.active is not None:
        raise AutogradError("Nested forward mode AD is not supported at the moment", hint="compute higher derivatives with torch.func.jvp")
    dual_level.active = level or dual_level()
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """All tangents end."""
    if dual_level.active is None:
        raise AutogradError("Trying to exit a forward AD level that was not entered.")
    dual_level.active = None


class Dual(Tensor):
    """A window on a tensor, its primal, with a tangent beside it: what is asked of it is asked of the primal."""

    __slots__ = ("level", "primal", "pushed")
    __operation_priority__ = 3

    def __init__(self, primal: Tensor, tangent: Tensor) -> None:
        self.primal = primal
        self.pushed = tangent
        self.level = dual_level.active

    @property
    def tangent(self) -> Tensor | None:
        """The tangent, as long as its level lasts."""
        return self.pushed if self.level is dual_level.active else None

    @staticmethod
    def write(target: Tensor, op: Operation, others: tuple[Any, ...]) -> Tensor:
        """An operation in place, on the primal and on the tangent."""
        if not isinstance(target, Dual):
            raise MissingRuleError(
                "a tensor with a tangent cannot be written into one without",
                hint="use the out-of-place form, or make_dual the target first",
            )
        made = op(target, *others)
        inplace(op, target.primal, *map(primal_of, others))
        inplace(Copy(), target.pushed, made.pushed if isinstance(made, Dual) else Tensor(np.zeros(target.shape, target.dtype)))
        return target

    def apply_function(self, cls: type[Function], args: tuple[Any, ...]) -> Any:
        """A user Function: its `jvp` gives the tangents."""
        context = Context(f"{cls.__name__}Backward")
        outputs = apply_function(cls, tuple(map(primal_of, args)), {}, context)
        jvp = getattr(cls, "jvp", None)
        if jvp is None:
            raise MissingRuleError(
                "You must implement the jvp function for custom autograd.Function to use it with forward mode AD.",
                hint="write a static method jvp(ctx, *tangents)",
            )
        context.pushing = True
        tangents = jvp(context, *map(tangent_of, args))
        if not isinstance(outputs, tuple):
            return Dual(outputs, tangents)
        return tuple(o if t is None else Dual(o, t) for o, t in zip(outputs, tangents, strict=True))


def mirrored(name: str) -> property:
    """An attribute that is the primal's."""
    return property(lambda self: getattr(self.primal, name), lambda self, value: setattr(self.primal, name, value))


for _name in Tensor.__slots__:
    if _name != "__weakref__":
        setattr(Dual, _name, mirrored(_name))


def primal_of(value: Any) -> Any:
    return value.primal if isinstance(value, Dual) else value


def tangent_of(value: Any) -> Tensor | None:
    return value.tangent if isinstance(value, Dual) else None


def apply_dual(op: Operation, args: tuple[Any, ...]) -> Any:
    """Apply an operation where an argument has a tangent."""
    primals, tangents = tuple(map(primal_of, args)), tuple(map(tangent_of, args))
    result = op(*primals)
    if not op.differentiable or not any(t is not None for t in tangents):
        return result
    results = result if isinstance(result, tuple) else (result,)
    moving = [r.is_floating for r in results]
    pushed = iter(push(op, primals, tangents, moving))
    made = tuple(Dual(r, next(pushed)) if moves else r for r, moves in zip(results, moving, strict=True))
    return made if isinstance(result, tuple) else made[0]


Dual.__operation__ = staticmethod(apply_dual)


def push(op: Operation, primals: tuple[Any, ...], tangents: tuple[Tensor | None, ...], moving: list[bool]) -> tuple[Tensor, ...]:
    """The tangents of the floating results. A view of a tangent stays one, so that writes through it are seen."""
    if op.view and tangents[0] is not None:
        viewed = op(tangents[0], *primals[1:])
        return viewed if isinstance(viewed, tuple) else (viewed,)
    recorded = state.grad and any(isinstance(p, Tensor) and p.asks for p in (*primals, *tangents))
    with enable_grad():
        given = [p if t is None else point(p) for p, t in zip(primals, tangents, strict=True)]
        out = op(*given)
        outputs = tuple(o for o, moves in zip(out if isinstance(out, tuple) else (out,), moving, strict=True) if moves)
        along = [(p, t) for p, t in zip(given, tangents, strict=True) if t is not None]
        pushed = push_forward(outputs, tuple(p for p, _ in along), tuple(t for _, t in along), recorded)
    return pushed if recorded else tuple(detach(p) for p in pushed)


def point(primal: Tensor) -> Tensor:
    """An argument as a point at which to differentiate, in its graph where it has one."""
    if primal.asks:
        return primal.view_as(primal)  # type: ignore[no-any-return]
    made = detach(primal)
    made.wants = True
    return made


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Dual:
    """A view of `tensor` with a tangent."""
    if dual_level.active is None:
        raise AutogradError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.",
            hint="write it inside `with dual_level():`",
        )
    for value in (tensor, tangent):
        if not isinstance(value, Tensor):
            raise ArgumentError(f"make_dual(): argument must be Tensor, not {type(value).__name__}")
    if not tensor.is_floating:
        raise ArgumentError(f"Expected primal to be floating point or complex, but got: torch.{tensor.dtype.name}")
    if tensor.shape != tangent.shape:
        raise ShapeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. "
            f"Tensor is of size {list(tensor.shape)} while the given forward gradient is of size {list(tangent.shape)}."
        )
    return Dual(tensor.view_as(tensor), tangent)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal and the tangent of a tensor; the tangent is None where it has none."""
    if dual_level.active is None:
        return UnpackedDualTensor(primal_of(tensor), None)
    with recording(state.grad):
        primal = primal_of(tensor)
        return UnpackedDualTensor(primal.view_as(primal), tangent_of(tensor))
