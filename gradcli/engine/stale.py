"""The message for a kept tensor that was changed in place before backward read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradcli.engine.mode import state
from gradcli.errors import AutogradError
from gradcli.ops.promotion import tensor_type

if TYPE_CHECKING:
    from gradcli.engine.node import Edge, Node

HINT = (
    "Hint: enable anomaly detection to find the operation that failed to compute its gradient, "
    "with torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
ANOMALY_HINT = (
    "Hint: the backtrace further above shows the operation that failed to compute its gradient. "
    "The variable in question was changed in there or anywhere later. Good luck!"
)


def stale(node: Any, position: int, value: Any, source: Edge | None) -> AutogradError:
    """The error for the guard at `position` of a node: `value` is what it kept, `source` where that came from."""
    version, expected = node.guards[2 * position : 2 * position + 2]
    kept = f"it was kept on line {node.span.line} for {node.name}: " if node.span else ""
    return AutogradError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{tensor_type(value)} {list(value.shape)}]{origin(node, version, source)} is at version "
        f"{version.count}; expected version {expected} instead. {HINT if state.anomaly is None else ANOMALY_HINT}",
        hint=f"{kept}use the out-of-place form, or clone() before the value is changed",
        source=node.span,
    )


def origin(node: Node, version: Any, source: Edge | None) -> str:
    """Which output of which node the tensor is now: after the write, when it was written to itself; the node's own stays its own."""
    if source is not None and source[0] is node:
        return f", which is output {source[1]} of {short_name(node)},"
    writer = version.writer() if version.writer is not None else None
    if writer is not None and writer.node is not None and (source is None or not is_view(source[0])):
        return f", which is output {writer.output_nr} of {short_name(writer.node)},"
    if source is None:
        return ""
    return f", which is output {source[1]} of {'AsStrided' if is_view(source[0]) else short_name(source[0])},"


def is_view(node: Node) -> bool:
    op = getattr(node, "op", None)
    return op is not None and bool(op.view)


def short_name(node: Node) -> str:
    """AddBackward0 -> Add, PowBackward1 -> Pow1, KeepBackward -> Keep."""
    head, middle, tail = node.name.rpartition("Backward")
    return node.prefix + node.name if not middle else head + ("" if tail in ("0", "s") else tail)
