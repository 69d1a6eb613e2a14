"""What a node kept, given back as tensors with their history."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.engine.function import FunctionNode
from gradcli.engine.node import Node, OperationNode
from gradcli.engine.tensor import Tensor
from gradcli.errors import MissingAttributeError
from gradcli.ops.operation import Operation

PYTORCH_NAMES = {"x": "self", "tensor": "self", "input": "self"}
"""The name of the first argument -> what PyTorch calls it in `_saved_<name>`."""


def unpack(node: OperationNode, kept: tuple[Any, ...]) -> tuple[Any, ...]:
    """The kept values as Tensors with their history, for a backward pass that is itself recorded."""
    values = list(kept)
    plan, count, records = node.plan, len(node.edges), node.records
    for k, slot in enumerate(plan.kept):
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


def saved_names(node: Node) -> list[str]:
    """What `_saved_<name>` a node has."""
    if not isinstance(node, OperationNode):
        return []
    names = argument_names(node.op)
    needed = {slot for rule in node.op.rules if rule is not None for slot in rule[1]}
    kept = [name for slot, name in enumerate(names) if slot in needed]
    return sorted({*kept, *constants(node), *(["result"] if node.plan.keeps_out else [])})


def constants(node: OperationNode) -> dict[str, Any]:
    """What PyTorch keeps besides tensors: the parameters, the sizes that a rule asks for, the factor alpha of sums."""
    op, count = node.op, len(node.edges)
    found = {name: getattr(op, name) for name in op.parameters}
    if found.get("dim", 0) is None:
        found.pop("dim")
        found.pop("keepdim", None)
    if op.node in ("AddBackward0", "SubBackward0", "RsubBackward1"):
        found["alpha"] = 1
    names = argument_names(op)
    for slot, value in zip(node.plan.slots, node.saved if isinstance(node.saved, tuple) else (), strict=False):
        if count < slot <= 2 * count and not op.variadic:
            name = names[slot - count - 1]
            found[f"{name}_sym_sizes"] = tuple(value)
            if op.node.startswith("Mean"):
                found[f"{name}_sym_numel"] = math.prod(value)
    return found


def saved_attribute(node: Node, name: str) -> Any:
    """`node._saved_<name>`: a tensor, a parameter, or None where the tensor is not needed."""
    bare = name.removeprefix("_saved_")
    if not isinstance(node, OperationNode):
        if isinstance(node, FunctionNode) and name == "saved_tensors":
            return node.context.saved_tensors
        raise MissingAttributeError(f"'{node.name}' object has no attribute '{name}'")
    known, arguments = constants(node), argument_names(node.op)
    if bare in known:
        return known[bare]
    if bare == "result" and node.plan.keeps_out:
        place = len(node.plan.kept)
    elif bare in arguments:
        if arguments.index(bare) not in node.plan.kept:
            return None
        place = node.plan.kept.index(arguments.index(bare))
    else:
        raise MissingAttributeError(f"'{node.name}' object has no attribute '{name}'")
    node.check_alive()
    kept = node.read() if type(node.saved) is tuple else node.saved.unpack(node, only=place)
    value = unpack(node, kept)[place]
    return value if isinstance(value, (Tensor, tuple)) else Tensor(np.asarray(value)[()])


__all__ = ["saved_attribute", "saved_names", "unpack"]
