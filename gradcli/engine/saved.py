"""What a node kept, given back as tensors with their history, under the names that PyTorch has for it.

An operation says in `saves` what PyTorch's node of it saves, separated by blanks, where that is not what its rules name:

    name           an argument, a parameter, or a property of the operation
    name=source    one of those of another name; `out` or `out.1` for a result; `x_shape`, `x_strides`; a method that is
                   given what it names as its parameters, as a rule is
    name:constant  a number, a truth value, None or a word
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.node import AccumulateGrad, Form, Node, OperationNode
from gradcli.engine.tensor import Tensor
from gradcli.errors import MissingAttributeError
from gradcli.ops.axes import Written
from gradcli.ops.loss import REDUCTIONS
from gradcli.ops.operation import Operation, parameter_names

PYTORCH_NAMES = {"x": "self", "tensor": "self", "input": "self"}
"""The name of the first argument -> what PyTorch calls it in `_saved_<name>`."""

UNSIGNED = 1 << 64
"""PyTorch shows negative integers as if they had no sign."""

WORDS = {"None": None, "True": True, "False": False}


def unpack(node: OperationNode, kept: tuple[Any, ...]) -> tuple[Any, ...]:
    """The kept values as Tensors with their history, for a backward pass that is itself recorded."""
    values = list(kept)
    plan, count, records = node.plan, len(node.edges), node.records
    for k, slot in enumerate(plan.kept):
        if node.edges[slot] is not None or not node.op.listed or slot < node.op.listed:  # else a number that is none to PyTorch either
            values[k] = Tensor.saved(kept[k], node.edges[slot], records[slot] if records else None)
    if plan.keeps_out:
        place = len(plan.kept)
        values[place] = results(node, kept[place], records[count:] if records else ())
    return tuple(values)


def results(node: OperationNode, kept: Any, records: tuple[Any, ...]) -> Any:
    """The kept result, or results, as Tensors."""
    made = tuple(
        Tensor.saved(value, (node, k), records[k] if k < len(records) else None) if value.dtype.kind in "fcO" else Tensor(value)
        for k, value in enumerate(kept if isinstance(kept, tuple) else (kept,))
    )
    return made if isinstance(kept, tuple) else made[0]


def argument_names(op: Operation) -> list[str]:
    """PyTorch's names of the tensor arguments."""
    first, *others = op.arguments or ("",)
    return [PYTORCH_NAMES.get(first, first), *["other" if name == "y" else name for name in others]] if op.arguments else []


def recipe(op: Operation) -> dict[str, str]:
    """What PyTorch's node saves, by name, and where it is here: as the operation says, else what its rules and parameters name."""
    if op.saves is not None:
        named = [term.partition("=") for term in op.saves.split()]
        return {name.partition(":")[0]: source or name for name, _, source in named} | dict.fromkeys(op.told, "")
    names = dict(zip(op.arguments, argument_names(op), strict=True))
    needed = {need for rule in op.rules if rule is not None for need in parameter_names(rule[0])}
    found = {names[need]: need for need in op.arguments if need in needed}
    found |= {f"{names[arg]}_sym_sizes": f"{arg}_shape" for arg in op.arguments if f"{arg}_shape" in needed}
    found |= {"result": "out"} if "out" in needed else {}
    return found | {name: name for name in op.parameters} | dict.fromkeys(op.told, "")


def saved_names(node: Node) -> list[str]:
    """What `_saved_<name>` a node has."""
    return sorted(recipe(node.op)) if isinstance(node, OperationNode) else []


def saved_attribute(node: Node, name: str) -> Any:
    """`node._saved_<name>`: a tensor (None where it was not needed), or what PyTorch keeps besides."""
    sources = recipe(node.op) if isinstance(node, OperationNode) else {}
    bare = name.removeprefix("_saved_")
    if not isinstance(node, OperationNode) or bare not in sources:
        raise MissingAttributeError(f"'{node.name}' object has no attribute '{name}'")
    value = node.op.told[bare] if bare in node.op.told else Source(node).value(sources[bare])
    return shown(value, bare, scalar="float" in str(node.op.kinds.get(sources[bare], "")))


