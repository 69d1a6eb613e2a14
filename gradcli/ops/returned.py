"""Results with named parts: `x.max(0).values`, shown as PyTorch shows them."""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from typing import Any

VALUES = "values indices"


def shown(result: Any) -> str:
    parts = ",\n".join(f"{name}={part!r}" for name, part in zip(result._fields, result, strict=True))
    return f"torch.return_types.{type(result).__name__}(\n{parts})"


@cache
def returned(function: str, fields: str) -> Any:
    """The class of what a function of PyTorch gives."""
    return type(function, (namedtuple(function, fields),), {"__slots__": (), "__repr__": shown})
