"""The text of tensors, character for character as PyTorch prints them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradcli.engine.parameters import is_parameter
from gradcli.errors import AutogradError


@dataclass(frozen=True)
class Options:
    """What `set_printoptions` sets; `sci_mode` None leaves the choice to the values."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PROFILES = {
    "default": Options(),
    "short": Options(precision=2, edgeitems=2),
    "full": Options(threshold=float("inf")),
}


class Printing:
    """The options in force, which a program may change."""

    options = Options()


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Change how tensors are printed; a profile ('default', 'short', 'full') is the base of the other settings."""
    if profile is not None:
        Printing.options = PROFILES.get(profile, Printing.options)
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    Printing.options = replace(Printing.options, **{k: v for k, v in given.items() if v is not None}, sci_mode=sci_mode)  # type: ignore[arg-type]


HIDDEN_DTYPES = ("float64", "int64", "bool", "complex128")
"""Dtypes that are not told: the default ones."""


class NumberFormat:
    """How the entries of one tensor are written: chosen from those that are visible.

    Whole numbers get a point and no decimals; a range of more than 1000, or a number past 1e8, or a smallest one
    below 1e-4, scientific notation; else a fixed number of decimals.
    """

    def __init__(self, visible: np.ndarray, options: Options) -> None:
        self.kind = visible.dtype.kind
        self.precision = options.precision
        self.whole, self.scientific, self.width = True, False, 1
        if self.kind != "f":
            self.width = max([len(self._text(v)) for v in visible.reshape(-1).tolist()], default=1)
            return
        finite = visible[np.isfinite(visible) & (visible != 0)].astype(np.float64)
        if finite.size:
            self._choose(finite)
            if options.sci_mode is not None:
                self.scientific = options.sci_mode
        self.width = max([len(self._text(v)) for v in finite.tolist()], default=1)

    def _choose(self, finite: np.ndarray) -> None:
        size = np.abs(finite)
        low, high = float(size.min()), float(size.max())
        self.whole = bool(np.all(finite == np.ceil(finite)))
        with np.errstate(all="ignore"):
            spread = high / low > 1000.0
        self.scientific = spread or high > 1e8 or (not self.whole and low < 1e-4)

    def _text(self, value: Any) -> str:
        if self.kind != "f":
            return str(value)
        if self.scientific:
            return f"{value:.{self.precision}e}"
        if self.whole:
            return f"{value:.0f}." if np.isfinite(value) else f"{value:.0f}"
        return f"{value:.{self.precision}f}"

    def __call__(self, value: Any) -> str:
        return self._text(value).rjust(self.width)


class ComplexFormat:
    """Complex entries: real and imaginary parts, each in a format of its own."""

    def __init__(self, visible: np.ndarray, options: Options) -> None:
        self.real = NumberFormat(visible.real.copy(), options)
        self.imag = NumberFormat(visible.imag.copy(), options)
        self.width = self.real.width + self.imag.width + 1

    def __call__(self, value: complex) -> str:
        real, imag = self.real(value.real), self.imag(value.imag).lstrip()
        return real + imag + "j" if imag[0] in "+-" else f"{real}+{imag}j"


def tensor_text(tensor: Any) -> str:
    """`str(tensor)`: the numbers, then what is not the default (size, dtype, requires_grad or grad_fn)."""
    value = np.asarray(tensor.value)
    suffixes = []
    if value.size:
        body = array_text(value, 7)
    else:
        body = "[]"
        if value.ndim != 1:
            suffixes.append(f"size={shape_text(value.shape)}")
    dtype = tensor.dtype.name
    if dtype not in HIDDEN_DTYPES or (not value.size and dtype != "float64"):
        suffixes.append(f"dtype=torch.{dtype}")
    try:
        node = tensor.grad_fn
    except AutogradError:  # a view that may not follow its base
        suffixes.append("grad_fn=<Invalid>")
    else:
        if node is not None:
            suffixes.append(f"grad_fn=<{node.name}>")
        elif tensor.wants:
            suffixes.append("requires_grad=True")
    tangent = getattr(tensor, "tangent", None)
    if tangent is not None:
        suffixes.append(f"tangent={tangent if tangent.ndim else tangent.value.item()}")
    text = with_suffixes("tensor(" + body, suffixes, Printing.options.linewidth)
    return f"Parameter containing:\n{text}" if is_parameter(tensor) else text


def with_suffixes(text: str, suffixes: list[str], linewidth: int) -> str:
    """Append suffixes, each on the last line while it fits, else on a line of its own."""
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if column + len(suffix) + 2 > linewidth:
            text += ",\n" + " " * 7 + suffix
            column = 7 + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    return text + ")"


def shape_text(shape: tuple[int, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + (",)" if len(shape) == 1 else ")")


def array_text(value: np.ndarray, indent: int) -> str:
    """The entries in brackets, summarised past the threshold."""
    options = Printing.options
    edge = options.edgeitems if value.size > options.threshold else 0
    if value.dtype.kind == "O":
        value = value.astype(np.float64)
    visible = corners(value, edge) if edge else value
    entry = ComplexFormat(visible, options) if value.dtype.kind == "c" else NumberFormat(visible, options)
    if not value.ndim:
        return entry(value.item())
    return _rows(value, indent, edge, entry, options.linewidth)


def _rows(value: np.ndarray, indent: int, edge: int, entry: Any, linewidth: int) -> str:
    if value.ndim == 1:
        return _row(value, indent, edge, entry, linewidth)
    if edge and len(value) > 2 * edge:
        parts = [_rows(v, indent + 1, edge, entry, linewidth) for v in value[:edge]]
        parts += ["..."] + [_rows(v, indent + 1, edge, entry, linewidth) for v in value[-edge:]]
    else:
        parts = [_rows(v, indent + 1, edge, entry, linewidth) for v in value]
    return "[" + ("," + "\n" * (value.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _row(value: np.ndarray, indent: int, edge: int, entry: Any, linewidth: int) -> str:
    """One row, broken into lines of as many entries as the width allows."""
    a_line = max(1, (linewidth - indent) // (entry.width + 2))
    if edge and len(value) > 2 * edge:
        texts = [*map(entry, value[:edge].tolist()), " ...", *map(entry, value[-edge:].tolist())]
    else:
        texts = list(map(entry, value.tolist()))
    lines = [", ".join(texts[k : k + a_line]) for k in range(0, len(texts), a_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def corners(value: np.ndarray, edge: int) -> np.ndarray:
    """The entries that a summary shows."""
    for axis in range(value.ndim):
        if value.shape[axis] > 2 * edge:
            kept = [*range(edge), *range(value.shape[axis] - edge, value.shape[axis])]
            value = np.take(value, kept, axis=axis)
    return value
