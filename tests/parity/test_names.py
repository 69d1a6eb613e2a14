"""The list of PyTorch's public names, which tells an unknown name from one that is not offered (skipped where torch is not installed).

Run as a program, it writes the list anew.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

LIST = Path(__file__).parents[2] / "gradcli" / "ops" / "pytorch.txt"


def is_own(name: str, value: Any) -> bool:
    """Whether a member of a module is PyTorch's, not something that the module imported from elsewhere."""
    if isinstance(value, ModuleType):
        return not name.startswith("_") and value.__name__.startswith("torch.")
    home = getattr(value, "__module__", None)
    return not name.startswith("_") and (home is None or str(home).startswith("torch"))


def listed(modules: list[str]) -> dict[str, list[str]]:
    """The public names of modules; `torch.Tensor` stands for the methods and attributes of tensors."""
    torch = importlib.import_module("torch")
    for also in ("torch.distributions", "torch.utils.data", "torch.onnx", "torch.nn.utils.rnn"):
        importlib.import_module(also)
    found = {"torch.Tensor": [n for n in sorted(dir(torch.Tensor)) if not n.startswith("_")]}
    for module in modules:
        if module != "torch.Tensor":
            loaded = importlib.import_module(module)
            found[module] = [n for n in sorted(dir(loaded)) if is_own(n, getattr(loaded, n))]
    return {module: found[module] for module in modules}


def test_the_list_is_that_of_the_pytorch_that_is_installed() -> None:
    torch = pytest.importorskip("torch")
    if not torch.__version__.startswith("2.13"):
        pytest.skip("the list is that of PyTorch 2.13")
    here = dict(line.split(": ", 1) for line in LIST.read_text("utf-8").splitlines())
    for module, names in listed(list(here)).items():
        assert set(here[module].split()) == set(names), module


if __name__ == "__main__":
    modules = [line.partition(":")[0] for line in LIST.read_text("utf-8").splitlines()]
    text = "".join(f"{module}: {' '.join(names)}\n" for module, names in listed(modules).items())
    Path(sys.argv[1] if len(sys.argv) > 1 else LIST).write_text(text, "utf-8")
