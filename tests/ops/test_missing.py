"""Every operation that files use or that PyTorch lists is there, or is listed as missing with the reason; nothing there is listed."""

from pathlib import Path

import numpy as np
import pytest

from gradcli.engine.tensor import Tensor
from gradcli.interpreter import run_file
from gradcli.interpreter.attributes import MISSING as ABSENT
from gradcli.interpreter.attributes import add_tables, look_up
from gradcli.interpreter.limits import Limits
from gradcli.interpreter.meter import Meter
from gradcli.interpreter.tensor_table import ENGINE_TABLES
from gradcli.interpreter.vocabulary import build_vocabulary
from gradcli.ops.missing import FORMS, MISSING, public
from gradcli.syntax import Source

LISTED = [line for line in (Path(__file__).parent / "listed.txt").read_text().splitlines() if not line.startswith("#")]
WORDS = build_vocabulary(Meter(Limits()), lambda *values: None, ".")


def is_there(name: str) -> bool:
    """Whether a program can reach an operation: bare, in the module that has it in PyTorch, or as a method."""
    module, _, last = name.rpartition(".")
    modules = [f"torch.{module}"] if module else ["torch", "torch.nn.functional", "torch.linalg", "torch.special"]
    if name in WORDS.names or any(m in WORDS.modules and last in WORDS.modules[m].members for m in modules):
        return True
    add_tables(ENGINE_TABLES)
    return not module and look_up(Tensor(np.ones((2, 2))), name) is not ABSENT


def test_what_is_listed_is_there_or_has_a_reason():
    assert [name for name in dict.fromkeys(LISTED) if not is_there(name) and name not in MISSING] == []


def test_what_is_there_is_not_called_missing():
    assert [name for name in MISSING if is_there(name)] == []


def test_nothing_is_called_missing_that_nobody_lists():
    assert set(MISSING) <= set(LISTED)


@pytest.mark.parametrize("call", FORMS)
def test_arguments_that_are_not_taken(call):
    error = run_file(Source("f.grad", f"import torch\nx = ones(2, requires_grad=True)\ny = {call}")).error
    assert error.type == "NotImplementedError"


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("torch.stft(x)", "PyTorch has torch.stft"), ("F.ctc_loss(x, x)", "PyTorch has torch.nn.functional.ctc_loss"),
        ("x.to_sparse()", "tensors are dense here"), ("nn.LSTM(2, 3)", "write the recurrence"), ("torch.jit.script", "interprets them"),
        ("torch.optim.LBFGS", "inside `with torch.no_grad():`"), ("torch.save(x)", "load('data.npy')"), ("torch.histc(x)", "not written"),
        ("from torch.nn.functional import ctc_loss", "PyTorch has torch.nn.functional.ctc_loss"),
        ("ctc_loss(x, x)", "PyTorch has ctc_loss"), ("torch.linalg.eigvals(x)", "eigh is there"), ("LSTM(2, 3)", "PyTorch has LSTM"),
    ],
)  # fmt: skip
def test_a_name_of_pytorch_that_is_not_there_is_told_with_the_reason(line, part):
    header = "import torch, torch.nn as nn, torch.nn.functional as F\nx = ones(2)\ntry:\n"
    error = run_file(Source("f.grad", f"{header}    {line}\nexcept Exception:\n    pass\n")).error
    assert (error.type, error.kind, error.code, error.span.line) == ("UnsupportedError", "unsupported", "G310", 4)
    assert part in error.message
    assert "gradcli ops --missing" in error.hint


@pytest.mark.parametrize(("line", "hint"), [("torch.sine(x)", "sin"), ("x.sinn()", "sin"), ("torch.nn.Liner", "Linear")])
def test_a_name_that_pytorch_has_not_is_a_misspelling(line, hint):
    error = run_file(Source("f.grad", f"import torch\nx = ones(2)\n{line}")).error
    assert (error.type, error.hint) == ("AttributeError", f"did you mean '{hint}'?")


@pytest.mark.parametrize("name", public())
def test_a_module_offers_nothing_that_pytorch_has_not(name):
    if name == "torch.Tensor":
        add_tables(ENGINE_TABLES)
        offered = {*ENGINE_TABLES[Tensor].properties, *ENGINE_TABLES[Tensor].methods}
    else:
        offered = set(WORDS.modules[name].members)
    assert {n for n in offered if not n.startswith("_")} - public()[name] - OWN.get(name, set()) == set()


OWN = {"torch": {"uniform"}, "torch.special": {"beta"}}
"""Names of gradcli's own."""
