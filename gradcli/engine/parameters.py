"""Which tensors are parameters: ordinary leaves in all but their text and their type."""

from __future__ import annotations

import weakref
from typing import Any

PARAMETERS: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
"""By id."""


def is_parameter(value: Any) -> bool:
    return value is not None and PARAMETERS.get(id(value)) is value
