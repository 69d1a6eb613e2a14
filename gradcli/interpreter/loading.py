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
            array = self.numpy_file(path) if path.endswith(".npy") else self.csv_file(path)
        except OSError as error:
            raise DataError(f"cannot read {name!r}: {error.strerror or error}", hint=f"looked for in {self.folder}") from None
        if array.dtype.kind not in "biufc":
            raise DataError(f"{name!r} holds no numbers but {array.dtype}")
        return Tensor(np.array(array)[()])

    def inside(self, name: str) -> str:
        path = os.path.realpath(os.path.join(self.folder, name))
        if "\0" in name or os.path.commonpath([path, self.folder]) != self.folder:
            raise DataError(f"{name!r} lies outside the folder of the file", hint="put the data beside the file, or give --data DIR")
        if not name.endswith((".npy", ".csv")):
            raise DataError(f"{name!r} is neither a .npy nor a .csv file")
        return path

    def numpy_file(self, path: str) -> Any:
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise DataError(f"no readable .npy file: {error}") from None
        state.charge(int(array.size))
        return array

    def csv_file(self, path: str) -> Any:
        if os.path.getsize(path) > CHARACTERS_PER_NUMBER * self.meter.limits.tensor_elements:
            raise self.meter.reached("tensor_elements")
        try:
            with open(path, encoding="utf-8") as file:
                rows = [[float(cell) for cell in line.split(",")] for line in file if line.strip()]
            array = np.array(rows, dtype=float)
        except ValueError as error:
            raise DataError(f"no table of numbers: {error}", hint="rows of equal length, numbers separated by commas") from None
        state.charge(int(array.size))
        return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
