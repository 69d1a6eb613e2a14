"""The autograd engine: tensors over numpy, graph nodes, backward passes, with PyTorch's semantics."""

from gradcli.engine import apply as apply
from gradcli.engine import members as members
from gradcli.engine import methods as methods
from gradcli.engine.backward import backward, grad
from gradcli.engine.function import Function
from gradcli.engine.items import setitem
from gradcli.engine.mode import enable_grad, no_grad, set_grad_enabled
from gradcli.engine.node import AccumulateGrad, Node, OperationNode
from gradcli.engine.tensor import Tensor

__all__ = [
    "AccumulateGrad", "Function", "Node", "OperationNode", "Tensor", "backward", "enable_grad", "grad", "no_grad", "set_grad_enabled",
    "setitem",
]  # fmt: skip
