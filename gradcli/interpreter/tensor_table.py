"""The attributes and methods of tensors, nodes and hook handles that programs can name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine import members, sharing
from gradcli.engine.edges import GradientEdge
from gradcli.engine.function import FunctionNode
from gradcli.engine.hooks import Handles, RemovableHandle
from gradcli.engine.methods import find
from gradcli.engine.node import AccumulateGrad, Node
from gradcli.engine.optim import OPTIMIZER_METHODS, OPTIMIZER_PROPERTIES, Optimizer
from gradcli.engine.packing import SavedTensor, raw_saved
from gradcli.engine.saved import saved_attribute, saved_names
from gradcli.engine.schedules import SCHEDULE_METHODS, SCHEDULE_PROPERTIES, Schedule
from gradcli.engine.tensor import Tensor
from gradcli.engine.torchviz import Digraph
from gradcli.errors import RangeError
from gradcli.interpreter.arrays import ARRAY_TABLES, ndarray, of_tensor
from gradcli.interpreter.attributes import MISSING, Table
from gradcli.interpreter.creation import full
from gradcli.interpreter.from_data import tensor
from gradcli.interpreter.leaves import leaf, sizes
from gradcli.interpreter.namespaces import FUNCTIONS_ONLY, INPLACE, INTERNAL
from gradcli.interpreter.nn_names import NN_TABLES
from gradcli.interpreter.operations import METHOD_OPERATIONS
from gradcli.interpreter.questions import TENSOR_QUESTIONS
from gradcli.interpreter.torch_names import TABLES as NAME_TABLES
from gradcli.interpreter.values import Size


def shape(x: Tensor) -> Size:
    return Size(x.shape)


def size(x: Tensor, dim: int | None = None) -> Any:
    """The shape, or the length of one dimension."""
    lengths = Size(x.shape)
    if dim is None:
        return lengths
    high = max(len(lengths), 1)
    if not lengths or not -high <= dim < high:
        raise RangeError(f"Dimension out of range (expected to be in range of [{-high}, {high - 1}], but got {dim})")
    return lengths[dim]


def numpy(x: Tensor, *, force: bool = False) -> ndarray:
    """The values on the same memory, as the language's own kind of array: none of numpy's, which no limit would guard."""
    sharing.numpy(x, force=force)
    return of_tensor(x)


def new_filled(value: int, name: str) -> Callable[..., Tensor]:
    def create(x: Tensor, *size: Any, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
        return leaf(np.full(sizes(size, name), value, x.dtype if dtype is None else dtype), requires_grad)

    return create


def new_full(x: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
    return full(size, fill_value, dtype=x.dtype if dtype is None else dtype, requires_grad=requires_grad)


def new_tensor(x: Tensor, data: Any, *, dtype: Any = None, requires_grad: bool = False, **options: Any) -> Tensor:
    return tensor(data, dtype=x.dtype if dtype is None else dtype, requires_grad=requires_grad)


OWN_METHODS: dict[str, Callable[..., Any]] = {
    "size": size,
    "numpy": numpy,
    "new_zeros": new_filled(0, "new_zeros"),
    "new_ones": new_filled(1, "new_ones"),
    "new_empty": new_filled(0, "new_empty"),
    "new_full": new_full,
    "new_tensor": new_tensor,
}
"""Those that give values of the language's own, or whose sizes a limit must see before memory is taken."""


def catalogue_methods() -> dict[str, Callable[..., Any]]:
    """The methods of the catalogue, and the in-place forms that PyTorch has of them."""
    hidden = INTERNAL | FUNCTIONS_ONLY
    table = {name: method for name, method in METHOD_OPERATIONS.items() if "." not in name and name not in hidden}
    for name in METHOD_OPERATIONS:
        write = find(f"{name}_") if name in INPLACE else None
        if write is not None:
            table[f"{name}_"] = write
    return table


def node_attribute(node: Node, name: str) -> Any:
    """The tensors and parameters that a node kept: `_saved_self`."""
    if name.startswith("_saved_") and name.removeprefix("_saved_") in saved_names(node):
        return saved_attribute(node, name)
    if name.startswith("_raw_saved_"):
        return raw_saved(node, name.removeprefix("_raw_saved_")) or MISSING
    return MISSING


def function_node_attribute(node: FunctionNode, name: str) -> Any:
    """The node of a user Function is its ctx: it has the attributes that forward gave it."""
    return node.context.attributes.get(name, MISSING)


FUNCTION_NODE = {
    "saved_tensors": lambda n: n.saved_tensors(),
    "saved_variables": lambda n: n.saved_tensors(),
    "needs_input_grad": lambda n: n.context.needs_input_grad,
    "materialize_grads": lambda n: n.context.materialize_grads,
}


def node_table(shown: str, hidden: frozenset[str] = frozenset()) -> Table:
    properties = {name: getter for name, getter in members.NODE_PROPERTIES.items() if name not in hidden}
    return Table(
        shown,
        {**properties, "__name__": lambda n: n.name},
        members.NODE_METHODS,
        other=node_attribute,
        names=lambda n: [f"_saved_{name}" for name in saved_names(n)],
    )


ENGINE_TABLES: dict[type, Table] = {
    Tensor: Table(
        "Tensor",
        {**members.PROPERTIES, "shape": shape},
        {**catalogue_methods(), **TENSOR_QUESTIONS, **members.METHODS, **OWN_METHODS},
        members.SETTERS,
        {"grad": lambda x: members.SETTERS["grad"](x, None)},
    ),
    Node: node_table("Node", frozenset({"variable"})),
    AccumulateGrad: node_table("AccumulateGrad"),
    FunctionNode: Table(
        "FunctionNode",
        {**node_table("", frozenset({"variable"})).properties, **FUNCTION_NODE},
        members.NODE_METHODS,
        other=function_node_attribute,
        names=lambda n: list(n.context.attributes),
    ),
    Handles: Table("Handle", methods={"remove": Handles.remove}),
    SavedTensor: Table("SavedTensor", methods={"register_hooks": SavedTensor.register_hooks}),
    GradientEdge: Table("GradientEdge", {"node": lambda e: e.node, "output_nr": lambda e: e.output_nr}),
    RemovableHandle: Table("RemovableHandle", methods=members.HANDLE_METHODS),
    **NN_TABLES,
    Optimizer: Table("Optimizer", OPTIMIZER_PROPERTIES, OPTIMIZER_METHODS),
    Schedule: Table("LRScheduler", SCHEDULE_PROPERTIES, SCHEDULE_METHODS),
    Digraph: Table("Digraph", {"source": lambda d: d.source}),
    **ARRAY_TABLES,
    **NAME_TABLES,
}
