"""Anomaly detection: the node, and the forward line, behind a NaN or an error in a backward pass."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradcli.engine.mode import Anomaly, state
from gradcli.engine.node import Node, Parts, placed
from gradcli.errors import AutogradError


class set_detect_anomaly:  # noqa: N801 - PyTorch's name
    """Switches anomaly detection at once, and back at the end of the block if used as one."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = state.anomaly
        state.anomaly = Anomaly(check_nan) if mode else None

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        state.anomaly = self.before


class detect_anomaly:  # noqa: N801 - PyTorch's name
    """Detects anomalies inside the block."""

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        self.before = state.anomaly
        state.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging.", UserWarning
        )

    def __enter__(self) -> None:
        self.before = state.anomaly
        state.anomaly = Anomaly(self.check_nan)

    def __exit__(self, *exception: object) -> None:
        state.anomaly = self.before


def is_anomaly_enabled() -> bool:
    return state.anomaly is not None


def is_anomaly_check_nan_enabled() -> bool:
    return state.anomaly is not None and state.anomaly.check_nan


@contextmanager
def reported(node: Node) -> Iterator[None]:
    """Warn, with the forward line of the node, about an error inside the block."""
    try:
        yield
    except Exception:
        place = f"line {node.span.line}" if node.span is not None else "unknown"
        state.warn(f"Error detected in {node.name}. Traceback of forward call that caused the error:\n  {place}", UserWarning)
        raise


def check_parts(node: Node, parts: Parts) -> None:
    """Raise when a node made a NaN."""
    if state.anomaly is None or not state.anomaly.check_nan:
        return
    for index, part in placed(node, parts):
        if part is not None and has_nan(getattr(part, "value", part)):
            hint = f"the operation stands on line {node.span.line}" if node.span is not None else None
            raise AutogradError(f"Function '{node.name}' returned nan values in its {index}th output.", hint=hint)


def has_nan(value: Any) -> bool:
    array = np.asarray(value)
    return array.dtype.kind in "fc" and bool(np.isnan(array).any())
