"""Version counters: how an in-place write to something that a node kept is noticed."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from gradcli.errors import AutogradError

if TYPE_CHECKING:
    from gradcli.engine.tensor import Tensor


class Move(NamedTuple):
    """A value that lives elsewhere now: a scalar that became an array, or the old side of `x.data = t`.

    `inputs_only`: a node that kept `old` as its own result goes on with `old`, as in PyTorch.
    """

    old: Any
    new: Any
    inputs_only: bool


class Version:
    """Counts the in-place writes to one piece of memory; shared by views and detached tensors.

    `writer` is a weak reference to the tensor that was last written to, `moves` say where kept values went.
    """

    __slots__ = ("count", "moves", "writer")

    def __init__(self) -> None:
        self.count = 0
        self.writer: weakref.ref[Tensor] | None = None
        self.moves: list[Move] | None = None

    def bump(self, writer: Tensor) -> None:
        """Count one write."""
        self.count += 1
        self.writer = weakref.ref(writer)

    def move(self, old: Any, new: Any, *, inputs_only: bool = False) -> None:
        """From now on nodes that kept the object `old` read `new`."""
        self.moves = [*(self.moves or ()), Move(old, new, inputs_only)]

    def follow(self, value: Any, *, is_result: bool) -> Any:
        """The value to be read where `value` was kept."""
        for old, new, inputs_only in self.moves or ():
            if value is old and not (inputs_only and is_result):
                value = new
        return value


class Untracked(Version):
    """The version of every tensor made in inference mode: there is none, so that no node can keep the tensor."""

    __slots__ = ()

    def __init__(self) -> None:
        self.writer = self.moves = None

    @property
    def count(self) -> int:  # type: ignore[override]
        raise AutogradError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation tracked by "
            "autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use `torch.no_grad()` "
            "instead of `torch.inference_mode()`."
        )

    def bump(self, writer: Tensor) -> None:
        """Writes are not counted."""

    def move(self, old: Any, new: Any, *, inputs_only: bool = False) -> None:
        """No node has kept anything."""


UNTRACKED = Untracked()
