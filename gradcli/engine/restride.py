"""In-place changes of shape: `t_`, `unsqueeze_` and their like, which touch no element."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from gradcli.engine.inplace import check_writable
from gradcli.engine.methods import find
from gradcli.engine.node import OperationNode
from gradcli.engine.tensor import Tensor

NODES = {
    "t_": "TBackward1", "unsqueeze_": "UnsqueezeBackward1", "transpose_": "TransposeBackward1", "swapaxes_": "TransposeBackward1",
    "swapdims_": "TransposeBackward1", "squeeze_": "SqueezeBackward3",
}  # fmt: skip
"""The nodes of these methods, which differ from those of the views."""


def restride(name: str) -> Callable[..., Tensor]:
    """The method `name`: the tensor itself takes the shape of the view that the function without underscore gives."""

    def method(tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        check_writable(tensor)
        function = find(name[:-1])
        assert function is not None
        window: Tensor = function(tensor, *args, **kwargs)
        if window is tensor:
            return tensor
        node = window.node
        if isinstance(node, OperationNode):
            op = node.op = copy.copy(node.op)
            op.node = NODES[name] if not (name == "squeeze_" and (args or kwargs)) else "SqueezeBackward4"
        tensor.value, tensor.node, tensor.output_nr = window.value, node, window.output_nr
        tensor.wants = window.wants
        tensor.own_record = window.own_record
        tensor.version.bump(tensor)
        tensor.traced = window.traced
        if tensor.shares is not None and window.shares is not None:
            window.shares.seen = tensor.version.count
            tensor.shares = window.shares
        return tensor

    return method


RESTRIDING: dict[str, Callable[..., Tensor]] = {name: restride(name) for name in NODES}
