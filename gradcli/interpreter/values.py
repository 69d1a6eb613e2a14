"""Values of the language that Python has no safe class for: types, modules, iterators, shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np


class Unbound:
    """What a local variable holds before it is bound."""

    def __repr__(self) -> str:
        return "<unbound>"


UNBOUND = Unbound()


class Kind:
    """A type as a value: `float`, `torch.Tensor`, `RuntimeError`. Never a live class of Python.

    name     what type(x).__name__ gives; `shown` is the full name, as <class 'torch.Tensor'> has it
    classes  the Python classes whose instances it stands for
    make     what a call does; None when it can't be called
    test     whether an instance of those classes is one of this type; None when all are
    """

    __slots__ = ("classes", "make", "members", "name", "shown", "test")

    def __init__(
        self,
        shown: str,
        classes: tuple[type, ...] = (),
        make: Callable[..., Any] | None = None,
        members: dict[str, Any] | None = None,
        test: Callable[[Any], bool] | None = None,
    ) -> None:
        self.test = test
        self.shown = shown
        self.name = shown.rpartition(".")[2]
        self.classes = classes
        self.make = make
        self.members = members or {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.make is None:
            raise TypeError(f"cannot create {self.name!r} instances")
        return self.make(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<class {self.shown!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kind) and other.shown == self.shown

    def __hash__(self) -> int:
        return hash(self.shown)


class module:  # noqa: N801 - the name that Python's messages show
    """A namespace that an import line binds: a table of names, nothing more."""

    __slots__ = ("members", "name")

    def __init__(self, name: str, members: dict[str, Any]) -> None:
        self.name = name
        self.members = members

    def __repr__(self) -> str:
        return f"<module {self.name!r}>"


class LazyIterator:
    """What zip, enumerate, map, filter, reversed, iter and generator expressions give.

    `depth` counts how many of them lie inside each other: Python's own would overflow the stack.
    """

    __slots__ = ("depth", "items", "kind")

    def __init__(self, kind: str, items: Iterator[Any], depth: int) -> None:
        self.kind = kind
        self.items = items
        self.depth = depth

    def __iter__(self) -> Iterator[Any]:
        return self.items

    def __next__(self) -> Any:
        return next(self.items)

    def __repr__(self) -> str:
        return f"<{self.kind} object at 0x{id(self):x}>"


class Size(tuple[int, ...]):
    """A shape, printed as PyTorch prints it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index: Any) -> Any:
        part = tuple.__getitem__(self, index)
        return Size(part) if isinstance(index, slice) else part

    def __add__(self, other: Any) -> Any:
        return Size(tuple(self) + tuple(other)) if isinstance(other, tuple) else NotImplemented

    def numel(self) -> int:
        return int(np.prod(self, dtype=object))


class BoundMethod:
    """A method of a value that was taken without being called: `f = x.sum`."""

    __slots__ = ("function", "name", "owner")

    def __init__(self, owner: Any, name: str, function: Callable[..., Any]) -> None:
        self.owner = owner
        self.name = name
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(self.owner, *args, **kwargs)

    def __repr__(self) -> str:
        return f"<built-in method {self.name}>"
