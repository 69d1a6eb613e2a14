"""What the parameters of the catalogue's functions accept, by their annotations: tensors, numbers, ints, truth values."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Number
from typing import Any

import numpy as np

from gradcli.errors import ArgumentError

WORDS = {"Value": "Tensor", "float": "Number", "int": "int", "bool": "bool"}
"""What is checked, and what PyTorch calls it."""

LETTERS = {"float": "biuf", "int": "iu", "bool": ""}
"""The dtypes of a tensor without axes that stands for a number."""

TORCH_NAMES = {"x": "input", "y": "other"}


@dataclass(frozen=True, slots=True)
class Accepted:
    """What one parameter accepts: `Value | float` is a tensor or a number."""

    name: str
    kinds: tuple[str, ...]
    none: bool

    def __call__(self, value: Any) -> bool:
        if value is None:
            return self.none
        return any(KINDS[kind](value) for kind in self.kinds)


KINDS: dict[str, Callable[[Any], bool]] = {
    "Value": lambda value: hasattr(value, "__operation__") or isinstance(value, (np.ndarray, np.generic)),
    "float": lambda value: isinstance(value, (Number, np.bool_)),
    "int": lambda value: isinstance(value, Integral) and not isinstance(value, bool),
    "bool": lambda value: isinstance(value, (bool, np.bool_)),
}


@cache
def accepted(function: Callable[..., Any]) -> tuple[Accepted | None, ...]:
    """For each parameter of a function what it accepts; None where anything goes."""
    annotations = annotations_of(function)
    found: list[Accepted | None] = []
    for name, parameter in inspect.signature(function).parameters.items():
        kinds = [kind.strip() for kind in str(annotations.get(name, "Any")).split("|")]
        none = "None" in kinds or parameter.default is None
        kinds = [kind for kind in kinds if kind != "None"]
        checked = all(kind in WORDS for kind in kinds) and parameter.kind is not parameter.VAR_POSITIONAL
        found.append(Accepted(name, tuple(kinds), none) if checked else None)
    return tuple(found)


def annotations_of(function: Callable[..., Any]) -> dict[str, str]:
    """The annotations of a function; of an operation class those of its fields and of its `forward`."""
    cls = getattr(function, "cls", None)
    return function.__annotations__ if cls is None else {**cls.body().__annotations__, **cls.kinds}


def fitted(
    name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], bound: int = 0
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, tensors that stand for numbers made numbers; TypeError for what is of another kind.

    `bound` is 1 for a method: PyTorch does not count the tensor itself.
    """
    parameters = accepted(function)
    for position, (value, parameter) in enumerate(zip(args, parameters)):
        if parameter is not None and not parameter(value):
            number = fitting(name, parameter, value, f" (position {position + 1 - bound})")
            args = (*args[:position], number, *args[position + 1 :])
    for parameter in parameters if kwargs else ():
        if parameter is not None and parameter.name in kwargs and not parameter(kwargs[parameter.name]):
            kwargs = {**kwargs, parameter.name: fitting(name, parameter, kwargs[parameter.name], "")}
    return args, kwargs


def fitting(name: str, parameter: Accepted, value: Any, where: str) -> Any:
    """The number that a tensor without axes stands for, or the TypeError that names the argument."""
    kind = parameter.kinds[0]
    if kind != "Value" and getattr(value, "ndim", None) == 0 and value.dtype.kind in LETTERS[kind] and not value.requires_grad:
        return value.item()
    given = "torch.dtype" if isinstance(value, np.dtype) else type(value).__name__
    told = TORCH_NAMES.get(parameter.name, parameter.name)
    hint = "write torch.tensor(...)" if kind == "Value" and isinstance(value, (Number, list, tuple)) else None
    raise ArgumentError(f"{name.rpartition('.')[2]}(): argument '{told}'{where} must be {WORDS[kind]}, not {given}", hint=hint)
