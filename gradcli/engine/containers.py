"""torch.nn's modules that hold others, and lists and dicts of parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import index as as_index
from typing import Any

from gradcli.engine.module import Module, indented, parameter
from gradcli.engine.parameters import is_parameter
from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError, AutogradError, MissingAttributeError, RangeError
from gradcli.ops.promotion import tensor_type


class Row(Module):
    """What is held stands in a row, under the names 0, 1, ..."""

    def checked(self, value: Any) -> Any:
        """A value that may stand in the row (TypeError for others)."""
        if not isinstance(value, Module):
            raise ArgumentError(f"{type(value).__name__} is not a Module subclass")
        return value

    def replace(self, values: Iterable[Any]) -> None:
        self.held = {str(k): value for k, value in enumerate(values)}

    def append(self, value: Any) -> Row:
        self.held[str(len(self.held))] = self.checked(value)
        return self

    def extend(self, values: Iterable[Any]) -> Row:
        for value in values:
            self.append(value)
        return self

    def insert(self, index: int, value: Any) -> Row:
        values = list(self)
        values.insert(index, self.checked(value))
        self.replace(values)
        return self

    def pop(self, index: int = -1) -> Any:
        found = self[index]
        del self[index]
        return found

    def __len__(self) -> int:
        return len(self.held)

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self.held.values()))

    def __contains__(self, value: Any) -> bool:
        return any(value is held for held in self.held.values())

    def name_at(self, index: int) -> str:
        number = as_index(index)
        if not -len(self.held) <= number < len(self.held):
            raise RangeError(f"index {number} is out of range")
        return list(self.held)[number]

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice):
            return self.held[self.name_at(index)]
        made = type(self)()
        made.held = dict(list(self.held.items())[index])
        return made

    def __setitem__(self, index: int, value: Any) -> None:
        self.held[self.name_at(index)] = self.checked(value)

    def __delitem__(self, index: Any) -> None:
        gone = list(self.held)[index] if isinstance(index, slice) else [self.name_at(index)]
        self.replace(value for name, value in self.held.items() if name not in gone)


class ModuleList(Row):
    """Modules in a row, each to be called by itself."""

    def __init__(self, modules: Iterable[Any] = ()) -> None:
        super().__init__()
        self.extend(modules)

    def __add__(self, other: Iterable[Any]) -> ModuleList:
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        """Neighbours that read alike are shown once."""
        lines, start = [], 0
        for text, group in groupby(map(repr, self)):
            count = len(list(group))
            place = f"({start}): " if count == 1 else f"({start}-{start + count - 1}): {count} x "
            lines.append(indented(place + text))
            start += count
        return f"{self.name}(\n  " + "\n  ".join(lines) + "\n)" if lines else f"{self.name}()"


class Sequential(Row):
    """Modules called one after the other, each with what the one before gave."""

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], dict):
            for name, module in modules[0].items():
                self.add_module(name, module)
        else:
            self.extend(modules)

    def forward(self, x: Any) -> Any:
        for module in self:
            x = module(x)
        return x


class Named(Module):
    """What is held has names, and is reached by them as in a dict."""

    def __init__(self, values: Any = None) -> None:
        super().__init__()
        self.update(values or {})

    def checked(self, value: Any) -> Any:
        if not isinstance(value, Module):
            raise ArgumentError(f"{type(value).__name__} is not a Module subclass")
        return value

    def update(self, values: Any) -> None:
        for name, value in values.items() if isinstance(values, (dict, Named)) else values:
            self[name] = value

    def keys(self) -> list[str]:
        return list(self.held)

    def values(self) -> list[Any]:
        return list(self.held.values())

    def items(self) -> list[tuple[str, Any]]:
        return list(self.held.items())

    def pop(self, key: str) -> Any:
        return self.held.pop(key)

    def clear(self) -> None:
        self.held.clear()

    def get(self, key: str, default: Any = None) -> Any:
        return self.held.get(key, default)

    def __len__(self) -> int:
        return len(self.held)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self.held))

    def __contains__(self, key: str) -> bool:
        return key in self.held

    def __getitem__(self, key: str) -> Any:
        return self.held[key]

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise ArgumentError(f"module name should be a string. Got {type(key).__name__}")
        self.held[key] = self.checked(value)

    def __delitem__(self, key: str) -> None:
        del self.held[key]


class ModuleDict(Named):
    """Modules by name."""


def as_parameter(value: Any) -> Any:
    """A tensor in a list or dict of parameters becomes one."""
    return parameter(value) if isinstance(value, Tensor) and not is_parameter(value) else value


def described(items: Iterable[tuple[Any, Any]], dtype: Any) -> list[str]:
    """A line for each parameter, with what `dtype` says of it."""
    found = []
    for name, value in items:
        if isinstance(value, Tensor):
            size = "x".join(map(str, value.shape))
            found.append(f"  ({name}): Parameter containing: [{dtype(value)} of size {size}]")
        else:
            found.append(f"  ({name}): Object of type: {type(value).__name__}")
    return found


class ParameterList(Row):
    """Parameters in a row."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__()
        self.extend(values)

    def checked(self, value: Any) -> Any:
        return as_parameter(value)

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        raise AutogradError("ParameterList should not be called.")

    def lines(self) -> list[str]:
        return described(enumerate(self), lambda value: f"torch.{value.dtype.name}")


class ParameterDict(Named):
    """Parameters by name."""

    def checked(self, value: Any) -> Any:
        return as_parameter(value)

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        raise AutogradError("ParameterDict should not be called.")

    def __getitem__(self, key: str) -> Any:
        if key not in self.held:
            raise MissingAttributeError(f"'ParameterDict' object has no attribute '{key}'")
        return self.held[key]

    def lines(self) -> list[str]:
        return described(self.items(), tensor_type)


CONTAINERS: dict[str, type[Module]] = {cls.__name__: cls for cls in (ModuleList, Sequential, ModuleDict, ParameterList, ParameterDict)}
"""By name."""
