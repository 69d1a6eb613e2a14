"""The engine as a library: PyTorch's names at module level, tensors that work with plain Python and with numpy.

Programs reach tensors through tables, Python through the class; here the class gets the rest of what programs have, and
operations that are silent where numpy would warn of NaN and infinity.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.apply import apply
from gradcli.engine.members import METHODS
from gradcli.engine.sharing import numpy as to_numpy
from gradcli.engine.tensor import Tensor
from gradcli.interpreter.numpy_names import numpy_members
from gradcli.interpreter.questions import TENSOR_QUESTIONS
from gradcli.interpreter.tensor_table import OWN_METHODS
from gradcli.interpreter.values import module
from gradcli.interpreter.vocabulary import torch_modules


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, without numpy's warnings: NaN and infinity are values like others here. Wrong arguments are told as in programs."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        with np.errstate(all="ignore"):
            try:
                return function(*args, **options)
            except AttributeError as error:
                if not any(error.obj is given for given in args):
                    raise
                raise TypeError(f"expected a Tensor as an argument, not {type(error.obj).__name__}") from None

    return call


def public(value: Any) -> Any:
    """A name of the language as Python wants it."""
    if isinstance(value, module):
        made = types.ModuleType(f"gradcli.{value.name.removeprefix('torch.')}")
        made.__dict__.update({name: public(member) for name, member in value.members.items()})
        return made
    return quiet(value) if isinstance(value, (types.FunctionType, functools.partial)) else value


def library() -> dict[str, Any]:
    """Name -> value: what `torch` has, and bare what programs may write bare (relu, Function, grad, backward)."""
    modules = torch_modules()
    torch, functional, autograd = (modules[name].members for name in ("torch", "torch.nn.functional", "torch.autograd"))
    found = {name: public(value) for name, value in {**functional, **autograd, **torch}.items()}
    return {**found, "Tensor": Tensor}


# ---- what numpy's own functions do with a tensor

NUMPY = {name: made.members for name, made in numpy_members(torch_modules()["torch"].members).items()}


def lifted(value: Any) -> Any:
    """An argument of a numpy function as an operation takes it."""
    if isinstance(value, np.ndarray):
        return Tensor(value[()])
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return type(value)(map(lifted, value))
    return value


def on_ufunc(self: Tensor, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
    """np.sin(x), array * x: the operation of that name."""
    function = NUMPY["numpy"].get(ufunc.__name__)
    if method != "__call__" or options or function is None:
        return NotImplemented
    given = [lifted(value) for value in inputs]
    if not isinstance(given[0], Tensor):
        given[0] = Tensor(np.asarray(given[0])[()])
    return quiet(function)(*given)


def on_function(self: Tensor, function: Any, kinds: Any, args: Any, options: Any) -> Any:
    """np.sum(x), np.concatenate([x, y]): the operation of that name; without one (np.shape) what numpy does with any object."""
    group = "numpy.linalg" if function.__module__ == "numpy.linalg" else "numpy"
    found = NUMPY[group].get(function.__name__)
    if found is None or function.__name__ == "ndim":
        return function._implementation(*args, **options)
    return quiet(found)(*map(lifted, args), **{name: lifted(value) for name, value in options.items()})


def as_array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """np.asarray(x), for a tensor that asks for no gradient."""
    return np.array(to_numpy(self), dtype=dtype, copy=copy)


def furnish() -> None:
    """Complete the class Tensor for Python."""
    apply_quietly, method, store = quiet(apply), Tensor.method, Tensor.store
    members: dict[str, Any] = {
        **{name: quiet(function) for name, function in {**TENSOR_QUESTIONS, **OWN_METHODS, **METHODS}.items()},
        "__operation__": staticmethod(apply_quietly),
        "method": staticmethod(lambda tensor, name: quiet(method(tensor, name))),
        "store": staticmethod(quiet(store)),
        "__array_ufunc__": on_ufunc,
        "__array_function__": on_function,
        "__array__": as_array,
    }
    members["numpy"] = to_numpy
    for name, member in members.items():
        if name not in ("item", "tolist"):  # the class has its own, which those in the table call
            setattr(Tensor, name, member)


furnish()

NAMES = library()
