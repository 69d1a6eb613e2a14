"""Random programs print the same under PyTorch and under gradcli (skipped where torch is not installed).

GRADCLI_PARITY_PROGRAMS sets how many programs are tried; the full run is 2,000.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from compare import difference, gradcli_output, torch_output
from programs import program

torch = pytest.importorskip("torch")

COUNT = int(os.environ.get("GRADCLI_PARITY_PROGRAMS", "100"))
BATCH = 50

KNOWN = {
    28: "PyTorch refuses its own write into an expansion, in backward",
    1806: "the order of elements decides where a tensor is added to a view of itself",
}
"""Programs whose difference is understood."""


@pytest.mark.parametrize("first", range(0, COUNT, BATCH))
def test_random_programs_print_what_pytorch_prints(first: int) -> None:
    differing = {}
    for seed in range(first, min(first + BATCH, COUNT)):
        if seed in KNOWN:
            continue
        source = program(seed)
        found = difference(gradcli_output(source), torch_output(source))
        if found:
            differing[seed] = found
    assert not differing


@pytest.mark.parametrize("seed", range(10))
def test_texts_of_random_tensors(seed: int) -> None:
    from gradcli.engine.tensor import Tensor

    torch.set_default_dtype(torch.float64)
    rng = np.random.default_rng(seed)
    for _ in range(200):
        values = random_values(rng)
        assert repr(Tensor(values[()])) == str(torch.from_numpy(values.copy()))


def random_values(rng: np.random.Generator) -> np.ndarray:
    """Values of every kind that the choice of a format depends on."""
    shape = tuple(rng.integers(0, 6, rng.integers(0, 4))) if rng.random() < 0.9 else (int(rng.integers(990, 1100)),)
    kind = rng.choice(["normal", "whole", "wide", "special", "tiny", "int", "bool", "single", "complex"])
    values = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4)
    if kind == "whole":
        values = np.round(values)
    elif kind == "wide":
        values = values * 10.0 ** rng.integers(-12, 12, shape)
    elif kind == "special":
        values = np.where(rng.random(shape) < 0.3, rng.choice([np.nan, np.inf, -np.inf, 0.0, -0.0], shape), np.round(values, 1))
    elif kind == "tiny":
        values = values * 1e-5
    elif kind == "int":
        values = np.round(values).astype(np.int64)
    elif kind == "bool":
        values = values > 0
    elif kind == "single":
        values = values.astype(np.float32)
    elif kind == "complex":
        values = values + 1j * rng.normal(size=shape)
    return np.asarray(values)
