"""torch.testing.assert_close: two values are equal within tolerances, or an AssertionError says where they are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.tensor import Tensor
from gradcli.errors import ArgumentError, DataError, Fault

TOLERANCES = {np.dtype(np.float64): (1e-7, 1e-7), np.dtype(np.float32): (1.3e-6, 1e-5), np.dtype(np.float16): (1e-3, 1e-5)}
"""PyTorch's (rtol, atol); whole numbers must be equal."""


class NotClose(Fault, AssertionError):
    """The values differ."""

    kind = "value"


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True, check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:  # fmt: skip
    """Raise AssertionError unless abs(actual - expected) <= atol + rtol * abs(expected) everywhere."""
    if (rtol is None) != (atol is None):
        given, missing = ("rtol", "atol") if atol is None else ("atol", "rtol")
        raise DataError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.", hint=f"{given} is there")
    tolerances = None if rtol is None or atol is None else (rtol, atol)
    text = difference(actual, expected, tolerances, equal_nan, check_dtype, "")
    if text:
        raise NotClose(text if msg is None else msg(text) if callable(msg) else msg)


def difference(a: Any, b: Any, tolerances: tuple[float, float] | None, equal_nan: bool, check_dtype: bool, place: str) -> str:
    """PyTorch's words for the first difference; nothing where there is none."""
    for kind in (dict, (list, tuple)):
        if isinstance(a, kind) and isinstance(b, kind):
            if len(a) != len(b):
                return f"The length of the sequences mismatch: {len(a)} != {len(b)}"
            keys = a if isinstance(a, dict) else range(len(a))
            found = (difference(a[k], b[k], tolerances, equal_nan, check_dtype, f"{place}[{k!r}]") for k in keys)
            return next((text for text in found if text), "")
    both = isinstance(a, Tensor), isinstance(b, Tensor)
    if any(both) and not all(both):
        names = (f"<class '{'torch.Tensor' if is_tensor else type(v).__name__}'>" for v, is_tensor in zip((a, b), both, strict=True))
        raise ArgumentError(f"No comparison pair was able to handle inputs of type {' and '.join(names)}.", hint="compare tensors")
    x, y = (np.asarray(v.value if isinstance(v, Tensor) else v) for v in (a, b))
    text = apart(x, y, tolerances, equal_nan, check_dtype and all(both))
    return f"{text}\n\nThe failure occurred for item {place}" if text and place else text


def apart(x: np.ndarray, y: np.ndarray, tolerances: tuple[float, float] | None, equal_nan: bool, check_dtype: bool) -> str:
    """The same for two arrays."""
    if x.shape != y.shape:
        return f"The values for attribute 'shape' do not match: torch.Size({list(x.shape)}) != torch.Size({list(y.shape)})."
    if check_dtype and x.dtype != y.dtype:
        return f"The values for attribute 'dtype' do not match: torch.{x.dtype.name} != torch.{y.dtype.name}."
    rtol, atol = max(TOLERANCES.get(v.dtype, (0.0, 0.0)) for v in (x, y)) if tolerances is None else tolerances
    wrong = ~np.isclose(x, y, rtol, atol, equal_nan)
    if not np.any(wrong):
        return ""
    exact = not rtol and not atol
    with np.errstate(all="ignore"):
        gap = np.abs(np.subtract(x, y, dtype=None if x.dtype.kind != "b" else np.int64))
        relative = gap / np.abs(y)
    if not x.ndim:
        lines = [
            f"Expected {y.item()} but got {x.item()}.",
            line("Absolute", gap, atol, exact, ()),
            line("Relative", relative, rtol, exact, ()),
        ]
        return f"Scalars are not {'equal' if exact else 'close'}!\n\n" + "\n".join(lines)
    count = np.count_nonzero(wrong)
    lines = [f"Mismatched elements: {count} / {x.size} ({count / x.size:.1%})"]
    for word, values, tolerance in (("Greatest absolute", gap, atol), ("Greatest relative", relative, rtol)):
        at = np.unravel_index(int(np.argmax(np.where(wrong, values, -1))), x.shape)
        lines.append(line(word, values[at], tolerance, exact, tuple(int(k) for k in at)))
    return f"Tensor-likes are not {'equal' if exact else 'close'}!\n\n" + "\n".join(lines)


def line(word: str, value: Any, tolerance: float, exact: bool, at: tuple[int, ...]) -> str:
    where = f" at index {at}" if at else ""
    return f"{word} difference: {np.asarray(value).item()}{where}" + ("" if exact else f" (up to {tolerance} allowed)")
