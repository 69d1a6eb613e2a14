"""torch.autograd.graph's hooks on kept tensors: what a node keeps is handed to the program, and asked back in backward."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradcli.engine.function import FunctionNode, Kept
from gradcli.engine.mode import recording, state
from gradcli.engine.node import Edge, OperationNode
from gradcli.engine.saved import argument_names, unpack
from gradcli.engine.tensor import Tensor
from gradcli.engine.trace import Record
from gradcli.errors import ArgumentError, AutogradError

Hook = Callable[[Any], Any]
SavingNode = OperationNode | FunctionNode


class Disabled:
    """Why no hooks may be set now; None where they may."""

    message: str | None = None


class saved_tensors_hooks:  # noqa: N801 - PyTorch's name
    """In this block a node keeps what `pack_hook` makes of a tensor; `unpack_hook` makes the tensor again in backward.

    What was changed in place meanwhile goes unnoticed, as in PyTorch.
    """

    def __init__(self, pack_hook: Hook, unpack_hook: Hook) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook
        self.before: list[Any] = []

    def __enter__(self) -> saved_tensors_hooks:
        if Disabled.message is not None:
            raise AutogradError(Disabled.message)
        self.before.append(state.frame)
        state.frame = self
        return self

    def __exit__(self, *exception: object) -> None:
        state.frame = self.before.pop()

    def pack(self, node: SavingNode) -> None:
        """Take over what a new node keeps."""
        if not node.saved:
            return
        entries: dict[int, Any] = {}
        for position, tensors in kept_by_operation(node) if isinstance(node, OperationNode) else kept_by_function(node):
            packed = tuple(Packed(self, tensor) for tensor in tensors)
            entries[position] = packed if isinstance(node.saved[position], tuple) else packed[0]
        rest = tuple(None if k in entries else value for k, value in enumerate(node.saved))
        node.saved, node.guards = PackedAll(entries, rest), ()


NUMBERS = (bool, int, float, complex)
"""What PyTorch keeps without asking any hook."""


def kept_by_operation(node: OperationNode) -> list[tuple[int, tuple[Tensor, ...]]]:
    """The kept tensors of an operation with their places, in the order in which PyTorch packs them: that of their names."""
    plan, found = node.plan, []
    names = argument_names(node.op)
    values = unpack(node, node.saved)
    for k, slot in enumerate(plan.kept):
        if isinstance(values[k], Tensor) and type(node.saved[k]) not in NUMBERS:
            values[k].counter = node.guards[2 * k]
            found.append((names[slot] if names else f"{slot:09}", k, (values[k],)))
    if plan.keeps_out:
        place = len(plan.kept)
        results = values[place] if isinstance(values[place], tuple) else (values[place],)
        for result, version in zip(results, node.guards[2 * place :: 2], strict=True):
            result.counter = version
        found.append(("result", place, results))
    return [(k, tensors) for _, k, tensors in sorted(found, key=lambda entry: entry[0])]


def kept_by_function(node: FunctionNode) -> list[tuple[int, tuple[Tensor, ...]]]:
    """The tensors that a user Function saved, with their places."""
    entries: list[Kept | None] = list(node.saved)
    return [(k, (node.revived(entry, False),)) for k, entry in enumerate(entries) if entry is not None]


class Packed:
    """One kept tensor in the hands of the program, and its place in the graph."""

    __slots__ = ("edge", "hooks", "packed", "record")

    def __init__(self, hooks: saved_tensors_hooks, tensor: Tensor) -> None:
        version = tensor.version
        count = version.count
        self.hooks = hooks
        self.edge: Edge | None = tensor.edge()
        self.record: Record | None = tensor.own_record
        framed, state.frame = state.frame, None
        try:
            with recording(False):
                self.packed = hooks.pack_hook(tensor)
        finally:
            state.frame = framed
        if version.count != count:
            raise AutogradError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be modified by "
                "in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to perform in-place "
                "operations on the input to a pack hook."
            )

    def tensor(self) -> Tensor:
        """What the program gives back."""
        made = self.hooks.unpack_hook(self.packed)
        if not isinstance(made, Tensor):
            raise ArgumentError(
                f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(made).__name__}",
                hint="unpack_hook must give the tensor that pack_hook was given",
            )
        return made


class SavedTensor:
    """`node._raw_saved_<name>`: the place of one kept tensor, for hooks of its own."""

    def __init__(self, node: OperationNode, place: int) -> None:
        self.node = node
        self.place = place

    def register_hooks(self, pack_hook: Hook, unpack_hook: Hook) -> None:
        """Let the node keep what `pack_hook` makes of the tensor; the pass gets what `unpack_hook` makes of that."""
        node = self.node
        if node.freed:
            raise AutogradError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed when "
                "you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second "
                "time or if you need to access saved variables after calling backward."
            )
        if isinstance(node.saved, PackedAll):
            raise AutogradError("Calling register_hooks on a saved tensor whose hooks have already been set is not allowed.")
        hooks = saved_tensors_hooks(pack_hook, unpack_hook)
        tensors = next((tensors for place, tensors in kept_by_operation(node) if place == self.place), None)
        if tensors is None:
            raise AutogradError("Calling register_hooks on a saved tensor with value None is forbidden")
        rest = tuple(None if k == self.place else value for k, value in enumerate(node.saved))
        node.saved, node.guards = PackedAll({self.place: Packed(hooks, tensors[0])}, rest), ()

    def __repr__(self) -> str:
        return f"<torch._C._autograd.SavedTensor object at 0x{id(self):x}>"


def raw_saved(node: Any, name: str) -> SavedTensor | None:
    """`node._raw_saved_<name>`; None where the node keeps no tensor of that name."""
    names = argument_names(node.op) if isinstance(node, OperationNode) else []
    places = {names[slot]: k for k, slot in enumerate(node.plan.kept) if slot < len(names)} if names else {}
    if isinstance(node, OperationNode) and node.plan.keeps_out:
        places["result"] = len(node.plan.kept)
    return SavedTensor(node, places[name]) if name in places else None


class PackedAll:
    """Stands where a node kept tensors: `entries` by place, in the order of packing; what is no tensor is in `rest`."""

    __slots__ = ("entries", "rest")

    def __init__(self, entries: dict[int, Any], rest: tuple[Any, ...]) -> None:
        self.entries = entries
        self.rest = rest

    def unpack(self, node: SavingNode, only: int | None = None) -> list[Any]:
        """What the node kept; `only` at one place where no more is wanted."""
        values = list(self.rest)
        for place, entry in self.entries.items():
            if only is None or place == only:
                values[place] = given_back(entry, as_kept=isinstance(node, FunctionNode))
        return values


def given_back(entry: Any, *, as_kept: bool) -> Any:
    """The value, or for a user Function the tensor with its history, behind an entry."""
    if isinstance(entry, tuple):
        return tuple(given_back(e, as_kept=as_kept) for e in entry)
    made = entry.tensor()
    if not as_kept:
        return made.value
    return Kept(made if entry.edge is None else Tensor.saved(made.value, entry.edge, entry.record), None)


class save_on_cpu(saved_tensors_hooks):  # noqa: N801 - PyTorch's name
    """Keeps tensors in the main memory, where they are already."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: tensor, lambda packed: packed)


class allow_mutation_on_saved_tensors(saved_tensors_hooks):  # noqa: N801 - PyTorch's name
    """In this block kept tensors may be changed in place: nodes keep copies."""

    def __init__(self) -> None:
        super().__init__(lambda tensor: Tensor(np.array(tensor.value)[()]), self.copy_of)
        self.inside = False

    def __enter__(self) -> allow_mutation_on_saved_tensors:
        if isinstance(state.frame, allow_mutation_on_saved_tensors):
            raise AutogradError("allow_mutation_on_saved_tensors contexts cannot be nested")
        super().__enter__()
        self.inside = True
        return self

    def __exit__(self, *exception: object) -> None:
        self.inside = False
        super().__exit__(*exception)

    def copy_of(self, copy: Tensor) -> Tensor:
        if not self.inside:
            raise AutogradError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which the graph was originally recorded.",
                hint="call backward inside the block",
            )
        return copy


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """In this block setting hooks on kept tensors is an error."""
    if isinstance(state.frame, saved_tensors_hooks):
        raise AutogradError(error_message)
    before, Disabled.message = Disabled.message, error_message
    try:
        yield
    finally:
        Disabled.message = before
