"""load("data.npy"), load("data.csv"): a numeric array beside the file."""

from __future__ import annotations

import hashlib
import os
from contextvars import ContextVar
from typing import Any

import numpy as np

from gradcli.engine.mode import state
from gradcli.engine.tensor import Tensor
from gradcli.errors import DataError
from gradcli.interpreter.meter import Meter

CHARACTERS_PER_NUMBER = 30
"""What a number in a CSV file takes at most, about: bounds the size of a file before it is read."""

Reads = dict[tuple[str, str], str | None]
"""For each folder and name in it that a program loads: what identifies the contents, None where there are none."""

READS: ContextVar[Reads | None] = ContextVar("READS", default=None)
"""Set by whoever keeps results, to know what they depend on."""


CHANGED = "changed"
"""Stands for contents that were not the same each time."""


def contents(folder: str, name: str) -> str | None:
    """What identifies what a program gets when it loads `name` from `folder`."""
    try:
        path = os.path.realpath(os.path.join(folder, name))
        with open(path, "rb") as file:
            inside = os.path.commonpath([path, os.path.realpath(folder)]) == os.path.realpath(folder)
            return hashlib.file_digest(file, "sha256").hexdigest() if inside else "outside"
    except (OSError, ValueError):
        return None


class Loader:
    """The `load` of a run. `folder` is where names are looked up; nothing outside it can be reached, symbolic links included."""

    def __init__(self, meter: Meter, folder: str) -> None:
        self.meter = meter
        self.named = os.path.abspath(folder)
        self.folder = os.path.realpath(folder)

    def __call__(self, name: str) -> Tensor:
        """A tensor with the numbers of a .npy or .csv file, float64 unless the .npy file says otherwise."""
        if not isinstance(name, str):
            raise TypeError(f"load() takes the name of a file, not {type(name).__name__}")
        reads = READS.get()
        if reads is not None:
            now = contents(self.named, name)
            reads[self.named, name] = now if reads.get((self.named, name), now) == now else CHANGED
        path = self.inside(name)
        try:
            if not os.path.isfile(path):
                raise DataError(f"there is no file {name!r}", hint=f"looked for in {self.folder}")
            array = self.numpy_file(name, path) if name.endswith(".npy") else csv_array(name, self.text(path))
        except OSError as error:
            raise DataError(f"cannot read {name!r}: {error.strerror or error}", hint=f"looked for in {self.folder}") from None
        return Tensor(native(name, array)[()])

    def inside(self, name: str) -> str:
        path = None if "\0" in name else os.path.realpath(os.path.join(self.folder, name))
        if path is None or os.path.commonpath([path, self.folder]) != self.folder:
            raise DataError(f"{name!r} lies outside the folder of the file", hint="put the data beside the file, or give --data DIR")
        if not name.endswith((".npy", ".csv")):
            raise DataError(f"{name!r} is neither a .npy nor a .csv file")
        return path

    def numpy_file(self, name: str, path: str) -> Any:
        """The array of a .npy file, not read yet: its header says how large it is."""
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError, SyntaxError, TypeError) as error:
            raise DataError(f"{name!r} is no .npy file that can be read: {error}", hint="write it with numpy.save") from None
        if array.dtype.kind not in "biufc":
            raise DataError(f"{name!r} holds no numbers but {array.dtype}")
        state.charge(int(array.size))
        return array

    def text(self, path: str) -> list[str]:
        if os.path.getsize(path) > CHARACTERS_PER_NUMBER * self.meter.limits.tensor_elements:
            raise self.meter.reached("tensor_elements")
        with open(path, "rb") as file:
            data = file.read()
        state.charge(data.count(b",") + data.count(b"\n") + 1)
        try:
            return data.decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise DataError(f"{os.path.basename(path)!r} is no text: {error}", hint="save it as UTF-8") from None


def csv_array(name: str, lines: list[str]) -> Any:
    """The numbers of a .csv file: rows of equal length, a single column as a vector; empty lines and # lines are left out."""
    rows: list[list[float]] = []
    first = 0
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split(",")]
        first = first or number
        if rows and len(cells) != len(rows[0]):
            text = f"{name!r}: line {number} has {len(cells)} values, line {first} has {len(rows[0])}"
            raise DataError(text, hint="rows of equal length, numbers separated by commas")
        rows.append([number_of(name, cell, number, column, number == first) for column, cell in enumerate(cells, 1)])
    if not rows:
        raise DataError(f"{name!r} is empty")
    array = np.array(rows, dtype=float)
    return array[:, 0] if array.shape[1] == 1 else array


def number_of(name: str, cell: str, line: int, column: int, is_first: bool) -> float:
    """The number in a cell. Raises DataError with its place."""
    place = f"{name!r}, line {line}, column {column}"
    if not cell:
        raise DataError(f"{place}: the value is missing", hint="write nan, or leave the row out")
    try:
        if "_" in cell:
            raise ValueError
        return float(cell)
    except ValueError:
        hint = "numbers are separated by commas and have a decimal point"
        if is_first and not any(c.isdigit() for c in cell):
            hint = "is this a line of names? Begin it with #, or leave it out"
        raise DataError(f"{place}: {cell[:40]!r} is no number", hint=hint) from None


def native(name: str, array: Any) -> Any:
    """A copy in memory, of a dtype that tensors have."""
    kind = array.dtype.newbyteorder("=")
    if kind.kind == "u" and kind.itemsize > 1:
        if array.size and array.max() > np.iinfo(np.int64).max:
            raise DataError(f"{name!r} holds integers beyond int64")
        kind = np.dtype(np.int64)
    elif kind.itemsize > {"f": 8, "c": 16}.get(kind.kind, 8):
        kind = np.dtype(np.float64 if kind.kind == "f" else np.complex128)
    return np.array(array, dtype=kind)