class Source:
    """Where the saved values of one node are."""

    def __init__(self, node: OperationNode) -> None:
        self.node = node
        self.op = node.op

    def value(self, source: str) -> Any:
        op = self.op
        if ":" in source:
            return constant(source.partition(":")[2])
        head, _, part = source.partition(".")
        if head in op.arguments:
            return self.tensor(op.arguments.index(head))
        if head == "out":
            made = self.tensor(len(op.arguments))
            return made[int(part)] if part and made is not None else made
        argument, _, aspect = source.rpartition("_")
        if argument in op.arguments and aspect.partition(".")[0] in ("shape", "strides"):
            found = self.form(op.arguments.index(argument))[0] if aspect != "strides" else self.about(source)
        elif head == "decision":
            found = self.about(head)
        else:
            found = getattr(op, head)
            found = self.computed(found) if callable(found) else found
        if found is None and aspect in ("shape", "strides"):
            return ()
        if not part or found is None:
            return found
        return found[int(part)] if len(found) else 0  # a 0-d tensor has no axis, and PyTorch takes 0 for it

    def tensor(self, slot: int) -> Any:
        """The same as a tensor with its history."""
        node, value = self.node, self.plain(slot)
        if value is None:
            return None
        if slot == len(self.op.arguments):
            return results(node, value, node.records[len(node.edges) :] if node.records else ())
        made = Tensor.saved(value, node.edges[slot], node.records[slot] if node.records else None)
        return made if isinstance(made, Tensor) else Tensor(np.asarray(made)[()])

    def plain(self, slot: int) -> Any:
        """The value that was kept for an argument, or as the result; None where none was."""
        node = self.node
        if slot not in node.plan.slots:
            return None
        node.check_alive()
        place = node.plan.slots.index(slot)
        return node.read()[place] if type(node.saved) is tuple else node.saved.unpack(node, only=place)[place]

    def about(self, need: str) -> Any:
        """What a rule asks of an argument without keeping it; None where no rule that runs has asked."""
        slot = self.op._slot(need)
        return self.node.saved[self.node.plan.slots.index(slot)] if slot in self.node.plan.slots else None

    def form(self, k: int) -> Form:
        """Shape and dtype of an argument, from what was kept of it or from where it came."""
        node = self.node
        if k in node.plan.slots:
            value = node.saved[node.plan.slots.index(k)]
            return np.shape(value), np.asarray(value).dtype
        edge = node.edges[k]
        if edge is not None:
            source, nr = edge
            return (source.variable.shape, source.variable.dtype) if isinstance(source, AccumulateGrad) else source.shapes[nr]
        known = self.about(f"{self.op.arguments[k]}_shape")
        return (() if known is None else known), node.shapes[0][1]

    def computed(self, method: Callable[..., Any]) -> Any:
        """What a method of the operation makes of what it names."""
        given = []
        for need in parameter_names(method.__func__)[1:]:  # type: ignore[attr-defined]
            argument, _, aspect = need.rpartition("_")
            if argument in self.op.arguments and aspect == "shape":
                given.append(self.form(self.op.arguments.index(argument))[0])
            elif need in self.op.arguments or need == "out":
                given.append(self.plain(self.op._slot(need)))
            else:
                given.append(self.about(need))
        return method(*given)


def constant(text: str) -> Any:
    """A constant of `saves`: a word, an integer, or a number with a point."""
    if text in WORDS:
        return WORDS[text]
    digits = text.removeprefix("-")
    return int(text) if digits.isdigit() else float(text) if digits.replace(".", "", 1).isdigit() else text


def shown(value: Any, name: str, *, scalar: bool = False) -> Any:
    """A value as PyTorch gives it: integers without sign (`scalar`: but not numbers), axes as written, reductions by their number."""
    if isinstance(value, tuple) and not any(isinstance(v, Tensor) for v in value):
        return tuple(shown(v, name, scalar=scalar) for v in value)
    if isinstance(value, Written):
        value = value.given
    if name == "reduction" and value in REDUCTIONS:
        return REDUCTIONS.index(value)
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value) if scalar else int(value) % UNSIGNED
    return Tensor(value) if isinstance(value, (np.ndarray, np.generic)) else value


__all__ = ["argument_names", "saved_attribute", "saved_names", "unpack"]
