"""What a program can name: bare names, and the modules that import lines bind.

Everything is in tables built from the catalogue of operations and from the engine. A new operation appears
by itself, bare and in the module that has it in PyTorch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradcli.engine.methods import find
from gradcli.interpreter.autograd_names import autograd_members, tensor_names
from gradcli.interpreter.dtypes import DTYPES, PREFIXED
from gradcli.interpreter.kinds import DTYPE, SIZE
from gradcli.interpreter.loading import Loader
from gradcli.interpreter.mathematics import CONSTANTS, math_members
from gradcli.interpreter.meter import Meter
from gradcli.interpreter.namespaces import (
    ELSEWHERE,
    FFT,
    FUNCTIONAL,
    FUNCTIONAL_IN_PLACE,
    FUNCTIONAL_ONLY,
    INTERNAL,
    LINALG,
    SPECIAL,
    SPECIAL_SPELLINGS,
    TORCH_IN_PLACE,
)
from gradcli.interpreter.nn_names import NN_MODULES
from gradcli.interpreter.numpy_names import numpy_members
from gradcli.interpreter.operations import OPERATIONS
from gradcli.interpreter.python_names import builtin_vocabulary
from gradcli.interpreter.standard_names import standard_modules
from gradcli.interpreter.targets import CHECK, CLAIM
from gradcli.interpreter.torch_names import OTHER_MODULES
from gradcli.interpreter.values import module

Functions = dict[str, Callable[..., Any]]


@dataclass(frozen=True)
class Vocabulary:
    """Bare names, and modules by their full names."""

    names: dict[str, Any]
    modules: dict[str, module]


def of_module(prefix: str, names: frozenset[str], spellings: dict[str, str] | None = None) -> Functions:
    """The operations of a module: its own, else those of the same name."""
    members: Functions = {}
    for name in names:
        for candidate in (f"{prefix}.{name}", name, (spellings or {}).get(name, "")):
            if candidate in OPERATIONS:
                members[name] = OPERATIONS[candidate]
                break
    own = {key.removeprefix(prefix + "."): f for key, f in OPERATIONS.items() if key.startswith(prefix + ".")}
    return {**members, **own}


def in_place(names: frozenset[str]) -> Functions:
    """The functions that write into their first argument."""
    found = {f"{name}_": find(f"{name}_") for name in sorted(names)}
    return {name: function for name, function in found.items() if function is not None}


def torch_modules() -> dict[str, module]:
    """`torch` and what is under it."""
    names = tensor_names()
    plain = {name: f for name, f in OPERATIONS.items() if "." not in name and name not in INTERNAL}
    modules = {
        "torch.nn.functional": module("torch.nn.functional", {**of_module("nn.functional", FUNCTIONAL)}),
        "torch.linalg": module("torch.linalg", {**of_module("linalg", LINALG)}),
        "torch.special": module("torch.special", {**of_module("special", SPECIAL, SPECIAL_SPELLINGS)}),
        "torch.fft": module("torch.fft", {**of_module("fft", FFT)}),
    }
    modules["torch.nn"] = module("torch.nn", {"functional": modules["torch.nn.functional"]})
    for name, members in autograd_members().items():
        modules[name] = module(name, members)
    modules["torch.nn.functional"].members.update(in_place(FUNCTIONAL_IN_PLACE))
    for name, members in {**NN_MODULES, **OTHER_MODULES}.items():
        modules.setdefault(name, module(name, {})).members.update(members)
    torch: dict[str, Any] = {name: f for name, f in plain.items() if name not in FUNCTIONAL_ONLY and name not in ELSEWHERE}
    torch |= {**in_place(TORCH_IN_PLACE), **names, **DTYPES, **PREFIXED, **CONSTANTS, "Size": SIZE, "dtype": DTYPE}
    del torch["tau"]
    modules["torch"] = module("torch", torch)
    for name in sorted(modules):
        outer, _, last = name.rpartition(".")
        if outer:
            modules[outer].members[last] = modules[name]
    return modules


@functools.cache
def common_vocabulary(arrays: bool) -> Vocabulary:
    """What every run has alike. A bare name is torch's, else torch.nn.functional's, else torch.autograd's."""
    modules = torch_modules()
    torch, functional = modules["torch"].members, modules["torch.nn.functional"].members
    elsewhere = {name: OPERATIONS[name] for name in ELSEWHERE if name in OPERATIONS}
    modules |= numpy_members({**elsewhere, **torch}, arrays=arrays)
    modules["__future__"] = module("__future__", {})
    autograd = {name: value for name, value in modules["torch.autograd"].members.items() if not isinstance(value, module)}
    bare = {name: value for name, value in {**elsewhere, **functional, **autograd, **torch}.items() if not isinstance(value, module)}
    for prefixed in PREFIXED:
        del bare[prefixed]
    return Vocabulary({**bare, "check": CHECK, "claim": CLAIM, "e": CONSTANTS["e"]}, modules)


def build_vocabulary(meter: Meter, printer: Callable[..., None], folder: str | None, *, arrays: bool = False) -> Vocabulary:
    """The vocabulary of a run: what all have, and what counts on this run's meter. A bare name that Python has is Python's.

    `folder` is where load(...) looks; None stands for the working directory. `arrays`: numpy makes arrays, not tensors.
    """
    common = common_vocabulary(arrays)
    load = Loader(meter, folder or ".")
    builtins = builtin_vocabulary(meter, printer)
    own = {"math": module("math", math_members(meter, OPERATIONS)), **standard_modules(meter, builtins["dict"].make)}
    return Vocabulary({**common.names, "load": load, **builtins}, {**common.modules, **own})
